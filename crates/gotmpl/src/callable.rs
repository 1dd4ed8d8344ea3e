//! Functions as values: what a caller puts into the data of a template, for `call` to call.

use std::any::Any;

use crate::types::{Shape, Type};
use crate::{Context, Failure, Function, Object, Signature, TypeInfo, Value};

static FUNCTION: TypeInfo = TypeInfo::plain("func", Shape::Struct);

/// A function that a template finds in its data: `{{ call .time.Now }}`.
pub struct Callable {
    name: &'static str,
    function: Function,
}

impl Callable {
    /// A function as a value.
    pub fn value(
        name: &'static str,
        signature: Signature,
        body: impl Fn(&mut Context<'_>, &[Value]) -> Result<Value, Failure> + Send + Sync + 'static,
    ) -> Value {
        Value::object(Self { name, function: Function::new(signature, body) })
    }

    /// The name that it was given.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it takes and gives.
    pub fn signature(&self) -> Signature {
        self.function.signature()
    }

    /// Calls it, if the arguments fit.
    pub fn call(&self, context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
        fit(self.function.signature(), args)?;
        self.function.call(context, args)
    }
}

/// Checks arguments against what a function or a method takes. The words are Go's.
pub fn fit(signature: Signature, args: &[Value]) -> Result<(), Failure> {
    let wanted = signature.params.len();
    let fixed = wanted.saturating_sub(1);
    if signature.variadic && args.len() < fixed {
        return Err(Failure::new(format!("wrong number of args: got {} want at least {fixed}", args.len())));
    }
    if !signature.variadic && args.len() != wanted {
        return Err(Failure::new(format!("wrong number of args: got {} want {wanted}", args.len())));
    }
    for (at, arg) in args.iter().enumerate() {
        let of = signature.param(at);
        let fits = match arg.go_type() {
            None => of.takes_nil(),
            Some(from) => of.takes(from),
        };
        if !fits {
            let from = arg.type_name();
            return Err(Failure::new(format!("arg {at}: value has type {from}; should be {of}")));
        }
    }
    Ok(())
}

impl Object for Callable {
    fn go_type(&self) -> Type {
        &FUNCTION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
