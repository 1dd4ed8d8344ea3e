//! Functions of numbers.

use super::Ctx;
use super::eval::Stop;
use super::native::misfit;
use super::term::Native;
use super::value::Val;

/// The function of a name and a number of arguments.
pub(super) fn find(name: &str, count: usize) -> Option<Native> {
    let known = match count {
        0 => ONE,
        2 => TWO,
        3 => THREE,
        _ => return None,
    };
    known.iter().find(|(known, _)| *known == name).map(|(_, native)| *native)
}

fn one(val: &Val, name: &str, of: fn(f64) -> f64) -> Result<Val, Stop> {
    val.float().map_or_else(|| misfit(name, val), |number| Ok(Val::Float(of(number))))
}

fn two(args: &[Val], name: &str, of: fn(f64, f64) -> f64) -> Result<Val, Stop> {
    match (args[0].float(), args[1].float()) {
        (Some(a), Some(b)) => Ok(Val::Float(of(a, b))),
        (None, _) => misfit(name, &args[0]),
        _ => misfit(name, &args[1]),
    }
}

macro_rules! of_one {
    ($($name:literal: $of:expr),* $(,)?) => { &[$(($name, |_: &Ctx, val, _| one(&val, $name, $of))),*] };
}

macro_rules! of_two {
    ($($name:literal: $of:expr),* $(,)?) => { &[$(($name, |_: &Ctx, _, args| two(args, $name, $of))),*] };
}

const OF_ONE: &[(&str, Native)] = of_one! {
    "floor": f64::floor, "ceil": f64::ceil, "round": f64::round, "trunc": f64::trunc,
    "nearbyint": f64::round_ties_even, "rint": f64::round_ties_even, "fabs": f64::abs, "sqrt": f64::sqrt,
    "cbrt": f64::cbrt, "exp": f64::exp, "exp2": f64::exp2, "expm1": f64::exp_m1, "exp10": |f| 10f64.powf(f),
    "log": f64::ln, "log2": f64::log2, "log10": f64::log10, "log1p": f64::ln_1p, "sin": f64::sin, "cos": f64::cos,
    "tan": f64::tan, "asin": f64::asin, "acos": f64::acos, "atan": f64::atan, "sinh": f64::sinh, "cosh": f64::cosh,
    "tanh": f64::tanh, "asinh": f64::asinh, "acosh": f64::acosh, "atanh": f64::atanh,
    "significand": |f| 2.0 * apart(f).0,
    "logb": |f| if f == 0.0 { f64::NEG_INFINITY } else if f.is_finite() { apart(f).1 as f64 - 1.0 } else { f * f },
};

const ONE: &[(&str, Native)] = &{
    const OTHER: [(&str, Native); 8] = [
        ("abs", |_, val, _| match &val {
            Val::Int(i) if *i >= 0 => Ok(val),
            Val::Int(_) => super::arithmetic::negate(&val),
            Val::Float(f) => Ok(Val::Float(f.abs())),
            other => misfit("abs", other),
        }),
        ("infinite", |_, _, _| Ok(Val::Float(f64::INFINITY))),
        ("nan", |_, _, _| Ok(Val::Float(f64::NAN))),
        ("isinfinite", |_, val, _| Ok(Val::Bool(val.float().is_some_and(f64::is_infinite)))),
        ("isfinite", |_, val, _| Ok(Val::Bool(val.float().is_some_and(|f| !f.is_infinite())))),
        ("isnormal", |_, val, _| Ok(Val::Bool(val.float().is_some_and(f64::is_normal)))),
        ("isnan", |_, val, _| match &val {
            Val::Null => Ok(Val::Bool(false)),
            other => other.float().map_or_else(|| misfit("isnan", other), |f| Ok(Val::Bool(f.is_nan()))),
        }),
        ("frexp", |_, val, _| match val.float() {
            Some(number) => {
                let (fraction, exponent) = apart(number);
                Ok(Val::arr(vec![Val::Float(fraction), Val::Int(exponent)]))
            }
            None => misfit("frexp", &val),
        }),
    ];
    const MODF: (&str, Native) = ("modf", |_, val, _| match val.float() {
        Some(number) if number.is_infinite() => {
            Ok(Val::arr(vec![Val::Float(0f64.copysign(number)), Val::Float(number)]))
        }
        Some(number) => Ok(Val::arr(vec![Val::Float(number.fract()), Val::Float(number.trunc())])),
        None => misfit("modf", &val),
    });
    let mut all = [MODF; OF_ONE.len() + OTHER.len() + 1];
    let mut at = 0;
    while at < OF_ONE.len() {
        all[at] = OF_ONE[at];
        at += 1;
    }
    let mut other = 0;
    while other < OTHER.len() {
        all[at + other] = OTHER[other];
        other += 1;
    }
    all
};

const TWO: &[(&str, Native)] = of_two! {
    "pow": f64::powf, "atan2": f64::atan2, "copysign": f64::copysign, "fmax": f64::max, "fmin": f64::min,
    "fmod": |a, b| a % b, "hypot": f64::hypot, "fdim": |a, b| if a <= b { 0.0 } else { a - b },
    "ldexp": |a, b| a * b.trunc().exp2(), "scalb": |a, b| a * b.trunc().exp2(), "scalbln": |a, b| a * b.trunc().exp2(),
    "drem": nearest_rest, "remainder": nearest_rest,
};

const THREE: &[(&str, Native)] =
    &[("fma", |_, _, args| match (args[0].float(), args[1].float(), args[2].float()) {
        (Some(a), Some(b), Some(c)) => Ok(Val::Float(a.mul_add(b, c))),
        _ => misfit("fma", &args[0]),
    })];

/// What is left of a number by its nearest multiple of another.
fn nearest_rest(a: f64, b: f64) -> f64 {
    let rest = a - b * (a / b).round_ties_even();
    if rest == 0.0 { rest.copysign(a) } else { rest }
}

/// A fraction between a half and one, and the power of two that it is multiplied by.
fn apart(number: f64) -> (f64, i64) {
    if number == 0.0 || !number.is_finite() {
        return (number, 0);
    }
    let (number, shift) = if number.is_normal() { (number, 0) } else { (number * 2f64.powi(64), -64) };
    let bits = number.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent + shift)
}
