//! The field `replacements`: values copied from one resource to the fields of others.

mod document;
mod path;
mod structured;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use lynceus_object::{Str, Value};

use self::path::{Create, Found, Walk};
use crate::error::KustomizeError;
use crate::id::{Id, Kind};
use crate::limits;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar::{meaning, text_of};
use crate::schema::Schema;
use crate::selector::{Matcher, Selector};
use crate::written::{Step, Written};

/// One value and where it goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Replacement {
    /// The resource that the value is from.
    pub(crate) source: Option<Source>,
    /// The value itself.
    pub(crate) source_value: Option<Str>,
    /// Where it goes; `None` if nothing is said.
    pub(crate) targets: Option<Vec<Target>>,
}

/// A field of a resource, which is named and not selected by expressions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    pub(crate) name: Str,
    pub(crate) namespace: Str,
    /// The field; the name of the resource if empty.
    pub(crate) field_path: Str,
    pub(crate) options: Option<FieldOptions>,
}

/// Fields of the resources that are selected and not rejected.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Target {
    pub(crate) select: Option<Selector>,
    pub(crate) reject: Vec<Selector>,
    /// The fields; the name of the resource if there are none.
    pub(crate) field_paths: Vec<Str>,
    pub(crate) options: Option<FieldOptions>,
}

/// How a field is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldOptions {
    /// What parts of the text are separated by.
    pub(crate) delimiter: Str,
    /// Which part is meant, from 0.
    pub(crate) index: i64,
    /// Whether the field is made where it is missing.
    pub(crate) create: bool,
}

/// What is copied: a value, and its text if it is a scalar.
struct Copied<'a> {
    /// How much has been written by all replacements so far.
    spent: &'a Cell<usize>,
    value: Value,
    /// Without it the value is a map or a list.
    text: Option<Str>,
}

impl Copied<'_> {
    /// Counts what is written. Replacements that copy what they have made double it each time.
    fn pay(&self, text: Option<&Str>) -> Result<(), KustomizeError> {
        let cost = text.map_or_else(|| weight(&self.value, limits::MAX_REPLACED_BYTES), |text| text.len());
        self.spent.set(self.spent.get().saturating_add(cost));
        if self.spent.get() <= limits::MAX_REPLACED_BYTES {
            return Ok(());
        }
        Err(KustomizeError::new(format!(
            "the replacements write more than {} bytes",
            limits::MAX_REPLACED_BYTES
        ))
        .hint("look for a replacement whose source is one of its own targets"))
    }
}

/// About how many bytes a value has; not more than `most` are counted.
fn weight(value: &Value, most: usize) -> usize {
    let mut total: usize = 16;
    let mut add = |inner: &Value| {
        if total <= most {
            total = total.saturating_add(weight(inner, most - total));
        }
    };
    match value {
        Value::Str(text) => return text.len() + 16,
        Value::Seq(items) => items.iter().for_each(&mut add),
        Value::Map(map) => map.values().for_each(&mut add),
        _ => {}
    }
    total
}

const NAME: &str = "metadata.name";

/// Carries out replacements one after the other.
pub(crate) fn apply_replacements(
    replacements: &[Replacement],
    resources: &mut Resources,
    schema: &Schema,
) -> Result<(), KustomizeError> {
    let spent = Cell::new(0);
    for (index, replacement) in replacements.iter().enumerate() {
        replacement
            .apply(resources, schema, &spent)
            .map_err(|error| KustomizeError { field: index.to_string().into(), ..error })?;
        resources.list.iter_mut().for_each(Resource::settle);
    }
    resources.list.retain(|resource| !resource.value.is_empty());
    Ok(())
}

impl Replacement {
    fn apply(
        &self,
        resources: &mut Resources,
        schema: &Schema,
        spent: &Cell<usize>,
    ) -> Result<(), KustomizeError> {
        let copied = match (&self.source_value, &self.source, &self.targets) {
            (None, None, _) | (_, _, None) => {
                return Err(KustomizeError::new(
                    "replacements must specify a source and at least one target",
                ));
            }
            (Some(_), Some(_), _) => {
                return Err(KustomizeError::new("value and resource selectors are mutually exclusive"));
            }
            (Some(text), None, _) => Copied { spent, value: meaning(text), text: Some(text.clone()) },
            (None, Some(source), _) => source.value(resources, spent)?,
        };
        for target in self.targets.iter().flatten() {
            target.set(&copied, resources, schema)?;
        }
        Ok(())
    }
}

