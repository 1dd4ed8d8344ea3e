//! Which volumes a pod may mount.

use std::collections::BTreeSet;

use lynceus_object::Value;

use super::check::{Pod, Violation, counted, listed, name, plural, uses};

const ALLOWED: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];
const KNOWN: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

fn has(volume: &Value, source: &str) -> bool {
    volume.get(source).is_some_and(|source| !source.is_null())
}

/// No folder of the node.
pub(super) fn host_path(pod: &Pod<'_>) -> Option<Violation> {
    let all = pod.spec.items_at(&["volumes"]).iter();
    let names: Vec<&str> = all.filter(|volume| has(volume, "hostPath")).map(name).collect();
    if names.is_empty() { None } else { Violation::new("hostPath volumes", counted("volume", &names)) }
}

/// Only volumes that cannot lead out of the pod by themselves.
pub(super) fn restricted(pod: &Pod<'_>) -> Option<Violation> {
    let (mut names, mut types) = (Vec::new(), BTreeSet::new());
    for volume in pod.spec.items_at(&["volumes"]) {
        if ALLOWED.iter().any(|source| has(volume, source)) {
            continue;
        }
        names.push(name(volume));
        types.insert(KNOWN.into_iter().find(|source| has(volume, source)).unwrap_or("unknown"));
    }
    if names.is_empty() {
        return None;
    }
    let (who, use_) = (counted("volume", &names), uses(names.len()));
    let what = plural("restricted volume type", types.len());
    Violation::new("restricted volume types", format!("{who} {use_} {what} {}", listed(types)))
}
