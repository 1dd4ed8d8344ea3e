//! JSON merge patch (RFC 7386).

use super::PatchError;
use crate::map::Map;
use crate::value::Value;

/// Applies a JSON merge patch.
pub fn merge(original: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (original, patch) {
        (_, Value::Seq(_)) => Ok(prune_nulls(patch.clone())),
        (Value::Map(original), Value::Map(patch)) => Ok(Value::Map(merge_maps(original.clone(), patch))),
        (_, Value::Map(_)) => Ok(prune_nulls(patch.clone())),
        _ => Err(PatchError::Malformed("Invalid JSON Patch".to_owned())),
    }
}

pub(super) fn merge_maps(mut original: Map, patch: &Map) -> Map {
    for (key, value) in patch.iter() {
        if value.is_null() {
            original.remove(key);
            continue;
        }
        let merged = match (original.get(key), value) {
            (Some(Value::Map(old)), Value::Map(new)) => Value::Map(merge_maps(old.clone(), new)),
            // A map that meets a list or a scalar gives way to it as it is.
            (Some(Value::Map(_)), _) => value.clone(),
            _ => prune_nulls(value.clone()),
        };
        original.insert(key.clone(), merged);
    }
    original
}

/// Fields that are `null` say "remove", and there is nothing to remove in what is new.
fn prune_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Map(map) => {
            let pruned = std::mem::take(map).into_iter().filter(|(_, value)| !value.is_null());
            *map = pruned.map(|(key, value)| (key, prune_nulls(value))).collect();
        }
        Value::Seq(items) => {
            *items = std::mem::take(items).into_iter().map(prune_nulls).collect();
        }
        _ => {}
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn check(original: &Value, patch: &Value, expected: &Value) {
        assert_eq!(merge(original, patch).as_ref(), Ok(expected));
    }

    #[test]
    fn maps_merge_and_null_removes() {
        check(
            &value!({"a": {"b": 1, "c": 2}, "d": 3}),
            &value!({"a": {"b": null, "e": 4}, "d": null}),
            &value!({"a": {"c": 2, "e": 4}}),
        );
    }

    #[test]
    fn lists_are_replaced() {
        check(&value!({"a": [1, 2]}), &value!({"a": [3]}), &value!({"a": [3]}));
    }

    #[test]
    fn nulls_in_what_is_new_are_left_out() {
        check(
            &value!({}),
            &value!({"a": {"b": null, "c": [{"d": null}, null]}}),
            &value!({"a": {"c": [{}, null]}}),
        );
        check(&value!({"a": "x"}), &value!({"a": {"b": null}}), &value!({"a": {}}));
    }

    #[test]
    fn a_list_in_the_place_of_a_map_is_taken_as_it_is() {
        check(&value!({"a": {"b": 1}}), &value!({"a": [{"c": null}]}), &value!({"a": [{"c": null}]}));
    }

    #[test]
    fn a_scalar_is_no_patch() {
        assert_eq!(
            merge(&value!({}), &value!("x")),
            Err(PatchError::Malformed("Invalid JSON Patch".to_owned()))
        );
    }
}