impl Source {
    fn value<'a>(&self, resources: &Resources, spent: &'a Cell<usize>) -> Result<Copied<'a>, KustomizeError> {
        let resource = self.resource(resources)?;
        let field_path = if self.field_path.is_empty() { NAME } else { &self.field_path };
        let steps = path::split(field_path);
        let found = path::look_up(&resource.value, &steps)
            .map_err(|error| error.context("error looking up replacement source"))?;
        let Some((value, steps)) = found.filter(|(value, _)| !is_nothing(value)) else {
            return Err(KustomizeError::new(format!(
                "fieldPath `{field_path}` is missing for replacement source {}",
                self.id()
            )));
        };
        let is_scalar = !matches!(value, Value::Map(_) | Value::Seq(_));
        let text = is_scalar.then(|| resource.written.text(&steps, value));
        let Some(options) = self.options.as_ref().filter(|options| !options.delimiter.is_empty()) else {
            return Ok(Copied { spent, value: value.clone(), text });
        };
        let Some(text) = text else { return Err(only_scalars()) };
        let part =
            usize::try_from(options.index).ok().and_then(|at| text.split(options.delimiter.as_str()).nth(at));
        match part {
            Some(part) => Ok(Copied { spent, value: part.into(), text: Some(part.into()) }),
            None => Err(KustomizeError::new(format!(
                "options.index {} is out of bounds for the value",
                options.index
            ))),
        }
    }

    /// The one resource that is named.
    fn resource<'r>(&self, resources: &'r Resources) -> Result<&'r Resource, KustomizeError> {
        let mut found = resources.list.iter().filter(|resource| {
            ids(resource).any(|id| {
                (self.name.is_empty() || self.name == id.name)
                    && (self.namespace.is_empty() || self.id().same_namespace(&id))
                    && id.kind.is_selected_by(&self.kind)
            })
        });
        match (found.next(), found.next()) {
            (Some(resource), None) => Ok(resource),
            (Some(_), Some(_)) => {
                Err(KustomizeError::new(format!("multiple matches for selector {}", self.described())))
            }
            (None, _) => Err(KustomizeError::new(format!("nothing selected by {}", self.described()))),
        }
    }

    fn id(&self) -> Id {
        Id {
            kind: self.kind.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            cluster_scoped: false,
        }
    }

    /// The selector as Kustomize prints it.
    fn described(&self) -> String {
        let mut parts = vec![self.id().to_string()];
        if !self.field_path.is_empty() {
            parts.push(self.field_path.to_string());
        }
        if let Some(options) =
            self.options.as_ref().filter(|options| !options.delimiter.is_empty() || options.create)
        {
            parts.push(format!("{}({}), create={}", options.delimiter, options.index, options.create));
        }
        parts.join(":")
    }
}

impl Target {
    fn set(&self, copied: &Copied<'_>, resources: &mut Resources, _: &Schema) -> Result<(), KustomizeError> {
        let Some(select) = &self.select else {
            return Err(KustomizeError::new("target must specify resources to select"));
        };
        let wrong = |error: KustomizeError| error.context("error creating target selector");
        let selected = Matcher::new(select).map_err(wrong)?;
        let rejected = self
            .reject
            .iter()
            .map(|selector| Ok((selector, Matcher::new(selector).map_err(wrong)?)))
            .collect::<Result<Vec<_>, KustomizeError>>()?;
        let field_paths =
            if self.field_paths.is_empty() { &[Str::from(NAME)][..] } else { &self.field_paths };
        let paths: Vec<(&Str, Vec<Str>)> = field_paths.iter().map(|path| (path, path::split(path))).collect();
        for resource in &mut resources.list {
            if !ids(resource).any(|id| selected.matches_id(&id)) || !selected.matches_labels(resource) {
                continue;
            }
            let is_rejected = rejected.iter().any(|(selector, matcher)| {
                let by_labels = !(selector.labels.is_empty() && selector.annotations.is_empty())
                    && matcher.matches_labels(resource);
                let by_id = !selector.names_nothing() && ids(resource).any(|id| matcher.matches_id(&id));
                by_labels || by_id
            });
            if is_rejected {
                continue;
            }
            for (path, steps) in &paths {
                let id = resource.id(false);
                self.set_field(resource, path, steps, copied)
                    .map_err(|error| error.add_hint(format!("the target is {path} of {id}")))?;
            }
        }
        Ok(())
    }

