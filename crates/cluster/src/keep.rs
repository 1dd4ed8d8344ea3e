//! How much of an object is kept: what nobody manages is kept as metadata only.

use lynceus_api::annotations::LAST_APPLIED;
use lynceus_object::{Object, Value};

/// How much of an object is kept, from little to much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    /// Who it is, its labels, annotations and owners: for what no application manages.
    Thin,
    /// All but who wrote which field: for what managed objects own, which is shown and assessed but never compared.
    Body,
    /// Everything.
    Full,
}

/// The part of an object that is kept.
pub(crate) fn trim(mut object: Object, keep: Keep) -> Object {
    if keep == Keep::Full {
        return object;
    }
    object.remove(&["metadata", "managedFields"]);
    if keep == Keep::Thin {
        object.remove(&["metadata", "annotations", LAST_APPLIED]);
        // A Secret's type says whether it belongs to an account.
        let is_secret = object.kind() == "Secret";
        if let Value::Map(fields) = object.value_mut() {
            fields.retain(|field, _| {
                matches!(field, "apiVersion" | "kind" | "metadata") || (is_secret && field == "type")
            });
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    #[test]
    fn a_thin_object_has_metadata_only() {
        let object = Object::new(value!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
            "metadata": {
                "name": "a", "labels": {"x": "y"}, "managedFields": [{"manager": "kubectl"}],
                "annotations": {LAST_APPLIED: "{}", "other": "1"},
            },
        }))
        .unwrap();
        assert_eq!(
            json::to_string(trim(object.clone(), Keep::Thin).value()),
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"other":"1"},"labels":{"x":"y"},"name":"a"}}"#
        );
        assert_eq!(trim(object.clone(), Keep::Full), object);
        let body = trim(object, Keep::Body);
        assert!(body.at(&["data"]).is_some() && body.at(&["metadata", "managedFields"]).is_none());
    }
}
