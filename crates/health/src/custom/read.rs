//! Reads customizations from `argocd-cm` and from OpenShift's `ArgoCD`.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::{Glob, operator, parse_bool};
use lynceus_lua::{Libraries, Script, ScriptError};
use lynceus_object::{Map, Object, Str, Value, yaml};

use super::{Actions, Check, Custom, CustomizationError, Customizations};
use crate::limits;

/// The key of the map of all kinds, and the beginning of the keys of single ones.
const KEY: &str = "resource.customizations";

/// What stands in the settings for one kind, before it is looked at.
#[derive(Default)]
struct Raw {
    health: Option<Str>,
    open: bool,
    actions: Option<Str>,
}

struct Reader {
    found: BTreeMap<String, Raw>,
    errors: Vec<CustomizationError>,
}

impl Customizations {
    /// Reads a ConfigMap `argocd-cm`, or an `ArgoCD` of OpenShift's operator. What cannot be read is told, and the rest
    /// stands.
    pub fn read(settings: &Object) -> (Self, Vec<CustomizationError>) {
        let mut reader = Reader { found: BTreeMap::new(), errors: Vec::new() };
        reader.data(&operator::data(settings));
        reader.finish()
    }
}

impl Reader {
    fn error(&mut self, key: impl Into<String>, reason: impl ToString) {
        let error = CustomizationError { key: key.into(), reason: reason.to_string(), in_script: false };
        self.errors.push(error);
    }

    /// The keys of a ConfigMap: the map first, so that a key of a single kind wins over it.
    fn data(&mut self, data: &Map) {
        if let Some(text) = data.get(KEY).and_then(Value::as_str) {
            self.map(text);
        }
        for (key, value) in data.iter() {
            let Some((what, kind)) = key
                .strip_prefix(KEY)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.split_once('.'))
            else {
                continue;
            };
            self.single(key, what, kind, value.as_str().unwrap_or_default());
        }
    }

    /// `resource.customizations`: a map by kind.
    fn map(&mut self, text: &str) {
        let map = match yaml::parse_str(text) {
            Ok(Value::Map(map)) => map,
            Ok(Value::Null) => return,
            Ok(other) => return self.error(KEY, format!("is a {}, not a map by kind", other.type_name())),
            Err(error) => return self.error(KEY, error),
        };
        for (kind, fields) in map.iter() {
            if !matches!(fields, Value::Map(_)) {
                self.error(format!("{KEY}: {kind}"), "is no map");
                continue;
            }
            let text = |field: &str| fields.get(field).and_then(Value::as_str).map(Str::from);
            let open = fields.get("health.lua.useOpenLibs").and_then(Value::as_bool).unwrap_or_default();
            let raw = Raw { health: text("health.lua"), open, actions: text("actions") };
            self.found.insert(kind.to_string(), raw);
        }
    }

    /// `resource.customizations.health.apps_Deployment`: one setting of one kind. There is no wildcard in such a key,
    /// except `all`.
    fn single(&mut self, key: &str, what: &str, kind: &str, value: &str) {
        let parts: Vec<&str> = kind.split('_').collect();
        let kind = match parts[..] {
            ["all"] => "*/*".to_owned(),
            [kind] if !kind.is_empty() => kind.to_owned(),
            [group, kind] if !kind.is_empty() => super::key(group, kind),
            _ => return self.error(key, "does not end with a kind as group_Kind or Kind"),
        };
        let raw = match what {
            "health" | "useOpenLibs" | "actions" => self.found.entry(kind).or_default(),
            // These belong to the comparison.
            "ignoreDifferences" | "ignoreResourceUpdates" | "knownTypeFields" => return,
            other => return self.error(key, format!("there is no customization {other:?}")),
        };
        match what {
            "health" => raw.health = Some(value.into()),
            "actions" => raw.actions = Some(value.into()),
            _ => match parse_bool(value) {
                Some(open) => raw.open = open,
                None => self.error(key, format!("{value:?} is neither true nor false")),
            },
        }
    }

    fn finish(mut self) -> (Customizations, Vec<CustomizationError>) {
        let found = std::mem::take(&mut self.found);
        let mut read = Customizations::default();
        let mut wide = Vec::new();
        if found.len() > limits::CUSTOMIZATIONS {
            self.error(KEY, format!("only the first {} are read", limits::CUSTOMIZATIONS));
        }
        for (kind, raw) in found.into_iter().take(limits::CUSTOMIZATIONS) {
            let custom = self.custom(&kind, &raw);
            if !kind.contains(['*', '?', '[', '{']) {
                read.exact.insert(kind, custom);
                continue;
            }
            match Glob::new(&kind) {
                Ok(glob) => wide.push((kind, glob, custom)),
                Err(error) => self.error(kind, error),
            }
        }
        wide.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        read.wide = wide.into_iter().map(|(_, glob, custom)| (glob, custom)).collect();
        (read, self.errors)
    }

    fn custom(&mut self, kind: &str, raw: &Raw) -> Custom {
        let libraries = if raw.open { Libraries::Open } else { Libraries::Closed };
        let health = raw.health.as_ref().filter(|text| !text.trim().is_empty());
        Custom {
            health: health.map(|text| Check {
                script: self.script(kind, "health.lua", text, libraries),
                strikes: Arc::default(),
            }),
            actions: raw.actions.as_ref().and_then(|text| self.actions(kind, text)),
        }
    }

    fn script(
        &mut self,
        kind: &str,
        what: &str,
        text: &str,
        libraries: Libraries,
    ) -> Result<Script, ScriptError> {
        let script = Script::compile(text, libraries);
        if let Err(error) = &script {
            let key = format!("{kind}: {what}");
            self.errors.push(CustomizationError { key, reason: error.to_string(), in_script: true });
        }
        script
    }

    /// The actions of a kind, which are YAML in a text.
    fn actions(&mut self, kind: &str, text: &str) -> Option<Actions> {
        let value = match yaml::parse_str(text) {
            Ok(value @ Value::Map(_)) => value,
            Ok(Value::Null) => return None,
            Ok(other) => {
                self.error(format!("{kind}: actions"), format!("is a {}, not a map", other.type_name()));
                return None;
            }
            Err(error) => {
                self.error(format!("{kind}: actions"), error);
                return None;
            }
        };
        let script = |field: &Value, name: &str| field.get(name).and_then(Value::as_str).map(str::to_owned);
        let discovery = script(&value, "discovery.lua").unwrap_or_else(|| "return {}".to_owned());
        let mut definitions = BTreeMap::new();
        for definition in value.items_at(&["definitions"]).iter().take(limits::ACTIONS) {
            let name = definition.str_at(&["name"]).unwrap_or_default();
            let text = script(definition, "action.lua").unwrap_or_default();
            let read = self.script(kind, &format!("action {name}"), &text, Libraries::Closed);
            definitions.insert(name.to_owned(), read);
        }
        Some(Actions {
            discovery: self.script(kind, "discovery.lua", &discovery, Libraries::Closed),
            definitions,
            merge: value.bool_at(&["mergeBuiltinActions"]).unwrap_or_default(),
        })
    }
}
