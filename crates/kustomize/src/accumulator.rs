//! What one kustomization has gathered: resources, rules and variables.

use std::collections::HashMap;

use lynceus_object::{Map, Str, Value};

use crate::config::Config;
use crate::error::KustomizeError;
use crate::id::{Id, Kind};
use crate::limits;
use crate::read::spelled;
use crate::resource::{Behavior, Resource};
use crate::resources::Resources;
use crate::schema::Schema;
use crate::variables::Variables;

/// What one kustomization has gathered.
#[derive(Default)]
pub(crate) struct Accumulator {
    pub(crate) resources: Resources,
    pub(crate) config: Config,
    pub(crate) variables: Variables,
    /// Where the resources of each id are, as long as nothing but appending was done to them.
    index: Option<Index>,
}

/// What tells resources apart.
type Key = (Kind, Str, Str);

fn key(id: Id) -> Key {
    let namespace = id.effective_namespace().into();
    (id.kind, id.name, namespace)
}

/// Where resources are, by the ids that they have and had.
#[derive(Default)]
struct Index {
    current: HashMap<Key, usize>,
    any: HashMap<Key, Vec<usize>>,
}

impl Index {
    fn of(resources: &Resources, schema: &Schema) -> Self {
        let mut index = Index::default();
        for (at, resource) in resources.list.iter().enumerate() {
            index.add(at, resource, schema);
        }
        index
    }

    fn add(&mut self, at: usize, resource: &Resource, schema: &Schema) {
        let current = current_id(resource, schema);
        for id in resource.former_ids().chain([current.clone()]) {
            let places = self.any.entry(key(id)).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
        self.current.insert(key(current), at);
    }
}

fn current_id(resource: &Resource, schema: &Schema) -> Id {
    resource.id(schema.is_cluster_scoped(&resource.kind()))
}

impl Accumulator {
    /// Adds resources, each of which has to be new.
    pub(crate) fn append(
        &mut self,
        added: impl IntoIterator<Item = Resource>,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        for resource in added {
            self.append_one(resource, schema)?;
        }
        Ok(())
    }

    fn append_one(&mut self, resource: Resource, schema: &Schema) -> Result<(), KustomizeError> {
        let index = self.index.get_or_insert_with(|| Index::of(&self.resources, schema));
        let id = current_id(&resource, schema);
        if let Some(other) = index.current.get(&key(id.clone())) {
            let mut error =
                KustomizeError::new(format!("may not add resource with an already registered id: {id}"));
            if let Some(span) = self.resources.list.get(*other).and_then(|other| other.span.as_ref()) {
                error = error.hint(format!("the other one is at {span}"));
            }
            return Err(match resource.span {
                Some(span) => error.at(span),
                None => error,
            });
        }
        if self.resources.list.len() >= limits::MAX_RESOURCES {
            let problem = format!("the build has more than {} resources", limits::MAX_RESOURCES);
            return Err(KustomizeError::new(problem));
        }
        index.add(self.resources.list.len(), &resource, schema);
        self.resources.list.push(resource);
        Ok(())
    }

    /// Adds what a generator made: as new, or in the place of or merged with what is there.
    pub(crate) fn absorb(&mut self, made: Vec<Resource>, schema: &Schema) -> Result<(), KustomizeError> {
        for resource in made {
            self.absorb_one(resource, schema)?;
        }
        Ok(())
    }

    fn absorb_one(&mut self, resource: Resource, schema: &Schema) -> Result<(), KustomizeError> {
        let index = self.index.get_or_insert_with(|| Index::of(&self.resources, schema));
        let id = current_id(&resource, schema);
        let matches = index.any.get(&key(id.clone())).map_or(&[][..], Vec::as_slice);
        match (matches, resource.behavior) {
            ([], Some(Behavior::Merge | Behavior::Replace)) => {
                Err(KustomizeError::new(format!("id {id} does not exist; cannot merge or replace")))
            }
            ([], _) => self.append_one(resource, schema),
            ([at], Some(behavior @ (Behavior::Merge | Behavior::Replace))) => {
                let Some(old) = self.resources.list.get_mut(*at) else { return Ok(()) };
                // What a patch has made another kind of is found by what it was, but not replaced by that.
                if old.kind().kind != resource.kind().kind {
                    let problem = format!("cannot find resource with id {id} to replace");
                    return Err(KustomizeError::new(problem)
                        .hint(format!("a patch has made a {} of it", old.kind_name())));
                }
                *old = combined(old, resource, behavior);
                Ok(())
            }
            ([at], behavior) => {
                let behavior = if behavior.is_some() { "create" } else { "unspecified" };
                let error = KustomizeError::new(format!(
                    "id {id} exists; can not use behavior: '{behavior}', behavior must be merge or replace"
                ));
                Err(match self.resources.list.get(*at).and_then(|other| other.span.as_ref()) {
                    Some(span) => error.hint(format!("the other one is at {span}")),
                    None => error,
                })
            }
            _ => Err(KustomizeError::new(format!("found multiple objects that could accept merge of {id}"))),
        }
    }

