//! What has pods, or is going to, waits for what they name and what is not there; and that for what may make it.

use lynceus_object::{FieldPath, Object, ObjectKey, Str};

use super::reference;
use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::Node;
use crate::rules::near;

/// What every namespace has, or gets by itself.
const GIVEN: [(&str, &str); 4] = [
    ("ServiceAccount", "default"),
    ("ConfigMap", "kube-root-ca.crt"),
    ("ConfigMap", "openshift-service-ca.crt"),
    ("ConfigMap", "istio-ca-root-cert"),
];

/// Something that pods name and that is not there.
pub(crate) struct Missing<'a> {
    /// The cluster's address.
    pub(crate) server: &'a str,
    /// What is not there.
    pub(crate) key: ObjectKey,
    /// What names it: as it is in the cluster, or as it is wanted.
    pub(crate) holder: &'a Object,
    /// Where.
    pub(crate) path: FieldPath,
    /// The key of it that is read, if one is.
    pub(crate) part: Option<Str>,
    /// Whether what names it does without meanwhile: then nothing waits for it.
    pub(crate) is_spared: bool,
}

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    let missing = missing(case);
    if missing.is_empty() {
        return;
    }
    let origins = case.origins();
    for one in missing.into_iter().filter(|one| !one.is_spared) {
        let to = Node::object(one.server, one.key.clone());
        graph.link(case.node(one.server, &one.holder.key()), to.clone());
        for maker in origins.of(one.server, &one.key) {
            graph.link(to.clone(), case.node(one.server, &maker));
        }
    }
}

/// Everything that pods name and that is certainly not there.
pub(crate) fn missing<'a>(case: &Case<'a>) -> Vec<Missing<'a>> {
    let mut missing = Vec::new();
    for (server, holder, pods) in case.holders() {
        for (key, path, part) in pods.needs().into_iter().chain(account(pods)) {
            if is_missing(case, server, &key) && !is_own(holder, &key) {
                missing.push(Missing { server, key, holder, path, part, is_spared: false });
            }
        }
    }
    for server in case.servers() {
        custom(case, server, &mut missing);
    }
    missing
}

/// What makes pods and is not well, or is not there yet, with the spec that its next pods have.
pub(crate) fn find_holders<'a>(case: &Case<'a>) -> Vec<(&'a str, &'a Object, Pods<'a>)> {
    let mut holders = Vec::new();
    for server in case.servers() {
        for owner in case.pod_owners(server) {
            let Some(pods) = Pods::of(owner) else { continue };
            if case.is_unwell(owner) || case.pods(server, owner).iter().any(|pod| case.is_unwell(pod)) {
                holders.push((server, owner, pods));
            }
        }
    }
    for server in case.servers() {
        let to_come = case.to_come(server).iter().copied();
        holders.extend(to_come.filter_map(|object| Some((server, object, Pods::of(object)?))));
    }
    holders
}

fn account(pods: &Pods<'_>) -> Option<(ObjectKey, FieldPath, Option<Str>)> {
    let key = ObjectKey::new("", "ServiceAccount", pods.holder.namespace(), pods.service_account());
    Some((key, pods.path.field("serviceAccountName"), None))
}

fn is_missing(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    !GIVEN.contains(&(key.kind.as_str(), key.name.as_str())) && case.is_absent(server, key)
}

/// Claims that a StatefulSet makes itself are not named, though its pods mount them.
fn is_own(holder: &Object, key: &ObjectKey) -> bool {
    let templates = holder.value().items_at(&["spec", "volumeClaimTemplates"]).iter();
    let mut names = templates.filter_map(|one| one.str_at(&["metadata", "name"]));
    key.kind == "PersistentVolumeClaim"
        && names.any(|name| key.name.starts_with(&format!("{name}-{}-", holder.name())))
}

