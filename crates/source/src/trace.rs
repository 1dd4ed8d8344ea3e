//! A span for each conversation with a server, by which others count and trace. Addresses are without credentials.

use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::error::SourceError;

/// The span of a conversation with a Git server.
pub(crate) fn git(repo: &str, request_type: &'static str, revision: &str) -> Span {
    info_span!(target: "lynceus::span", "git", repo, request_type, revision, error = Empty)
}

/// The span of a conversation with a registry.
pub(crate) fn oci(repo: &str, request_type: &'static str) -> Span {
    info_span!(target: "lynceus::span", "oci", repo, request_type, revision = "", error = Empty)
}

/// Has something done within a span, and writes down whether it went well. What went wrong is told to the one who asked: it
/// may name more than everybody who reads traces should know.
pub(crate) async fn within<T>(
    span: Span,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    let done = work.instrument(span.clone()).await;
    if done.is_err() {
        span.record("error", "failed");
    }
    done
}
