//! Where in which kinds a field is, and how to get there.

use std::collections::HashMap;
use std::sync::Arc;

use lynceus_object::{Map, Seq, Str, Value};

use crate::error::KustomizeError;
use crate::id::Kind;
use crate::resource::Resource;
use crate::scalar::wrong_node;
use crate::sort;

/// A field of some kinds, as in Kustomize's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSpec {
    /// The kinds.
    pub kind: Kind,
    /// The field, with `/` between the steps; a list on the way stands for all its items.
    pub path: Str,
    /// Whether the field is made where it is missing.
    pub create: bool,
}

impl FieldSpec {
    /// A field of all kinds.
    pub(crate) fn of_all(path: &str, create: bool) -> Self {
        FieldSpec { kind: Kind::default(), path: path.into(), create }
    }
}

/// What a transformer makes at the end of a path that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
    /// Nothing, whatever the field spec says.
    Nothing,
    /// A scalar; it is `null` when it is handed over.
    Scalar,
    /// A map.
    Map,
}

/// What is done with a field that was found.
pub(crate) type Edit<'a> = &'a mut dyn FnMut(&mut Value) -> Result<(), KustomizeError>;

/// The same with the items of lists that were passed on the way to the field, from the outermost.
type EditAt<'a> = &'a mut dyn FnMut(&mut Value, &[usize]) -> Result<(), KustomizeError>;

/// What is done with a field that was found, and that can tell which it is.
pub(crate) type EditPlace<'a> =
    &'a mut dyn FnMut(&mut Value, &dyn Fn() -> Place) -> Result<(), KustomizeError>;

/// A path cut into its steps. A copy is cheap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath {
    steps: Arc<[Step]>,
}

/// One of the fields that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    path: FieldPath,
    /// The items of lists on the way, from the outermost.
    items: Vec<usize>,
}

impl Place {
    /// Whether there is a list on the way.
    pub(crate) fn is_in_list(&self) -> bool {
        !self.items.is_empty()
    }

    /// The names of the fields on the way.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.path.steps.iter().map(|step| step.name.as_str())
    }

    /// What is there.
    pub(crate) fn find<'v>(&self, mut value: &'v Value) -> Option<&'v Value> {
        let mut items = self.items.iter();
        for step in &*self.path.steps {
            while let Value::Seq(list) = value {
                value = list.get(*items.next()?)?;
            }
            value = value.get(&step.name)?;
        }
        Some(value)
    }

    /// What is there, to change it.
    pub(crate) fn find_mut<'v>(&self, mut value: &'v mut Value) -> Option<&'v mut Value> {
        let mut items = self.items.iter();
        for step in &*self.path.steps {
            while let Value::Seq(list) = value {
                value = list.make_mut().get_mut(*items.next()?)?;
            }
            let Value::Map(map) = value else { return None };
            value = map.get_mut(&step.name)?;
        }
        Some(value)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    /// The field.
    name: Str,
    /// Whether it was written with `[]`: an empty field becomes an empty list.
    is_list: bool,
    /// Whether Kustomize takes it for a place in a list, which is an error in a map.
    is_unusable: bool,
}

impl FieldPath {
    /// Cuts a path at `/`; `\/` is a slash within a step.
    pub(crate) fn new(path: &str) -> Self {
        let step = |text: String| {
            let name = text.strip_suffix("[]").unwrap_or(&text);
            let is_list = name.len() < text.len();
            let name = name.trim();
            Step { name: name.into(), is_list, is_unusable: no_field_name(name) }
        };
        FieldPath { steps: split_path(path, '/').into_iter().map(step).collect() }
    }

    /// Hands every field at this path to `edit`, making what is missing if `create` says so.
    pub(crate) fn edit(
        &self,
        value: &mut Value,
        create: bool,
        makes: Makes,
        edit: Edit<'_>,
    ) -> Result<(), KustomizeError> {
        self.edit_at(value, create, makes, &mut |field, _| edit(field))
    }

    fn edit_at(
        &self,
        value: &mut Value,
        create: bool,
        makes: Makes,
        edit: EditAt<'_>,
    ) -> Result<(), KustomizeError> {
        let creates = create && makes != Makes::Nothing;
        // Looking first keeps a shared object shared when there is nothing to do.
        if !creates && !concerns(value, &self.steps) {
            return Ok(());
        }
        walk(value, &self.steps, &mut Vec::new(), &Makings { creates, makes }, edit)
    }
}

