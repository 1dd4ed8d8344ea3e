//! What builds images inside the cluster, and whether it has.

use std::collections::HashMap;

use lynceus_object::{Object, ObjectKey, Str, Value};

use crate::case::Case;

/// Something that builds an image, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Builder {
    /// The cluster's address.
    pub(super) server: Str,
    /// What builds it.
    pub(super) key: ObjectKey,
    /// What is said of its last build: `Failed`, `Running`; empty if there was none.
    pub(super) state: String,
}

/// What builds which image.
pub(super) struct Builders(HashMap<String, Builder>);

impl Builders {
    /// What builds an image and has not done so yet.
    pub(super) fn of(&self, image: &str) -> Option<&Builder> {
        names(image).iter().find_map(|name| self.0.get(name))
    }
}

/// The names that an image goes by: with and without its registry if that is the one of the cluster itself, and without tag.
fn names(image: &str) -> Vec<String> {
    let (repository, tag) = super::pull::split(image);
    let inner = repository
        .split_once('/')
        .filter(|(host, _)| host.contains("image-registry") || host.contains(".svc"));
    let inner = inner.map(|(_, path)| format!("{path}:{tag}"));
    [Some(format!("{repository}:{tag}")), inner, Some(repository.to_owned())].into_iter().flatten().collect()
}

/// Everything that builds images and has not done so yet: what is there, and what is still to be applied.
pub(super) fn builders(case: &Case<'_>) -> Builders {
    let mut all = HashMap::new();
    for server in case.servers() {
        let states = builds(case, server);
        for (group, kind) in KINDS {
            for object in case.of_kind(server, group, kind) {
                note(&mut all, server, object, states.get(&object.key()).copied());
            }
        }
    }
    for app in case.apps() {
        for wanted in app.wanted().iter().filter(|one| case.is_absent(app.server(), &one.object.key())) {
            note(&mut all, app.server(), &wanted.object, None);
        }
    }
    Builders(all)
}

const KINDS: [(&str, &str); 4] = [
    ("build.openshift.io", "BuildConfig"),
    ("kpack.io", "Image"),
    ("shipwright.io", "Build"),
    ("image.openshift.io", "ImageStream"),
];

fn note(all: &mut HashMap<String, Builder>, server: &str, object: &Object, build: Option<&str>) {
    let Some(state) = unfinished(object, build) else { return };
    for image in outputs(object) {
        let builder = Builder { server: server.into(), key: object.key(), state: state.clone() };
        all.entry(image).or_insert(builder);
    }
}

/// How far something is that has not built its image yet; nothing if it has.
fn unfinished(object: &Object, build: Option<&str>) -> Option<String> {
    match object.kind() {
        "Image" => {
            let has_image =
                object.value().str_at(&["status", "latestImage"]).is_some_and(|image| !image.is_empty());
            (!has_image).then(String::new)
        }
        _ => match build {
            Some("Complete" | "Succeeded" | "True") => None,
            Some(state) => Some(state.to_owned()),
            None => Some(String::new()),
        },
    }
}

/// The images that something builds: `namespace/name:tag` for those of the cluster's own registry.
fn outputs(object: &Object) -> Vec<String> {
    let text = |path: &[&str]| object.value().str_at(path).filter(|text| !text.is_empty());
    match (object.group(), object.kind()) {
        ("build.openshift.io", "BuildConfig") => {
            let Some(name) = text(&["spec", "output", "to", "name"]) else { return Vec::new() };
            let namespace = text(&["spec", "output", "to", "namespace"]).unwrap_or(object.namespace());
            match text(&["spec", "output", "to", "kind"]) {
                Some("DockerImage") => vec![tagged(name)],
                _ => vec![format!("{namespace}/{}", tagged(name))],
            }
        }
        ("kpack.io", "Image") => text(&["spec", "tag"]).map(tagged).into_iter().collect(),
        ("shipwright.io", "Build") => text(&["spec", "output", "image"]).map(tagged).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn tagged(image: &str) -> String {
    let (repository, tag) = super::pull::split(image);
    format!("{repository}:{tag}")
}

/// How the builds of each build configuration are: that one is complete counts most, then the last one.
fn builds<'a>(case: &Case<'a>, server: &str) -> HashMap<ObjectKey, &'a str> {
    let mut states: HashMap<ObjectKey, &'a str> = HashMap::new();
    for build in case.of_kind(server, "build.openshift.io", "Build") {
        let name = build.value().str_at(&["status", "config", "name"]).or_else(|| build.label("buildconfig"));
        let state = build.value().str_at(&["status", "phase"]).unwrap_or_default();
        keep(
            &mut states,
            ObjectKey::new("build.openshift.io", "BuildConfig", build.namespace(), name.unwrap_or_default()),
            state,
        );
    }
    for run in case.of_kind(server, "shipwright.io", "BuildRun") {
        let name = [&["spec", "build", "name"][..], &["spec", "buildRef", "name"]];
        let name = name.iter().find_map(|path| run.value().str_at(path)).unwrap_or_default();
        let is_done = |one: &&Value| one.str_at(&["type"]) == Some("Succeeded");
        let condition = run.value().items_at(&["status", "conditions"]).iter().find(is_done);
        let state = match condition.and_then(|one| one.str_at(&["status"])) {
            Some("False") => "Failed",
            Some(state) => state,
            None => "Running",
        };
        keep(&mut states, ObjectKey::new("shipwright.io", "Build", run.namespace(), name), state);
    }
    states
}

fn keep<'a>(states: &mut HashMap<ObjectKey, &'a str>, key: ObjectKey, state: &'a str) {
    let known = states.entry(key).or_insert(state);
    if !matches!(*known, "Complete" | "True") {
        *known = state;
    }
}
