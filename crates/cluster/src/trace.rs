//! A span for each request, by which others count and trace. It names no values: a path holds names of objects only.

use std::time::Duration;

use http::Method;
use lynceus_object::{GroupKind, Value};
use tracing::field::Empty;
use tracing::{Span, info, info_span};

use crate::error::ClusterError;
use crate::turn::application;

/// The span of a request to a server, for which somebody waited until it was their turn.
pub(crate) fn request(server: &str, method: &Method, path: &str, waited: Duration) -> Span {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let place = Place::of(path);
    let dry_run = query.split('&').any(|part| part.starts_with("dryRun="));
    let application = application();
    info_span!(
        target: "lynceus::span",
        "request",
        server,
        method = method.as_str(),
        verb = verb(method, place.is_named),
        kind = place.kind,
        namespace = place.namespace,
        dry_run,
        application = application.as_str(),
        waited = waited.as_secs_f64(),
        sent = Empty,
        received = Empty,
        project = Empty,
        code = Empty,
        error = Empty,
    )
}

/// Writes down how a request went.
pub(crate) fn tell(span: &Span, answer: &Result<Value, ClusterError>) {
    match answer {
        Ok(_) => {
            span.record("code", "200");
        }
        Err(ClusterError::Refused(refusal)) => {
            let code = refusal.code.to_string();
            span.record("code", code.as_str()).record("error", refusal.reason.as_str());
        }
        // It may name an address, which is not for everybody who reads traces.
        Err(_) => {
            span.record("code", "0").record("error", "no answer");
        }
    }
}

/// Writes down how much was sent and received with the request that is under way, in bytes.
pub(crate) fn weigh(sent: usize, received: usize) {
    Span::current().record("sent", sent).record("received", received);
}

/// Measures a request that is made again because of what the server said to it.
pub(crate) fn again(server: &str, method: &Method, code: u16) {
    info!(target: "lynceus::measure", server, method = method.as_str(), code, "request again");
}

/// Measures an event of a watch that was taken.
pub(crate) fn event(server: &str, kind: &GroupKind, took: Duration) {
    let (group, kind, seconds) = (kind.group.as_str(), kind.kind.as_str(), took.as_secs_f64());
    info!(target: "lynceus::measure", server, group, kind, seconds, "resource event");
}

/// What a path is about.
#[derive(Debug, Default, PartialEq, Eq)]
struct Place<'p> {
    namespace: &'p str,
    kind: &'p str,
    is_named: bool,
}

impl<'p> Place<'p> {
    fn of(path: &'p str) -> Self {
        let mut pieces = path.trim_matches('/').split('/');
        let skipped = match pieces.next() {
            Some("api") => 1,
            Some("apis") => 2,
            _ => return Place::default(),
        };
        let rest: Vec<&str> = pieces.skip(skipped).collect();
        match rest[..] {
            ["namespaces", namespace, kind, ref below @ ..] => {
                Place { namespace, kind, is_named: !below.is_empty() }
            }
            [kind, ref below @ ..] => Place { namespace: "", kind, is_named: !below.is_empty() },
            [] => Place::default(),
        }
    }
}

/// What Kubernetes calls it.
fn verb(method: &Method, is_named: bool) -> &'static str {
    match (method.as_str(), is_named) {
        ("GET", true) => "Get",
        ("GET", false) => "List",
        ("POST", _) => "Create",
        ("PUT", _) => "Update",
        ("PATCH", _) => "Patch",
        ("DELETE", _) => "Delete",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_it_is_about() {
        let place = |namespace, kind, is_named| Place { namespace, kind, is_named };
        assert_eq!(Place::of("/api/v1/namespaces/shop/pods/web"), place("shop", "pods", true));
        assert_eq!(Place::of("/apis/apps/v1/deployments"), place("", "deployments", false));
        assert_eq!(Place::of("/api/v1/namespaces/shop"), place("", "namespaces", true));
        assert_eq!(Place::of("/version"), Place::default());
        assert_eq!(verb(&Method::GET, false), "List");
    }
}
