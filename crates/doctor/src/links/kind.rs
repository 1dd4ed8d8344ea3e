//! An object of a kind that is not served waits for the kind, and that for whoever brings its definition.

use std::collections::{BTreeMap, HashMap};

use lynceus_object::{GroupKind, Object, ObjectKey, Str, split_api_version};

use crate::case::{App, Case};
use crate::graph::Graph;
use crate::node::{AppName, Node};

pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";
pub(crate) const DEFINITION: &str = "CustomResourceDefinition";

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    let providers = Providers::new(case);
    for ((server, kind), users) in unserved(case) {
        let node = Node::Kind { cluster: server.into(), kind: kind.clone() };
        for user in users {
            graph.link(user.app.node(), node.clone());
            if let Some(object) = user.object {
                graph.link(case.node(server, &object), node.clone());
            }
        }
        for provider in providers.of(server, &kind) {
            let definition = case.node(server, &provider.definition);
            graph.link(node.clone(), definition.clone());
            graph.link(definition, Node::Application(provider.app.clone()));
        }
    }
}

/// Somebody who has an object of a kind that is not served.
pub(crate) struct User<'c, 'a> {
    /// The application.
    pub(crate) app: &'c App<'a>,
    /// The object, where it is known.
    pub(crate) object: Option<ObjectKey>,
    /// What its controller was told of it.
    pub(crate) told: Option<&'a str>,
}

