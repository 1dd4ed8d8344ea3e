//! The functions that every template has.

mod compare;
mod escape;
mod index;

use crate::exec::Dynamic;
use crate::parse::Arg;
use crate::signature;
use crate::trace::Origin;
use crate::{Callable, Context, Failure, Signature, Value, format};

/// One of Go's own functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    And,
    Call,
    Html,
    Index,
    Slice,
    Js,
    Len,
    Not,
    Or,
    Print,
    Printf,
    Println,
    UrlQuery,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

/// The arguments of a call, and which of them were reached through an `interface {}`.
pub(crate) struct Args {
    pub(crate) values: Vec<Value>,
    boxed: u64,
    /// What fed them, if the render is traced; empty if nothing is known of any.
    pub(crate) origins: Vec<Origin>,
}

impl Args {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self { values, boxed: 0, origins: Vec::new() }
    }

    pub(crate) fn push(&mut self, arg: Dynamic) {
        if arg.boxed && self.values.len() < 64 {
            self.boxed |= 1 << self.values.len();
        }
        if !arg.origin.is_none() {
            self.origins.resize(self.values.len(), Origin::NONE);
            self.origins.push(arg.origin);
        }
        self.values.push(arg.value);
    }

    fn is_boxed(&self, at: usize) -> bool {
        at < 64 && self.boxed >> at & 1 == 1
    }
}

impl Builtin {
    /// The function of a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "and" => Self::And,
            "call" => Self::Call,
            "html" => Self::Html,
            "index" => Self::Index,
            "slice" => Self::Slice,
            "js" => Self::Js,
            "len" => Self::Len,
            "not" => Self::Not,
            "or" => Self::Or,
            "print" => Self::Print,
            "printf" => Self::Printf,
            "println" => Self::Println,
            "urlquery" => Self::UrlQuery,
            "eq" => Self::Eq,
            "ge" => Self::Ge,
            "gt" => Self::Gt,
            "le" => Self::Le,
            "lt" => Self::Lt,
            "ne" => Self::Ne,
            _ => return None,
        })
    }

    /// What it takes and gives.
    pub(crate) fn signature(self) -> Signature {
        match self {
            Self::And | Self::Or | Self::Call | Self::Index | Self::Slice => {
                signature!((REFLECT, ...REFLECT) -> REFLECT)
            }
            Self::Eq => signature!((REFLECT, ...REFLECT) -> BOOL),
            Self::Ge | Self::Gt | Self::Le | Self::Lt | Self::Ne => signature!((REFLECT, REFLECT) -> BOOL),
            Self::Html | Self::Js | Self::UrlQuery | Self::Print | Self::Println => {
                signature!((...ANY) -> STRING)
            }
            Self::Len => signature!((REFLECT) -> INT),
            Self::Not => signature!((REFLECT) -> BOOL),
            Self::Printf => signature!((STRING, ...ANY) -> STRING),
        }
    }

    /// Calls it. `callee` is how the template spells its first argument, if that does not come from the pipeline.
    pub(crate) fn call(
        self,
        context: &mut Context<'_>,
        args: &Args,
        callee: Option<&Arg>,
    ) -> Result<Dynamic, Failure> {
        let values = args.values.as_slice();
        let value = match (self, values) {
            (Self::And | Self::Or, _) => return Err(Failure::new("unreachable")),
            (Self::Call, [Value::Object(object), args @ ..])
                if let Some(callable) = object.as_any().downcast_ref::<Callable>() =>
            {
                callable.call(context, args)?
            }
            (Self::Call, values) => return Err(not_a_function(values, callee)),
            (Self::Index, [item, indexes @ ..]) => return index::index(item, indexes),
            (Self::Slice, [item, ..]) => index::slice(context, item, args)?,
            (Self::Len, [item]) => index::length(item, args.is_boxed(0))?,
            (Self::Not, [value]) => Value::Bool(!value.truth()),
            (Self::Print, _) => Value::Str(context.sprint(values)?),
            (Self::Println, _) => println(context, values)?,
            (Self::Printf, [format, values @ ..]) => printf(context, format, values)?,
            (Self::Html, _) => Value::from(escape::html(&shown(context, values)?)),
            (Self::Js, _) => Value::from(escape::js(&shown(context, values)?)),
            (Self::UrlQuery, _) => Value::from(escape::url_query(&shown(context, values)?)),
            (Self::Eq, [first, others @ ..]) => Value::Bool(compare::equal(first, others)?),
            (Self::Ne, [left, right]) => Value::Bool(!compare::equal(left, std::slice::from_ref(right))?),
            (Self::Lt, [left, right]) => Value::Bool(compare::less(left, right)?),
            (Self::Le, [left, right]) => Value::Bool(compare::less_or_equal(left, right)?),
            (Self::Gt, [left, right]) => Value::Bool(!compare::less_or_equal(left, right)?),
            (Self::Ge, [left, right]) => Value::Bool(!compare::less(left, right)?),
            _ => return Err(Failure::new("wrong number of arguments")),
        };
        Ok(Dynamic::concrete(value))
    }
}

/// What is no function cannot be called.
fn not_a_function(values: &[Value], callee: Option<&Arg>) -> Failure {
    let value = match values.first() {
        None | Some(Value::Nil) => return Failure::new("call of nil"),
        Some(value) => value,
    };
    let of = value.type_name();
    let name = match (callee, value) {
        (Some(arg), _) => arg.to_string(),
        (None, Value::Str(text)) => text.to_string(),
        (None, _) => format!("<{of} Value>"),
    };
    Failure::new(format!("non-function {name} of type {of}"))
}

fn println(context: &mut Context<'_>, values: &[Value]) -> Result<Value, Failure> {
    match format::sprintln(values, context.room()) {
        Ok(text) => Ok(Value::from(text)),
        Err(_) => Err(context.too_long()),
    }
}

fn printf(context: &mut Context<'_>, format: &Value, values: &[Value]) -> Result<Value, Failure> {
    let format = format.as_str().cloned().unwrap_or_default();
    Ok(Value::Str(context.sprintf(&format, values)?))
}

/// What the escaping functions make of their arguments before they escape it.
fn shown(context: &mut Context<'_>, values: &[Value]) -> Result<crate::Str, Failure> {
    match values {
        [Value::Str(text)] => Ok(text.clone()),
        _ => {
            let values: Vec<Value> = values
                .iter()
                .map(|value| if value.is_nil() { Value::from("<no value>") } else { value.clone() })
                .collect();
            context.sprint(&values)
        }
    }
}
