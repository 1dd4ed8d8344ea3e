//! Which applications something that was pushed concerns, and having them look again.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::StreamExt as _;
use lynceus_api::{Application, ApplicationSource, Glob, Kind as _, annotations};
use lynceus_engine::{application_gvk, application_kind};
use lynceus_object::{Object, value};
use lynceus_source::{Range, identity};
use tracing::{info, warn};

use super::event::Event;
use crate::server::Server;

/// How many applications are marked at the same time.
const AT_ONCE: usize = 8;

/// Has those applications look again that events concern. Gives their names, in order.
pub(super) async fn all(server: &Arc<Server>, events: &[Event]) -> Vec<String> {
    // A pull request moves nothing that an application follows.
    let events = events.iter().filter(|event| !event.is_pull);
    let events: Vec<(BTreeSet<String>, &Event)> = events.map(|event| (places(event), event)).collect();
    let objects = server.engine.home().cache().of_kind(&application_kind());
    let concerned: Vec<Object> = objects
        .into_iter()
        .filter(|object| is_ours(server, object) && is_concerned(object, &events))
        .collect();
    let names = concerned.iter().map(|object| object.name().to_owned()).collect();
    let marks: Vec<_> = concerned.into_iter().map(|object| mark(server.clone(), object)).collect();
    futures::stream::iter(marks).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    names
}

fn is_ours(server: &Server, object: &Object) -> bool {
    server.engine.settings().takes_applications_from(object.namespace(), server.namespace())
        && !object.annotation(annotations::REFRESH).is_some_and(|kind| matches!(kind, "normal" | "hard"))
}

/// Asks for a look. Whichever replica has the application's cluster will see it.
async fn mark(server: Arc<Server>, object: Object) {
    let patch = value!({"metadata": {"annotations": {annotations::REFRESH: "normal"}}});
    let home = server.engine.home();
    match home.patch_record(&application_gvk(), object.namespace(), object.name(), &patch).await {
        Ok(_) => info!(application = object.name(), "a webhook asks for a refresh"),
        Err(error) => {
            warn!(application = object.name(), error = lynceus_engine::words(&error), "cannot be refreshed");
        }
    }
}

/// The places that an event is about. An address on this machine is none: what is there is nobody's else to tell.
fn places(event: &Event) -> BTreeSet<String> {
    let is_remote = |url: &&String| {
        let lower = url.to_ascii_lowercase();
        ["http://", "https://", "ssh://", "oci://", "git@"].iter().any(|start| lower.starts_with(start))
    };
    event.urls.iter().filter(is_remote).map(|url| place(url)).collect()
}

fn place(url: &str) -> String {
    match url.strip_prefix("oci://") {
        Some(rest) => rest.trim_end_matches('/').to_lowercase(),
        None => identity(url),
    }
}

fn is_concerned(object: &Object, events: &[(BTreeSet<String>, &Event)]) -> bool {
    let Ok(application) = Application::from_object(object) else { return false };
    let mut sources = application.spec.all_sources();
    if let Some(hydrator) = &application.spec.source_hydrator {
        let dry = &hydrator.dry_source;
        sources.push(ApplicationSource {
            repo_url: dry.repo_url.clone(),
            path: dry.path.clone(),
            target_revision: dry.target_revision.clone(),
            ..ApplicationSource::default()
        });
    }
    let paths = object.annotation(annotations::MANIFEST_GENERATE_PATHS).unwrap_or_default();
    sources.iter().any(|source| {
        let at = source_place(source);
        events.iter().any(|(places, event)| {
            places.contains(&at) && follows(source, event) && touches(source, paths, event)
        })
    })
}

/// Where a source is, as events name it.
fn source_place(source: &ApplicationSource) -> String {
    let url = source.repo_url.as_str();
    let is_local =
        url.starts_with('/') || url.starts_with('.') || url.to_ascii_lowercase().starts_with("file:");
    match (is_local, source.chart.is_empty()) {
        (true, _) => String::new(),
        (false, true) => place(url),
        (false, false) => {
            let host = url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/');
            format!("{host}/{}", source.chart).to_lowercase()
        }
    }
}

/// Whether a source follows what was pushed.
fn follows(source: &ApplicationSource, event: &Event) -> bool {
    match source.target_revision.trim() {
        "" | "HEAD" => event.is_default,
        wanted if wanted == event.reference || wanted == event.name() => true,
        // Which tag a range comes to is found out by the look.
        wanted => event.is_tag() && Range::parse(wanted).is_some(),
    }
}

/// Whether what was pushed touches the paths that an application says it is made of.
fn touches(source: &ApplicationSource, paths: &str, event: &Event) -> bool {
    let paths: Vec<&str> = paths.split(';').map(str::trim).filter(|path| !path.is_empty()).collect();
    let Some(files) = event.files.as_ref().filter(|files| !files.is_empty() && !paths.is_empty()) else {
        return true;
    };
    let wanted: Vec<String> = paths.iter().map(|path| from_root(&source.path, path)).collect();
    files.iter().any(|file| wanted.iter().any(|path| lies_in(file, path)))
}

/// A path from the root of the repository. One that begins with a slash is there already.
fn from_root(base: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn lies_in(file: &str, path: &str) -> bool {
    path.is_empty()
        || file == path
        || file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        || (path.contains(['*', '?', '[', '{']) && Glob::new(path).is_ok_and(|glob| glob.matches(file)))
}
