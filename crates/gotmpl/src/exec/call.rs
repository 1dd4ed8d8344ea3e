//! Calls of functions and methods.

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::builtin::{Args, Builtin};
use crate::nesting::weight;
use crate::parse::{Arg, Callee};
use crate::{ErrorKind, Failure, Method, Signature, Value};

impl<'t> State<'t, '_, '_> {
    /// Calls a function by its name; `at` is what an error of the function itself points to.
    pub(super) fn call_function(
        &mut self,
        dot: &Dynamic,
        callee: &'t Callee,
        name: &str,
        at: At<'t>,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        self.step()?;
        match callee {
            Callee::Builtin(builtin @ (Builtin::And | Builtin::Or)) => {
                self.count_args(builtin.signature(), name, rest.len(), last.is_some())?;
                self.short_circuit(dot, *builtin == Builtin::Or, rest, last)
            }
            Callee::Builtin(builtin) => {
                let spelling = rest.first();
                let args = self.args(dot, builtin.signature(), name, rest, last)?;
                let mark = self.before_call(at);
                let result = builtin.call(self.context, &args, spelling);
                self.finish(args, result, name, at, mark)
            }
            Callee::Function(function) if self.context.recorder.is_none() => {
                self.call_quickly(dot, function, name, at, rest, last)
            }
            Callee::Function(function) => {
                let args = self.args(dot, function.signature, name, rest, last)?;
                let mark = self.before_call(at);
                let result = (function.body)(self.context, &args.values);
                let of = function.signature.result;
                self.finish(args, result.map(|value| Dynamic::of_type(value, of)), name, at, mark)
            }
        }
    }

    pub(super) fn call_method(
        &mut self,
        dot: &Dynamic,
        receiver: &Value,
        method: &'static Method,
        at: At<'t>,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        self.step()?;
        let args = self.args(dot, method.signature, method.name, rest, last)?;
        let mark = self.before_call(at);
        let result = (method.call)(self.context, receiver, &args.values);
        let of = method.signature.result;
        self.finish(args, result.map(|value| Dynamic::of_type(value, of)), method.name, at, mark)
    }

    /// Tells the context where the call is, for templates that the function executes.
    fn before_call(&mut self, at: At<'t>) -> usize {
        self.context.call_from(at.position().unwrap_or(0), self.guard);
        self.context.recorder.as_ref().map_or(0, |recorder| recorder.mark())
    }

    fn finish(
        &mut self,
        args: Args,
        result: Result<Dynamic, Failure>,
        name: &str,
        at: At<'t>,
        mark: usize,
    ) -> Eval<Dynamic> {
        let mut result = match result {
            Ok(result) => result,
            Err(failure) => {
                self.at = at;
                return Err(self.failed(ErrorKind::Call { function: name.to_owned(), failure }));
            }
        };
        if let Some(recorder) = &mut self.context.recorder {
            result.origin = recorder.called(name, (&args.values, &args.origins), &result.value, mark);
        }
        self.context.note_change(&args.values, &result.value);
        let charged = self.context.charge(weight(&result.value));
        self.reuse(args);
        charged.map_err(|failure| self.limited(&failure))?;
        Ok(result)
    }

    fn reuse(&mut self, mut args: Args) {
        args.values.clear();
        self.context.spare.push(args.values);
    }

    /// Checks how many arguments there are.
    pub(super) fn count_args(
        &self,
        signature: Signature,
        name: &str,
        given: usize,
        has_last: bool,
    ) -> Eval<()> {
        let total = given + usize::from(has_last);
        let wanted = signature.params.len();
        if signature.variadic {
            let fixed = wanted - 1;
            if total < fixed {
                return self
                    .error(format!("wrong number of args for {name}: want at least {fixed} got {given}"));
            }
        } else if total != wanted {
            return self.error(format!("wrong number of args for {name}: want {wanted} got {total}"));
        }
        Ok(())
    }

    /// Evaluates the arguments of a call.
    fn args(
        &mut self,
        dot: &Dynamic,
        signature: Signature,
        name: &str,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Args> {
        self.count_args(signature, name, rest.len(), last.is_some())?;
        let mut args = Args::new(self.context.spare.pop().unwrap_or_default());
        for (at, arg) in rest.iter().enumerate() {
            let of = signature.param(at);
            args.push(self.arg(dot, of, arg)?);
        }
        if let Some(last) = last {
            let of = signature.param(rest.len());
            args.push(self.validate(last, of)?);
        }
        Ok(args)
    }

    /// `and` and `or` evaluate no more arguments than they need.
    fn short_circuit(
        &mut self,
        dot: &Dynamic,
        or: bool,
        rest: &'t [Arg],
        last: Option<Dynamic>,
    ) -> Eval<Dynamic> {
        let mut value = Dynamic::invalid();
        for arg in rest {
            let before = value.origin;
            value = self.arg(dot, &crate::types::REFLECT, arg)?;
            value.origin = self.trace_either(before, value.origin);
            if value.value.truth() == or {
                return Ok(value);
            }
        }
        match last {
            Some(last) => {
                let origin = self.trace_either(value.origin, last.origin);
                Ok(last.from(origin))
            }
            None => Ok(value),
        }
    }
}
