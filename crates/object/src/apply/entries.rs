//! The usual write: most entries of `managedFields` stay as they are, and need not be read to know it.

use std::cmp::Ordering;

use super::managers::{MAX_UPDATE_MANAGERS, ManagerId, Managers, Operation, Owned, entry};
use super::set::{FieldSet, key_text};
use super::update::Change;
use super::{MANAGED_FIELDS, Options, typed};
use crate::id::split_api_version;
use crate::map::Map;
use crate::object::Object;
use crate::path::Segment;
use crate::schema;
use crate::schema::scalar::{parse_time, print_time};
use crate::value::{Seq, Value};

/// Notes in `new` what a write changed, as [`track_update`](super::track_update) does. Says whether it could: where
/// it did nothing, all entries have to be read.
pub(super) fn track(live: &Object, new: &mut Object, options: &Options<'_>) -> bool {
    let Some(before) = entries_to_go_on_with(live, new, options) else { return false };
    let sent = new.at(&MANAGED_FIELDS).cloned();
    // With the same managers on both sides only the rest is compared.
    put(new, Some(Value::Seq(before.clone())));
    // An object with managers fitted its type when it was written, and a built-in type does not change.
    let fits = |value: &Value, known: &Value| typed::fits(value, Some(known), options.ty);
    if !fits(new.value(), live.value()) || !fits(live.value(), new.value()) {
        put(new, None);
        return true;
    }
    let change = options.context().change(live.value(), new.value());
    match after(&before, &change, options) {
        Some(entries) => put(new, (!entries.is_empty()).then_some(Value::Seq(entries))),
        None => {
            put(new, sent);
            return false;
        }
    }
    true
}

fn put(object: &mut Object, entries: Option<Value>) {
    match entries {
        None => drop(object.remove(&MANAGED_FIELDS)),
        Some(entries) if object.at(&MANAGED_FIELDS).is_some_and(|known| known.is_same(&entries)) => {}
        Some(entries) => object.set(&MANAGED_FIELDS, entries),
    }
}

/// The entries of the live object, if it is those that the write goes on with and nothing about them is unusual.
fn entries_to_go_on_with(live: &Object, new: &Object, options: &Options<'_>) -> Option<Seq> {
    // The types of custom resources may have changed since the entries were written.
    if !schema::builtin().has(options.ty) {
        return None;
    }
    let Some(Value::Seq(entries)) = live.at(&MANAGED_FIELDS) else { return None };
    let sent = new.at(&MANAGED_FIELDS);
    let are_sent = options.subresource.is_empty() && sent.is_some();
    if entries.is_empty() || are_sent && sent != live.at(&MANAGED_FIELDS) {
        return None;
    }
    let group = split_api_version(options.api_version).0;
    let of_group = |entry: &Value| split_api_version(text(entry, "apiVersion")).0 == group;
    let updates = entries.iter().filter(|entry| text(entry, "operation") == Operation::Update.name()).count();
    (updates < MAX_UPDATE_MANAGERS && entries.iter().all(of_group)).then(|| entries.clone())
}

/// The entries after a write; none if one of them makes no sense.
fn after(before: &Seq, change: &Change, options: &Options<'_>) -> Option<Seq> {
    let id = ManagerId::new(options.manager, Operation::Update, options.api_version, options.subresource);
    let mut entries = Vec::with_capacity(before.len() + 1);
    let mut credited = change.gained.is_empty();
    for entry in before {
        let is_writer = !credited && is_of(entry, &id);
        credited |= is_writer;
        entries.extend(match is_writer {
            true => Some(entry_of_writer(entry, change, options)?),
            false => entry_of_other(entry, change, options)?,
        });
    }
    if !credited {
        entries.push(credit(&id, change.gained.clone(), options));
    }
    entries.sort_by(in_order);
    let unchanged = entries.len() == before.len() && entries.iter().zip(before).all(|(a, b)| a.is_same(b));
    Some(if unchanged { before.clone() } else { entries.into_iter().collect() })
}

/// The entry of the one who writes: it is the same but for its time if it had all of the fields before.
fn entry_of_writer(before: &Value, change: &Change, options: &Options<'_>) -> Option<Value> {
    let fields = fields_of(before)?;
    if covers(fields, &change.gained)
        && !touches(fields, &change.removed)
        && !touches(fields, &change.untracked)
    {
        let mut entry = before.clone();
        let now = print_time(options.now);
        if text(before, "time") != now {
            entry.set(&["time"], now);
        }
        return Some(entry);
    }
    if let Some(fields) =
        left(fields, &[&change.untracked, &change.removed]).and_then(|rest| with(&rest, &change.gained))
    {
        let mut entry = before.clone();
        entry.set(&["fieldsV1"], fields);
        entry.set(&["time"], print_time(options.now));
        return Some(entry);
    }
    let (id, mut owned) = read(before, options)?;
    change.take_from(&mut owned.fields);
    owned.fields.absorb(change.gained.clone());
    Some(credit(&id, owned.fields, options))
}

/// The entry of anybody else: it is the same if it has none of the fields. None within is an entry that has lost all.
fn entry_of_other(before: &Value, change: &Change, options: &Options<'_>) -> Option<Option<Value>> {
    let fields = fields_of(before)?;
    let sets = [&change.gained, &change.untracked, &change.removed];
    if !fields.is_empty() && !sets.into_iter().any(|set| touches(fields, set)) {
        return Some(Some(before.clone()));
    }
    if let Some(rest) = left(fields, &sets) {
        return Some((!rest.is_empty()).then(|| {
            let mut entry = before.clone();
            entry.set(&["fieldsV1"], rest);
            entry
        }));
    }
    let (id, mut owned) = read(before, options)?;
    change.take_from(&mut owned.fields);
    Some((!owned.fields.is_empty()).then(|| entry(&id, &owned)))
}

