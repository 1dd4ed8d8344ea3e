//! What is answered to a request for the page.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{File, missing};

/// What a browser may do with the page: run and load what this server sends, and speak to this server. Nothing that is
/// written into the document is run or taken for a style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Paths that are never the page's: who asks there wants data, and would take the page for an answer.
const OTHERS: [&str; 4] = ["/api", "/auth", "/swagger-ui", "/terminal"];

/// For files whose name changes with their content.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Answers a request for any path.
pub(super) fn answer(files: &'static [File], request: &Request) -> Response {
    let mut response = match *request.method() {
        Method::GET | Method::HEAD => found(files, request.uri().path(), request.headers()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response(),
    };
    guard(response.headers_mut());
    if request.method() == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    response
}

fn found(files: &'static [File], path: &str, asked: &HeaderMap) -> Response {
    let of = |wanted: &str| files.iter().find(|file| file.path == wanted);
    match of(path) {
        Some(file) => send(file, asked),
        // A hashed file of another version of the page: the page instead of it would be run as a program.
        None if path.starts_with("/assets/") || is_others(path) => missing::file(path),
        None => of("/index.html").map_or_else(missing::page, |index| send(index, asked)),
    }
}

fn is_others(path: &str) -> bool {
    OTHERS
        .iter()
        .any(|other| path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn send(file: &'static File, asked: &HeaderMap) -> Response {
    let text = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    if file.packed && text(header::ACCEPT_ENCODING).is_some_and(|accepted| !takes_gzip(accepted)) {
        return (StatusCode::NOT_ACCEPTABLE, "this file is only sent with gzip").into_response();
    }
    let lifetime = if file.path.starts_with("/assets/") { FOREVER } else { "no-cache" };
    let known =
        text(header::IF_NONE_MATCH).is_some_and(|tags| tags.split(',').any(|tag| is_tag(tag, file.tag)));
    let mut response = match known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, file.kind)], file.bytes).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::from_static(file.tag));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(lifetime));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if file.packed && !known {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether a tag that a browser kept is this one. One that a proxy made weak is as good here.
fn is_tag(kept: &str, tag: &str) -> bool {
    let kept = kept.trim();
    kept == "*" || kept.strip_prefix("W/").unwrap_or(kept) == tag
}

/// Whether `gzip, deflate;q=0.5` takes gzip. Who says nothing takes anything.
fn takes_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|one| {
        let (coding, weight) = one.split_once(';').unwrap_or((one, ""));
        let refused = matches!(weight.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        matches!(coding.trim(), "gzip" | "x-gzip" | "*") && !refused
    })
}

/// What browsers are told of every answer.
fn guard(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
