//! How the operator wants objects to be compared, from the texts of `argocd-cm`.

use lynceus_api::{OverrideIgnoreDiff, ResourceIgnoreDifferences, operator};
use lynceus_object::{GroupKind, Object, Str, Value, yaml};

use crate::ignore::{Ignore, Place, RuleError};
use crate::known_types::{KnownTypes, UnknownType};
use crate::settings::{IgnoreStatus, Settings};

const CUSTOMIZATIONS: &str = "resource.customizations";
const COMPARE_OPTIONS: &str = "resource.compareoptions";
const MASKED_ANNOTATIONS: &str = "resource.sensitive.mask.annotations";

/// What is set for all comparisons of an installation.
#[derive(Clone, Debug)]
pub struct System {
    /// Fields that are left out of the account for all applications.
    pub ignore: Ignore,
    /// Fields of custom resources that hold a built-in type.
    pub known_types: KnownTypes,
    /// Leave the rules of aggregated roles out, which the server fills in.
    pub ignore_aggregated_roles: bool,
    /// Whose `status` is left out.
    pub ignore_status: IgnoreStatus,
    /// Annotations whose values are hidden.
    pub hidden_annotations: Vec<Str>,
}

/// A setting that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SystemError {
    /// The text is not what belongs there.
    #[error("argocd-cm has {key}, which cannot be read: {why}")]
    Unreadable {
        /// The key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The word is none of those that have a meaning.
    #[error("argocd-cm has {key} with {word:?}, which means nothing there; {instead} is taken")]
    Word {
        /// The key, and the field in it.
        key: String,
        /// What it says.
        word: String,
        /// What is taken instead.
        instead: &'static str,
    },
    /// A rule in it cannot be read.
    #[error("argocd-cm has {key} with a rule that cannot be read")]
    Rule {
        /// The key.
        key: String,
        /// Which and why.
        #[source]
        source: RuleError,
    },
    /// A type in it is not known.
    #[error("argocd-cm has {key} with a type that is not known")]
    Type {
        /// The key.
        key: String,
        /// Which.
        #[source]
        source: UnknownType,
    },
}

/// What holds if nothing is set.
impl Default for System {
    fn default() -> Self {
        let mut ignore = Ignore::default();
        let definitions = ResourceIgnoreDifferences {
            group: "apiextensions.k8s.io".into(),
            kind: "CustomResourceDefinition".into(),
            // Servers drop it where it says nothing.
            json_pointers: vec!["/spec/preserveUnknownFields".into()],
            ..ResourceIgnoreDifferences::default()
        };
        ignore.add(&definitions, Place::BuiltIn);
        System {
            ignore,
            known_types: KnownTypes::default(),
            ignore_aggregated_roles: false,
            ignore_status: IgnoreStatus::All,
            hidden_annotations: Vec::new(),
        }
    }
}

impl System {
    /// Reads the entries of `argocd-cm`. What cannot be read is told of, and the rest holds.
    pub fn read<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Self, Vec<SystemError>) {
        let mut reading = Reading { system: System::default(), errors: Vec::new() };
        let mut entries: Vec<(&str, &str)> =
            entries.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        entries.sort_unstable();
        for (key, text) in entries {
            reading.entry(key, text);
        }
        (reading.system, reading.errors)
    }

    /// Reads a ConfigMap `argocd-cm`, or an `ArgoCD` of OpenShift's operator, which writes one from it.
    pub fn of(settings: &Object) -> (Self, Vec<SystemError>) {
        let data = operator::data(settings);
        System::read(data.iter().filter_map(|(key, text)| Some((key.as_str(), text.as_str()?))))
    }

    /// How the objects of an application are compared that has rules of its own.
    pub fn settings(&self, own: Ignore) -> Settings {
        Settings {
            ignore: own.and(&self.ignore),
            known_types: self.known_types.clone(),
            ignore_aggregated_roles: self.ignore_aggregated_roles,
            ignore_status: self.ignore_status,
            hidden_annotations: self.hidden_annotations.clone(),
            ..Settings::default()
        }
    }
}

struct Reading {
    system: System,
    errors: Vec<SystemError>,
}

