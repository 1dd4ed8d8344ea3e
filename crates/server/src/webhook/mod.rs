//! What Git hosts and registries tell us: something was pushed.
//!
//! Anybody can send this, so it is believed as little as possible: it is read up to a size, checked with the secret that
//! the operator has set, and all that it can ever cause is that applications look at their repositories again.

mod event;
mod refresh;
mod secret;
mod sender;
mod sets;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use lynceus_object::json;
use tokio::sync::Semaphore;
use tracing::{debug, info};

use self::event::Event;
use self::secret::Secrets;
use self::sender::Sender;
use crate::body;
use crate::limits;
use crate::refusal::Code;
use crate::server::Server;

/// What a webhook is received with.
#[derive(Clone)]
struct Desk {
    server: Arc<Server>,
    room: Arc<Semaphore>,
}

/// The route that webhooks are sent to.
pub(crate) fn route(server: Arc<Server>) -> Router {
    let room = Arc::new(Semaphore::new(limits::WEBHOOKS_AT_ONCE));
    Router::new().route("/api/webhook", post(answer)).with_state(Desk { server, room })
}

/// How many webhooks this process works on.
static IN_FLIGHT: AtomicU64 = AtomicU64::new(0);

/// A webhook that is worked on, for as long as this is kept.
struct Handled;

impl Handled {
    fn begin() -> Self {
        IN_FLIGHT.fetch_add(1, Ordering::Relaxed);
        Handled
    }
}

impl Drop for Handled {
    fn drop(&mut self) {
        IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many webhooks this process works on now.
pub(crate) fn in_flight() -> u64 {
    IN_FLIGHT.load(Ordering::Relaxed)
}

async fn answer(State(desk): State<Desk>, request: Request<Body>) -> Response {
    let handled = Handled::begin();
    let Ok(permit) = desk.room.clone().try_acquire_owned() else {
        let wait = [(header::RETRY_AFTER, "5")];
        return (StatusCode::SERVICE_UNAVAILABLE, wait, "Too many webhooks at once, come again")
            .into_response();
    };
    match receive(&desk.server, request).await {
        Ok(events) => {
            // Who sends it does not wait for the applications, and the next one does until they are told.
            tokio::spawn(async move {
                refresh::all(&desk.server, &events).await;
                sets::all(&desk.server, &events).await;
                drop((permit, handled));
            });
            (StatusCode::OK, "Webhook event received").into_response()
        }
        Err((status, why)) => {
            info!(why, "a webhook is refused");
            (status, format!("Webhook processing failed: {why}")).into_response()
        }
    }
}

type Received = Result<Vec<Event>, (StatusCode, &'static str)>;

async fn receive(server: &Server, request: Request<Body>) -> Received {
    let (parts, body) = request.into_parts();
    let limit = limit(server);
    let announced =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|announced| announced > limit) {
        return Err(TOO_LARGE);
    }
    let body = body::collect(body, limit).await.map_err(|refusal| match refusal.code {
        Code::ResourceExhausted => TOO_LARGE,
        Code::DeadlineExceeded => (StatusCode::REQUEST_TIMEOUT, "it took too long to arrive"),
        Code::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "too much is being received, come again"),
        _ => (StatusCode::BAD_REQUEST, "it ended in the middle"),
    })?;
    read(&Secrets::of(server), &parts.headers, &body)
}

const TOO_LARGE: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "it is too large");

/// From what was sent to what has happened. Nothing of it is looked at before it is known to be from who it says.
fn read(secrets: &Secrets, headers: &HeaderMap, body: &[u8]) -> Received {
    let unknown = (StatusCode::BAD_REQUEST, "nobody that is known sends this");
    let sender = Sender::of(headers, body).ok_or(unknown)?;
    if !sender.is_genuine(secrets, headers, body) {
        return Err((StatusCode::BAD_REQUEST, "it is not signed with the secret that is set"));
    }
    let body = json::parse(body).map_err(|_| (StatusCode::BAD_REQUEST, "it is no JSON"))?;
    let events = sender
        .read(headers, &body)
        .ok_or((StatusCode::BAD_REQUEST, "it is not what such an event looks like"))?;
    debug!(?sender, events = events.len(), "a webhook");
    for event in &events {
        let repo = event.urls.first().map(|url| lynceus_source::redact(url)).unwrap_or_default();
        info!(target: "lynceus::measure", repo, "webhook");
    }
    Ok(events)
}

/// The largest webhook, as `webhook.maxPayloadSizeMB` says.
fn limit(server: &Server) -> usize {
    let megabytes = server.setting("webhook.maxPayloadSizeMB").trim().parse::<usize>().ok();
    match megabytes {
        Some(megabytes) if (1..=limits::WEBHOOK_MEGABYTES).contains(&megabytes) => megabytes << 20,
        _ => limits::WEBHOOK,
    }
}

#[cfg(test)]
mod tests;
