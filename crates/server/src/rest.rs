//! The API over REST: JSON in, JSON out, streams line by line or as events.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream, StreamExt as _};
use lynceus_object::{Value, json, value};

use crate::body;
use crate::call::Answer;
use crate::fields::Fields;
use crate::limits;
use crate::method::{Method, methods};
use crate::refusal::{Code, Refusal};
use crate::request;
use crate::server::Server;
use crate::shape::Shape;

/// Answers a request.
pub(crate) async fn answer(server: &Arc<Server>, request: Request<Body>) -> Response {
    match answered(server, request).await {
        Ok(response) => response,
        Err(refusal) => refused(&refusal),
    }
}

async fn answered(server: &Arc<Server>, request: Request<Body>) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let path = request::pieces(parts.uri.path());
    let Some(found) = methods().by_path(parts.method.as_str(), &path) else {
        if methods().knows(&path) {
            let refusal = Refusal::new(Code::Unimplemented, format!("{} is not for this path", parts.method));
            return Ok(said(StatusCode::METHOD_NOT_ALLOWED, &error(&refusal)));
        }
        return Err(Refusal::not_found(format!("{} is not served here", parts.uri.path())));
    };
    let changes = !matches!(parts.method.as_str(), "GET" | "HEAD");
    if changes && !is_json(&parts.headers) {
        // A form of another page can send anything but this type, and cookies go with it.
        let refusal = Refusal::invalid("Invalid content type: it has to be application/json");
        return Ok(said(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error(&refusal)));
    }
    server.admit(found.method, &parts.headers).await?;
    let body = body::collect(body, limits::BODY).await?;
    let query = parts.uri.query().unwrap_or_default();
    let message = request::read(&found, query, &body)?;
    let shape = Shape::of(query, &parts.headers);
    match server.answer(found.method, &parts.headers, message).await? {
        Answer::One(value) => Ok(one(found.method, value, &shape)),
        Answer::List(list) => Ok(shape.sent_list(list)),
        Answer::Many(values) => Ok(many(&parts.headers, values, shape.fields.map(Fields::of_stream))),
    }
}

/// Requests without a body have no type either.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn one(method: &Method, value: Value, shape: &Shape) -> Response {
    // Reports of ours are what they are; on the wire of gRPC they need a message around them.
    let bare = method.is_report().then(|| value.get("report").cloned()).flatten();
    let value = bare.unwrap_or(value);
    let mut response = shape.sent(value.clone());
    crate::cookie::of_session(method, &value, response.headers_mut());
    response
}

/// A stream: as events for those that ask for them, as lines otherwise.
fn many(
    headers: &HeaderMap,
    values: BoxStream<'static, Result<Value, Refusal>>,
    fields: Option<Fields>,
) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let events = accepted.contains("text/event-stream");
    let lines = values.map(move |value| {
        let line = match value {
            Ok(value) => {
                let value = fields.as_ref().map_or_else(|| value.clone(), |fields| fields.of(&value));
                format!("{{\"result\":{}}}", json::to_string(&value))
            }
            Err(refusal) => json::to_string(&value!({"error": error(&refusal)})),
        };
        let line = if events { format!("data: {line}\n\n") } else { format!("{line}\n") };
        Ok::<Bytes, std::convert::Infallible>(line.into())
    });
    let kind = if events { "text/event-stream" } else { "application/json" };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")];
    // Something is sent at once, so that clients see the connection open before anything happens.
    let first = stream::iter(events.then(|| Ok(Bytes::from_static(b":\n\n"))));
    (headers, Body::from_stream(first.chain(beating(lines.boxed(), events)))).into_response()
}

/// A stream of events that says now and then that it is still there.
fn beating(
    lines: BoxStream<'static, Result<Bytes, std::convert::Infallible>>,
    events: bool,
) -> BoxStream<'static, Result<Bytes, std::convert::Infallible>> {
    if !events {
        return lines;
    }
    stream::unfold(lines, |mut lines| async move {
        match tokio::time::timeout(limits::BEAT, lines.next()).await {
            Ok(None) => None,
            Ok(Some(line)) => Some((line, lines)),
            Err(_) => Some((Ok(Bytes::from_static(b":\n\n")), lines)),
        }
    })
    .boxed()
}

/// A refusal as Argo CD says it.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    said(refusal.code.status(), &error(refusal))
}

fn error(refusal: &Refusal) -> Value {
    let message = refusal.message.as_str();
    value!({"code": i64::from(refusal.code.number()), "error": message, "message": message})
}

pub(crate) fn said(status: StatusCode, body: &Value) -> Response {
    let mut response = json(json::to_vec(body).into(), false);
    *response.status_mut() = status;
    response
}

/// A text of JSON, which may be packed.
pub(crate) fn json(body: Body, is_packed: bool) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    let mut response = (headers, body).into_response();
    if is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    response
}