/// The kinds that a cluster does not serve and somebody wants, as discovery or failed syncs tell.
pub(crate) fn unserved<'c, 'a>(case: &'c Case<'a>) -> BTreeMap<(&'a str, GroupKind), Vec<User<'c, 'a>>> {
    let mut all: BTreeMap<(&'a str, GroupKind), Vec<User<'c, 'a>>> = BTreeMap::new();
    for app in case.apps() {
        let server = app.server();
        for wanted in app.wanted() {
            let kind = wanted.object.group_kind();
            if case.serves(server, &kind) == Some(false) {
                let user = User { app, object: Some(wanted.object.key()), told: None };
                all.entry((server, kind)).or_default().push(user);
            }
        }
        for (object, text) in app.complaints() {
            for (gvk_kind, _) in told(text, object.as_ref()) {
                if case.serves(server, &gvk_kind) != Some(true) {
                    let object = object.clone().filter(|key| key.group_kind() == gvk_kind);
                    let user = User { app, object, told: Some(text) };
                    all.entry((server, gvk_kind)).or_default().push(user);
                }
            }
        }
    }
    all
}

/// The kinds that a text says the server does not know, each with its version where that is said.
pub(crate) fn told(text: &str, object: Option<&ObjectKey>) -> Vec<(GroupKind, Option<Str>)> {
    let mut kinds: Vec<(GroupKind, Option<Str>)> = Vec::new();
    for part in text.split("Kubernetes API could not find ").skip(1) {
        let named = part.split_once(" for requested resource ").map(|(kind, _)| kind);
        if let Some((group, kind)) = named.and_then(|name| name.rsplit_once('/')) {
            kinds.push((GroupKind::new(group, kind), None));
        }
    }
    for part in text.split("no matches for kind \"").skip(1) {
        let mut quoted = part.split('"');
        let kind = quoted.next().unwrap_or_default();
        if quoted.next() == Some(" in version ") {
            let (group, version) = split_api_version(quoted.next().unwrap_or_default());
            kinds.push((GroupKind::new(group, kind), Some(version.into())));
        }
    }
    if kinds.is_empty() && text.contains("the server could not find the requested resource") {
        kinds.extend(object.map(|key| (key.group_kind(), None)));
    }
    kinds.sort();
    kinds.dedup();
    kinds
}

/// An application that brings a definition.
pub(crate) struct Provider {
    /// The application.
    pub(crate) app: AppName,
    /// The definition.
    pub(crate) definition: ObjectKey,
}

/// Who brings which definitions.
#[derive(Default)]
pub(crate) struct Providers<'a> {
    by_kind: HashMap<(&'a str, GroupKind), Vec<Provider>>,
    /// By server and group, where only the names of definitions are known.
    by_group: HashMap<(&'a str, Str), Vec<Provider>>,
}

impl<'a> Providers<'a> {
    /// The definitions that applications want, or list in their status where their sources were not read.
    pub(crate) fn new(case: &Case<'a>) -> Self {
        let mut providers = Providers::default();
        for app in case.apps() {
            for wanted in app.wanted() {
                for kind in defined(&wanted.object).into_iter().chain(made(&wanted.object)) {
                    let provider = Provider { app: app.name.clone(), definition: wanted.object.key() };
                    providers.by_kind.entry((app.server(), kind)).or_default().push(provider);
                }
            }
            if !app.delivery.rendered {
                providers.listed(app);
            }
        }
        providers
    }

    fn listed(&mut self, app: &App<'a>) {
        let definitions = app.resources().filter(|(key, one)| {
            (key.group.as_str(), key.kind.as_str()) == (DEFINITIONS, DEFINITION) && !one.requires_pruning
        });
        for (definition, _) in definitions {
            if let Some((_, group)) = definition.name.clone().split_once('.') {
                let provider = Provider { app: app.name.clone(), definition };
                self.by_group.entry((app.server(), group.into())).or_default().push(provider);
            }
        }
    }

    /// Who brings the definition of a kind.
    pub(crate) fn of(&self, server: &'a str, kind: &GroupKind) -> Vec<&Provider> {
        let exact = self.by_kind.get(&(server, kind.clone())).into_iter().flatten();
        let near = self.by_group.get(&(server, kind.group.clone())).into_iter().flatten();
        exact.chain(near.filter(|one| is_plural(&one.definition.name, &kind.kind))).collect()
    }
}

/// Whether a definition is called after a kind: `policies.example.org` after `Policy`.
pub(crate) fn is_plural(definition: &str, kind: &str) -> bool {
    let plural = definition.split('.').next().unwrap_or_default();
    let kind = kind.to_lowercase();
    let stem = kind.strip_suffix('y').unwrap_or(&kind);
    [format!("{kind}s"), format!("{kind}es"), format!("{stem}ies"), kind.clone()]
        .iter()
        .any(|one| one == plural)
}

/// The kind that a definition defines.
pub(crate) fn defined(object: &Object) -> Option<GroupKind> {
    if (object.group(), object.kind()) != (DEFINITIONS, DEFINITION) {
        return None;
    }
    let group = object.value().str_at(&["spec", "group"])?;
    Some(GroupKind::new(group, object.value().str_at(&["spec", "names", "kind"])?))
}

/// The kinds that a controller makes a definition of for an object: policies and compositions have kinds of their own.
fn made(object: &Object) -> Vec<GroupKind> {
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default().to_owned();
    match (object.group(), object.kind()) {
        ("templates.gatekeeper.sh", "ConstraintTemplate") => {
            let kind = text(&["spec", "crd", "spec", "names", "kind"]);
            vec![GroupKind::new("constraints.gatekeeper.sh", kind)]
        }
        ("apiextensions.crossplane.io", "CompositeResourceDefinition") => {
            let group = text(&["spec", "group"]);
            let kinds = [text(&["spec", "names", "kind"]), text(&["spec", "claimNames", "kind"])];
            kinds
                .into_iter()
                .filter(|kind| !kind.is_empty())
                .map(|kind| GroupKind::new(group.clone(), kind))
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_in_what_servers_say() {
        let kinds = |text: &str| {
            let found = told(text, None).into_iter();
            found.map(|(kind, version)| format!("{kind} {}", version.unwrap_or_default())).collect::<Vec<_>>()
        };
        assert_eq!(
            kinds(
                "The Kubernetes API could not find networking.istio.io/VirtualService for requested resource kf/web. Make \
                 sure the \"VirtualService\" CRD is installed on the destination cluster."
            ),
            ["VirtualService.networking.istio.io "]
        );
        assert_eq!(
            kinds("unable to recognize: no matches for kind \"CronJob\" in version \"batch/v1beta1\""),
            ["CronJob.batch v1beta1"]
        );
        assert_eq!(kinds("the server could not find the requested resource"), [""; 0]);
    }

    #[test]
    fn definitions_are_called_after_their_kinds() {
        assert!(is_plural("virtualservices.networking.istio.io", "VirtualService"));
        assert!(is_plural("policies.example.org", "Policy") && is_plural("meshes.example.org", "Mesh"));
        assert!(!is_plural("gateways.networking.istio.io", "VirtualService"));
    }
}
