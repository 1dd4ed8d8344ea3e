//! Server-side apply: many writers of one object, each owning the fields that it set.
//!
//! [`apply`] lays a configuration over an object; [`track_update`] notes what any other write changed.
//! Both keep `metadata.managedFields`, which is read and written by [`Managers`]. What a list or map is
//! to them comes from the [schema](crate::schema).

mod conflict;
mod entries;
mod last_applied;
mod managers;
mod precedent;
mod reset;
mod scale;
mod set;
mod typed;
mod update;

use jiff::Timestamp;

pub use conflict::{Conflict, Conflicts};
pub use managers::{ManagerId, Managers, Operation, Owned};
pub use precedent::{Precedent, track_create};
pub use reset::reset_fields;
pub use scale::{scale_to_parent, scale_to_subresource};
pub use set::{FieldSet, FieldSetError};

use crate::id::Gvk;
use crate::object::Object;
use crate::schema::{TypeRef, zero};
use crate::value::Value;
use update::{Context, credit};

/// The manager of fields that were there before anyone applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// How a write is to be done and noted.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Who writes.
    pub manager: &'a str,
    /// The type of the object.
    pub ty: TypeRef<'a>,
    /// The version that the request is in.
    pub api_version: &'a str,
    /// The subresource that is written through; empty for the object itself.
    pub subresource: &'a str,
    /// Fields that this endpoint does not write; see [`reset_fields`].
    pub reset: &'a FieldSet,
    /// The time to note.
    pub now: Timestamp,
}

impl<'a> Options<'a> {
    fn context(&self) -> Context<'a> {
        Context { ty: self.ty, api_version: self.api_version, reset: self.reset }
    }
}

/// Why a configuration was not applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// Somebody else owns fields that it sets (409).
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
    /// The request makes no sense (400).
    #[error("{0}")]
    BadRequest(String),
    /// The configuration does not fit its type (500, as the real server answers).
    #[error("{0}")]
    Failed(String),
}

/// Applies a configuration to the live object, or makes a new one of it.
///
/// The live object has to be as Go prints it (see [`crate::schema::round_trip`]); the configuration as
/// the user wrote it. The result still wants defaults. `force` takes fields from other managers.
pub fn apply(
    live: Option<&Object>,
    config: &Object,
    options: &Options<'_>,
    force: bool,
) -> Result<Object, ApplyError> {
    check(config, options)?;
    let mut managers = live
        .map_or_else(|| Ok(Managers::default()), Managers::of)
        .map_err(|why| ApplyError::Failed(format!("failed to decode managed fields: {why}")))?;
    let context = options.context();
    let empty = || empty_object(config, options.ty);
    let live = live.map_or_else(empty, |live| without_managed_fields(live.value()));
    let fits = typed::validate(&live, options.ty, true);
    if managers.is_empty() {
        fits.clone().map_err(|why| {
            let why = format!("failed to convert new object ({}) to smd typed: {why}", name_of(&live));
            ApplyError::Failed(format!("failed to create manager for existing fields: {why}"))
        })?;
        let id =
            ManagerId::new(BEFORE_FIRST_APPLY, Operation::Update, options.api_version, options.subresource);
        let gained = context.update(&empty(), &live, &mut managers);
        credit(&mut managers, id, gained, options.api_version, options.now);
        managers.cap();
    }
    fits.map_err(|why| {
        ApplyError::Failed(format!("failed to create typed live object ({}): {why}", name_of(&live)))
    })?;
    let id = ManagerId::new(options.manager, Operation::Apply, options.api_version, options.subresource);
    let attempt = |force| {
        let mut managers = managers.clone();
        let new = context.apply(&live, config.value(), &mut managers, &id, force)?;
        Ok::<_, Conflicts>((new, managers))
    };
    let (new, mut managers) = match attempt(force) {
        Err(conflicts) => match last_applied::remaining(conflicts, &live, options) {
            Some(conflicts) => return Err(conflicts.into()),
            None => attempt(true)?,
        },
        Ok(done) => done,
    };
    if new.is_some()
        && let Some(owned) = managers.0.get_mut(&id)
    {
        owned.time = Some(options.now);
    }
    let mut object = Object::new(new.unwrap_or(live)).map_err(|_| not_a_map())?;
    last_applied::update(&mut object, config, options.manager);
    managers.write(&mut object);
    Ok(object)
}

/// An object with a configuration laid over it, field by field and item by item. Nobody owns what it sets.
pub fn overlay(live: &Value, config: &Value, ty: TypeRef<'_>) -> Result<Value, String> {
    typed::validate(config, ty, false)?;
    Ok(typed::merge(live, config, ty))
}

fn not_a_map() -> ApplyError {
    ApplyError::Failed("the applied configuration leaves no object".to_owned())
}

