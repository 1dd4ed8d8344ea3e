//! The API over HTTP.
//!
//! [`Service`] answers one request after another, wherever they come from: a TLS connection
//! ([`server`]) or a client in the same process.

mod discovery;
mod documents;
mod health;
mod indent;
mod input;
mod log;
mod negotiate;
mod output;
mod query;
mod resource;
mod route;
pub(crate) mod server;
mod watch;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

pub(crate) use documents::Documents;
use negotiate::Accept;
use output::failure;
use query::Query;
use route::Route;

use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::auth::{self, Decision};
use crate::core::Core;
use crate::faults::Asked;

/// The body of an answer: all at once, or a stream for a watch.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Who a request comes from.
#[derive(Clone, Debug)]
enum Caller {
    /// Someone in this process, known.
    Known(Arc<User>),
    /// Someone on a connection, with the certificate it was made with.
    Connection(Option<Arc<[u8]>>),
}

/// The API as a `tower` service.
#[derive(Clone, Debug)]
pub struct Service {
    core: Arc<Core>,
    caller: Caller,
}

impl Service {
    pub(crate) fn new(core: Arc<Core>, user: User) -> Self {
        Service { core, caller: Caller::Known(Arc::new(user)) }
    }

    fn on_connection(core: Arc<Core>, certificate: Option<Arc<[u8]>>) -> Self {
        Service { core, caller: Caller::Connection(certificate) }
    }

    async fn answer<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let accept = Accept::of(&parts.headers);
        let head = parts.method == Method::HEAD;
        let answered = match input::read(&parts, body).await {
            Ok(body) => respond(&self.core, &self.caller, &parts, &accept, body).await,
            Err(error) => Err(error),
        };
        let response = answered.unwrap_or_else(|error| failure(&error, &accept));
        let mut response = indent::indent(&parts, response).await;
        if head {
            *response.body_mut() = full(Bytes::new());
        }
        output::compress(&parts.headers, response).await
    }
}

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

/// A body that is there already.
fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

/// Finds out who asks, whether they may, and what they get.
async fn respond(
    core: &Arc<Core>,
    caller: &Caller,
    parts: &Parts,
    accept: &Accept,
    body: Bytes,
) -> Result<Response<Body>, ApiError> {
    let user = match caller {
        Caller::Known(user) => auth::impersonate(&core.store, (**user).clone(), &parts.headers)?,
        Caller::Connection(certificate) => {
            core.authenticator.authenticate(&core.store, parts, certificate.as_deref(), core.now())?
        }
    };
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let route = Route::parse(parts.uri.path());
    let attributes = route.attributes(&parts.method, &query);
    if let Decision::Deny(reason) = auth::authorize(&core.store, &user, &attributes) {
        return Err(auth::forbidden(&user, &attributes, &reason));
    }
    suffer(core, &user, &attributes).await?;
    match &route {
        Route::Resource(_) => {
            let request = resource::Request { core, user, parts, accept, query: &query, attributes, body };
            request.answer().await
        }
        Route::Path(path) => other(core, parts, accept, &query, path),
    }
}

/// Lets the faults that stand have their way with a request.
async fn suffer(core: &Core, user: &User, request: &Attributes) -> Result<(), ApiError> {
    let asked = |now| Asked { user: &user.name, request, now };
    let now = core.now();
    let delay = core.faults.delay(&asked(now), &core.random);
    if delay.is_positive() {
        core.clock.sleep_until(now.saturating_add(delay).unwrap_or(now)).await;
    }
    core.faults.answer(&asked(core.now()), &core.random).map_or(Ok(()), Err)
}

/// Everything that is not about a resource.
fn other(
    core: &Arc<Core>,
    parts: &Parts,
    accept: &Accept,
    query: &Query,
    path: &str,
) -> Result<Response<Body>, ApiError> {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return match path {
            "/version" => Err(ApiError::method_not_allowed()),
            _ if discovery::answer(core, path, parts, accept).is_ok_and(|found| found.status() == 200) => {
                Err(ApiError::method_not_allowed())
            }
            _ => Ok(output::page_not_found()),
        };
    }
    let trimmed = path.trim_end_matches('/');
    if let Some(answer) = health::answer(core, trimmed, query) {
        return Ok(answer);
    }
    if let Some(answer) = issuer(core, trimmed) {
        return Ok(answer);
    }
    if let Some(answer) = documents::answer(core, trimmed, &parts.headers, accept) {
        return Ok(answer);
    }
    discovery::answer(core, trimmed, parts, accept)
}

/// What others need to know to check the tokens of service accounts by themselves.
fn issuer(core: &Core, path: &str) -> Option<Response<Body>> {
    let (document, media_type) = match path {
        "/.well-known/openid-configuration" => {
            (core.authenticator.openid_configuration(), "application/json")
        }
        "/openid/v1/jwks" => (core.authenticator.key_set(), "application/jwk-set+json"),
        _ => return None,
    };
    let mut response = output::plain(200, media_type, lynceus_object::json::to_vec(&document));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    Some(response)
}

/// The attributes of a request that is not about a resource.
fn path_attributes(method: &Method, path: &str) -> Attributes {
    Attributes {
        verb: method.as_str().to_ascii_lowercase().into(),
        path: path.into(),
        ..Attributes::default()
    }
}
