//! A span for each conversation with a server, by which others count and trace. Addresses are without credentials.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info, info_span};

use crate::error::SourceError;

/// The span of a conversation with a Git server.
pub(crate) fn git(repo: &str, request_type: &'static str, revision: &str) -> Span {
    info_span!(target: "lynceus::span", "git", repo, request_type, revision, error = Empty)
}

/// The span of a conversation with a registry.
pub(crate) fn oci(repo: &str, request_type: &'static str) -> Span {
    info_span!(target: "lynceus::span", "oci", repo, request_type, revision = "", error = Empty)
}

/// Measures a request to GitHub, which marks its answers, and what it says of how many more there may be. Others are passed over.
pub(crate) fn github(method: &str, endpoint: &str, status: u16, headers: &HeaderMap, took: Duration) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if text("x-github-request-id").is_empty() {
        return;
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let reset = text("x-ratelimit-reset").parse::<u64>().map(|at| at.saturating_sub(now).to_string());
    info!(
        target: "lynceus::measure",
        method,
        endpoint,
        status,
        resource = text("x-ratelimit-resource"),
        limit = text("x-ratelimit-limit"),
        remaining = text("x-ratelimit-remaining"),
        used = text("x-ratelimit-used"),
        reset = reset.unwrap_or_default(),
        seconds = took.as_secs_f64(),
        "github",
    );
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
