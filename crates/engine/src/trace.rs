//! Spans and measurements of what the engine does, by which others count and trace.

use lynceus_api::{Application, OperationState};
use lynceus_cluster::Cache;
use tracing::{Span, info, info_span};

use crate::key::AppKey;

/// The span of a look at an application with everything that follows from it.
pub(crate) fn reconcile(cache: &Cache, key: &AppKey) -> Span {
    let object = cache.get(&key.object_key());
    let text =
        |path: &[&str]| object.as_ref().and_then(|object| object.value().str_at(path)).unwrap_or_default();
    let server = match text(&["spec", "destination", "server"]) {
        "" => text(&["spec", "destination", "name"]),
        server => server,
    };
    info_span!(
        target: "lynceus::span",
        "reconcile",
        namespace = key.namespace.as_str(),
        name = key.name.as_str(),
        project = text(&["spec", "project"]),
        dest_server = server,
    )
}

/// Measures a sync that has ended. It may have begun in another process, so that no span can be around it.
pub(crate) fn synced(application: &Application, state: &OperationState) {
    let (key, spec) = (AppKey::of(application), &application.spec);
    let server =
        if spec.destination.server.is_empty() { &spec.destination.name } else { &spec.destination.server };
    let took = state.finished_at.zip(state.started_at);
    let seconds = took.map_or(0, |(end, begin)| end.timestamp().duration_since(begin.timestamp()).as_secs());
    let dry_run = state.operation.sync.as_ref().is_some_and(|sync| sync.dry_run);
    info!(
        target: "lynceus::measure",
        namespace = key.namespace.as_str(),
        name = key.name.as_str(),
        project = spec.project.as_str(),
        dest_server = server.as_str(),
        phase = %state.phase,
        dry_run,
        seconds,
        "sync",
    );
}
