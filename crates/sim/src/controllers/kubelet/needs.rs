//! What a pod cannot start without: the ConfigMaps and Secrets that it names, and settings that go together.

use std::collections::BTreeSet;

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

/// What keeps one container from being made. The pod's other containers run without it.
pub(super) fn container(pod: &Object, container: &Value, world: &World<'_>) -> Option<String> {
    let look = Look { pod, world };
    look.environment(container).or_else(|| look.paths(container)).or_else(|| user(pod, container))
}

/// Whether a container is told to run as root and not to. What user its image names, nobody knows here.
fn user(pod: &Object, container: &Value) -> Option<String> {
    let setting = |field: &str| {
        let own = container.at(&["securityContext", field]).filter(|value| !value.is_null());
        own.or_else(|| pod.at(&["spec", "securityContext", field]))
    };
    let forbidden = setting("runAsNonRoot").and_then(Value::as_bool) == Some(true);
    (forbidden && setting("runAsUser").and_then(Value::as_int) == Some(0)).then(|| {
        let pod = format!("{}_{}({})", pod.name(), pod.namespace(), pod.uid());
        let name = name_of(container);
        format!("container's runAsUser breaks non-root policy (pod: {pod:?}, container: {name})")
    })
}

/// The variables that a text refers to as `$(NAME)`; `$$` stands for a dollar.
fn references(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let after = rest.split_once('$')?.1;
            if let Some(escaped) = after.strip_prefix('$') {
                rest = escaped;
            } else if let Some((name, more)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')'))
            {
                rest = more;
                return Some(name);
            } else {
                rest = after;
            }
        }
    })
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

    /// The variables that the paths of a container's mounts are made of and that it has not.
    fn paths(&self, container: &Value) -> Option<String> {
        let mounts = container.items_at(&["volumeMounts"]).iter();
        let mut missing = mounts.map(|mount| -> BTreeSet<&str> {
            let path = mount.str_at(&["subPathExpr"]).unwrap_or_default();
            references(path).filter(|name| !self.has_variable(container, name)).collect()
        });
        let missing: Vec<&str> = missing.find(|names| !names.is_empty())?.into_iter().collect();
        Some(format!("missing value for {}", missing.join(", ")))
    }

    /// Whether a variable of a container's environment has a value. Those that the kubelet makes of Services all have.
    fn has_variable(&self, container: &Value, name: &str) -> bool {
        let of_service = name.contains("_SERVICE_") || name.contains("_PORT");
        let own = container.items_at(&["env"]).iter().rev().find(|one| one.str_at(&["name"]) == Some(name));
        match own {
            Some(variable) => self.value(variable),
            None => of_service || container.items_at(&["envFrom"]).iter().any(|from| self.gives(from, name)),
        }
    }

    /// Whether a variable has a value.
    fn value(&self, variable: &Value) -> bool {
        let Some(from) = variable.get("valueFrom").filter(|from| !from.is_null()) else {
            return variable.str_at(&["value"]).is_some_and(|value| !value.is_empty());
        };
        if let Some(path) = from.str_at(&["fieldRef", "fieldPath"]) {
            let key = path.split_once("['").and_then(|(list, key)| Some((list, key.strip_suffix("']")?)));
            return match key {
                Some(("metadata.labels", key)) => self.pod.label(key).is_some_and(|text| !text.is_empty()),
                Some((_, key)) => self.pod.annotation(key).is_some_and(|text| !text.is_empty()),
                None => true,
            };
        }
        let there = |field: &str, kind| {
            let source = from.get(field)?;
            let found = self.find(kind, source.str_at(&["name"])?)?;
            Some(has_key(&found, source.str_at(&["key"])?))
        };
        from.get("resourceFieldRef").is_some()
            || there("configMapKeyRef", CONFIG_MAP).or_else(|| there("secretKeyRef", SECRET)) == Some(true)
    }

    /// Whether a whole ConfigMap or Secret gives a variable.
    fn gives(&self, from: &Value, variable: &str) -> bool {
        let key = variable.strip_prefix(from.str_at(&["prefix"]).unwrap_or_default());
        let holds = |field: &str, kind| {
            let found = from.str_at(&[field, "name"]).and_then(|name| self.find(kind, name));
            found.is_some_and(|found| key.is_some_and(|key| has_key(&found, key)))
        };
        holds("configMapRef", CONFIG_MAP) || holds("secretRef", SECRET)
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
