//! The description of the API in the form that generators of clients read: Swagger 2.0, where Argo CD serves it, made of the
//! table that the methods are served by. It is the same for everybody and tells nothing of the installation.

mod listing;
mod model;
mod operation;

use std::sync::LazyLock;

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use lynceus_object::{Value, json, value};

use crate::shape::{packed, takes_gzip};

use self::model::Models;

/// `/swagger.json`, and `/swagger-ui` for people.
pub(crate) fn route() -> Router {
    Router::new().route("/swagger.json", get(document)).route("/swagger-ui", get(listing::page))
}

/// The description with its compressed form, written once.
static WRITTEN: LazyLock<(Vec<u8>, Option<Vec<u8>>)> = LazyLock::new(|| {
    let plain = json::to_vec(&described());
    let small = packed(&plain);
    (plain, small)
});

async fn document(headers: HeaderMap) -> Response {
    let (plain, small) = &*WRITTEN;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut response = match small {
        Some(small) if takes_gzip(&headers) => {
            let packed = [(header::CONTENT_ENCODING, "gzip")];
            (kind, packed, small.as_slice()).into_response()
        }
        _ => (kind, plain.as_slice()).into_response(),
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// The whole description.
pub(crate) fn described() -> Value {
    let mut models = Models::default();
    let paths = operation::paths(&mut models);
    value!({
        "swagger": "2.0",
        "info": {
            "title": "Lynceus",
            "description": "Argo CD's API as Lynceus answers it, and what Lynceus answers beside it.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": {"token": {"type": "apiKey", "name": "Authorization", "in": "header",
            "description": "Bearer, a space, and the token of a session, an account or a project's role."}},
        "security": [{"token": []}],
        "parameters": operation::shared(),
        "paths": paths,
        "definitions": models.into_definitions(),
    })
}

#[cfg(test)]
mod tests;
