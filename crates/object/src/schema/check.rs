//! Strict validation of fields: what Go's decoder says of an object that does not fit its type.

use std::fmt;

use super::model::{Scalar, Shape, TypeRef};
use super::scalar;
use crate::quantity::{Quantity, QuantityError};
use crate::value::Value;

/// Something in an object that its type does not have or cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as `spec.containers[0].image`.
    pub path: String,
    /// What is wrong.
    pub kind: ProblemKind,
    /// Whether decoding stops here: what a client then sees is this, whatever was wrong before.
    pub stops: bool,
}

/// The sorts of problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The type has no such field; a lenient decoder drops it.
    Unknown,
    /// The value cannot be held, in the words of Go's decoder; decoding fails.
    Type(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ProblemKind::Unknown => write!(f, "unknown field {:?}", self.path),
            ProblemKind::Type(message) => f.write_str(message),
        }
    }
}

/// Lists what is wrong with `value` as a `ty`, in the order of its fields.
pub fn check(value: &Value, ty: TypeRef<'_>) -> Vec<Problem> {
    let mut checker = Checker { path: String::new(), fields: Vec::new(), holder: "", problems: Vec::new() };
    checker.visit(value, ty);
    checker.problems
}

/// The one problem that a decoder fails with; none if it only drops fields.
pub fn decoding_error(problems: &[Problem]) -> Option<&Problem> {
    let is_error = |problem: &&Problem| problem.kind != ProblemKind::Unknown;
    let stop = problems.iter().find(|problem| problem.stops);
    stop.or_else(|| problems.iter().find(is_error))
}

struct Checker<'s> {
    /// With indexes, as strict errors print it.
    path: String,
    /// Field names only, as type errors print them.
    fields: Vec<String>,
    /// The struct that the last field belongs to.
    holder: &'s str,
    problems: Vec<Problem>,
}

impl<'s> Checker<'s> {
    fn visit(&mut self, value: &Value, ty: TypeRef<'s>) {
        match (ty.shape(), value) {
            (Shape::Any, _) | (_, Value::Null) => {}
            (Shape::Struct, Value::Map(map)) => {
                for (name, value) in map.iter() {
                    self.visit_field(name, value, ty);
                }
            }
            (Shape::Map(inner), Value::Map(map)) => {
                for (name, value) in map.iter() {
                    self.below_key(name, |checker| checker.visit(value, inner));
                }
            }
            (Shape::List(inner, _), Value::Seq(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let length = self.path.len();
                    self.path.push_str(&format!("[{index}]"));
                    self.visit(item, inner);
                    self.path.truncate(length);
                }
            }
            (Shape::Scalar(kind), value) => {
                if let Some(message) = self.scalar_problem(kind, value, ty) {
                    self.report(message, kind.is_struct());
                }
            }
            (_, value) => {
                let message = self.mismatch(&describe(value, false), &ty.go_name());
                self.report(message, false);
            }
        }
    }

    fn visit_field(&mut self, name: &str, value: &Value, ty: TypeRef<'s>) {
        let Some(field) = ty.field(name) else {
            match ty.rest() {
                Some(rest) => self.below_key(name, |checker| checker.visit(value, rest)),
                None => self.below_key(name, |checker| {
                    let path = checker.path.clone();
                    checker.problems.push(Problem { path, kind: ProblemKind::Unknown, stops: false });
                }),
            }
            return;
        };
        let holder = std::mem::replace(&mut self.holder, ty.name());
        self.fields.push(format!("{}{name}", field.via()));
        self.below_key(name, |checker| checker.visit(value, field.ty()));
        self.fields.pop();
        self.holder = holder;
    }

    fn below_key(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        visit(self);
        self.path.truncate(length);
    }

    fn report(&mut self, message: String, stops: bool) {
        let path = self.path.clone();
        self.problems.push(Problem { path, kind: ProblemKind::Type(message), stops });
    }

    fn mismatch(&self, found: &str, wanted: &str) -> String {
        match self.fields.is_empty() {
            true => format!("json: cannot unmarshal {found} into Go value of type {wanted}"),
            false => format!(
                "json: cannot unmarshal {found} into Go struct field {}.{} of type {wanted}",
                self.holder,
                self.fields.join(".")
            ),
        }
    }

