//! What is said where there is no page, or no such file.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

const HOW: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Lynceus</title>
<h1>Lynceus</h1>
<p>This build has no web page. To get it, install Node 20 or newer with npm, and build again with</p>
<pre>cargo build --release</pre>
<p>A build without --release has it with LYNCEUS_PAGE=1. The API is served at /api/v1, and the command lynceus app list
shows the same in a terminal.</p>
</html>
";

/// The page's place in a build without it.
pub(super) fn page() -> Response {
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    (StatusCode::OK, headers, HOW).into_response()
}

/// A file that is not there, in the words of the API, because most often a program asks for it.
pub(super) fn file(path: &str) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    let message = lynceus_object::value!({
        "code": 5,
        "error": format!("{path} is not served here"),
        "message": format!("{path} is not served here"),
    });
    (StatusCode::NOT_FOUND, headers, lynceus_object::json::to_vec(&message)).into_response()
}
