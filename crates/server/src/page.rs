//! The web page: files that are part of the program, put there by the build script.

mod answer;
mod missing;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;

/// A file of the page.
pub(crate) struct File {
    /// Where it is served: `/assets/index-abc.js`.
    path: &'static str,
    /// Its content type.
    kind: &'static str,
    /// What changes when the file does, in quotes.
    tag: &'static str,
    /// Whether the bytes are compressed with gzip.
    packed: bool,
    bytes: &'static [u8],
}

/// All files; none in a build without the page.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page, at every path that nothing else answers. A path of the page itself, such as that of an application, is its
/// `index.html`.
pub(crate) fn answer(request: &Request<Body>) -> Response {
    answer::answer(FILES, request)
}

#[cfg(test)]
mod tests;
