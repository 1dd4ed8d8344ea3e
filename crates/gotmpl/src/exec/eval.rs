//! Pipelines and commands.

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::complex::Complex;
use crate::parse::{Arg, Command, Number, Pipe, Term};
use crate::stack::deep;
use crate::{Str, Value};

impl<'t> State<'t, '_, '_> {
    pub(super) fn pipeline(&mut self, dot: &Dynamic, pipe: &'t Pipe) -> Eval<Dynamic> {
        let value = self.commands(dot, pipe, &pipe.commands)?.unwrap_or_default();
        if !pipe.variables.is_empty() {
            self.set_variables(pipe, &value)?;
        }
        Ok(value)
    }

    fn set_variables(&mut self, pipe: &'t Pipe, value: &Dynamic) -> Eval<()> {
        for variable in &pipe.variables {
            if pipe.assign {
                self.set_variable(variable, value.clone())?;
            } else {
                self.variables.push((variable.symbol, value.clone()));
            }
        }
        Ok(())
    }

    /// Evaluates a command; `last` is the result of the one before it, which becomes its last argument.
    pub(super) fn command(
        &mut self,
        dot: &Dynamic,
        command: &'t Command,
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        let Some((first, rest)) = command.args.split_first() else {
            return self.error("empty command");
        };
        match &first.term {
            Term::Field(fields) => {
                self.at = At::Arg(first);
                match self.field_of_map(dot, fields).filter(|_| rest.is_empty() && last.is_none()) {
                    Some(found) => Ok(found),
                    None => self.fields(dot, dot.clone(), first, fields, rest, last),
                }
            }
            Term::Chain { .. } => self.chain(dot, first, rest, last),
            Term::Function { name, call } => {
                self.at = At::Arg(first);
                self.call_function(dot, call, name, At::Command(command), rest, last)
            }
            Term::Pipe(pipe) => {
                self.not_a_function(first, rest, last.as_ref())?;
                deep(|| self.pipeline(dot, pipe))
            }
            Term::Variable { .. } => self.variable_with_fields(dot, first, rest, last),
            term => {
                self.at = At::Arg(first);
                self.not_a_function(first, rest, last.as_ref())?;
                match term {
                    Term::Bool(value) => Ok(Dynamic::concrete(Value::Bool(*value))),
                    Term::Dot => Ok(dot.clone()),
                    Term::Number(number) => self.constant(number),
                    Term::Str { text, .. } => Ok(Dynamic::concrete(Value::Str(text.clone()))),
                    _ => self.error("nil is not a command"),
                }
            }
        }
    }

    fn not_a_function(&self, first: &'t Arg, rest: &[Arg], last: Option<&Dynamic>) -> Eval<()> {
        if rest.is_empty() && last.is_none() {
            return Ok(());
        }
        self.error(format!("can't give argument to non-function {first}"))
    }

    /// A variable, or a field of one.
    pub(super) fn variable_with_fields(
        &mut self,
        dot: &Dynamic,
        arg: &'t Arg,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        self.at = At::Arg(arg);
        let Term::Variable { variable, fields } = &arg.term else {
            return self.error("not a variable");
        };
        let value = self.variable(variable)?;
        if fields.is_empty() {
            self.not_a_function(arg, rest, last.as_ref())?;
            return Ok(value);
        }
        self.fields(dot, value, arg, fields, rest, last)
    }

    /// Fields of a parenthesis or of a function's result.
    pub(super) fn chain(
        &mut self,
        dot: &Dynamic,
        arg: &'t Arg,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        self.at = At::Arg(arg);
        let Term::Chain { on, fields } = &arg.term else {
            return self.error("not a chain");
        };
        self.at = At::Arg(on);
        let receiver = match &on.term {
            Term::Pipe(pipe) => deep(|| self.pipeline(dot, pipe))?,
            Term::Function { name, call } => self.call_function(dot, call, name, At::Arg(on), &[], None)?,
            _ => return self.error(format!("indirection through explicit nil in {arg}")),
        };
        self.fields(dot, receiver, arg, fields, rest, last)
    }

    /// Goes along fields; what the last one is may be a method and take arguments.
    pub(super) fn fields(
        &mut self,
        dot: &Dynamic,
        mut receiver: Dynamic,
        arg: &'t Arg,
        fields: &'t [Str],
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        let Some((name, before)) = fields.split_last() else {
            return Ok(receiver);
        };
        for name in before {
            receiver = self.field(dot, receiver, arg, name, &[], None)?;
        }
        self.field(dot, receiver, arg, name, rest, last)
    }

    /// A number where no type is asked for: its spelling decides.
    pub(super) fn constant(&self, number: &Number) -> Eval<Dynamic> {
        let value = if let Some((real, imaginary)) = number.complex {
            Value::object(Complex { real, imaginary })
        } else if let Some(float) = number.float.filter(|_| number.is_float_by_spelling()) {
            Value::Float(float)
        } else if let Some(int) = number.int {
            Value::int(int)
        } else {
            return self.error(format!("{} overflows int", number.text));
        };
        Ok(Dynamic::concrete(value))
    }
}
