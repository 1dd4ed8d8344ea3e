//! The order of tasks: phase, wave, kind, name; and what has to come before what needs it.

use std::collections::HashMap;

use lynceus_api::SyncPhase;
use lynceus_object::{Object, Str};

use crate::task::Task;

/// Kinds in the order in which they are applied. Kinds that are not here come last.
const KINDS: [&str; 35] = [
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Puts tasks in order, then moves namespaces and definitions ahead of what needs them.
pub(crate) fn sort(tasks: &mut Vec<Task>) {
    tasks.sort_by_cached_key(Rank::of);
    pull_ahead(tasks, namespace_made, namespace_needed);
    pull_ahead(tasks, kind_made, kind_needed);
}

/// Everything that decides the place of a task. Namespace and group come last and only make the order total.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    phase: SyncPhase,
    wave: i64,
    kind: usize,
    name: Str,
    namespace: Str,
    group: Str,
}

impl Rank {
    fn of(task: &Task) -> Self {
        let object = task.object();
        Rank {
            phase: task.phase,
            wave: task.wave,
            kind: KINDS.iter().position(|kind| *kind == object.kind()).unwrap_or(KINDS.len()),
            name: object.name().into(),
            namespace: object.namespace().into(),
            group: object.group().into(),
        }
    }
}

/// Whether nothing but namespace and group orders two tasks, so that another engine may order them differently.
pub(crate) fn tie(a: &Task, b: &Task) -> bool {
    let (a, b) = (Rank::of(a), Rank::of(b));
    (a.phase, a.wave, a.kind, &a.name) == (b.phase, b.wave, b.kind, &b.name)
}

/// Moves each task that makes something right before the first task that needs it, into that one's phase and wave.
fn pull_ahead(
    tasks: &mut Vec<Task>,
    makes: impl Fn(&Object) -> Option<Str>,
    needs: impl Fn(&Object) -> Option<Str>,
) {
    let mut first_need: HashMap<Str, usize> = HashMap::new();
    for at in 0..tasks.len() {
        let Some(target) = tasks[at].target() else { continue };
        if let Some(made) = makes(target) {
            let Some(&before) = first_need.get(&made) else { continue };
            let mut task = tasks.remove(at);
            task.phase = tasks[before].phase;
            task.wave = tasks[before].wave;
            tasks.insert(before, task);
            first_need.values_mut().filter(|place| **place >= before).for_each(|place| *place += 1);
        } else if let Some(needed) = needs(target) {
            first_need.entry(needed).or_insert(at);
        }
    }
}

fn namespace_made(object: &Object) -> Option<Str> {
    is_namespace(object).then(|| object.name().into())
}

fn namespace_needed(object: &Object) -> Option<Str> {
    Some(Str::from(object.namespace())).filter(|namespace| !namespace.is_empty())
}

fn kind_made(object: &Object) -> Option<Str> {
    let (group, kind) = defined_kind(object)?;
    Some(format!("{group}/{kind}").into())
}

fn kind_needed(object: &Object) -> Option<Str> {
    Some(format!("{}/{}", object.group(), object.kind()).into())
}

/// Whether this is a core Namespace.
pub(crate) fn is_namespace(object: &Object) -> bool {
    object.kind() == "Namespace" && object.group().is_empty()
}

/// Whether this is a CustomResourceDefinition.
pub(crate) fn is_definition(object: &Object) -> bool {
    object.kind() == "CustomResourceDefinition" && object.group() == "apiextensions.k8s.io"
}

/// The group and kind that a CustomResourceDefinition defines.
pub(crate) fn defined_kind(object: &Object) -> Option<(&str, &str)> {
    if !is_definition(object) {
        return None;
    }
    let spec = object.at(&["spec"])?;
    Some((spec.str_at(&["group"])?, spec.str_at(&["names", "kind"])?))
}
