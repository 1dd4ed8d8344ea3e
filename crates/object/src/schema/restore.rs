//! What does not fit, in the words of the API machinery's converter.
//!
//! A strategic merge patch is not decoded from text: the server converts maps into Go types, and the
//! converter has messages of its own.

use super::model::{Scalar, Shape, TypeRef};
use crate::value::Value;

/// The first value that cannot be converted into its type, or none if the converter leaves the
/// judgement to a type that reads its own JSON.
pub fn restoring_error(value: &Value, ty: TypeRef<'_>) -> Option<String> {
    match (ty.shape(), value) {
        (Shape::Any, _) | (_, Value::Null) => None,
        (Shape::Struct, Value::Map(map)) => map.iter().find_map(|(name, value)| {
            let ty = ty.field(name).map(|field| field.ty()).or_else(|| ty.rest());
            restoring_error(value, ty?)
        }),
        (Shape::Map(inner), Value::Map(map)) => {
            map.iter().find_map(|(_, value)| restoring_error(value, inner))
        }
        (Shape::List(inner, _), Value::Seq(items)) => {
            items.iter().find_map(|item| restoring_error(item, inner))
        }
        (Shape::Struct, _) => Some(format!("cannot restore struct from: {}", kind(value))),
        (Shape::Map(_), _) => Some(format!("cannot restore map from {}", kind(value))),
        (Shape::List(..), _) => Some(format!("cannot restore slice from {}", kind(value))),
        (Shape::Scalar(scalar), _) => scalar_error(scalar, value, ty),
    }
}

fn scalar_error(scalar: Scalar, value: &Value, ty: TypeRef<'_>) -> Option<String> {
    use Scalar::{Bool, Bytes, Float64, Int32, Int64, String};
    match (scalar, value) {
        (String | Bytes, Value::Str(_)) | (Bool, Value::Bool(_)) => None,
        (Int32 | Int64 | Float64, Value::Int(_)) | (Float64, Value::Float(_)) => None,
        // Go would convert these, and the result would mean something else.
        (String, Value::Int(_)) | (Int32 | Int64, Value::Float(_)) => {
            Some(format!("cannot convert {} to {}", kind(value), ty.go_name()))
        }
        (Bytes, _) => Some(format!("cannot restore slice from {}", kind(value))),
        (String | Bool | Int32 | Int64 | Float64, _) => {
            Some(format!("unrecognized type: {}", scalar.go_name()))
        }
        _ => None,
    }
}

/// A value as Go's reflection names its kind.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Seq(_) => "slice",
        Value::Map(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use crate::value;

    fn error(spec: Value) -> String {
        let pod = value!({"apiVersion": "v1", "kind": "Pod", "spec": spec});
        let gvk = crate::Object::new(pod.clone()).expect("map").gvk();
        restoring_error(&pod, builtin().of(&gvk).expect("kind")).unwrap_or_default()
    }

    #[test]
    fn what_cannot_be_restored_is_named_by_its_kind() {
        assert_eq!(error(value!({"nodeSelector": "x"})), "cannot restore map from string");
        assert_eq!(error(value!({"containers": {}})), "cannot restore slice from map");
        assert_eq!(error(value!([])), "cannot restore struct from: slice");
        assert_eq!(error(value!({"nodeName": 1})), "cannot convert int64 to string");
        assert_eq!(error(value!({"restartPolicy": 1})), "cannot convert int64 to v1.RestartPolicy");
        assert_eq!(error(value!({"nodeName": true})), "unrecognized type: string");
        assert_eq!(error(value!({"priority": "high"})), "unrecognized type: int32");
        assert_eq!(error(value!({"containers": [{"name": "a"}]})), "");
    }
}
