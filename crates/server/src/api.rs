//! Everything that the server answers, on one port: Argo CD's REST and gRPC, ours beside them, probes and the page.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;

use crate::auth;
use crate::badge;
use crate::cookie;
use crate::grpc::{self, Dialect};
use crate::listen::Secure;
use crate::openapi;
use crate::origin;
use crate::page;
use crate::probe::{Vitals, health};
use crate::rest;
use crate::server::Server;
use crate::webhook;

/// The router of all of it.
pub fn api(server: Arc<Server>, vitals: Arc<dyn Vitals>) -> Router {
    let auth = auth::auth(server.clone());
    let methods = Router::new().fallback(answer).with_state(server.clone());
    let beside = openapi::route().merge(badge::route(server.clone())).merge(webhook::route(server));
    let elsewhere = Router::new().route("/metrics", any(measured_elsewhere));
    let all = health(vitals).merge(elsewhere).merge(auth).merge(beside).merge(methods);
    all.layer(axum::middleware::from_fn(guarded))
}

/// What holds for every answer, whoever gives it.
async fn guarded(request: Request<Body>, next: Next) -> Response {
    let is_secure = request.extensions().get::<Secure>().is_some()
        || request.headers().get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let mut response = match origin::check(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => rest::refused(&refusal),
    };
    guard(response.headers_mut());
    if is_secure {
        cookie::secure(response.headers_mut());
    }
    response
}

async fn answer(State(server): State<Arc<Server>>, request: Request<Body>) -> Response {
    match Dialect::of(request.headers()) {
        Some(dialect) => grpc::answer(&server, dialect, request).await,
        None if request.uri().path().starts_with("/api/") => rest::answer(&server, request).await,
        None => page::answer(&request),
    }
}

/// What is measured is told where `--metrics-listen` says: here it would be for everybody who may open the page.
async fn measured_elsewhere() -> Response {
    (StatusCode::NOT_FOUND, "metrics are served on the address of --metrics-listen\n").into_response()
}

/// What browsers are told of every answer.
fn guard(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    // What brings its own, as the page does, knows better.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("frame-ancestors 'none'"));
}
