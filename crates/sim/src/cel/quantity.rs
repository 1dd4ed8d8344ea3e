//! Kubernetes' quantities in expressions.

use lynceus_object::Quantity;

use super::error::EvalError;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    let whole = |number: &i64| {
        Quantity::parse(&number.to_string()).map_err(|error| EvalError::failed(error.to_string()))
    };
    Some(match (name, args) {
        ("quantity", [Val::String(text)]) => {
            Quantity::parse(text).map(Val::Quantity).map_err(|error| EvalError::failed(error.to_string()))
        }
        ("isQuantity", [Val::String(text)]) => Ok(Val::Bool(Quantity::parse(text).is_ok())),
        ("sign", [Val::Quantity(a)]) => Ok(Val::Int(match (a.is_zero(), a.is_negative()) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        })),
        ("isGreaterThan", [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Bool(a > b)),
        ("isLessThan", [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Bool(a < b)),
        ("compareTo", [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Int(a.cmp(b) as i64)),
        ("asApproximateFloat", [Val::Quantity(a)]) => Ok(Val::Double(a.milli_value() as f64 / 1e3)),
        ("isInteger", [Val::Quantity(a)]) => Ok(Val::Bool(a.is_whole())),
        ("asInteger", [Val::Quantity(a)]) if a.is_whole() => Ok(Val::Int(a.value())),
        ("asInteger", [Val::Quantity(_)]) => Err(EvalError::failed("cannot convert value to integer")),
        ("add", [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Quantity(*a + *b)),
        ("add", [Val::Quantity(a), Val::Int(b)]) => whole(b).map(|b| Val::Quantity(*a + b)),
        ("sub", [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Quantity(*a - *b)),
        ("sub", [Val::Quantity(a), Val::Int(b)]) => whole(b).map(|b| Val::Quantity(*a - b)),
        _ => return None,
    })
}