/// Cuts a path at a delimiter that no backslash stands before. A path may begin with the delimiter.
pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let whole = match path.strip_prefix(delimiter) {
        Some(rest) => rest,
        None => path,
    };
    for part in whole.split(delimiter) {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// Whether walking these steps would do anything, be it an error.
fn concerns(value: &Value, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match value {
        Value::Null => false,
        Value::Seq(items) => items.iter().any(|item| concerns(item, steps)),
        Value::Map(_) if step.is_unusable => true,
        Value::Map(map) => match map.get(&step.name) {
            Some(Value::Null) if step.is_list => true,
            Some(field) => concerns(field, rest),
            None => false,
        },
        _ => true,
    }
}

/// What is made where it is missing.
struct Makings {
    creates: bool,
    makes: Makes,
}

fn walk(
    value: &mut Value,
    steps: &[Step],
    passed: &mut Vec<usize>,
    makings: &Makings,
    edit: EditAt<'_>,
) -> Result<(), KustomizeError> {
    let Some((step, rest)) = steps.split_first() else { return edit(value, passed) };
    match value {
        Value::Null => Ok(()),
        Value::Seq(items) => items.make_mut().iter_mut().enumerate().try_for_each(|(at, item)| {
            passed.push(at);
            let walked = walk(item, steps, passed, makings, edit);
            passed.pop();
            walked.map_err(|error| {
                let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
                error.context(format_args!("visit traversal on path: [{}]", names.join(" ")))
            })
        }),
        Value::Map(map) => {
            let creates_this = makings.creates && !step.is_list;
            match next_field(map, step, creates_this, rest.is_empty(), makings.makes)? {
                Some(field) => walk(field, rest, passed, makings, edit),
                None => Ok(()),
            }
        }
        _ => Err(KustomizeError::new("expected sequence or mapping node")),
    }
}

/// The field that a step leads to; what is `null` there becomes what is expected there.
fn next_field<'a>(
    map: &'a mut Map,
    step: &Step,
    creates: bool,
    is_last: bool,
    makes: Makes,
) -> Result<Option<&'a mut Value>, KustomizeError> {
    if step.is_unusable {
        return Err(unusable_name(&step.name, map));
    }
    let field = if creates { Some(map.entry(&step.name)) } else { map.get_mut(&step.name) };
    let Some(field) = field else { return Ok(None) };
    if field.is_null() {
        if step.is_list {
            *field = Value::Seq(Seq::new());
        } else if creates && (!is_last || makes == Makes::Map) {
            *field = Value::Map(Map::new());
        }
    }
    Ok(Some(field))
}

/// Whether a step is what Kustomize takes for a place in a list.
fn no_field_name(name: &str) -> bool {
    let is_index = || matches!(name, "-" | "*") || name.parse::<i64>().is_ok();
    name.is_empty() || is_index() || name.starts_with('[') && name.ends_with(']')
}

fn unusable_name(name: &str, map: &Map) -> KustomizeError {
    match name {
        "" => KustomizeError::new("cannot set or create an empty field name"),
        "*" => KustomizeError::new("wildcard is not supported in PathGetter"),
        _ => wrong_node("SequenceNode", &Value::Map(map.clone())),
    }
    .context(format_args!("fieldName: {name}"))
}

/// One field spec with its path cut.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// As it was given.
    pub(crate) spec: FieldSpec,
    /// Its path.
    pub(crate) path: FieldPath,
}

impl Spec {
    /// A spec with its path cut.
    pub(crate) fn new(spec: FieldSpec) -> Self {
        Spec { path: FieldPath::new(&spec.path), spec }
    }

    /// Hands every field at this spec's path to `edit`. That the kind fits is for the caller to see to.
    pub(crate) fn edit(
        &self,
        resource: &mut Resource,
        makes: Makes,
        edit: Edit<'_>,
    ) -> Result<(), KustomizeError> {
        self.edit_at(resource, makes, &mut |field, _| edit(field))
    }

    /// The same, telling which place the field is.
    pub(crate) fn edit_places(
        &self,
        resource: &mut Resource,
        makes: Makes,
        edit: EditPlace<'_>,
    ) -> Result<(), KustomizeError> {
        self.edit_at(resource, makes, &mut |field, items| {
            edit(field, &|| Place { path: self.path.clone(), items: items.to_vec() })
        })
    }

    fn edit_at(&self, resource: &mut Resource, makes: Makes, edit: EditAt<'_>) -> Result<(), KustomizeError> {
        let done = self.path.edit_at(&mut resource.value, self.spec.create, makes, edit);
        done.map_err(|error| {
            error.context(format_args!(
                "considering field '{}' of object {}",
                self.spec.path,
                resource.id(false)
            ))
        })
    }
}

