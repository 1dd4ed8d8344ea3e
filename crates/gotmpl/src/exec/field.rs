//! Fields of maps and structs, and methods.

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::context::MissingKey;
use crate::format::quote;
use crate::parse::Arg;
use crate::trace::Segment;
use crate::types;
use crate::{Map, Str, Value};

impl<'t> State<'t, '_, '_> {
    pub(super) fn field(
        &mut self,
        dot: &Dynamic,
        receiver: Dynamic,
        arg: &'t Arg,
        name: &'t Str,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        if !receiver.is_valid() {
            if self.context.options.missing_key == MissingKey::Error {
                return self.error(format!("nil data; no entry for key {}", quote::double(name)));
            }
            return Ok(Dynamic::invalid());
        }
        let type_name = receiver.type_name();
        let Some(of) = receiver.value.go_type() else {
            return self.error(format!("nil pointer evaluating {type_name}.{name}"));
        };
        if let Some(method) = of.method(name) {
            return self.call_method(dot, &receiver.value, method, At::Arg(arg), rest, last);
        }
        let found = self.member(&receiver, name, type_name, !rest.is_empty() || last.is_some())?;
        Ok(self.trace_inside(&receiver, || Segment::Key(name.clone()), found))
    }

    /// What a map or struct has under a name.
    fn member(&self, receiver: &Dynamic, name: &str, type_name: &str, has_args: bool) -> Eval<Dynamic> {
        match &receiver.value {
            Value::Map(_) if has_args => self.error(format!("{name} is not a method but has arguments")),
            Value::Map(map) => self.entry(map, name),
            Value::Object(object) => match object.field(name) {
                Some(_) if has_args => {
                    self.error(format!("{name} has arguments but cannot be invoked as function"))
                }
                Some(value) => Ok(Dynamic { boxed: value.is_nil(), ..Dynamic::concrete(value) }),
                None => self.error(format!("can't evaluate field {name} in type {type_name}")),
            },
            _ => self.error(format!("can't evaluate field {name} in type {type_name}")),
        }
    }

    /// The value of a map's key, or what a missing key is worth.
    fn entry(&self, map: &Map, name: &str) -> Eval<Dynamic> {
        let element = map.element();
        if let Some(value) = map.get(name) {
            return Ok(Dynamic::of_type(value, element));
        }
        match self.context.options.missing_key {
            MissingKey::Invalid => Ok(Dynamic::invalid()),
            MissingKey::Zero => Ok(Dynamic::of_type(types::zero(element), element)),
            MissingKey::Error => self.error(format!("map has no entry for key {}", quote::double(name))),
        }
    }
}