impl Reading {
    fn entry(&mut self, key: &str, text: &str) {
        match key {
            COMPARE_OPTIONS => self.compare_options(text),
            CUSTOMIZATIONS => self.customizations(text),
            MASKED_ANNOTATIONS => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                self.system.hidden_annotations = names.map(Str::from).collect();
            }
            _ => {
                let Some((what, kind)) =
                    key.strip_prefix(CUSTOMIZATIONS).and_then(|rest| rest.strip_prefix('.')?.split_once('.'))
                else {
                    return;
                };
                if !matches!(what, "ignoreDifferences" | "knownTypeFields") {
                    return;
                }
                let Some(value) = self.parse(key, text) else { return };
                match kind_of_key(kind) {
                    Some(kind) => self.customization(key, what, &kind, &value),
                    None => self.unreadable(key, format!("{kind:?} is no kind; write group_Kind or Kind")),
                }
            }
        }
    }

    fn parse(&mut self, key: &str, text: &str) -> Option<Value> {
        match yaml::parse_str(text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.unreadable(key, error.to_string());
                None
            }
        }
    }

    fn unreadable(&mut self, key: &str, why: impl Into<String>) {
        self.errors.push(SystemError::Unreadable { key: key.to_owned(), why: why.into() });
    }

    fn compare_options(&mut self, text: &str) {
        let Some(options) = self.parse(COMPARE_OPTIONS, text) else { return };
        if options.as_map().is_none() {
            return self.unreadable(COMPARE_OPTIONS, "it is no map");
        }
        self.system.ignore_aggregated_roles = self.switch(&options, "ignoreAggregatedRoles");
        let field = "ignoreResourceStatusField";
        let word = match options.get(field) {
            None | Some(Value::Null) => return,
            Some(Value::Bool(false)) => "off",
            Some(word) => word.as_str().unwrap_or_default(),
        };
        self.system.ignore_status = match word {
            "" | "all" => IgnoreStatus::All,
            "crd" => IgnoreStatus::Definitions,
            "none" | "off" | "false" => IgnoreStatus::None,
            other => {
                self.errors.push(SystemError::Word {
                    key: format!("{COMPARE_OPTIONS}.{field}"),
                    word: other.to_owned(),
                    instead: "all",
                });
                IgnoreStatus::All
            }
        };
    }

    fn switch(&mut self, options: &Value, field: &str) -> bool {
        match options.get(field) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(on)) => *on,
            Some(other) => {
                self.errors.push(SystemError::Word {
                    key: format!("{COMPARE_OPTIONS}.{field}"),
                    word: lynceus_object::json::to_string(other),
                    instead: "false",
                });
                false
            }
        }
    }

    /// The one text that older installations have for all kinds.
    fn customizations(&mut self, text: &str) {
        let Some(all) = self.parse(CUSTOMIZATIONS, text) else { return };
        let Some(all) = all.as_map() else {
            return self.unreadable(CUSTOMIZATIONS, "it is no map from kinds to what is customized");
        };
        for (written, customization) in all.iter() {
            let kind = match written.split_once('/') {
                Some((group, kind)) => GroupKind::new(group, kind),
                None => GroupKind::new("", written.as_str()),
            };
            let key = format!("{CUSTOMIZATIONS} for {written}");
            for what in ["ignoreDifferences", "knownTypeFields"] {
                // There rules are a text in the text.
                match customization.get(what) {
                    None | Some(Value::Null) => {}
                    Some(Value::Str(text)) => {
                        if let Some(value) = self.parse(&key, text) {
                            self.customization(&key, what, &kind, &value);
                        }
                    }
                    Some(value) => self.customization(&key, what, &kind, value),
                }
            }
        }
    }

    fn customization(&mut self, key: &str, what: &str, kind: &GroupKind, value: &Value) {
        if what == "knownTypeFields" {
            return self.known_types(key, kind, value);
        }
        const FIELDS: [&str; 3] = OverrideIgnoreDiff::FIELDS;
        let Some(map) = value.as_map().map(|map| map.spelled(&FIELDS)) else {
            if !value.is_null() {
                self.unreadable(key, format!("it is no map with any of {}", FIELDS.join(", ")));
            }
            return;
        };
        let texts = |field: &str| -> Vec<Str> {
            let items = map.get(field).and_then(Value::as_seq).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(Str::from).collect()
        };
        let [json_pointers, jq_path_expressions, managed_fields_managers] = FIELDS.map(texts);
        let rule = ResourceIgnoreDifferences {
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            json_pointers,
            jq_path_expressions,
            managed_fields_managers,
            ..ResourceIgnoreDifferences::default()
        };
        let broken = self.system.ignore.add(&rule, Place::System);
        self.errors
            .extend(broken.into_iter().map(|source| SystemError::Rule { key: key.to_owned(), source }));
        for (field, value) in map.iter() {
            let is_texts =
                value.as_seq().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()));
            if !FIELDS.contains(&field.as_str()) {
                self.unreadable(key, format!("it has no field {field:?}; there are {}", FIELDS.join(", ")));
            } else if !is_texts && !value.is_null() {
                self.unreadable(key, format!("{field} is no list of texts"));
            }
        }
    }

    fn known_types(&mut self, key: &str, kind: &GroupKind, value: &Value) {
        let Some(fields) = value.as_seq() else {
            return self.unreadable(key, "it is no list of fields with their types");
        };
        // Whoever says which fields a kind has means these alone.
        self.system.known_types.forget(kind);
        for field in fields {
            let text = |name: &str| field.str_at(&[name]).unwrap_or_default();
            if let Err(source) = self.system.known_types.add(kind.clone(), text("field"), text("type")) {
                self.errors.push(SystemError::Type { key: key.to_owned(), source });
            }
        }
    }
}

