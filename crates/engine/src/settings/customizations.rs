//! How kinds are treated: `resource.customizations`, in one document or in a key for each.

use std::collections::BTreeMap;

use lynceus_api::{
    KnownTypeField, OverrideIgnoreDiff, ResourceIgnoreDifferences, ResourceOverride, parse_bool,
};
use lynceus_object::typed::to_typed;
use lynceus_object::{GroupKind, Str, Value, yaml};

use super::keys::{self, ConfigMap, Form};
use super::read::Reader;

/// How kinds are treated, by `group/kind` in which a star stands for anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Customizations(BTreeMap<GroupKind, ResourceOverride>);

impl Customizations {
    /// Every kind that something is said of, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&GroupKind, &ResourceOverride)> {
        self.0.iter()
    }

    /// The fields that are left out of every comparison.
    pub fn ignored_differences(&self) -> Vec<ResourceIgnoreDifferences> {
        self.rules(|one| &one.ignore_differences)
    }

    /// The fields whose change is no reason to look at an application.
    pub fn ignored_updates(&self) -> Vec<ResourceIgnoreDifferences> {
        self.rules(|one| &one.ignore_resource_updates)
    }

    fn rules(&self, text: impl Fn(&ResourceOverride) -> &Str) -> Vec<ResourceIgnoreDifferences> {
        let rules = self.0.iter().filter_map(|(kind, one)| Some((kind, ignored(text(one))?)));
        rules
            .map(|(kind, fields)| ResourceIgnoreDifferences {
                group: kind.group.clone(),
                kind: kind.kind.clone(),
                json_pointers: fields.json_pointers,
                jq_path_expressions: fields.jq_path_expressions,
                managed_fields_managers: fields.managed_fields_managers,
                ..ResourceIgnoreDifferences::default()
            })
            .collect()
    }

    /// Reads both forms; what cannot be read is told of and left out. A key of its own counts before the document.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let mut found = Customizations::default();
        let document = reader.yaml(&keys::CUSTOMIZATIONS);
        match &document {
            Value::Null => {}
            Value::Map(kinds) => {
                for (kind, value) in kinds.iter() {
                    match to_typed::<ResourceOverride>(value) {
                        Ok(one) => drop(found.0.insert(named(kind), one)),
                        Err(error) => {
                            let what = format!("cannot be read for {kind}: {error}");
                            reader.warn(ConfigMap::Settings, keys::CUSTOMIZATIONS.name, &what, Form::Yaml);
                        }
                    }
                }
            }
            other => {
                let what = format!("is {} and not a map", other.type_name());
                reader.warn(ConfigMap::Settings, keys::CUSTOMIZATIONS.name, &what, Form::Yaml);
            }
        }
        for (name, text) in reader.entries(ConfigMap::Settings) {
            if let Some(rest) = name.strip_prefix("resource.customizations.")
                && let Err((what, form)) = found.add(rest, text)
            {
                reader.warn(ConfigMap::Settings, name, &what, form);
            }
        }
        found.check(reader);
        found
    }

    /// Takes `health.cert-manager.io_Certificate` and what stands there.
    fn add(&mut self, name: &str, text: &str) -> Result<(), (String, Form)> {
        let Some((sort, kind)) = name.split_once('.') else {
            return Err((format!("names no kind: {SORTS}"), Form::Text));
        };
        let kind = match kind.split('_').collect::<Vec<_>>()[..] {
            ["all"] => GroupKind::new("*", "*"),
            [kind] if !kind.is_empty() => GroupKind::new("", kind),
            [group, kind] => GroupKind::new(group, kind),
            _ => {
                return Err((
                    format!("names no kind: write <group>_<kind> or <kind> instead of {kind}"),
                    Form::Text,
                ));
            }
        };
        let one = self.0.entry(kind).or_default();
        match sort {
            "health" => one.health_lua = text.into(),
            "actions" => one.actions = text.into(),
            "ignoreDifferences" => one.ignore_differences = text.into(),
            "ignoreResourceUpdates" => one.ignore_resource_updates = text.into(),
            "useOpenLibs" => {
                one.health_lua_use_open_libs =
                    parse_bool(text).ok_or_else(|| ("is neither true nor false".to_owned(), Form::Switch))?;
            }
            "knownTypeFields" => {
                let fields = yaml::parse_str(text).map_err(|error| error.to_string());
                let fields = fields.and_then(|value| {
                    to_typed::<Vec<KnownTypeField>>(&value).map_err(|error| error.to_string())
                });
                one.known_type_fields =
                    fields.map_err(|error| (format!("cannot be read: {error}"), Form::Yaml))?;
            }
            _ => return Err((format!("is of no known sort: {SORTS}"), Form::Text)),
        }
        Ok(())
    }

    /// Tells of rules that cannot be read.
    fn check(&self, reader: &mut Reader<'_>) {
        for (kind, one) in &self.0 {
            for (sort, text) in [
                ("ignoreDifferences", &one.ignore_differences),
                ("ignoreResourceUpdates", &one.ignore_resource_updates),
            ] {
                if !text.is_empty() && ignored(text).is_none() {
                    let fields = OverrideIgnoreDiff::FIELDS.join(", ");
                    let what = format!("has {sort} for {kind} that are none: each of {fields} is a list");
                    reader.warn(ConfigMap::Settings, keys::CUSTOMIZATIONS.name, &what, Form::Yaml);
                }
            }
        }
    }
}

const SORTS: &str = "write resource.customizations.<sort>.<group>_<kind> with the sort health, useOpenLibs, actions, \
                     ignoreDifferences, ignoreResourceUpdates or knownTypeFields";

/// `apps/Deployment`, or `Pod`.
fn named(text: &str) -> GroupKind {
    match text.split_once('/') {
        Some((group, kind)) => GroupKind::new(group, kind),
        None => GroupKind::new("", text),
    }
}

/// The fields that a rule names; none if it is no rule.
fn ignored(text: &str) -> Option<OverrideIgnoreDiff> {
    match yaml::parse_str(text).ok()? {
        Value::Null => Some(OverrideIgnoreDiff::default()),
        Value::Map(map) => to_typed(&Value::Map(map.spelled(&OverrideIgnoreDiff::FIELDS))).ok(),
        _ => None,
    }
}