    fn set_field(
        &self,
        resource: &mut Resource,
        path: &str,
        steps: &[Str],
        copied: &Copied<'_>,
    ) -> Result<(), KustomizeError> {
        let create = match self.options.as_ref().is_some_and(|options| options.create) {
            false => Create::No,
            true => Create::like(&copied.value, copied.text.is_some()),
        };
        // A field inside of a text that is itself YAML or JSON comes first.
        let Resource { value, written, flow, .. } = resource;
        if structured::set(value, steps, copied, create) {
            return Ok(());
        }
        let words = if create == Create::No { "find" } else { "find or create" };
        let missing = || format!("unable to {words} field {path:?} in replacement target");
        if path.is_empty() && copied.text.is_some() {
            return Err(
                KustomizeError::new("a single value cannot take the place of a resource").context(missing())
            );
        }
        let mut set =
            |field: &mut Value, found: Found<'_>| self.set_value(field, found, copied, (written, flow));
        let mut walk = Walk::new(create, &mut set);
        match walk.step(value, steps) {
            Ok(()) if walk.found > 0 => Ok(()),
            Ok(()) => Err(KustomizeError::new(missing())),
            Err(path::Problem::Path(error)) => Err(error.context(missing())),
            Err(path::Problem::Value(error)) => Err(error),
        }
    }

    /// Puts the value into a field that has been found, or a part of it between delimiters.
    fn set_value(
        &self,
        field: &mut Value,
        found: Found<'_>,
        copied: &Copied<'_>,
        (written, flow): (&Written, &mut Vec<Vec<Step>>),
    ) -> Result<(), KustomizeError> {
        let mut text = copied.text.clone();
        if let Some(options) = self.options.as_ref().filter(|options| !options.delimiter.is_empty()) {
            if matches!(field, Value::Map(_) | Value::Seq(_)) {
                return Err(only_scalars());
            }
            text = Some(options.put(&text_of(field), text.as_deref().unwrap_or_default()));
        }
        set_like(field, found.is_new, copied, text)?;
        flow.extend(found.in_empty.map(<[Step]>::to_vec));
        // Annotations are texts in any case.
        let annotations = ["metadata", "annotations"].map(|name| Step::Field(name.into()));
        let is_in_flow = || {
            flow.iter().any(|way| found.trail.starts_with(way))
                || found.trail.starts_with(&annotations)
                || written.is_in_flow(found.trail)
        };
        if matches!(field, Value::Null)
            && copied.text.as_ref().is_some_and(|text| text.is_empty())
            && is_in_flow()
        {
            *field = Value::Str(Str::new());
        }
        Ok(())
    }
}

impl FieldOptions {
    /// The text with a part of it replaced, or with one more in front or at the end.
    fn put(&self, text: &str, part: &str) -> Str {
        let mut parts: Vec<&str> = text.split(self.delimiter.as_str()).collect();
        match usize::try_from(self.index) {
            Err(_) => parts.insert(0, part),
            Ok(at) if at < parts.len() => parts[at] = part,
            Ok(_) => parts.push(part),
        }
        parts.join(&self.delimiter).into()
    }
}

/// Puts a value into a field. A scalar gets the text of the value and stays what it is, a string or a number.
fn set_like(
    field: &mut Value,
    is_new: bool,
    copied: &Copied<'_>,
    text: Option<Str>,
) -> Result<(), KustomizeError> {
    copied.pay(text.as_ref())?;
    if matches!(field, Value::Map(_) | Value::Seq(_)) {
        *field = copied.value.clone();
        return Ok(());
    }
    let text = text.unwrap_or_default();
    *field = match &*field {
        _ if is_new => meaning(&text),
        Value::Str(_) => Value::Str(text),
        old => {
            let new = meaning(&text);
            match (old, new) {
                (Value::Float(_), Value::Int(int)) => Value::Float(int as f64),
                (old, new) if std::mem::discriminant(old) == std::mem::discriminant(&new) => new,
                (old, new) => {
                    return Err(KustomizeError::new(format!(
                        "cannot decode {} as a {}",
                        tag(&new),
                        tag(old)
                    ))
                    .hint("a replacement keeps the type of the field that it sets"));
                }
            }
        }
    };
    Ok(())
}

pub(super) fn tag(value: &Value) -> &'static str {
    match value {
        Value::Null => "!!null",
        Value::Bool(_) => "!!bool",
        Value::Int(_) => "!!int",
        Value::Float(_) => "!!float",
        Value::Str(_) => "!!str",
        Value::Seq(_) => "!!seq",
        Value::Map(_) => "!!map",
    }
}

/// What a resource is called now and was called before. No kind is known to be without namespaces here.
fn ids(resource: &Resource) -> impl Iterator<Item = Id> + '_ {
    std::iter::once(resource.id(false)).chain(resource.former_ids())
}

fn is_nothing(value: &Value) -> bool {
    !matches!(value, Value::Str(_)) && value.is_empty()
}

fn only_scalars() -> KustomizeError {
    KustomizeError::new("delimiter option can only be used with scalar nodes")
}
