//! A list of operations on JSON, on one resource.

use lynceus_object::patch::{PatchError, json as apply_operations};
use lynceus_object::{Str, Value, json, yaml};

use super::set_texts;
use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::written::Written;

/// Stands for what Kustomize remembers in annotations while the operations run, so that they find a map there.
pub(super) const MEMORY: &str = "internal.config.kubernetes.io/previousNames";

/// Reads operations from JSON, if the text begins with `[`, or else from YAML. Only the first document is read. Nothing
/// at all is no operations.
pub(super) fn read(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Err("empty json patch operations".to_owned());
    }
    let operations = if text.starts_with('[') {
        json::parse(text.as_bytes()).map_err(|error| error.to_string())?
    } else {
        yaml::parse(text.as_bytes()).map_err(|error| error.to_string())?
    };
    let wrong = |value: &Value, wanted: &str| {
        format!("json: cannot unmarshal {} into Go value of type {wanted}", value.type_name())
    };
    match &operations {
        Value::Null => {}
        Value::Seq(list) => {
            if let Some(item) = list.iter().find(|item| !matches!(item, Value::Map(_) | Value::Null)) {
                return Err(wrong(item, "jsonpatch.Operation"));
            }
        }
        other => return Err(wrong(other, "jsonpatch.Patch")),
    }
    Ok(operations)
}

/// Carries out operations on a resource.
///
/// Kustomize prints the resource and reads it again for this: numbers go through floats, and only what needs quotes
/// keeps any. Annotations are strings afterwards.
pub(super) fn apply(resource: &mut Resource, operations: &Value) -> Result<(), KustomizeError> {
    let remembers = !resource.former.is_empty()
        || !resource.prefixes.is_empty()
        || !resource.suffixes.is_empty()
        || resource.behavior.is_some()
        || resource.needs_hash
        || resource.is_tracked();
    let mut value = std::mem::take(&mut resource.value);
    resource.written.reprint(&mut value, true);
    if remembers && matches!(value.get("metadata"), Some(Value::Map(_))) {
        value.set(&["metadata", "annotations", MEMORY], "");
    }
    let mut value = apply_operations(&value, operations).map_err(|error| {
        let (PatchError::Malformed(message)
        | PatchError::Unprocessable(message)
        | PatchError::Failed(message)) = error;
        let error = KustomizeError::new(message);
        match blamed(&value, operations) {
            Some(operation) => error.hint(operation),
            None => error,
        }
    })?;
    if !matches!(value, Value::Map(_)) {
        let found = value.type_name();
        let message =
            format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
        return Err(KustomizeError::new(message));
    }
    if remembers && value.at(&["metadata", "annotations", MEMORY]).is_none() {
        resource.forget_origin();
    }
    value.remove(&["metadata", "annotations", MEMORY]);
    as_floats(&mut value);
    set_texts(&mut value, "annotations", |_, value| text_of_float(value));
    resource.value = value;
    resource.written = Written::default();
    resource.flow.clear();
    resource.shared.clear();
    Ok(())
}

/// Which operation it is that cannot be carried out: the last of the fewest that fail.
fn blamed(value: &Value, operations: &Value) -> Option<String> {
    let list = operations.as_seq()?;
    let fails = |count: &usize| {
        let first = Value::Seq(list[..*count].iter().cloned().collect());
        apply_operations(value, &first).is_err()
    };
    let count = (1..=list.len().min(crate::limits::MAX_BLAMED_OPERATIONS)).find(fails)?;
    let word = |name: &str| list[count - 1].str_at(&[name]).unwrap_or_default().to_owned();
    Some(format!("operation {count} of the patch fails: {} {}", word("op"), word("path")))
}

/// The largest whole number below which every other is a float too.
const EXACT: u64 = 1 << 53;

/// Loses what a float loses of large numbers.
fn as_floats(value: &mut Value) {
    match value {
        Value::Int(int) if int.unsigned_abs() > EXACT => *value = Value::Float(*int as f64),
        Value::Seq(items) if items.iter().any(has_large) => items.make_mut().iter_mut().for_each(as_floats),
        Value::Map(fields) if fields.values().any(has_large) => {
            fields.iter_mut().for_each(|(_, value)| as_floats(value));
        }
        _ => {}
    }
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::Int(int) => int.unsigned_abs() > EXACT,
        Value::Seq(items) => items.iter().any(has_large),
        Value::Map(fields) => fields.values().any(has_large),
        _ => false,
    }
}

/// The text of a scalar that was a float on its way: a million is `1e+06`.
fn text_of_float(value: &Value) -> Str {
    let float = match value {
        Value::Null => return "null".into(),
        Value::Int(int) => *int as f64,
        Value::Float(float) => *float,
        other => return crate::scalar::text_of(other),
    };
    let printed = format!("{float:e}");
    let (digits, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{float}").into();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn floats_are_printed_as_go_prints_them() {
        let text = |value: Value| text_of_float(&value).to_string();
        assert_eq!(text(value!(1000000)), "1e+06");
        assert_eq!(text(value!(1234567)), "1.234567e+06");
        assert_eq!(text(value!(8080)), "8080");
        assert_eq!(text(value!(0.5)), "0.5");
        assert_eq!(text(value!(0.00001)), "1e-05");
        assert_eq!(text(value!(true)), "true");
    }
}
