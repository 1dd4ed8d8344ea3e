//! Names that stand in other resources: when a resource was renamed, whoever refers to it is told.
//!
//! Kustomize looks through all resources for every name that it meets. Here what was renamed is found by what it was
//! called, so that the cost grows with the number of resources and of references.

mod candidates;
mod fields;

use std::collections::HashMap;
use std::rc::Rc;

use lynceus_object::yaml;
use lynceus_object::{Str, Value};

use crate::config::{Config, NameReference};
use crate::error::KustomizeError;
use crate::fieldspec::{FieldPath, Makes};
use crate::id::Kind;
use crate::resources::Resources;
use crate::scalar;
use candidates::{Candidates, Referrer};
use fields::Field;

/// Repairs the names that refer to what was renamed; `is_cluster_scoped` is what the schema says of a kind.
///
/// Kustomize takes the resources in no order. It shows only where a field that is repaired is itself a name or a
/// namespace by which others are found; then the order of the resources counts here.
pub(crate) fn repair(
    resources: &mut Resources,
    config: &Config,
    is_cluster_scoped: &dyn Fn(&Kind) -> bool,
) -> Result<(), KustomizeError> {
    let mut candidates = Candidates::new(resources, is_cluster_scoped);
    let mut fields_of = Fields::new(&config.name_reference);
    for at in 0..resources.list.len() {
        let fields = fields_of.of(&resources.list[at].original_kind());
        if fields.is_empty() {
            continue;
        }
        let referrer = Referrer::new(&resources.list[at], at, is_cluster_scoped)?;
        let mut value = std::mem::take(&mut resources.list[at].value);
        let done = fields.iter().try_for_each(|field| {
            Repair { referrer: &referrer, candidates: &candidates, field }
                .run(&mut value)
                .map_err(|error| explain(error, field, &referrer))
        });
        resources.list[at].value = value;
        done?;
        if fields.iter().any(|field| field.is_metadata) {
            candidates.renew(at, &resources.list[at], is_cluster_scoped);
        }
    }
    Ok(())
}

fn explain(error: KustomizeError, field: &Field, referrer: &Referrer) -> KustomizeError {
    error
        .context(format_args!("considering field '{}' of object {}", field.spec_path, referrer.id))
        .context(format_args!("updating name reference in '{}' field of '{}'", field.spec_path, referrer.id))
}

/// The fields that a kind may refer to others by, looked up once per kind.
struct Fields<'a> {
    references: &'a [NameReference],
    known: HashMap<Kind, Rc<Vec<Field>>>,
}

impl<'a> Fields<'a> {
    fn new(references: &'a [NameReference]) -> Self {
        Fields { references, known: HashMap::new() }
    }

    fn of(&mut self, kind: &Kind) -> Rc<Vec<Field>> {
        if let Some(known) = self.known.get(kind) {
            return known.clone();
        }
        let fields = self.references.iter().flat_map(|reference| {
            let fitting = reference.referrers.iter().filter(|spec| kind.is_selected_by(&spec.kind));
            fitting.map(|spec| Field::new(spec, &reference.target))
        });
        let fields = Rc::new(fields.collect::<Vec<_>>());
        self.known.insert(kind.clone(), fields.clone());
        fields
    }
}

/// One field of one referrer.
struct Repair<'a> {
    referrer: &'a Referrer,
    candidates: &'a Candidates,
    field: &'a Field,
}

impl Repair<'_> {
    fn run(&self, value: &mut Value) -> Result<(), KustomizeError> {
        // Of a role reference the kind counts too.
        let role = if self.field.is_role { role_kind(value) } else { None };
        self.field.path.edit(value, false, Makes::Nothing, &mut |found| match found {
            Value::Seq(items) => {
                // Looking first keeps a shared list shared when nothing in it changes.
                if items.iter().all(|item| self.leaves(item)) {
                    return Ok(());
                }
                items.make_mut().iter_mut().try_for_each(|item| match item {
                    Value::Seq(_) => Err(KustomizeError::new(format!(
                        "{} is expected to be either a string or a map of string",
                        yaml::to_string(item).trim_end()
                    ))),
                    item => self.repair_one(item, role.as_ref()),
                })
            }
            found => self.repair_one(found, role.as_ref()),
        })
    }

    /// Whether an item of a list is plainly a name that nobody had.
    fn leaves(&self, item: &Value) -> bool {
        item.as_str().is_some_and(|name| !self.candidates.knows(name))
    }

    fn repair_one(&self, found: &mut Value, role: Option<&Kind>) -> Result<(), KustomizeError> {
        match found {
            Value::Null => Ok(()),
            Value::Map(_) => self.repair_map(found, role),
            _ => self.repair_scalar(found, role),
        }
    }

    fn repair_scalar(&self, found: &mut Value, role: Option<&Kind>) -> Result<(), KustomizeError> {
        let Some(name) = scalar::text(found) else { return Ok(()) };
        let chosen = self.candidates.choose(self.referrer, &name, &self.field.target, role, None)?;
        if let Some(chosen) = chosen.filter(|chosen| *chosen.name != *name) {
            let renamed = scalar::rewritten(found, &chosen.name);
            *found = renamed;
        }
        Ok(())
    }

    /// A map has a name and maybe a namespace; both come from what is referred to.
    fn repair_map(&self, found: &mut Value, role: Option<&Kind>) -> Result<(), KustomizeError> {
        let Some(name) = found.get("name").map(|name| scalar::text(name).unwrap_or_default()) else {
            return Err(KustomizeError::new("path config error; no 'name' field in node").hint(
                "the path of this name reference leads to a map; it has to lead to a name or to a map with one",
            ));
        };
        let namespace: Option<Str> = found
            .get("namespace")
            .map(|namespace| scalar::text(namespace).unwrap_or_default().as_ref().into());
        let within = Some(namespace.as_deref());
        let chosen = self.candidates.choose(self.referrer, &name, &self.field.target, role, within)?;
        let Some(chosen) = chosen else { return Ok(()) };
        if *chosen.name != *name {
            set(found, "name", &chosen.name);
        }
        if !chosen.namespace.is_empty() {
            set(found, "namespace", &chosen.namespace);
        }
        Ok(())
    }
}

/// Sets a text in a map; what is not there yet stays a text whatever it looks like.
fn set(map: &mut Value, field: &str, text: &str) {
    let new = match map.get(field) {
        Some(old) if old.as_str() == Some(text) => return,
        Some(old) => scalar::rewritten(old, text),
        None => Value::from(text),
    };
    map.set(&[field], new);
}

/// The kind that `roleRef` names, if it names one.
fn role_kind(value: &Value) -> Option<Kind> {
    let role = value.get("roleRef")?;
    let text =
        |field: &str| role.get(field).map(|value| Str::from(&*scalar::text(value).unwrap_or_default()));
    Some(Kind { group: text("apiGroup")?, version: Str::new(), kind: text("kind")? })
}

#[cfg(test)]
mod tests;
