//! Arguments: evaluating them and checking them against the types that a function takes.

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::Value;
use crate::complex::Complex;
use crate::parse::{Arg, Number, Term};
use crate::stack::deep;
use crate::types::{self, Shape, Type};

impl<'t> State<'t, '_, '_> {
    /// Evaluates an argument for a parameter of a type.
    pub(super) fn arg(&mut self, dot: &Dynamic, of: Type, arg: &'t Arg) -> Eval<Dynamic> {
        self.at = At::Arg(arg);
        let value = match &arg.term {
            Term::Dot => dot.clone(),
            Term::Nil if of.takes_nil() => return Ok(Dynamic::of_type(types::zero(of), of)),
            Term::Nil => return self.error(format!("cannot assign nil to {of}")),
            Term::Field(fields) => match self.field_of_map(dot, fields) {
                Some(found) => found,
                None => self.fields(dot, dot.clone(), arg, fields, &[], None)?,
            },
            Term::Variable { .. } => self.variable_with_fields(dot, arg, &[], None)?,
            Term::Pipe(pipe) => deep(|| self.pipeline(dot, pipe))?,
            Term::Function { name, call } => self.call_function(dot, call, name, At::Arg(arg), &[], None)?,
            Term::Chain { .. } => self.chain(dot, arg, &[], None)?,
            Term::Bool(_) | Term::Number(_) | Term::Str { .. } => return self.literal(of, arg),
        };
        self.validate(value, of)
    }

    /// A constant, which takes the type that is asked for if its spelling allows.
    fn literal(&self, of: Type, arg: &Arg) -> Eval<Dynamic> {
        let wrong = |expected: &str| self.error(format!("expected {expected}; found {arg}"));
        let number = match &arg.term {
            Term::Number(number) => Some(&**number),
            _ => None,
        };
        let value = match of.shape {
            Shape::Any | Shape::Reflect => return self.free_literal(arg),
            Shape::Bool => match arg.term {
                Term::Bool(value) => Value::Bool(value),
                _ => return wrong("bool"),
            },
            Shape::Str => match &arg.term {
                Term::Str { text, .. } => Value::Str(text.clone()),
                _ => return wrong("string"),
            },
            Shape::Int(int) if int.is_signed() => match number.and_then(|number| number.int) {
                Some(value) => Value::Int(int.wrap(value), int),
                None => return wrong("integer"),
            },
            Shape::Int(int) => match number.and_then(|number| number.uint) {
                Some(value) => Value::Int(int.wrap(value.cast_signed()), int),
                None => return wrong("unsigned integer"),
            },
            Shape::Float => match number.and_then(|number| number.float) {
                Some(value) => Value::Float(value),
                None => return wrong("float"),
            },
            Shape::Complex => match number.and_then(|number: &Number| number.complex) {
                Some((real, imaginary)) => Value::object(Complex { real, imaginary }),
                None => return wrong("complex"),
            },
            Shape::Interface | Shape::List(_) | Shape::Map(_) | Shape::Struct | Shape::Pointer => {
                return self.error(format!("can't handle {arg} for arg of type {of}"));
            }
        };
        Ok(Dynamic::concrete(value))
    }

    fn free_literal(&self, arg: &Arg) -> Eval<Dynamic> {
        match &arg.term {
            Term::Bool(value) => Ok(Dynamic::concrete(Value::Bool(*value))),
            Term::Number(number) => self.constant(number),
            Term::Str { text, .. } => Ok(Dynamic::concrete(Value::Str(text.clone()))),
            _ => self.error(format!("can't handle assignment of {arg} to empty interface argument")),
        }
    }

    /// Makes sure that a value can be given for a parameter of a type.
    pub(super) fn validate(&self, given: Dynamic, of: Type) -> Eval<Dynamic> {
        match of.shape {
            Shape::Any | Shape::Reflect => return Ok(given),
            _ if !given.is_valid() && of.takes_nil() => return Ok(Dynamic::of_type(types::zero(of), of)),
            _ if !given.is_valid() => return self.error(format!("invalid value; expected {of}")),
            _ => {}
        }
        let Some(from) = given.value.go_type() else {
            return self.error(format!("wrong type for value; expected {of}; got {}", given.type_name()));
        };
        if !of.takes(from) {
            return self.error(format!("wrong type for value; expected {of}; got {from}"));
        }
        let origin = given.origin;
        let value = match given.value {
            Value::Map(map) if map.go_type() != of => Value::Map(map.as_type(of)),
            Value::List(list) if list.go_type() != of => Value::List(list.as_type(of)),
            value => value,
        };
        Ok(Dynamic::concrete(value).from(origin))
    }
}
