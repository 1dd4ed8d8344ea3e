//! What a pod cannot start without: the ConfigMaps and Secrets that it names.

use lynceus_object::{Object, Value};

use crate::controllers::kind::{CONFIG_MAP, Kind, SECRET};
use crate::controllers::world::World;

/// A volume that cannot be filled: no container of its pod is made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// The volume.
    pub(super) volume: String,
    /// What is missing, in the kubelet's words.
    pub(super) what: String,
}

/// The first volume of a pod that cannot be filled.
pub(super) fn missing(pod: &Object, world: &World<'_>) -> Option<Missing> {
    let look = Look { pod, world };
    let volumes = pod.value().items_at(&["spec", "volumes"]).iter();
    let mut missing =
        volumes.filter_map(|volume| Some(Missing { volume: name_of(volume), what: look.volume(volume)? }));
    missing.next()
}

/// What the environment of one container lacks. The pod's other containers run without it.
pub(super) fn environment(pod: &Object, container: &Value, world: &World<'_>) -> Option<String> {
    Look { pod, world }.environment(container)
}

fn name_of(value: &Value) -> String {
    value.str_at(&["name"]).unwrap_or_default().to_owned()
}

fn has_key(found: &Object, key: &str) -> bool {
    ["data", "binaryData"].iter().any(|field| found.at(&[field, key]).is_some())
}

struct Look<'a> {
    pod: &'a Object,
    world: &'a World<'a>,
}

impl Look<'_> {
    fn volume(&self, volume: &Value) -> Option<String> {
        let whole = |source: Option<&Value>, kind, field| {
            source.and_then(|source| {
                self.reference(source, kind, field).or_else(|| self.items(source, kind, field))
            })
        };
        whole(volume.get("configMap"), CONFIG_MAP, "name")
            .or_else(|| whole(volume.get("secret"), SECRET, "secretName"))
            .or_else(|| {
                volume.items_at(&["projected", "sources"]).iter().find_map(|source| {
                    whole(source.get("configMap"), CONFIG_MAP, "name")
                        .or_else(|| whole(source.get("secret"), SECRET, "name"))
                })
            })
    }

    fn environment(&self, container: &Value) -> Option<String> {
        let from = container.items_at(&["envFrom"]).iter().find_map(|source| {
            let part = |field| source.get(field);
            part("configMapRef")
                .and_then(|source| self.reference(source, CONFIG_MAP, "name"))
                .or_else(|| part("secretRef").and_then(|source| self.reference(source, SECRET, "name")))
        });
        from.or_else(|| {
            container.items_at(&["env"]).iter().find_map(|variable| {
                let part = |field| variable.at(&["valueFrom", field]);
                part("configMapKeyRef")
                    .and_then(|source| self.key(source, CONFIG_MAP))
                    .or_else(|| part("secretKeyRef").and_then(|source| self.key(source, SECRET)))
            })
        })
    }

    /// What is wrong with a reference to a whole object.
    fn reference(&self, source: &Value, kind: &Kind, field: &str) -> Option<String> {
        let name = source.str_at(&[field]).unwrap_or_default();
        if source.bool_at(&["optional"]) == Some(true) || self.find(kind, name).is_some() {
            return None;
        }
        Some(format!("{} {name:?} not found", kind.kind.to_lowercase()))
    }

    /// What is wrong with the keys of an object that a volume picks.
    fn items(&self, source: &Value, kind: &Kind, field: &str) -> Option<String> {
        if source.bool_at(&["optional"]) == Some(true) {
            return None;
        }
        let found = self.find(kind, source.str_at(&[field]).unwrap_or_default())?;
        let mut keys = source.items_at(&["items"]).iter().filter_map(|item| item.str_at(&["key"]));
        let absent = keys.find(|key| !has_key(&found, key))?;
        Some(match kind.kind {
            "Secret" => format!("references non-existent secret key: {absent}"),
            _ => format!("configmap references non-existent config key: {absent}"),
        })
    }

    /// What is wrong with a reference to one key.
    fn key(&self, source: &Value, kind: &Kind) -> Option<String> {
        if source.bool_at(&["optional"]) == Some(true) {
            return None;
        }
        let name = source.str_at(&["name"]).unwrap_or_default();
        let key = source.str_at(&["key"]).unwrap_or_default();
        let Some(found) = self.find(kind, name) else {
            return Some(format!("{} {name:?} not found", kind.kind.to_lowercase()));
        };
        let (namespace, kind) = (self.pod.namespace(), kind.kind);
        (!has_key(&found, key)).then(|| format!("couldn't find key {key} in {kind} {namespace}/{name}"))
    }

    fn find(&self, kind: &Kind, name: &str) -> Option<Object> {
        self.world.get(kind, self.pod.namespace(), name)
    }
}
