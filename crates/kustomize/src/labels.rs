//! Labels, with or without the selectors and templates that go with them.

use lynceus_object::{Str, Value};

use crate::config::Config;
use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs, Makes, Place, merge_into};
use crate::resources::Resources;
use crate::scalar;
use crate::shared::Shared;

/// Adds labels.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    /// The labels by name.
    pub(crate) labels: Vec<(Str, Str)>,
    /// The fields.
    pub(crate) specs: FieldSpecs,
}

/// One item of `labels`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelField {
    /// The labels by name.
    pub(crate) pairs: Vec<(Str, Str)>,
    /// Whether they go into selectors, and into templates then.
    pub(crate) include_selectors: bool,
    /// Whether they go into templates.
    pub(crate) include_templates: bool,
    /// Further fields.
    pub(crate) fields: Vec<FieldSpec>,
}

impl Labels {
    /// From an item of `labels`.
    pub(crate) fn of_field(field: &LabelField, config: &Config) -> Result<Self, KustomizeError> {
        let specs = specs_of(field, config).map_err(|error| error.context("failed to merge labels"))?;
        Ok(Labels { labels: field.pairs.clone(), specs: FieldSpecs::new(specs) })
    }

    /// Changes the resources.
    pub(crate) fn apply(&self, resources: &mut Resources) -> Result<(), KustomizeError> {
        set_entries(resources, &self.labels, &self.specs)
    }
}

fn specs_of(field: &LabelField, config: &Config) -> Result<Vec<FieldSpec>, KustomizeError> {
    let mut specs = field.fields.clone();
    merge_into(&mut specs, config.labels.iter().map(|spec| &spec.spec))?;
    if field.include_selectors {
        merge_into(&mut specs, config.common_labels.iter().map(|spec| &spec.spec))?;
        return Ok(specs);
    }
    if field.include_templates {
        merge_into(&mut specs, config.template_labels.iter().map(|spec| &spec.spec))?;
    }
    merge_into(&mut specs, [FieldSpec::of_all("metadata/labels", true)].iter())?;
    Ok(specs)
}

/// Sets texts by name in the maps that the specs lead to.
pub(crate) fn set_entries(
    resources: &mut Resources,
    entries: &[(Str, Str)],
    specs: &FieldSpecs,
) -> Result<(), KustomizeError> {
    if entries.is_empty() {
        return Ok(());
    }
    for resource in &mut resources.list {
        let kind = resource.kind();
        let mut added: Vec<Vec<Place>> = vec![Vec::new(); entries.len()];
        for spec in specs.matching(&kind) {
            spec.edit_places(resource, Makes::Map, &mut |field, place| {
                let map = match field {
                    // What is there and empty stays so, unless the field may be made.
                    Value::Null => return Ok(()),
                    Value::Map(map) => map,
                    other => return Err(scalar::wrong_node("MappingNode", other)),
                };
                for ((name, text), added) in entries.iter().zip(&mut added) {
                    let is_new = map.insert(name.clone(), text.clone()).is_none();
                    if is_new {
                        check_name(name)?;
                        added.push(place());
                    }
                }
                Ok(())
            })?;
        }
        resource.settle();
        let added = entries.iter().zip(added);
        resource.shared.extend(added.filter_map(|((name, text), places)| Shared::new(name, text, places)));
    }
    Ok(())
}

/// Kustomize writes a new name without quotes, so that it may be no text when it is read again.
pub(crate) fn check_name(name: &Str) -> Result<(), KustomizeError> {
    if name != "<<" && scalar::meaning(name).as_str() == Some(name) {
        return Ok(());
    }
    let problem = format!("json: unsupported type: map[interface {{}}]interface {{}}: {name:?} as a name");
    Err(KustomizeError::new(problem)
        .hint("Kustomize cannot print a new name that looks like a number, a date or a truth value"))
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
