//! Whether a configuration fits its type, in the words of the original.

use std::fmt::Write as _;

use super::{Atom, atom, child, is_named, is_open, list};
use crate::apply::set::FieldSet;
use crate::patch::printed;
use crate::path::Segment;
use crate::schema::{ListType, Scalar, Shape, TypeRef};
use crate::value::Value;

/// Says what is wrong with a value; nothing if it fits. `duplicates` allows items that are listed twice.
pub(crate) fn validate(value: &Value, ty: TypeRef<'_>, duplicates: bool) -> Result<(), String> {
    let mut validator = Validator { path: String::new(), duplicates, problems: Vec::new() };
    validator.visit(value, ty);
    match validator.problems.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        many => Err(format!("errors:\n  {}", many.join("\n  "))),
    }
}

/// Whether a value fits, where items may be listed twice. What it shares with a value that is known to fit is not
/// looked at.
pub(crate) fn fits(value: &Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    if known.is_some_and(|known| value.is_same(known)) {
        return true;
    }
    match (atom(ty, Some(value)), value) {
        (_, Value::Null) => true,
        (Atom::Scalar, value) => scalar_problem(value, ty).is_none(),
        (Atom::List(item, kind), Value::Seq(items)) => {
            let known = known.and_then(Value::as_seq).unwrap_or(&[]);
            let has_step = |one: &Value| *kind == ListType::Atomic || list::has_step(one, item, kind);
            items.iter().enumerate().all(|(at, one)| has_step(one) && fits(one, known.get(at), item))
        }
        (Atom::Map, Value::Map(map)) => {
            map.beside(known.and_then(Value::as_map)).all(|(key, value, known)| {
                known.is_some_and(|known| value.is_same(known))
                    || match ty.child(key) {
                        Some(child) => fits(value, known, child),
                        None => opens_maps(ty) && fits(value, known, TypeRef::untyped()),
                    }
            })
        }
        (Atom::List(..) | Atom::Map, _) => false,
    }
}

struct Validator {
    path: String,
    duplicates: bool,
    problems: Vec<String>,
}

impl Validator {
    fn report(&mut self, message: &str) {
        let colon = if self.path.is_empty() { "" } else { ": " };
        self.problems.push(format!("{}{colon}{message}", self.path));
    }

    fn below(&mut self, step: std::fmt::Arguments<'_>, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        // Writing to a string does not fail.
        let _ = self.path.write_fmt(step);
        visit(self);
        self.path.truncate(length);
    }

    fn visit(&mut self, value: &Value, ty: TypeRef<'_>) {
        match (atom(ty, Some(value)), value) {
            (_, Value::Null) => {}
            (Atom::Scalar, value) => {
                if let Some(message) = scalar_problem(value, ty) {
                    self.report(&message);
                }
            }
            (Atom::List(item, kind), Value::Seq(items)) => self.visit_items(items, item, kind),
            (Atom::List(..), other) => self.report(&format!("expected list, got &{{{}}}", printed(other))),
            (Atom::Map, Value::Map(map)) => {
                for (key, value) in map.iter() {
                    let known = is_named(ty, key) || ty.child(key).is_some() || opens_maps(ty);
                    self.below(format_args!(".{key}"), |validator| match known {
                        true => validator.visit(value, child(ty, key)),
                        false => validator.report("field not declared in schema"),
                    });
                    if !known {
                        return;
                    }
                }
            }
            (Atom::Map, other) => self.report(&format!("expected map, got &{{{}}}", printed(other))),
        }
    }

    fn visit_items(&mut self, items: &[Value], ty: TypeRef<'_>, kind: &ListType) {
        let mut seen = FieldSet::new();
        for (index, item) in items.iter().enumerate() {
            let step = match kind {
                ListType::Atomic => Segment::Index(index),
                _ => match list::step(item, ty, kind) {
                    Ok(step) => step,
                    Err(why) => return self.report(&format!("element {index}: {why}")),
                },
            };
            if *kind != ListType::Atomic {
                if !self.duplicates && seen.has_member(&step) {
                    self.report(&format!("duplicate entries for key {step}"));
                }
                seen.add_member(step.clone());
            }
            self.below(format_args!("{step}"), |validator| validator.visit(item, ty));
        }
    }
}

fn opens_maps(ty: TypeRef<'_>) -> bool {
    match ty.shape() {
        Shape::Any => true,
        Shape::Scalar(kind) => is_open(kind),
        _ => false,
    }
}

fn scalar_problem(value: &Value, ty: TypeRef<'_>) -> Option<String> {
    let Shape::Scalar(kind) = ty.shape() else { return None };
    match (kind, value) {
        (Scalar::Int32 | Scalar::Int64 | Scalar::Float64, Value::Int(_) | Value::Float(_))
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::String | Scalar::Bytes | Scalar::Duration, Value::Str(_)) => None,
        (Scalar::Int32 | Scalar::Int64 | Scalar::Float64, _) => {
            Some(format!("expected numeric (int or float), got {}", type_name(value)))
        }
        (Scalar::Bool, _) => Some(format!("expected boolean, got &{{{}}}", printed(value))),
        (Scalar::String | Scalar::Bytes | Scalar::Duration, _) => {
            Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", literal(value)))
        }
        (_, Value::Map(_) | Value::Seq(_)) => {
            Some(format!("expected any scalar, got &{{{}}}", printed(value)))
        }
        _ => None,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Seq(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

/// A value as `%#v` prints it.
fn literal(value: &Value) -> String {
    match value {
        Value::Str(text) => format!("{text:?}"),
        Value::Seq(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Map(map) => {
            let fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{key:?}:{}", literal(value))).collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
        Value::Null => "interface {}(nil)".to_owned(),
        other => printed(other),
    }
}
