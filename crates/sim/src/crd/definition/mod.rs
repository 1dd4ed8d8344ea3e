//! The definition itself: its defaults, what a write may change, and what is wrong with it.
//!
//! Kubernetes validates an older form of the definition, in which what all versions have in common
//! stands at the top. Its messages name fields of that form (`spec.validation.openAPIV3Schema…`), so
//! [`Form`] recreates it.

mod defaults;
mod go_form;
mod names;
mod openapi;
mod spec;
mod structural;

use lynceus_object::{Object, Value, value};

use crate::error::FieldError;
use crate::kinds::validation::meta;
use crate::kinds::validation::report::Report;

/// Sets the defaults of a definition.
pub fn default(definition: &mut Object) {
    let kind =
        definition.at(&["spec", "names", "kind"]).and_then(Value::as_str).unwrap_or_default().to_owned();
    let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default().is_empty();
    let (no_singular, no_list) = (text(&["spec", "names", "singular"]), text(&["spec", "names", "listKind"]));
    if no_singular && !kind.is_empty() {
        definition.set(&["spec", "names", "singular"], kind.to_lowercase());
    }
    if no_list && !kind.is_empty() {
        definition.set(&["spec", "names", "listKind"], format!("{kind}List"));
    }
    if definition.at(&["spec", "conversion"]).is_none_or(Value::is_null) {
        definition.set(&["spec", "conversion"], value!({"strategy": "None"}));
    }
    let service = ["spec", "conversion", "webhook", "clientConfig", "service"];
    if definition.at(&service).is_some_and(|service| service.get("port").is_none()) {
        definition.set(&["spec", "conversion", "webhook", "clientConfig", "service", "port"], 443);
    }
    if definition.at(&["status", "storedVersions"]).is_none_or(Value::is_empty)
        && let Some(name) = storage_version(definition)
    {
        definition.set(&["status", "storedVersions"], vec![name]);
    }
}

/// Makes a definition ready to be stored: the status is the server's, versions once stored are
/// remembered, a change of the spec is a new generation.
pub fn prepare(definition: &mut Object, old: Option<&Object>, subresource: &str) {
    let Some(old) = old else {
        definition.set(
            &["status"],
            value!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null}),
        );
        definition.set(&["metadata", "generation"], 1);
        remember_storage(definition);
        return;
    };
    if subresource == "status" {
        if let Some(spec) = old.at(&["spec"]) {
            definition.set(&["spec"], spec.clone());
        }
        return;
    }
    match old.at(&["status"]) {
        Some(status) => definition.set(&["status"], status.clone()),
        None => drop(definition.remove(&["status"])),
    }
    if definition.at(&["spec"]) != old.at(&["spec"]) {
        definition.set(&["metadata", "generation"], old.generation() + 1);
    }
    remember_storage(definition);
}

fn storage_version(definition: &Object) -> Option<String> {
    let versions = definition.value().items_at(&["spec", "versions"]);
    let storage = versions.iter().find(|version| version.bool_at(&["storage"]).unwrap_or(false))?;
    storage.str_at(&["name"]).map(str::to_owned)
}

fn remember_storage(definition: &mut Object) {
    let Some(name) = storage_version(definition) else { return };
    let mut stored = definition.value().items_at(&["status", "storedVersions"]).to_vec();
    if !stored.iter().any(|known| known.as_str() == Some(&name)) {
        stored.push(name.into());
        definition.set(&["status", "storedVersions"], stored);
    }
}

/// What is wrong with a definition, new or changed.
pub fn validate(definition: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let form = Form::new(definition);
    let mut report = Report::default();
    match old {
        // The name has a rule of its own.
        None => meta::create_general(definition, false, |_| Vec::new(), &mut report),
        Some(old) => meta::update(definition, old, &mut report),
    }
    let mut errors = report.into_errors();
    if old.is_none() {
        names::definition_name(definition, &mut errors);
    }
    spec::validate(&form, old, &mut errors);
    spec::status(definition, &mut errors);
    spec::approval(definition, old, &mut errors);
    if definition.at(&["spec", "preserveUnknownFields"]).and_then(Value::as_bool) == Some(true) {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(FieldError::invalid("spec.preserveUnknownFields", "true", detail));
    }
    errors
}

/// What a client should hear although the definition is accepted: formats that nobody checks.
pub fn warnings(definition: &Object, old: Option<&Object>) -> Vec<String> {
    let before = old.map(openapi::unknown_formats).unwrap_or_default();
    openapi::unknown_formats(definition)
        .into_iter()
        .filter(|format| !before.contains(format))
        .map(|format| format!("unrecognized format {}", super::shown::quoted(&format)))
        .collect()
}

/// The definition as messages see it: what all versions share stands at the top.
struct Form<'a> {
    spec: Value,
    versions: &'a [Value],
    /// The parts that were moved up, by their name in a version.
    shared: Vec<(&'static str, Value)>,
}

impl<'a> Form<'a> {
    fn new(definition: &'a Object) -> Self {
        let versions = definition.value().items_at(&["spec", "versions"]);
        let shared = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"]
            .into_iter()
            .filter_map(|part| {
                let first = versions.first()?.get(part)?.clone();
                let same = versions.iter().all(|version| version.get(part) == Some(&first));
                (same && !first.is_null()).then_some((part, first))
            })
            .collect();
        Form { spec: definition.at(&["spec"]).cloned().unwrap_or_default(), versions, shared }
    }

    fn shared(&self, part: &str) -> Option<&Value> {
        self.shared.iter().find(|(name, _)| *name == part).map(|(_, value)| value)
    }

    /// A part of one version, unless it was moved up.
    fn own<'v>(&self, version: &'v Value, part: &str) -> Option<&'v Value> {
        version.get(part).filter(|value| !value.is_null() && self.shared(part).is_none())
    }
}

#[cfg(test)]
mod tests;