fn check(config: &Object, options: &Options<'_>) -> Result<(), ApplyError> {
    if config.api_version().is_empty() {
        return Err(ApplyError::BadRequest(format!("invalid object type: /, Kind={}", config.kind())));
    }
    if config.api_version() != options.api_version {
        return Err(ApplyError::BadRequest(format!(
            "Incorrect version specified in apply patch. Specified patch version: {}, expected: {}",
            config.api_version(),
            options.api_version
        )));
    }
    if matches!(config.at(&["metadata", "managedFields"]), Some(Value::Seq(_))) {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    typed::validate(config.value(), options.ty, false).map_err(|why| {
        ApplyError::Failed(format!(
            "failed to create typed patch object ({}): {why}",
            name_of(config.value())
        ))
    })
}

/// An object as messages name it: `shop/web; apps/v1, Kind=Deployment`.
fn name_of(value: &Value) -> String {
    let text = |path: &[&str]| value.str_at(path).unwrap_or_default().to_owned();
    let gvk = Gvk::from_manifest(&text(&["apiVersion"]), &text(&["kind"]));
    format!("{}/{}; {gvk}", text(&["metadata", "namespace"]), text(&["metadata", "name"]))
}

/// Notes in `new` what a create, an update or a patch changed. `live` is none for a create.
///
/// Both objects have to be as Go prints them (see [`crate::schema::round_trip`]).
pub fn track_update(live: Option<&Object>, new: &mut Object, options: &Options<'_>) {
    if !live.is_some_and(|live| entries::track(live, new, options)) {
        track_all(live, new, options);
    }
}

/// Notes what a write changed with all managers read.
fn track_all(live: Option<&Object>, new: &mut Object, options: &Options<'_>) {
    let mut managers = managers_to_go_on_with(live, new, options.subresource);
    new.remove(&["metadata", "managedFields"]);
    // An object that nobody tracked so far is not tracked before its first apply.
    if managers.is_empty() && live.is_some_and(|live| !live.uid().is_empty()) {
        return;
    }
    let old = match live {
        Some(live) => without_managed_fields(live.value()),
        None => empty_object(new, options.ty),
    };
    // What does not fit its type cannot be tracked; such an object starts anew with its next apply.
    if !typed::fits(new.value(), None, options.ty) || !typed::fits(&old, Some(new.value()), options.ty) {
        return;
    }
    let gained = options.context().update(&old, new.value(), &mut managers);
    let id = ManagerId::new(options.manager, Operation::Update, options.api_version, options.subresource);
    credit(&mut managers, id, gained, options.api_version, options.now);
    managers.cap();
    managers.write(new);
}

/// Where the managers of an object stand.
const MANAGED_FIELDS: [&str; 2] = ["metadata", "managedFields"];

/// Puts the old times back if a write changed nothing else, so that it is no change at all.
pub fn keep_times(old: &Object, new: &mut Object) {
    let (Some(before), Some(after)) = (old.at(&MANAGED_FIELDS), new.at(&MANAGED_FIELDS)) else { return };
    if !before.is_same(after) && differ_in_times(before, after) && is_same_otherwise(old, new) {
        let before = before.clone();
        new.set(&MANAGED_FIELDS, before);
    }
}

/// Whether two lists of managers are the same but for the times at which they wrote.
fn differ_in_times(before: &Value, after: &Value) -> bool {
    let (Value::Seq(before), Value::Seq(after)) = (before, after) else { return false };
    let but_for_time = |(one, other): (&Value, &Value)| match (one, other) {
        (Value::Map(one), Value::Map(other)) => one.equals_but_for(other, "time"),
        _ => one == other,
    };
    before.len() == after.len() && before.iter().zip(after).all(but_for_time)
}

/// Whether two objects are the same but for their managers.
fn is_same_otherwise(old: &Object, new: &Object) -> bool {
    let metadata =
        |object: &Object| object.at(&["metadata"]).and_then(Value::as_map).cloned().unwrap_or_default();
    // Most writes change something outside of the metadata.
    old.map().equals_but_for(new.map(), "metadata")
        && metadata(old).equals_but_for(&metadata(new), "managedFields")
}

/// The managers that a write goes on with: those that the client sent back, or those of the live object
/// if it sent none, or nobody if it asked for a reset.
fn managers_to_go_on_with(live: Option<&Object>, new: &Object, subresource: &str) -> Managers {
    let of_live = || live.and_then(|live| Managers::of(live).ok()).unwrap_or_default();
    if !subresource.is_empty() {
        return of_live();
    }
    match new.at(&["metadata", "managedFields"]).and_then(Value::as_seq) {
        Some([]) => Managers::default(),
        Some([only]) if only.is_empty() => Managers::default(),
        Some(entries) => match Managers::read(entries) {
            Ok(managers) if !managers.is_empty() => managers,
            _ => of_live(),
        },
        None => of_live(),
    }
}

fn without_managed_fields(value: &Value) -> Value {
    let mut value = value.clone();
    value.remove(&["metadata", "managedFields"]);
    value
}

/// The object that a create starts from: nothing but what Go always prints.
fn empty_object(like: &Object, ty: TypeRef<'_>) -> Value {
    let mut value = match zero(ty) {
        Value::Map(map) => Value::Map(map),
        _ => Value::Map(crate::map::Map::new()),
    };
    value.set(&["apiVersion"], like.api_version());
    value.set(&["kind"], like.kind());
    value
}

#[cfg(test)]
mod tests;
