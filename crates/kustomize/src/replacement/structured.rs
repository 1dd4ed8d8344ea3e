//! Fields inside of a text that is itself JSON or YAML, such as a file in a ConfigMap.

use lynceus_object::yaml::{self, Options, Version};
use lynceus_object::{Str, Value, json};

use super::document::{self, Marks};
use super::path::{self, Create, Found, Walk};
use super::{Copied, set_like};
use crate::scalar::text_of;
use crate::written::Step;

/// Sets a field inside of the text that a path leads through. `false` if there is no such text or field.
pub(super) fn set(value: &mut Value, steps: &[Str], copied: &Copied<'_>, create: Create) -> bool {
    let Some((way, text, before, rest)) = find(value, steps) else { return false };
    let mut after = before.clone();
    let is_json = text.trim_start().starts_with(['{', '[']);
    let mut marks = Marks::new(&text);
    let mut put = |field: &mut Value, found: Found<'_>| {
        if is_json || matches!(field, Value::Map(_) | Value::Seq(_)) {
            return set_like(field, found.is_new, copied, copied.text.clone());
        }
        copied.pay(copied.text.as_ref())?;
        *field = marks.next();
        Ok(())
    };
    let mut walk = Walk::new(create, &mut put);
    if walk.step(&mut after, rest).is_err() || walk.found == 0 {
        return false;
    }
    let printed = if is_json {
        print_json(&text, &after)
    } else {
        let word = copied.text.clone().unwrap_or_default();
        document::edit(&text, &before, &after, &word, &marks).into()
    };
    if let Some(field) = way.iter().try_fold(value, step_into) {
        *field = Value::Str(printed);
    }
    true
}

/// The first scalar on a path that the path goes on in: the way to it, its text, what that is, and the rest of the path.
fn find<'s>(value: &Value, steps: &'s [Str]) -> Option<(Vec<Step>, Str, Value, &'s [Str])> {
    (1..steps.len()).find_map(|length| {
        let (field, way) = path::look_up(value, &steps[..length]).ok()??;
        if matches!(field, Value::Map(_) | Value::Seq(_)) {
            return None;
        }
        let text = text_of(field);
        let inner = read(&text)?;
        Some((way, text, inner, &steps[length..]))
    })
}

pub(super) fn read(text: &str) -> Option<Value> {
    yaml::parse_with(text.as_bytes(), &Options::default().version(Version::V3)).ok()
}

fn step_into<'v>(here: &'v mut Value, step: &Step) -> Option<&'v mut Value> {
    match (step, here) {
        (Step::Field(name), Value::Map(fields)) => fields.get_mut(name),
        (Step::Index(at), Value::Seq(items)) => items.make_mut().get_mut(*at),
        _ => None,
    }
}

/// Prints what a JSON text has become, on one line or on many as it was.
fn print_json(text: &str, after: &Value) -> Str {
    if text.contains('\n') && text.contains("  ") {
        return json::to_string_pretty(after, 2).into();
    }
    json::go_string(after).into()
}
