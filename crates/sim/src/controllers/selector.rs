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

/// Whether a node selector's requirement with a key, an operator and values holds.
pub(crate) fn holds(requirement: &Value, labels: Option<&Value>) -> bool {
    let key = requirement.str_at(&["key"]).unwrap_or_default();
    let operator = match requirement.str_at(&["operator"]) {
        Some("In") => Operator::In,
        Some("NotIn") => Operator::NotIn,
        Some("Exists") => Operator::Exists,
        Some("DoesNotExist") => Operator::DoesNotExist,
        Some("Gt") => Operator::GreaterThan,
        Some("Lt") => Operator::LessThan,
        _ => return false,
    };
    let values: Vec<Str> =
        requirement.items_at(&["values"]).iter().filter_map(|value| value.as_str().map(Str::from)).collect();
    let found = labels.and_then(|labels| labels.str_at(&[key]));
    Requirement::new(key, operator, values).is_ok_and(|requirement| requirement.matches(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn requirements_on_nodes_are_read() {
        let labels = value!({"zone": "a", "cores": "8"});
        let check = |requirement: Value| holds(&requirement, Some(&labels));
        assert!(check(value!({"key": "zone", "operator": "In", "values": ["a", "b"]})));
        assert!(!check(value!({"key": "zone", "operator": "DoesNotExist"})));
        assert!(check(value!({"key": "cores", "operator": "Gt", "values": ["4"]})));
        assert!(!check(value!({"key": "cores", "operator": "Near", "values": ["4"]})));
    }
}
