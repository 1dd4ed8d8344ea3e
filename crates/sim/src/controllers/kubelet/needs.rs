//! What a pod cannot start without: the ConfigMaps and Secrets that it names.

use lynceus_object::{Object, Value};

use crate::controllers::kind::{CONFIG_MAP, Kind, SECRET};
use crate::controllers::world::World;

/// Something that is not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A volume cannot be filled: no container is made.
    Volume {
        /// The volume.
        volume: String,
        /// What is missing, in the kubelet's words.
        what: String,
    },
    /// A container's environment cannot be filled.
    Environment {
        /// The container.
        container: String,
        /// What is missing, in the kubelet's words.
        what: String,
    },
}

/// The first thing that a pod lacks.
pub(super) fn missing(pod: &Object, world: &World<'_>) -> Option<Missing> {
    let look = Look { pod, world };
    for volume in pod.value().items_at(&["spec", "volumes"]) {
        if let Some(what) = look.volume(volume) {
            return Some(Missing::Volume { volume: name_of(volume), what });
        }
    }
    for list in ["initContainers", "containers"] {
        for container in pod.value().items_at(&["spec", list]) {
            if let Some(what) = look.environment(container) {
                return Some(Missing::Environment { container: name_of(container), what });
            }
        }
    }
    None
}

fn name_of(value: &Value) -> String {
    value.str_at(&["name"]).unwrap_or_default().to_owned()
}

struct Look<'a> {
    pod: &'a Object,
    world: &'a World<'a>,
}

impl Look<'_> {
    fn volume(&self, volume: &Value) -> Option<String> {
        let whole = |source: Option<&Value>, kind, field| {
            source.and_then(|source| self.reference(source, kind, field))
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
        let has = ["data", "binaryData"].iter().any(|field| found.at(&[field, key]).is_some());
        let (namespace, kind) = (self.pod.namespace(), kind.kind);
        (!has).then(|| format!("couldn't find key {key} in {kind} {namespace}/{name}"))
    }

    fn find(&self, kind: &Kind, name: &str) -> Option<Object> {
        self.world.get(kind, self.pod.namespace(), name)
    }
}
