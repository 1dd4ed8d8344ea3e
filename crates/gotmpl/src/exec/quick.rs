//! What nearly every action is made of, without the detours that the rest needs.
//!
//! A render goes through thousands of actions, and most of them are a variable, fields of maps, or a function of such and
//! of constants. What is done here comes to the same as the general way, which is taken whenever something is not of
//! the plainest kind, goes wrong, or has to be traced.

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::function::Append;
use crate::nesting::weight;
use crate::parse::{Arg, Callee, Command, Node, Pipe, Term};
use crate::types::{Shape, Type};
use crate::{ErrorKind, Function, Str, Value};

impl<'t> State<'t, '_, '_> {
    /// Prints what a pipeline gives, if that takes no more than to put a text where the output is; says whether it did.
    #[inline]
    pub(super) fn print_quickly(&mut self, dot: &Dynamic, node: &'t Node, pipe: &'t Pipe) -> Eval<bool> {
        let Some((last, before)) = pipe.commands.split_last() else { return Ok(false) };
        if !pipe.variables.is_empty() || self.context.recorder.is_some() {
            return Ok(false);
        }
        let found = match (&*last.args, before) {
            ([arg], []) => match &arg.term {
                Term::Variable { variable, fields } if fields.is_empty() => {
                    let known = self.variables.iter().rev().find(|(symbol, _)| *symbol == variable.symbol);
                    known.map(|(_, value)| value)
                }
                Term::Dot => Some(dot),
                _ => return Ok(false),
            },
            ([Arg { term: Term::Function { name, call: Callee::Function(function) }, .. }, ..], _) => {
                return match function.append {
                    Some(append) => self.append(dot, node, pipe, (name, function, append)).map(|()| true),
                    None => Ok(false),
                };
            }
            _ => return Ok(false),
        };
        let Some(Value::Str(text)) = found.map(|found| &found.value) else { return Ok(false) };
        match self.context.charge(text.len()) {
            Ok(()) => self.context.out.push_str(text),
            Err(failure) => return Err(self.limited(&failure)),
        }
        Ok(true)
    }

    /// Has the last function of a pipeline put its text where the output is.
    fn append(
        &mut self,
        dot: &Dynamic,
        node: &'t Node,
        pipe: &'t Pipe,
        (name, function, append): (&str, &'t Function, Append),
    ) -> Eval<()> {
        let Some((command, before)) = pipe.commands.split_last() else { return Ok(()) };
        let Some((first, rest)) = command.args.split_first() else { return Ok(()) };
        let last = self.commands(dot, pipe, before)?;
        self.at = At::Arg(first);
        self.step()?;
        let args = self.quick_args(dot, function, name, rest, last)?;
        self.context.call_from(command.at, self.guard);
        let start = self.context.out.len();
        if let Err(failure) = append(self.context, &args) {
            self.at = At::Command(command);
            return Err(self.failed(ErrorKind::Call { function: name.to_owned(), failure }));
        }
        let made = self.context.out.len() - start;
        self.give_back(args);
        // As if the text had been a value, and then been printed.
        self.charge(size_of::<Value>() + made)?;
        self.at = At::Node(node);
        self.charge(made)
    }

    /// What the commands of a pipeline come to.
    pub(super) fn commands(
        &mut self,
        dot: &Dynamic,
        pipe: &'t Pipe,
        commands: &'t [Command],
    ) -> Eval<Option<Dynamic>> {
        self.at = At::Pipe(pipe);
        let mut last = None;
        for command in commands {
            let mut value = self.command(dot, command, last)?;
            value.boxed = false;
            last = Some(value);
        }
        Ok(last)
    }

    /// What a way through maps leads to; nothing if there is anything else on it.
    pub(super) fn field_of_map(&self, dot: &Dynamic, fields: &[Str]) -> Option<Dynamic> {
        let Value::Map(map) = &dot.value else { return None };
        if self.context.recorder.is_some() {
            return None;
        }
        let (name, before) = fields.split_last()?;
        let mut map = map.clone();
        for name in before {
            if !map.go_type().methods.is_empty() {
                return None;
            }
            let found = map.read().get(name.as_str()).and_then(Value::as_map).cloned();
            map = found?;
        }
        if !map.go_type().methods.is_empty() {
            return None;
        }
        let value = map.get(name)?;
        Some(Dynamic::of_type(value, map.element()))
    }

    /// Calls a function while nothing is traced.
    pub(super) fn call_quickly(
        &mut self,
        dot: &Dynamic,
        function: &'t Function,
        name: &str,
        at: At<'t>,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        let args = self.quick_args(dot, function, name, rest, last)?;
        self.context.call_from(at.position().unwrap_or(0), self.guard);
        let value = match (function.body)(self.context, &args) {
            Ok(value) => value,
            Err(failure) => {
                self.at = at;
                return Err(self.failed(ErrorKind::Call { function: name.to_owned(), failure }));
            }
        };
        let made = match &value {
            Value::Str(text) => size_of::<Value>() + text.len(),
            Value::Nil | Value::Bool(_) | Value::Int(..) | Value::Float(_) => size_of::<Value>(),
            Value::List(_) | Value::Map(_) | Value::Object(_) => {
                self.context.note_change(&args, &value);
                weight(&value)
            }
        };
        self.give_back(args);
        self.charge(made)?;
        Ok(Dynamic::of_type(value, function.signature.result))
    }

    /// The arguments of a call.
    #[inline]
    fn quick_args(
        &mut self,
        dot: &Dynamic,
        function: &'t Function,
        name: &str,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Vec<Value>> {
        let signature = &function.signature;
        if signature.variadic || rest.len() + usize::from(last.is_some()) != signature.params.len() {
            self.count_args(*signature, name, rest.len(), last.is_some())?;
        }
        let mut args = self.context.spare.pop().unwrap_or_default();
        for (place, arg) in rest.iter().enumerate() {
            let of = signature.param(place);
            let value = match self.quick_arg(dot, of, arg) {
                Some(value) => value,
                None => self.arg(dot, of, arg)?.value,
            };
            args.push(value);
        }
        if let Some(last) = last {
            args.push(self.validate(last, signature.param(rest.len()))?.value);
        }
        Ok(args)
    }

    /// Keeps the memory of an argument list for the next one.
    fn give_back(&mut self, mut args: Vec<Value>) {
        args.clear();
        self.context.spare.push(args);
    }

    /// An argument that is at hand and of the type that is asked for.
    #[inline]
    fn quick_arg(&mut self, dot: &Dynamic, of: Type, arg: &'t Arg) -> Option<Value> {
        let is_any = matches!(of.shape, Shape::Any | Shape::Reflect);
        let value = match &arg.term {
            Term::Dot if is_any => dot.value.clone(),
            Term::Variable { variable, fields } if fields.is_empty() => {
                let value = &self.known(variable)?.value;
                let fits = is_any || matches!((of.shape, value), (Shape::Str, Value::Str(_)) if !of.declared);
                if !fits {
                    return None;
                }
                value.clone()
            }
            Term::Str { text, .. } if is_any || matches!(of.shape, Shape::Str) => Value::Str(text.clone()),
            Term::Number(number) => match of.shape {
                Shape::Int(int) if int.is_signed() => Value::Int(int.wrap(number.int?), int),
                _ => return None,
            },
            _ => return None,
        };
        self.at = At::Arg(arg);
        Some(value)
    }
}
