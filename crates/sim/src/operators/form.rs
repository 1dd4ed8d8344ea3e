//! What can be said of a declaration before there is any object: kinds and names that nothing can have, and fields that the
//! kind of what is made does not have.

use lynceus_object::schema::{self, ProblemKind};
use lynceus_object::{FieldPath, Gvk, Segment, Value};

use super::declaration::{Fault, split};
use crate::kinds;
use crate::kinds::validation::names;
use crate::strategy;

/// Whether a text holds an expression, so that nothing can be said of it.
fn is_open(text: &str) -> bool {
    text.contains("${")
}

/// Refuses what is no group and kind.
pub(super) fn check_kind(text: &str) -> Result<(), Fault> {
    let (group, kind) = split(text);
    let is_kind = names::dns_1035_label(&kind.to_ascii_lowercase()).is_empty();
    if is_open(text) || is_kind && (group.is_empty() || names::dns_subdomain(group).is_empty()) {
        return Ok(());
    }
    Err(Fault::new(format!("{text:?} is no kind: write it as Pod or example.com/Thing, without a version")))
}

/// Refuses what cannot be the name of an object.
pub(super) fn check_name(text: &str) -> Result<(), Fault> {
    let problems = names::dns_subdomain(text);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Fault::new(format!("cannot be {text:?}: {}", problems.join("; ")))),
    }
}

/// Refuses what is to be deleted and has no kind or no name.
pub(super) fn check_doomed(named: &Value) -> Result<(), Fault> {
    for field in ["kind", "name"] {
        if text_at(named, field)?.is_none() {
            return Err(Fault::new("is missing").at_field(field));
        }
    }
    let kind = text_at(named, "kind")?.unwrap_or_default();
    check_kind(kind).map_err(|fault| fault.at_field("kind"))
}

/// Refuses what is to be made and can be no object: it lacks what each has, or has a field that its kind has not.
pub(super) fn check_made(made: &Value) -> Result<(), Fault> {
    if made.as_map().is_none() {
        // An expression may give it as a whole.
        return match made.as_str() {
            Some(text) if is_open(text) => Ok(()),
            _ => Err(Fault::new("has to be a map: an object with apiVersion, kind and metadata")),
        };
    }
    for field in ["apiVersion", "kind"] {
        if text_at(made, field)?.is_none() {
            return Err(Fault::new("is missing").at_field(field));
        }
    }
    let metadata = made.get("metadata").filter(|metadata| !metadata.is_null());
    let metadata = metadata.ok_or_else(|| Fault::new("is missing").at_field("metadata"))?;
    if metadata.as_map().is_some() && metadata.get("name").is_none() {
        return Err(Fault::new("is missing").at_field("name").at_field("metadata"));
    }
    check_fields(made)
}

/// Refuses a field that a built-in kind does not have.
fn check_fields(made: &Value) -> Result<(), Fault> {
    let text = |field| made.str_at(&[field]).unwrap_or_default();
    let gvk = Gvk::from_manifest(text("apiVersion"), text("kind"));
    let Some(resource) = kinds::resource_of(&gvk) else { return Ok(()) };
    let unknown = schema::check(made, strategy::schema(resource))
        .into_iter()
        .find(|problem| problem.kind == ProblemKind::Unknown && !problem.path.contains("$each"));
    let Some(unknown) = unknown else { return Ok(()) };
    let fault = Fault::new(format!("is no field of a {} {}", gvk.api_version(), gvk.kind));
    let path = FieldPath::parse(&unknown.path)
        .map_err(|_| Fault::new(format!("{} {}", unknown.path, "is no field of its kind")))?;
    let steps = path.segments().iter().rev();
    Err(steps.fold(fault, |fault, step| match step {
        Segment::Field(name) => fault.at_field(name),
        Segment::Index(index) => fault.at_index(*index),
        Segment::Key(_) | Segment::Value(_) => fault,
    }))
}

/// A text below a field; none if it is not there.
fn text_at<'a>(value: &'a Value, field: &str) -> Result<Option<&'a str>, Fault> {
    match value.get(field).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(found) => found.as_str().map(Some).ok_or_else(|| Fault::new("has to be a text").at_field(field)),
    }
}
