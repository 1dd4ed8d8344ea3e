//! An object that cannot be made because its namespace is not there waits for that.

use std::collections::{BTreeMap, HashSet};

use lynceus_api::options;
use lynceus_object::{ObjectKey, Str};

use crate::case::{App, Case};
use crate::graph::Graph;
use crate::node::Node;

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    for ((server, name), users) in missing(case) {
        let namespace = Node::object(server, key_of(&name));
        for user in users {
            graph.link(user.app.node(), namespace.clone());
            for object in user.objects {
                graph.link(case.node(server, &object), namespace.clone());
            }
        }
    }
}

/// Somebody who needs a namespace that is not there.
pub(crate) struct User<'c, 'a> {
    /// The application.
    pub(crate) app: &'c App<'a>,
    /// Its objects there, as far as they are known.
    pub(crate) objects: Vec<ObjectKey>,
    /// What its controller was told of it.
    pub(crate) told: Option<&'a str>,
}

/// A Namespace by name.
pub(crate) fn key_of(name: &str) -> ObjectKey {
    ObjectKey::new("", "Namespace", "", name)
}

/// The namespaces that are not there and that applications which are not fine need.
pub(crate) fn missing<'c, 'a>(case: &'c Case<'a>) -> BTreeMap<(&'a str, Str), Vec<User<'c, 'a>>> {
    let there = Existing::new(case);
    let mut all: BTreeMap<(&'a str, Str), Vec<User<'c, 'a>>> = BTreeMap::new();
    for app in case.apps().filter(|app| !app.is_fine()) {
        for (name, user) in of_app(app, &there) {
            all.entry((app.server(), name)).or_default().push(user);
        }
    }
    all
}

fn of_app<'c, 'a>(app: &'c App<'a>, there: &Existing<'_>) -> BTreeMap<Str, User<'c, 'a>> {
    let mut all: BTreeMap<Str, User<'c, 'a>> = BTreeMap::new();
    let new = || User { app, objects: Vec::new(), told: None };
    for wanted in app.wanted() {
        let namespace = wanted.object.namespace();
        if !makes_its_own(app, namespace) && there.lacks(app.server(), namespace) {
            all.entry(namespace.into()).or_insert_with(new).objects.push(wanted.object.key());
        }
    }
    for (object, text) in app.complaints() {
        for name in not_found(text).filter(|name| !there.has(app.server(), name)) {
            let user = all.entry(name.into()).or_insert_with(new);
            user.told.get_or_insert(text);
            user.objects.extend(object.clone().filter(|key| key.namespace == name));
        }
    }
    all
}

/// Whether a sync of the application makes a namespace by itself.
fn makes_its_own(app: &App<'_>, namespace: &str) -> bool {
    let application = app.application();
    application.spec.destination.namespace == namespace
        && application.sync_options().has(options::sync::CREATE_NAMESPACE)
}

/// `namespaces "shop" not found`, as API servers say it.
fn not_found(text: &str) -> impl Iterator<Item = &str> {
    text.split("namespaces \"").skip(1).filter_map(|part| {
        let (name, rest) = part.split_once('"')?;
        rest.starts_with(" not found").then_some(name)
    })
}

/// The namespaces that are there.
struct Existing<'a> {
    named: HashSet<(&'a str, &'a str)>,
    /// The clusters of which it is known which namespaces they have.
    known: HashSet<&'a str>,
}

impl<'a> Existing<'a> {
    fn new(case: &Case<'a>) -> Self {
        let mut existing = Existing { named: HashSet::new(), known: HashSet::new() };
        for server in case.servers() {
            let namespaces = case.of_kind(server, "", "Namespace");
            existing.named.extend(namespaces.iter().map(|one| (server, one.name())));
            // Where something is, there is its namespace.
            let objects = case.objects(server).iter().filter(|one| one.kind() != "Event");
            existing.named.extend(objects.map(|one| (server, one.namespace())));
            if !namespaces.is_empty() && case.is_absent(server, &key_of("")) {
                existing.known.insert(server);
            }
        }
        existing
    }

    fn has(&self, server: &str, name: &str) -> bool {
        self.named.contains(&(server, name))
    }

    fn lacks(&self, server: &str, name: &str) -> bool {
        !name.is_empty() && self.known.contains(server) && !self.has(server, name)
    }
}

/// The namespaces that somebody brings: by a Namespace or what stands for one, or as the namespace of an application that
/// makes its own.
pub(crate) fn brought<'a>(case: &Case<'a>) -> HashSet<(&'a str, Str)> {
    let mut brought = HashSet::new();
    for app in case.apps() {
        let destination = &app.application().spec.destination.namespace;
        if makes_its_own(app, destination) {
            brought.insert((app.server(), destination.clone()));
        }
        let wanted = app.wanted().iter().map(|one| one.object.key());
        let listed = app.resources().filter(|(_, one)| !one.requires_pruning).map(|(key, _)| key);
        for key in wanted.chain(listed) {
            if brings(&key) {
                brought.insert((app.server(), key.name));
            }
        }
    }
    brought
}

/// Whether an object is a namespace or may make one of its own name, as profiles, tenants and projects do.
fn brings(key: &ObjectKey) -> bool {
    let is_custom = key.group.contains('.') && !key.group.ends_with(".k8s.io");
    (key.group.is_empty() && key.kind == "Namespace")
        || (is_custom && key.namespace.is_empty())
        || matches!(key.kind.as_str(), "ProjectRequest" | "SubnamespaceAnchor")
}
