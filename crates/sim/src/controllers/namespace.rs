//! Namespaces: what each one starts with, and how one goes away with everything in it.

use std::collections::BTreeMap;

use lynceus_object::{Object, Str, Value};

use super::key::Key;
use super::kind::{CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT, is_among};
use super::steps::{Deletion, Step, Steps};
use super::world::World;
use super::{Controller, Writer, condition, manager};
use crate::store::{Event, Place};
use lynceus_object::Propagation;

const ROOT_CA: &str = "kube-root-ca.crt";
const ROOT_CA_ABOUT: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using \
    internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed \
    across distributions of Kubernetes clusters.";

/// Gives every namespace its default service account.
pub(crate) struct DefaultServiceAccounts;

impl Controller for DefaultServiceAccounts {
    fn component(&self) -> &'static str {
        "service-account-controller"
    }

    fn writer(&self) -> Writer {
        manager!("service-account-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NAMESPACE, SERVICE_ACCOUNT], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        wake.extend(namespace_of(event, SERVICE_ACCOUNT, "default"));
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let living = world.find(key).filter(|namespace| !namespace.is_deleting());
        if living.is_some() && world.get(SERVICE_ACCOUNT, &key.name, "default").is_none() {
            out.create(SERVICE_ACCOUNT, SERVICE_ACCOUNT.named(&key.name, "default"));
        }
    }
}

/// Gives every namespace the certificate authority of the cluster.
pub(crate) struct RootCertificates;

impl Controller for RootCertificates {
    fn component(&self) -> &'static str {
        "root-ca-certificate-publisher"
    }

    fn writer(&self) -> Writer {
        manager!("root-ca-cert-publisher")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NAMESPACE, CONFIG_MAP], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        wake.extend(namespace_of(event, CONFIG_MAP, ROOT_CA));
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        if world.find(key).is_none_or(|namespace| namespace.is_deleting()) {
            return;
        }
        let stored = world.get(CONFIG_MAP, &key.name, ROOT_CA);
        let mut wanted = stored.clone().unwrap_or_else(|| CONFIG_MAP.named(&key.name, ROOT_CA));
        wanted.set_annotation("kubernetes.io/description", ROOT_CA_ABOUT);
        wanted.set(&["data", "ca.crt"], world.local.root_certificate());
        match stored {
            None => out.create(CONFIG_MAP, wanted),
            Some(stored) if stored != wanted => out.update(CONFIG_MAP, wanted),
            Some(_) => {}
        }
    }
}

/// The namespace to look at because of a change of itself, or of the object that it has to have.
fn namespace_of(event: &Event, kind: &super::kind::Kind, name: &str) -> Option<Key> {
    let object = &event.object;
    if NAMESPACE.is(&event.place) {
        return Some(Key::of(&event.place, object));
    }
    (kind.is(&event.place) && object.name() == name).then(|| Key::new(NAMESPACE, "", object.namespace()))
}

/// Empties namespaces that are being deleted, and lets them go.
pub(crate) struct Namespaces;

impl Controller for Namespaces {
    fn component(&self) -> &'static str {
        "namespace-controller"
    }

    fn writer(&self) -> Writer {
        manager!("namespace-controller")
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if NAMESPACE.is(&event.place) {
            if object.is_deleting() {
                wake.push(Key::of(&event.place, object));
            }
        } else if !object.namespace().is_empty()
            && world.get(NAMESPACE, "", object.namespace()).is_some_and(|namespace| namespace.is_deleting())
        {
            wake.push(Key::new(NAMESPACE, "", object.namespace()));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(namespace) = world.find(key).filter(Object::is_deleting) else { return };
        let content: Vec<(&Key, Object)> =
            world.graph.in_namespace(&key.name).filter_map(|key| Some((key, world.find(key)?))).collect();
        let mut new = namespace.clone();
        describe(&mut new, &content, world);
        out.status_if_changed(NAMESPACE, &namespace, new);
        for (key, object) in &content {
            if !object.is_deleting() {
                let how = Deletion { grace: None, propagation: Some(Propagation::Background) };
                out.steps.push(Step::Delete { key: (*key).clone(), uid: object.uid().into(), how });
            }
        }
        let holds = namespace.value().items_at(&["spec", "finalizers"]);
        if content.is_empty() && holds.iter().any(|finalizer| finalizer.as_str() == Some("kubernetes")) {
            let rest: Vec<Value> =
                holds.iter().filter(|finalizer| finalizer.as_str() != Some("kubernetes")).cloned().collect();
            let mut freed = namespace.clone();
            freed.set(&["spec", "finalizers"], rest);
            // The status that was written above makes this copy an old one.
            freed.remove(&["metadata", "resourceVersion"]);
            out.steps.push(Step::Finalize { namespace: freed });
        }
    }
}

/// Says what is still in a namespace that goes away.
fn describe(namespace: &mut Object, content: &[(&Key, Object)], world: &World<'_>) {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<Str, usize> = BTreeMap::new();
    for (key, object) in content {
        *kinds.entry(format!("{}.{}", key.place.resource, key.place.group)).or_default() += 1;
        for finalizer in object.finalizers() {
            *finalizers.entry(finalizer.into()).or_default() += 1;
        }
    }
    let list = |items: Vec<String>| items.join(", ");
    let remaining =
        list(kinds.iter().map(|(kind, n)| format!("{kind} has {n} resource instances")).collect());
    let holding =
        list(finalizers.iter().map(|(name, n)| format!("{name} in {n} resource instances")).collect());
    let mut set = |type_: &str, holds: bool, reason: &str, message: &str| {
        let status = if holds { "True" } else { "False" };
        condition::replace(namespace, condition::new(type_, status, reason, message, world.now));
    };
    set(
        "NamespaceDeletionDiscoveryFailure",
        false,
        "ResourcesDiscovered",
        "All resources successfully discovered",
    );
    set(
        "NamespaceDeletionGroupVersionParsingFailure",
        false,
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    );
    set(
        "NamespaceDeletionContentFailure",
        false,
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    );
    if kinds.is_empty() {
        set("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed");
    } else {
        let message = format!("Some resources are remaining: {remaining}");
        set("NamespaceContentRemaining", true, "SomeResourcesRemain", &message);
    }
    if finalizers.is_empty() {
        let message = "All content-preserving finalizers finished";
        set("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers", message);
    } else {
        let message = format!("Some content in the namespace has finalizers remaining: {holding}");
        set("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", &message);
    }
}