/// `apps_Deployment`, `Service`, or `all`.
fn kind_of_key(text: &str) -> Option<GroupKind> {
    match text.split('_').collect::<Vec<_>>().as_slice() {
        ["all"] => Some(GroupKind::new("*", "*")),
        [kind] if !kind.is_empty() => Some(GroupKind::new("", *kind)),
        [group, kind] if !kind.is_empty() => Some(GroupKind::new(*group, *kind)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn read(entries: &[(&str, &str)]) -> (System, Vec<String>) {
        let (system, errors) = System::read(entries.iter().copied());
        let words = |error: &SystemError| match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        (system, errors.iter().map(words).collect())
    }

    fn fine(entries: &[(&str, &str)]) -> System {
        let (system, errors) = read(entries);
        assert_eq!(errors, Vec::<String>::new());
        system
    }

    /// What is left of an object under the rules for all.
    fn left(system: &System, api_version: &str, kind: &str) -> Value {
        let mut object = Object::new(value!({
            "apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": {"a": 1, "b": 2, "preserveUnknownFields": false},
        }))
        .expect("a map");
        system.ignore.apply(&mut object, &mut system.ignore.tally());
        object.at(&["spec"]).cloned().unwrap_or_default()
    }

    #[test]
    fn rules_are_read_by_kind_for_all_and_from_the_old_text() {
        let system = fine(&[
            ("resource.customizations.ignoreDifferences.apps_Deployment", "jsonPointers: [/spec/a]"),
            ("resource.customizations.ignoreDifferences.Service", "jqPathExpressions: ['.spec.b']"),
            ("resource.customizations.ignoreDifferences.all", "jsonPointers: [/spec/preserveUnknownFields]"),
            (
                "resource.customizations",
                "x.io/*:\n  ignoreDifferences: |\n    jsonPointers:\n    - /spec/a\n    - /spec/b\n",
            ),
            ("resource.customizations.health.apps_Deployment", "return {}"),
            ("some.other", "{{"),
        ]);
        assert_eq!(left(&system, "apps/v1", "Deployment"), value!({"b": 2}));
        assert_eq!(left(&system, "v1", "Service"), value!({"a": 1}));
        assert_eq!(left(&system, "x.io/v1", "Thing"), value!({}));
        assert_eq!(left(&system, "v1", "Pod"), value!({"a": 1, "b": 2}));
    }

    #[test]
    fn rules_are_read_as_openshifts_operator_spells_them() {
        let system = fine(&[(
            "resource.customizations.ignoreDifferences.apps_Deployment",
            "jqpathexpressions:\n- .spec.b\njsonpointers:\n- /spec/a\nmanagedfieldsmanagers: []\n",
        )]);
        assert_eq!(left(&system, "apps/v1", "Deployment"), value!({"preserveUnknownFields": false}));
    }

    #[test]
    fn rules_of_openshifts_operator_are_read_from_its_resource() {
        let resource = Object::new(value!({"apiVersion": "argoproj.io/v1beta1", "kind": "ArgoCD", "spec": {
            "resourceIgnoreDifferences": {
                "all": {"jsonPointers": ["/spec/preserveUnknownFields"]},
                "resourceIdentifiers": [
                    {"group": "apps", "kind": "Deployment", "customization": {"jqPathExpressions": [".spec.a"]}},
                ],
            },
            "extraConfig": {"resource.customizations.ignoreDifferences.Service": "jsonPointers: [/spec/b]"},
        }}));
        let (system, errors) = System::of(&resource.expect("a map"));
        assert_eq!(errors, []);
        assert_eq!(left(&system, "apps/v1", "Deployment"), value!({"b": 2}));
        assert_eq!(left(&system, "v1", "Service"), value!({"a": 1}));
    }

    #[test]
    fn definitions_lose_what_servers_drop_without_being_asked() {
        let system = System::default();
        let left = left(&system, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(left, value!({"a": 1, "b": 2}));
        assert!(system.ignore.reports(system.ignore.tally()).is_empty(), "nobody wrote that rule");
    }

    #[test]
    fn compare_options_are_read_and_wrong_words_told_of() {
        let options = |text: &str| {
            let (system, errors) = read(&[("resource.compareoptions", text)]);
            (system.ignore_status, system.ignore_aggregated_roles, errors.len())
        };
        assert_eq!(options("{}"), (IgnoreStatus::All, false, 0));
        assert_eq!(options("ignoreResourceStatusField: crd"), (IgnoreStatus::Definitions, false, 0));
        assert_eq!(options("ignoreResourceStatusField: none"), (IgnoreStatus::None, false, 0));
        assert_eq!(
            options("ignoreResourceStatusField: 'off'\nignoreAggregatedRoles: true"),
            (IgnoreStatus::None, true, 0)
        );
        assert_eq!(
            options("ignoreResourceStatusField: some\nignoreAggregatedRoles: maybe"),
            (IgnoreStatus::All, false, 2)
        );
        assert_eq!(options("[1]"), (IgnoreStatus::All, false, 1));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_key_and_the_rest_holds() {
        let (system, errors) = read(&[
            ("resource.customizations.ignoreDifferences.a_b_c", "jsonPointers: [/spec]"),
            ("resource.customizations.ignoreDifferences.Pod", "jsonPointer: [/spec]\njsonPointers: x"),
            ("resource.customizations.ignoreDifferences.Secret", "jqPathExpressions: ['.a[']"),
            ("resource.customizations.ignoreDifferences.Service", "{"),
            ("resource.customizations.knownTypeFields.x.io_Thing", "[{field: spec, type: core/v1/Nothing}]"),
            ("resource.customizations.ignoreDifferences.apps_Deployment", "jsonPointers: [/spec/a]"),
        ]);
        assert_eq!(left(&system, "apps/v1", "Deployment"), value!({"b": 2, "preserveUnknownFields": false}));
        assert_eq!(errors.len(), 6, "{errors:#?}");
        assert!(errors.iter().any(|error| error.contains("\"a_b_c\" is no kind")));
        assert!(errors.iter().any(|error| error.contains("no field \"jsonPointer\"")));
        assert!(errors.iter().any(|error| error.contains("type 'core/v1/Nothing' is not supported")));
    }

    #[test]
    fn known_types_take_the_place_of_what_is_known_without_them() {
        let rollout = |system: &System| {
            let mut object = Object::new(value!({
                "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout",
                "spec": {"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1000m"}}}]}}},
            }))
            .expect("a map");
            system.known_types.apply(&mut object);
            let containers = object.value().items_at(&["spec", "template", "spec", "containers"]);
            containers[0].str_at(&["resources", "limits", "cpu"]).map(str::to_owned)
        };
        assert_eq!(rollout(&System::default()).as_deref(), Some("1"));
        let system = fine(&[(
            "resource.customizations.knownTypeFields.argoproj.io_Rollout",
            "[{field: spec.other, type: core/Quantity}]",
        )]);
        assert_eq!(rollout(&system).as_deref(), Some("1000m"));
    }

    #[test]
    fn annotations_to_be_hidden_are_listed() {
        let system = fine(&[("resource.sensitive.mask.annotations", "a.io/token, b.io/key,")]);
        assert_eq!(system.hidden_annotations, ["a.io/token", "b.io/key"]);
    }
}