fn credit(id: &ManagerId, fields: FieldSet, options: &Options<'_>) -> Value {
    let api_version = options.api_version.into();
    entry(id, &Owned { fields, api_version, time: Some(options.now) })
}

fn read(entry: &Value, options: &Options<'_>) -> Option<(ManagerId, Owned)> {
    let mut managers = Managers::read(std::slice::from_ref(entry)).ok()?;
    options.context().reconciled(&mut managers);
    managers.0.pop_first()
}

fn fields_of(entry: &Value) -> Option<&Map> {
    entry.get("fieldsV1").and_then(Value::as_map)
}

fn text<'e>(entry: &'e Value, field: &str) -> &'e str {
    entry.str_at(&[field]).unwrap_or_default()
}

fn is_of(entry: &Value, id: &ManagerId) -> bool {
    text(entry, "manager") == id.manager
        && text(entry, "operation") == id.operation.name()
        && text(entry, "apiVersion") == id.api_version
        && text(entry, "subresource") == id.subresource
}

/// What the form of a set has at a step. No text is made for a field that is only looked for.
fn at<'f>(fields: &'f Map, step: &Segment) -> Option<&'f Value> {
    match step {
        Segment::Field(name) => fields.get_marked("f:", name),
        _ => fields.get(&key_text(step)),
    }
}

/// Whether the form of a set in `managedFields` has anything at the members of a set or below them. More than the
/// members themselves, so that a set from before a type became one thing is read, and put in terms of the type.
fn touches(fields: &Map, set: &FieldSet) -> bool {
    let at = |step| at(fields, step);
    set.members().iter().any(|step| at(step).is_some())
        || set.children().iter().any(|(step, below)| {
            at(step).and_then(Value::as_map).is_some_and(|fields| touches(fields, below))
        })
}

/// Whether the form of a set in `managedFields` has all members of a set.
fn covers(fields: &Map, set: &FieldSet) -> bool {
    let at = |step| at(fields, step).and_then(Value::as_map);
    set.members().iter().all(|step| at(step).is_some_and(|below| below.is_empty() || below.contains(".")))
        && set.children().iter().all(|(step, below)| at(step).is_some_and(|fields| covers(fields, below)))
}

/// What is left of the form of a set without some sets; none where that has to be worked out with the type.
fn left(fields: &Map, sets: &[&FieldSet]) -> Option<Map> {
    sets.iter().try_fold(fields.clone(), |fields, set| without(&fields, set))
}

/// The form of a set without the members of a set. What is not touched stays shared.
fn without(fields: &Map, set: &FieldSet) -> Option<Map> {
    let mut out = fields.clone();
    for step in set.members() {
        match at(fields, step) {
            None => {}
            Some(Value::Map(inner)) if inner.is_empty() => drop(out.remove(&key_text(step))),
            // All that is below it goes as well, as with the last item of a list.
            Some(Value::Map(inner)) if goes_with(inner, set.below(step)) => drop(out.remove(&key_text(step))),
            // More is below it: it may be one thing by now.
            Some(_) => return None,
        }
    }
    for (step, below) in set.children() {
        let Some(Value::Map(inner)) = at(&out, step) else { continue };
        if inner.is_empty() {
            continue;
        }
        let rest = without(inner, below)?;
        if rest.is_empty() {
            out.remove(&key_text(step));
        } else if !rest.is_same(inner) {
            // A member with nothing below it any more is written as such.
            let alone = rest.len() == 1 && rest.contains(".");
            out.insert(key_text(step), if alone { Map::new() } else { rest });
        }
    }
    Some(out)
}

/// Whether a set takes all that is below a step, but for the step itself.
fn goes_with(inner: &Map, below: Option<&FieldSet>) -> bool {
    let rest = below.and_then(|below| without(inner, below));
    rest.is_some_and(|rest| rest.iter().all(|(key, _)| key == "."))
}

/// The form of a set with the members of a set.
fn with(fields: &Map, set: &FieldSet) -> Option<Map> {
    let mut out = fields.clone();
    for step in set.members() {
        match at(fields, step) {
            None => drop(out.insert(key_text(step), Map::new())),
            Some(Value::Map(inner)) if inner.is_empty() || inner.contains(".") => {}
            Some(_) => return None,
        }
    }
    for (step, below) in set.children() {
        let key = key_text(step);
        let (mut inner, is_member) = match out.get(&key) {
            None => (Map::new(), false),
            Some(Value::Map(inner)) => (inner.clone(), inner.is_empty()),
            Some(_) => return None,
        };
        if is_member {
            inner.insert(".", Map::new());
        }
        out.insert(key, with(&inner, below)?);
    }
    Some(out)
}

/// The order in which API servers give entries; see [`Managers::entries`].
fn in_order(a: &Value, b: &Value) -> Ordering {
    let by = |field| text(a, field).cmp(text(b, field));
    by("operation")
        .then_with(|| by_time(text(a, "time"), text(b, "time")))
        .then_with(|| by("manager"))
        .then_with(|| by("apiVersion"))
        .then_with(|| by("subresource"))
}

fn by_time(a: &str, b: &str) -> Ordering {
    let is_usual = |text: &str| text.len() == "0000-00-00T00:00:00Z".len();
    if is_usual(a) && is_usual(b) {
        return a.cmp(b);
    }
    let seconds = |text| parse_time(text).map_or(0, jiff::Timestamp::as_second);
    seconds(a).cmp(&seconds(b))
}
