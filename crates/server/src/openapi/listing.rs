//! The description for people: each way with what it needs, and where the whole of it is.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use super::operation::{needs, path, ways};
use crate::rights;

/// Nothing is loaded from anywhere, nothing runs.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let mut rows = String::new();
    for (method, way) in ways() {
        let (service, name) = method.id();
        let needs = needs(rights::of(method)).replace('`', "");
        // Writing to a text cannot fail; all of it is of the table, which has nothing of HTML in it.
        let _ = writeln!(
            rows,
            "<tr><td>{}<td><code>{}</code><td>{service}.{name}<td>{needs}",
            way.verb,
            path(way)
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>The API of Lynceus</title>\n\
         <h1>The API of Lynceus</h1>\n<p>All of it, for programs: <a href=\"/swagger.json\">swagger.json</a></p>\n\
         <table>\n<tr><th>verb<th>path<th>method<th>who may\n{rows}</table>\n</html>\n"
    )
});

/// The page.
pub(super) async fn page() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, PAGE.as_str()).into_response()
}
