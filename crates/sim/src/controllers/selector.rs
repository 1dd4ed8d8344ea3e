//! Label selectors, as workloads and services have them.

use lynceus_object::selector::{Operator, Requirement};
use lynceus_object::{Object, Selector, Str, Value};

/// Whether a `LabelSelector` matches an object's labels. One that is missing matches nothing, an empty one
/// everything.
pub(crate) fn matches(selector: Option<&Value>, object: &Object) -> bool {
    Selector::from_object(selector).is_ok_and(|selector| selector.matches_object(object))
}

/// Whether a plain map of labels, as a Service has it, is part of an object's labels.
pub(crate) fn has_all(wanted: Option<&Value>, labels: Option<&Value>) -> bool {
    let Some(wanted) = wanted.and_then(Value::as_map) else { return true };
    wanted.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

/// A node selector's requirement with a key, an operator and values; nothing if it makes no sense.
pub(crate) fn requirement(value: &Value) -> Option<Requirement> {
    let operator = match value.str_at(&["operator"]) {
        Some("In") => Operator::In,
        Some("NotIn") => Operator::NotIn,
        Some("Exists") => Operator::Exists,
        Some("DoesNotExist") => Operator::DoesNotExist,
        Some("Gt") => Operator::GreaterThan,
        Some("Lt") => Operator::LessThan,
        _ => return None,
    };
    let values: Vec<Str> =
        value.items_at(&["values"]).iter().filter_map(|value| value.as_str().map(Str::from)).collect();
    Requirement::new(value.str_at(&["key"]).unwrap_or_default(), operator, values).ok()
}