/// Field specs in order, cut once and found by kind. A copy is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSpecs(Arc<Indexed>);

#[derive(Debug, Default)]
struct Indexed {
    list: Vec<Spec>,
    /// For each kind that is named, which specs may fit it, those of all kinds among them.
    of_kind: HashMap<Str, Vec<usize>>,
    /// The specs of all kinds.
    of_all: Vec<usize>,
    /// Whether they are sorted and none is there twice.
    is_merged: bool,
}

impl Indexed {
    fn new(specs: Vec<FieldSpec>) -> Self {
        let list: Vec<Spec> = specs.into_iter().map(Spec::new).collect();
        let mut of_kind: HashMap<Str, Vec<usize>> = HashMap::new();
        let mut of_all = Vec::new();
        for (at, spec) in list.iter().enumerate() {
            let kind = &spec.spec.kind.kind;
            if kind.is_empty() {
                of_kind.values_mut().for_each(|fitting| fitting.push(at));
                of_all.push(at);
            } else {
                of_kind.entry(kind.clone()).or_insert_with(|| of_all.clone()).push(at);
            }
        }
        Indexed { list, of_kind, of_all, is_merged: false }
    }
}

impl FieldSpecs {
    /// These specs, in this order.
    pub(crate) fn new(specs: Vec<FieldSpec>) -> Self {
        FieldSpecs(Arc::new(Indexed::new(specs)))
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Spec> {
        self.0.list.iter()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.list.is_empty()
    }

    /// Those that fit a kind, in order.
    pub(crate) fn matching<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Spec> + 'a {
        let fitting = self.0.of_kind.get(&kind.kind).unwrap_or(&self.0.of_all);
        let specs = fitting.iter().filter_map(|at| self.0.list.get(*at));
        specs.filter(move |spec| kind.is_selected_by(&spec.spec.kind))
    }

    /// These and those of `others` that are not there yet, in Kustomize's order of kinds.
    pub(crate) fn merged(&self, others: &FieldSpecs) -> Result<FieldSpecs, KustomizeError> {
        if others.is_empty() || Arc::ptr_eq(&self.0, &others.0) {
            return Ok(self.clone());
        }
        if self.is_empty() && others.0.is_merged {
            return Ok(others.clone());
        }
        let mut all = self.specs();
        merge_into(&mut all, others.iter().map(|spec| &spec.spec))?;
        if self.0.is_merged && all.len() == self.0.list.len() {
            return Ok(self.clone());
        }
        all.sort_by_cached_key(|spec| sort::rank(&spec.kind));
        // In another order one may count as there that did not before: a spec of all kinds behind one of a kind.
        let mut again = Vec::new();
        let is_merged = merge_into(&mut again, all.iter()).is_ok() && again.len() == all.len();
        Ok(FieldSpecs(Arc::new(Indexed { is_merged, ..Indexed::new(all) })))
    }

    /// The same in Kustomize's order of kinds.
    pub(crate) fn sorted(&self) -> FieldSpecs {
        let mut list = self.specs();
        list.sort_by_cached_key(|spec| sort::rank(&spec.kind));
        FieldSpecs::new(list)
    }

    /// The specs as they were given.
    pub(crate) fn specs(&self) -> Vec<FieldSpec> {
        self.iter().map(|spec| spec.spec.clone()).collect()
    }
}

/// Adds the specs that are not there yet. One of the same path for some of the same kinds counts as there, and has to
/// agree on whether the field is made.
pub(crate) fn merge_into<'a>(
    all: &mut Vec<FieldSpec>,
    incoming: impl Iterator<Item = &'a FieldSpec>,
) -> Result<(), KustomizeError> {
    let mut by_path: HashMap<Str, Vec<usize>> = HashMap::new();
    for (at, spec) in all.iter().enumerate() {
        by_path.entry(spec.path.clone()).or_default().push(at);
    }
    for spec in incoming {
        let same_path = by_path.entry(spec.path.clone()).or_default();
        let known = same_path.iter().find(|at| all[**at].kind.is_selected_by(&spec.kind));
        match known.map(|at| &all[*at]) {
            Some(known) if known.create != spec.create => {
                return Err(KustomizeError::new("conflicting fieldspecs").hint(format!(
                    "{} is given with and without `create` for {} and {}",
                    spec.path, known.kind, spec.kind
                )));
            }
            Some(_) => {}
            None => {
                same_path.push(all.len());
                all.push(spec.clone());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "fieldspec_tests.rs"]
mod tests;
