//! Why a pod does not run: nowhere to go, a volume that is not there, something that it names and nobody has made.

use lynceus_api::{Reason, ReasonCode};
use lynceus_object::{Object, ObjectKey, Value};

use super::{Found, Search, container, missing, said, status};
use crate::conditions;

impl Search<'_> {
    pub(super) fn pod(&mut self, pod: &Object, depth: usize) -> Vec<Reason> {
        if status(pod, "phase") == "Failed" && !status(pod, "reason").is_empty() {
            let words = format!("it was ended: {}: {}", status(pod, "reason"), status(pod, "message"));
            return vec![Reason::new(ReasonCode::Condition, words)];
        }
        let unscheduled = conditions(pod).find(|one| one.kind == "PodScheduled" && one.status == "False");
        if let Some(condition) = unscheduled {
            let claims = self.claims(pod, depth);
            let words = format!("no node takes it: {}", condition.message);
            let since = said::since(pod, "PodScheduled");
            return vec![Reason::new(ReasonCode::Unschedulable, words).since(since).because(claims)];
        }
        let mut absent = self.absent(pod);
        let mut troubles = container::troubles(pod);
        match troubles.first_mut() {
            // What is missing is the reason of the first container that does not start, and is told once.
            Some(first) if first.code != ReasonCode::ContainerNotReady => first.because.append(&mut absent),
            Some(_) => {}
            None => troubles.append(&mut absent),
        }
        if let Some(unpulled) = troubles.iter_mut().find(|one| one.code == ReasonCode::ImageNotPulled) {
            unpulled.because.extend(self.absent_pull_secrets(pod));
        }
        troubles
    }

    /// The pull secrets that nobody has made. A pod whose images are there does without them.
    fn absent_pull_secrets(&self, pod: &Object) -> Vec<Reason> {
        let secrets = pod.value().items_at(&["spec", "imagePullSecrets"]).iter();
        let names = secrets.filter_map(|secret| secret.str_at(&["name"]));
        names
            .filter_map(|name| missing(self.around, ObjectKey::new("", "Secret", pod.namespace(), name)))
            .collect()
    }

    /// The claims of a pod that are not bound.
    fn claims(&mut self, pod: &Object, depth: usize) -> Vec<Reason> {
        let volumes = pod.value().items_at(&["spec", "volumes"]).iter();
        let names = volumes.filter_map(|volume| volume.str_at(&["persistentVolumeClaim", "claimName"]));
        let keys: Vec<ObjectKey> =
            names.map(|name| ObjectKey::new("", "PersistentVolumeClaim", pod.namespace(), name)).collect();
        let mut reasons = Vec::new();
        for key in keys {
            match self.around.find(&key) {
                Found::There(claim) if status(&claim, "phase") != "Bound" => {
                    reasons.extend(self.unhealthy(&claim, depth + 1));
                }
                Found::Gone => reasons.extend(missing(self.around, key)),
                Found::There(_) | Found::Unknown => {}
            }
        }
        reasons
    }

    /// What a pod names and nobody has made, each once.
    fn absent(&self, pod: &Object) -> Vec<Reason> {
        let mut keys: Vec<ObjectKey> = Vec::new();
        for (kind, name) in named(pod) {
            let key = ObjectKey::new("", kind, pod.namespace(), name);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.into_iter().filter_map(|key| missing(self.around, key)).collect()
    }
}

/// The Secrets, ConfigMaps and claims that a pod cannot do without.
fn named(pod: &Object) -> Vec<(&'static str, &str)> {
    let mut named = Vec::new();
    for volume in pod.value().items_at(&["spec", "volumes"]) {
        let projected = volume.items_at(&["projected", "sources"]).iter();
        for source in std::iter::once(volume).chain(projected) {
            needs(&mut named, source, "secret", "Secret", &["secretName", "name"]);
            needs(&mut named, source, "configMap", "ConfigMap", &["name"]);
        }
        needs(&mut named, volume, "persistentVolumeClaim", "PersistentVolumeClaim", &["claimName"]);
    }
    for field in ["initContainers", "containers"] {
        for container in pod.value().items_at(&["spec", field]) {
            for source in container.items_at(&["envFrom"]) {
                needs(&mut named, source, "secretRef", "Secret", &["name"]);
                needs(&mut named, source, "configMapRef", "ConfigMap", &["name"]);
            }
            for source in container.items_at(&["env"]).iter().filter_map(|one| one.at(&["valueFrom"])) {
                needs(&mut named, source, "secretKeyRef", "Secret", &["name"]);
                needs(&mut named, source, "configMapKeyRef", "ConfigMap", &["name"]);
            }
        }
    }
    named
}

fn needs<'a>(
    named: &mut Vec<(&'static str, &'a str)>,
    holder: &'a Value,
    field: &str,
    kind: &'static str,
    names: &[&str],
) {
    let Some(source) = holder.at(&[field]) else { return };
    let optional = source.at(&["optional"]).and_then(Value::as_bool).unwrap_or_default();
    if !optional {
        named.extend(names.iter().find_map(|name| source.str_at(&[name])).map(|name| (kind, name)));
    }
}
