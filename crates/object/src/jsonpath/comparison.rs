//! Comparisons in filters.

use std::cmp::Ordering;

use super::error::FindError;
use super::found::Found;
use crate::value::{Str, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operator {
    Less,
    Greater,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    /// A mistake that shows when something is compared.
    Unknown(Str),
}

impl Operator {
    pub(super) fn named(text: &str) -> Self {
        match text {
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<=" => Operator::LessOrEqual,
            ">=" => Operator::GreaterOrEqual,
            _ => Operator::Unknown(Str::from(text)),
        }
    }

    /// Whether the comparison holds. Only like is compared with like: 1 with 1.0 is an error.
    pub(super) fn holds(&self, left: &Found<'_>, right: &Found<'_>) -> Result<bool, FindError> {
        if let Operator::Unknown(name) = self {
            return Err(FindError::Operator(name.to_string()));
        }
        let order = match (Scalar::of(left)?, Scalar::of(right)?) {
            (Scalar::Bool(left), Scalar::Bool(right)) => match self {
                Operator::Equal | Operator::NotEqual => Some(left.cmp(&right)),
                _ => return Err(FindError::Incomparable),
            },
            (Scalar::Int(left), Scalar::Int(right)) => Some(left.cmp(&right)),
            (Scalar::Float(left), Scalar::Float(right)) => left.partial_cmp(&right),
            (Scalar::Text(left), Scalar::Text(right)) => Some(left.cmp(right)),
            _ => return Err(FindError::Incompatible),
        };
        Ok(match self {
            Operator::Less => order == Some(Ordering::Less),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Operator::Unknown(_) => false,
        })
    }
}

enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a [u8]),
}

impl<'a> Scalar<'a> {
    fn of(found: &Found<'a>) -> Result<Self, FindError> {
        Ok(match *found {
            Found::Bool(set) | Found::Value(&Value::Bool(set)) => Scalar::Bool(set),
            Found::Int(int) | Found::Value(&Value::Int(int)) => Scalar::Int(int),
            Found::Byte(byte) => Scalar::Int(byte.into()),
            Found::Float(float) | Found::Value(&Value::Float(float)) => Scalar::Float(float),
            Found::Text(text) => Scalar::Text(text),
            Found::Value(Value::Str(text)) => Scalar::Text(text.as_bytes()),
            Found::Value(Value::Null | Value::Seq(_) | Value::Map(_)) | Found::Absent => {
                return Err(FindError::Incomparable);
            }
        })
    }
}
