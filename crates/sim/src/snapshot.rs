//! Taking over what a real cluster was like: its objects, as they were.

use std::collections::BTreeMap;

use lynceus_object::{Object, Value};

use crate::controllers::condition;
use crate::core::{CommitError, Core};
use crate::stage::{Snapshot, is_definition};
use crate::store::{Expect, WriteError};
use crate::strategy;
use crate::view::View as _;

/// What nodes have that were taken over, so that the embedded kubelet keeps them.
pub(crate) const NODE: &str = "sim.lynceus.dev/from-snapshot";

/// Whether nothing was taken over yet, or not all of it: every cluster has this namespace, and it comes last.
pub(crate) fn is_due(core: &Core) -> bool {
    core.store.get("", "namespaces", "", LAST).is_none()
}

const LAST: &str = "kube-system";

/// Stores the objects of a snapshot as they were there, with their uids and statuses. Says what is not as it was.
pub(crate) async fn load(core: &Core, snapshot: &Snapshot) -> Vec<String> {
    let mut told: Vec<String> =
        snapshot.left_out.iter().map(|what| format!("the snapshot has no {what}")).collect();
    told.extend(snapshot.deaf_webhooks().into_iter().map(|webhook| {
        format!(
            "{webhook}, which runs no program here: it is passed over, unless the stage says what it answers"
        )
    }));
    // Definitions first: the rest is served by them.
    let mut objects: Vec<&Object> = snapshot.objects.iter().collect();
    objects.sort_by_key(|object| {
        (!is_definition(object), object.kind() == "Namespace" && object.name() == LAST)
    });
    let mut strange: BTreeMap<String, usize> = BTreeMap::new();
    for object in objects {
        let registry = core.registry();
        let Some(resource) = registry.of_kind(&object.gvk()) else {
            *strange.entry(format!("{} of {}", object.kind(), object.api_version())).or_default() += 1;
            continue;
        };
        let mut object = prepared(object);
        complete(core, &mut object);
        strategy::default(resource, &mut object, None);
        if resource.custom.is_none() {
            lynceus_object::schema::fill_zero(object.value_mut(), strategy::schema(resource));
        }
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        let uid = object.uid().to_owned();
        match core.write(resource, object, Expect::Absent, false).await {
            Ok(_) => {}
            Err(CommitError::Store(WriteError::Exists)) => {
                // One with the same uid was taken over before the process ended too early.
                let there = core.store.get(&resource.storage.group, &resource.plural, &namespace, &name);
                if there.is_some_and(|there| there.uid() == uid) {
                    continue;
                }
                told.push(format!("{} {name} is in the snapshot twice; the first is taken", resource.kind));
            }
            Err(CommitError::Store(error)) => {
                told.push(format!("{} {name} could not be stored: {error}", resource.kind));
            }
            Err(CommitError::Api(error)) => {
                told.push(format!("{} {name} could not be taken over: {error}", resource.kind));
            }
        }
    }
    told.extend(strange.into_iter().map(|(kind, count)| {
        format!("the embedded cluster does not serve {kind}: {count} of them are left out")
    }));
    told.extend(unserved(core, snapshot));
    told
}

/// What the other cluster served and this one does not, by group and version.
fn unserved(core: &Core, snapshot: &Snapshot) -> Vec<String> {
    let registry = core.registry();
    let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (group, version, plural) in &snapshot.serves {
        if registry.find(group, version, plural).is_none() {
            let version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
            missing.entry(version).or_default().push(plural);
        }
    }
    let line = |(version, plurals): (String, Vec<&str>)| {
        format!("the embedded cluster does not serve {} of {version}", plurals.join(", "))
    };
    missing.into_iter().map(line).collect()
}

/// Gives an object what every server gives: a snapshot that somebody wrote or changed by hand may be without.
fn complete(core: &Core, object: &mut Object) {
    if object.uid().is_empty() {
        object.set(&["metadata", "uid"], core.random.uid());
    }
    if object.at(&["metadata", "creationTimestamp"]).is_none() {
        object.set(&["metadata", "creationTimestamp"], core.context(false).now_text());
    }
}

/// An object as it fits here.
fn prepared(object: &Object) -> Object {
    let mut object = object.clone();
    match (object.api_version(), object.kind()) {
        // One that was not well there stays as it was.
        ("v1", "Node") if condition::is_true(&object, "Ready") => object.set_annotation(NODE, "true"),
        ("v1", "Pod") => name_images(&mut object),
        ("admissionregistration.k8s.io/v1", kind) if kind.ends_with("WebhookConfiguration") => {
            pass_over(&mut object);
        }
        _ => {}
    }
    object
}

/// Runtimes report the full name of an image, and kubelets compare what they started with what is wanted.
fn name_images(pod: &mut Object) {
    for (specs, statuses) in
        [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")]
    {
        let wanted: Vec<Value> = pod.value().items_at(&["spec", specs]).to_vec();
        let mut found: Vec<Value> = pod.value().items_at(&["status", statuses]).to_vec();
        for status in &mut found {
            let of = |spec: &&Value| spec.str_at(&["name"]) == status.str_at(&["name"]);
            let image = wanted.iter().find(of).and_then(|spec| spec.get("image")).cloned();
            if let Some(image) = image {
                status.set(&["image"], image);
            }
        }
        if !found.is_empty() {
            pod.set(&["status", statuses], found);
        }
    }
}

/// Has webhooks passed over that nobody answers.
fn pass_over(configuration: &mut Object) {
    let mut webhooks: Vec<Value> = configuration.value().items_at(&["webhooks"]).to_vec();
    for webhook in webhooks.iter_mut().filter(|webhook| webhook.at(&["clientConfig", "service"]).is_some()) {
        webhook.set(&["failurePolicy"], "Ignore");
    }
    if !webhooks.is_empty() {
        configuration.set(&["webhooks"], webhooks);
    }
}
