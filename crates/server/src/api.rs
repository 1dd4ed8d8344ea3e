//! Everything that the server answers, on one port: Argo CD's REST and gRPC, ours beside them, probes and the page.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use axum::response::Response;

use crate::grpc::{self, Dialect};
use crate::page;
use crate::probe::{Vitals, probes};
use crate::rest;
use crate::server::Server;

/// The router of all of it.
pub fn api(server: Arc<Server>, vitals: Arc<dyn Vitals>) -> Router {
    probes(vitals).merge(Router::new().fallback(answer).with_state(server))
}

async fn answer(State(server): State<Arc<Server>>, request: Request<Body>) -> Response {
    let mut response = match Dialect::of(request.headers()) {
        Some(dialect) => grpc::answer(&server, dialect, request).await,
        None if request.uri().path().starts_with("/api/") => rest::answer(&server, request).await,
        // It has headers of its own.
        None => return page::answer(&request),
    };
    guard(response.headers_mut());
    response
}

/// What browsers are told of every answer.
fn guard(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}
