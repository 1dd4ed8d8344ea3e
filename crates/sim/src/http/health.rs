//! Whether the server is well, which version it speaks, and a few numbers.

use std::fmt::Write;

use http::Response;
use lynceus_object::{json, value};

use super::output::plain;
use super::query::Query;
use super::{Body, output};
use crate::core::Core;
use crate::view::View;

const TEXT: &str = "text/plain; charset=utf-8";

/// What can be wrong: a name and whether it is well.
fn checks(core: &Core) -> [(&'static str, bool); 3] {
    [("ping", true), ("log", true), ("store", core.store.is_writable())]
}

/// Answers the paths of this module.
pub(super) fn answer(core: &Core, path: &str, query: &Query) -> Option<Response<Body>> {
    match path {
        "/version" => return Some(version(core)),
        "/metrics" => return Some(metrics(core)),
        "" => return Some(paths(core)),
        _ => {}
    }
    let (endpoint, check) = match path.strip_prefix('/')?.split_once('/') {
        Some((endpoint, check)) => (endpoint, Some(check)),
        None => (path.strip_prefix('/')?, None),
    };
    if !matches!(endpoint, "healthz" | "livez" | "readyz") {
        return None;
    }
    let checks = checks(core);
    if let Some(check) = check {
        let (_, well) = checks.iter().find(|(name, _)| *name == check)?;
        return Some(if *well { plain(200, TEXT, "ok") } else { plain(500, TEXT, "internal server error") });
    }
    Some(summary(endpoint, &checks, query))
}

fn summary(endpoint: &str, checks: &[(&str, bool)], query: &Query) -> Response<Body> {
    let excluded: Vec<&str> = query.all("exclude").collect();
    let mut lines = String::new();
    let mut failed = false;
    for (name, well) in checks {
        let (mark, word) = match (excluded.contains(name), well) {
            (true, _) => ("[+]", "excluded: ok"),
            (false, true) => ("[+]", "ok"),
            (false, false) => ("[-]", "failed: reason withheld"),
        };
        failed |= mark == "[-]";
        let _ = writeln!(lines, "{mark}{name} {word}");
    }
    if failed {
        return plain(500, TEXT, format!("{lines}{endpoint} check failed\n"));
    }
    if query.flag("verbose").is_some() || query.get("verbose") == Some("") {
        return plain(200, TEXT, format!("{lines}{endpoint} check passed\n"));
    }
    plain(200, TEXT, "ok")
}

/// The Kubernetes whose behaviour is followed, or the one that the cluster began as.
fn version(core: &Core) -> Response<Body> {
    let snapshot = core.stage.snapshot.as_deref().filter(|snapshot| !snapshot.version.is_null());
    if let Some(snapshot) = snapshot {
        return plain(200, "application/json", json::to_string_pretty(&snapshot.version, 2));
    }
    let version = value!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.3", "gitCommit": env!("CARGO_PKG_VERSION"), "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc",
        "platform": concat!("linux/", "amd64"),
    });
    plain(200, "application/json", json::to_string_pretty(&version, 2))
}

fn metrics(core: &Core) -> Response<Body> {
    let mut text = String::from(
        "# HELP apiserver_storage_objects Objects stored, by resource.\n# TYPE apiserver_storage_objects gauge\n",
    );
    for place in core.store.places() {
        let count = core.store.list(&place.group, &place.resource, None).len();
        let dot = if place.group.is_empty() { "" } else { "." };
        let _ = writeln!(
            text,
            "apiserver_storage_objects{{resource=\"{}{dot}{}\"}} {count}",
            place.resource, place.group
        );
    }
    let _ =
        writeln!(text, "# TYPE lynceus_sim_revision counter\nlynceus_sim_revision {}", core.store.revision());
    plain(200, "text/plain; version=0.0.4; charset=utf-8", text)
}

/// The list of paths at the root.
fn paths(core: &Core) -> Response<Body> {
    let mut paths: Vec<String> = [
        "/api",
        "/api/v1",
        "/apis",
        "/apis/",
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    ]
    .map(String::from)
    .into();
    for (group, versions) in core.registry().groups().into_iter().filter(|(group, _)| !group.is_empty()) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    paths.sort();
    output::json_response(&value!({"paths": paths}), "RootPaths")
}