    fn scalar_problem(&self, kind: Scalar, value: &Value, ty: TypeRef<'_>) -> Option<String> {
        match (kind, value) {
            (Scalar::String, Value::Str(_))
            | (Scalar::Bool, Value::Bool(_))
            | (Scalar::Int64, Value::Int(_))
            | (Scalar::Float64, Value::Int(_) | Value::Float(_))
            | (Scalar::Raw | Scalar::Json | Scalar::Fields, _)
            | (Scalar::SchemaOrArray | Scalar::SchemaOrBool | Scalar::SchemaOrStrings, _)
            | (Scalar::IntOrString, Value::Str(_)) => None,
            (Scalar::Int32, Value::Int(number)) if i32::try_from(*number).is_ok() => None,
            (Scalar::Int32 | Scalar::Int64, Value::Int(_) | Value::Float(_)) => {
                Some(self.mismatch(&describe(value, true), &ty.go_name()))
            }
            (Scalar::Bytes, Value::Str(text)) => base64_problem(text),
            // These read their own JSON.
            (Scalar::Time | Scalar::MicroTime, Value::Str(text)) => {
                scalar::time_problem(text, kind == Scalar::MicroTime)
            }
            (Scalar::Duration, Value::Str(text)) => {
                scalar::parse_duration(text).is_none().then(|| format!("time: invalid duration {text:?}"))
            }
            (Scalar::Time | Scalar::MicroTime | Scalar::Duration, _) => {
                Some(self.mismatch(&describe(value, false), "string"))
            }
            (Scalar::IntOrString, Value::Int(number)) if i32::try_from(*number).is_ok() => None,
            (Scalar::IntOrString, _) => Some(
                self.mismatch(&describe(value, matches!(value, Value::Int(_) | Value::Float(_))), "int32"),
            ),
            (Scalar::Quantity, _) => quantity_problem(value),
            _ => Some(self.mismatch(&describe(value, false), &ty.go_name())),
        }
    }
}

pub(super) fn base64_problem(text: &str) -> Option<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let offset = match STANDARD.decode(text) {
        Ok(_) => return None,
        Err(
            base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _),
        ) => offset,
        Err(_) => text.len() / 4 * 4,
    };
    Some(format!("illegal base64 data at input byte {offset}"))
}

fn quantity_problem(value: &Value) -> Option<String> {
    let text = match value {
        Value::Str(text) => text.trim().to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        _ => return Some(QuantityError::Format.to_string()),
    };
    Quantity::parse(&text).err().map(|error| error.to_string())
}

/// A JSON value as Go's messages name it; numbers with their text where only the size is wrong.
fn describe(value: &Value, literal: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Int(number) if literal => format!("number {number}"),
        Value::Float(number) if literal => format!("number {number}"),
        Value::Int(_) | Value::Float(_) => "number".to_owned(),
        Value::Str(_) => "string".to_owned(),
        Value::Seq(_) => "array".to_owned(),
        Value::Map(_) => "object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use crate::value;

    fn messages(value: &Value) -> Vec<String> {
        let gvk = crate::Object::new(value.clone()).expect("map").gvk();
        check(value, builtin().of(&gvk).expect("kind")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unknown_fields_are_named_with_their_path() {
        let found = messages(&value!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"any": "x"}},
            "spec": {"foo": 1, "template": {"spec": {"containers": [{"name": "c", "imagee": "x"}]}}},
        }));
        assert_eq!(
            found,
            [r#"unknown field "spec.foo""#, r#"unknown field "spec.template.spec.containers[0].imagee""#]
        );
    }

    #[test]
    fn wrong_types_are_told_in_the_words_of_gos_decoder() {
        let found = messages(&value!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "spec": {
                "replicas": "three",
                "paused": 1,
                "template": {"spec": {
                    "containers": [{"name": 5, "ports": {}}],
                    "volumes": [{"configMap": "x"}],
                    "nodeSelector": {"a": true},
                }},
            },
        }));
        let field = "into Go struct field";
        assert_eq!(
            found,
            [
                format!("json: cannot unmarshal number {field} DeploymentSpec.spec.paused of type bool"),
                format!("json: cannot unmarshal string {field} DeploymentSpec.spec.replicas of type int32"),
                format!(
                    "json: cannot unmarshal number {field} Container.spec.template.spec.containers.name of type string"
                ),
                format!(
                    "json: cannot unmarshal object {field} Container.spec.template.spec.containers.ports of type []v1.ContainerPort"
                ),
                format!(
                    "json: cannot unmarshal bool {field} PodSpec.spec.template.spec.nodeSelector of type string"
                ),
                format!(
                    "json: cannot unmarshal string {field} Volume.spec.template.spec.volumes.VolumeSource.configMap of type v1.ConfigMapVolumeSource"
                ),
            ]
        );
    }

    #[test]
    fn leaves_with_a_form_of_their_own_are_checked() {
        let found = messages(&value!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "now"},
            "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "many", "memory": 5}}}]},
        }));
        assert!(found[0].starts_with("parsing time \"now\""), "{found:?}");
        assert!(found[1].starts_with("quantities must match"), "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn numbers_that_do_not_fit_are_shown() {
        let found = messages(&value!({
            "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3000000000_i64},
        }));
        assert_eq!(
            found,
            [
                "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32"
            ]
        );
    }
}