/// What custom resources name: what the pods that are made for them need, what they complain of themselves, and what is called almost as
/// one that is there, which is a slip whether somebody has noticed or not.
fn custom<'a>(case: &Case<'a>, server: &'a str, missing: &mut Vec<Missing<'a>>) {
    for object in case.objects(server).iter().chain(case.to_come(server).iter().copied()) {
        if matches!(object.group(), "" | "apps" | "batch") || object.controller().is_some() {
            continue;
        }
        let children = case.children(server, object);
        // Of what is to come nobody has said anything yet.
        let is_there = case.live(server, &object.key()).is_some();
        let is_unwell =
            is_there && case.is_unwell(object) || children.iter().any(|child| case.is_unwell(child));
        let mut absent = reference::places(object);
        // What its pods name is asked for with the others.
        if let Some(pods) = Pods::of(object) {
            let depth = pods.path.segments().len();
            absent.retain(|(_, path)| path.segments().get(..depth) != Some(pods.path.segments()));
        }
        absent.retain(|(key, _)| key.group.is_empty() && is_missing(case, server, key));
        if is_unwell {
            absent.extend(reference::lost_owners(case, server, object));
        }
        if absent.is_empty() {
            continue;
        }
        let said = if is_unwell { complaint(case, server, object) } else { String::new() };
        let needed: Vec<ObjectKey> =
            children.iter().filter_map(|child| Pods::of(child)).flat_map(|pods| all_needs(&pods)).collect();
        for (key, path) in absent {
            let is_felt = is_unwell && (needed.contains(&key) || is_told(&said, &key));
            let is_needed = is_felt || is_slip(case, server, &key);
            if is_needed || is_certificate(object, &key, &path) {
                let is_spared = !is_needed;
                missing.push(Missing { server, path, key, holder: object, part: None, is_spared });
            }
        }
    }
}

/// Whether it is the certificate of an Ingress: without it requests are answered with one that nobody trusts, and nothing says so.
fn is_certificate(object: &Object, key: &ObjectKey, path: &FieldPath) -> bool {
    let is_of_tls =
        FieldPath::fields(["spec", "tls"]).segments() == &path.segments()[..path.segments().len().min(2)];
    (object.group(), object.kind()) == ("networking.k8s.io", "Ingress") && key.kind == "Secret" && is_of_tls
}

/// Whether one of the same kind and namespace is called almost so.
fn is_slip(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    let there = case.of_kind(server, &key.group, &key.kind).iter();
    let there = there.filter(|one| one.namespace() == key.namespace.as_str());
    near::slip(&key.name, there.map(|one| one.name())).is_some()
}

fn all_needs(pods: &Pods<'_>) -> Vec<ObjectKey> {
    pods.needs().into_iter().chain(account(pods)).map(|(key, ..)| key).collect()
}

/// Whether it is said that something is not found.
fn is_told(said: &str, key: &ObjectKey) -> bool {
    let quoted =
        [format!("\"{}\"", key.name), format!("{}/{}", key.namespace, key.name), format!("'{}'", key.name)];
    (said.contains("not found") || said.contains("does not exist"))
        && quoted.iter().any(|name| said.contains(name))
}

/// What a custom resource says of itself, with what is said of the pods and sets that were made for it.
fn complaint<'a>(case: &Case<'a>, server: &str, object: &'a Object) -> String {
    let pods = case.pods(server, object);
    let all = [object].into_iter().chain(case.children(server, object).iter().copied()).chain(pods);
    let texts: Vec<&str> = all.flat_map(|one| told(case, server, one)).collect();
    texts.join("\n")
}

/// Everything that is said of an object: its conditions, its events, and what its containers wait for.
fn told<'a>(case: &Case<'a>, server: &str, object: &'a Object) -> Vec<&'a str> {
    // Gateways have conditions for each of their listeners, and others have theirs elsewhere.
    let parts = ["listeners", "parents"].iter().flat_map(|field| object.value().items_at(&["status", field]));
    let parts = parts.flat_map(|part| part.items_at(&["conditions"]));
    let conditions = object.value().items_at(&["status", "conditions"]).iter().chain(parts);
    let conditions = conditions.filter_map(|one| one.str_at(&["message"]));
    let events = case.events(server, &object.key()).iter().copied();
    let events = events.filter_map(|event| event.value().str_at(&["message"]));
    let statuses = ["initContainerStatuses", "containerStatuses"].iter();
    let statuses = statuses.flat_map(|field| object.value().items_at(&["status", field]));
    let waits = statuses.filter_map(|status| status.str_at(&["state", "waiting", "message"]));
    conditions.chain(events).chain(waits).collect()
}