    /// Has something done to the resources that may change what they are called.
    pub(crate) fn change(&mut self) -> &mut Resources {
        self.index = None;
        &mut self.resources
    }

    /// Whether everything is still called differently.
    pub(crate) fn check(&mut self, schema: &Schema) -> Result<(), KustomizeError> {
        if self.index.is_some() {
            return Ok(());
        }
        let resources = std::mem::take(&mut self.resources.list);
        self.append(resources, schema)
    }

    /// Adds what another kustomization has gathered.
    pub(crate) fn merge(&mut self, other: Accumulator, schema: &Schema) -> Result<(), KustomizeError> {
        if self.resources.list.is_empty() && self.index.is_none() {
            // Nothing can be there twice, unless it already is.
            self.index = other.index;
            if self.index.is_some() {
                self.resources = other.resources;
            } else {
                self.append(other.resources.list, schema)?;
            }
        } else {
            self.append(other.resources.list, schema)?;
        }
        self.config = self.config.merged(&other.config)?;
        self.variables.add_all(other.variables)
    }
}

/// What a generator made, with what was there before.
fn combined(old: &Resource, mut new: Resource, behavior: Behavior) -> Resource {
    let mut value = std::mem::take(&mut new.value);
    for field in ["labels", "annotations"] {
        let mut texts = texts(old.value.at(&["metadata", field]));
        texts.extend(self::texts(value.at(&["metadata", field])));
        set_texts(&mut value, &["metadata", field], texts);
    }
    for field in ["name", "namespace"] {
        match old.value.at(&["metadata", field]) {
            Some(own) if !own.is_empty() => value.set(&["metadata", field], own.clone()),
            _ => {
                value.remove(&["metadata", field]);
            }
        }
    }
    let mut origin = new.origin;
    if behavior == Behavior::Merge {
        for field in ["data", "binaryData"] {
            let mut texts = texts(old.value.get(field));
            texts.extend(self::texts(value.get(field)));
            set_texts(&mut value, &[field], texts);
        }
        origin = old.origin.clone().or(origin);
    }
    Resource {
        value,
        needs_hash: old.needs_hash && new.needs_hash,
        origin,
        span: new.span.or_else(|| old.span.clone()),
        ..old.clone()
    }
}

/// The fields of a map as texts.
fn texts(value: Option<&Value>) -> Map {
    let fields = value.and_then(Value::as_map).into_iter().flat_map(Map::iter);
    fields.map(|(key, value)| (key.clone(), Value::Str(spelled(value)))).collect()
}

fn set_texts(value: &mut Value, path: &[&str], texts: Map) {
    if texts.is_empty() {
        value.remove(path);
    } else {
        value.set(path, texts);
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::{json, value};

    use super::*;

    fn config_map(name: &str, data: Value) -> Resource {
        Resource::new(
            value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}),
        )
    }

    #[test]
    fn a_resource_may_be_added_once() {
        let schema = Schema::default();
        let mut accumulator = Accumulator::default();
        accumulator.append([config_map("a", value!({}))], &schema).unwrap();
        let error = accumulator.append([config_map("a", value!({}))], &schema).unwrap_err();
        assert_eq!(
            error.to_string(),
            "may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]"
        );
    }

    #[test]
    fn what_a_generator_makes_may_be_merged_under_a_former_name() {
        let schema = Schema::default();
        let mut accumulator = Accumulator::default();
        accumulator.append([config_map("a", value!({"x": 1, "y": "2"}))], &schema).unwrap();
        let renamed = &mut accumulator.change().list[0];
        renamed.remember_id(false);
        renamed.value.set(&["metadata", "name"], "p-a");
        let made = Resource {
            behavior: Some(Behavior::Merge),
            needs_hash: true,
            ..config_map("a", value!({"y": "3", "z": "4"}))
        };
        accumulator.absorb(vec![made], &schema).unwrap();
        let found = &accumulator.resources.list[0];
        assert_eq!(
            json::to_string(&found.value),
            r#"{"apiVersion":"v1","data":{"x":"1","y":"3","z":"4"},"kind":"ConfigMap","metadata":{"name":"p-a"}}"#
        );
        assert!(!found.needs_hash, "what was there had none");
    }

    #[test]
    fn a_generator_says_what_to_do_with_what_is_there() {
        let schema = Schema::default();
        let mut accumulator = Accumulator::default();
        let made = |behavior| Resource { behavior, ..config_map("a", value!({"k": "v"})) };
        let error = accumulator.absorb(vec![made(Some(Behavior::Merge))], &schema).unwrap_err();
        assert!(error.to_string().contains("does not exist; cannot merge or replace"));
        accumulator.absorb(vec![made(None)], &schema).unwrap();
        let error = accumulator.absorb(vec![made(None)], &schema).unwrap_err();
        assert!(error.to_string().contains("behavior must be merge or replace"));
        accumulator.absorb(vec![made(Some(Behavior::Replace))], &schema).unwrap();
        assert_eq!(accumulator.resources.list.len(), 1);
    }
}
