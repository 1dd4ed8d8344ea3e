//! Operators.

use super::Ctx;
use super::eval::{Stop, error};
use super::term::Op;
use super::value::{Val, compare};

pub(super) fn binary(ctx: &Ctx, op: Op, left: &Val, right: &Val) -> Result<Val, Stop> {
    match op {
        Op::Add => add(ctx, left, right),
        Op::Sub => subtract(ctx, left, right),
        Op::Mul => multiply(ctx, left, right),
        Op::Div => divide(ctx, left, right),
        Op::Mod => modulo(left, right),
        _ => {
            ctx.work(left.size().min(right.size()))?;
            let order = compare(left, right);
            Ok(Val::Bool(match op {
                Op::Eq => order.is_eq(),
                Op::Ne => order.is_ne(),
                Op::Lt => order.is_lt(),
                Op::Le => order.is_le(),
                Op::Gt => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
    }
}

fn misfit<T>(what: &str, left: &Val, right: &Val) -> Result<T, Stop> {
    error(format!("cannot {what}: {} and {}", left.type_name(), right.type_name()))
}

/// A whole number where both are and it fits, or a number with a fraction.
fn numbers(
    left: &Val,
    right: &Val,
    whole: fn(i64, i64) -> Option<i64>,
    float: fn(f64, f64) -> f64,
) -> Option<Val> {
    if let (Val::Int(a), Val::Int(b)) = (left, right)
        && let Some(answer) = whole(*a, *b)
    {
        return Some(Val::Int(answer));
    }
    Some(Val::Float(float(left.float()?, right.float()?)))
}

fn add(ctx: &Ctx, left: &Val, right: &Val) -> Result<Val, Stop> {
    if let Some(sum) = numbers(left, right, i64::checked_add, |a, b| a + b) {
        return Ok(sum);
    }
    // Paid for before it is made.
    ctx.charge(left.weight() + right.weight())?;
    Ok(match (left, right) {
        (Val::Null, other) | (other, Val::Null) => other.clone(),
        (Val::Str(a), Val::Str(b)) => Val::Str([&**a, &**b].concat().into()),
        (Val::Arr(a), _) if a.items.is_empty() && matches!(right, Val::Arr(_)) => right.clone(),
        (_, Val::Arr(b)) if b.items.is_empty() && matches!(left, Val::Arr(_)) => left.clone(),
        (Val::Arr(a), Val::Arr(b)) => Val::arr(a.items.iter().chain(&b.items).cloned().collect()),
        (Val::Obj(a), _) if a.map.is_empty() && matches!(right, Val::Obj(_)) => right.clone(),
        (_, Val::Obj(b)) if b.map.is_empty() && matches!(left, Val::Obj(_)) => left.clone(),
        (Val::Obj(a), Val::Obj(b)) => {
            Val::obj(a.map.iter().chain(&b.map).map(|(key, val)| (key.clone(), val.clone())).collect())
        }
        _ => return misfit("add", left, right),
    })
}

/// The sum of a list.
pub(super) fn sum(ctx: &Ctx, items: impl Iterator<Item = Val>) -> Result<Val, Stop> {
    let mut texts: Option<String> = None;
    let mut lists: Option<Vec<Val>> = None;
    let mut whole = Val::Null;
    for item in items {
        ctx.step()?;
        ctx.charge(item.weight())?;
        match (&item, &whole, &mut texts, &mut lists) {
            (Val::Str(text), _, Some(texts), _) => texts.push_str(text),
            (Val::Arr(list), _, _, Some(lists)) => lists.extend(list.items.iter().cloned()),
            (Val::Str(text), Val::Null, None, None) => texts = Some(text.to_string()),
            (Val::Arr(list), Val::Null, None, None) => lists = Some(list.items.clone()),
            (Val::Null, ..) => {}
            _ => {
                if let Some(texts) = texts.take() {
                    whole = Val::Str(texts.into());
                }
                if let Some(lists) = lists.take() {
                    whole = Val::arr(lists);
                }
                whole = add(ctx, &whole, &item)?;
            }
        }
    }
    Ok(match (texts, lists) {
        (Some(texts), _) => Val::Str(texts.into()),
        (_, Some(lists)) => Val::arr(lists),
        _ => whole,
    })
}

fn subtract(ctx: &Ctx, left: &Val, right: &Val) -> Result<Val, Stop> {
    if let Some(difference) = numbers(left, right, i64::checked_sub, |a, b| a - b) {
        return Ok(difference);
    }
    let (Val::Arr(a), Val::Arr(b)) = (left, right) else { return misfit("subtract", left, right) };
    let mut kept = Vec::new();
    for item in &a.items {
        ctx.work(item.size().saturating_mul(b.items.len() as u64))?;
        if !b.items.iter().any(|other| compare(item, other).is_eq()) {
            kept.push(item.clone());
        }
    }
    Ok(Val::arr(kept))
}

fn multiply(ctx: &Ctx, left: &Val, right: &Val) -> Result<Val, Stop> {
    if let Some(product) = numbers(left, right, i64::checked_mul, |a, b| a * b) {
        return Ok(product);
    }
    match (left, right, left.float().or(right.float())) {
        (Val::Obj(_), Val::Obj(_), _) => merge(ctx, left, right),
        (Val::Str(text), _, Some(count)) | (_, Val::Str(text), Some(count)) => {
            if count < 0.0 {
                return Ok(Val::Null);
            }
            let count = count as usize;
            ctx.charge((text.len() as u64).saturating_mul(count as u64))?;
            Ok(Val::Str(text.repeat(count).into()))
        }
        _ => misfit("multiply", left, right),
    }
}

fn merge(ctx: &Ctx, left: &Val, right: &Val) -> Result<Val, Stop> {
    let (Val::Obj(a), Val::Obj(b)) = (left, right) else { return Ok(right.clone()) };
    ctx.charge(72 * (a.map.len() + b.map.len()) as u64)?;
    let mut merged = a.map.clone();
    for (key, val) in &b.map {
        let val = match merged.get(key) {
            Some(old @ Val::Obj(_)) => merge(ctx, old, val)?,
            _ => val.clone(),
        };
        merged.insert(key.clone(), val);
    }
    Ok(Val::obj(merged))
}

fn divide(ctx: &Ctx, left: &Val, right: &Val) -> Result<Val, Stop> {
    if let (Some(_), Some(divisor)) = (left.float(), right.float()) {
        if divisor == 0.0 {
            return error("cannot divide by zero");
        }
        let whole =
            |a: i64, b: i64| a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b));
        return Ok(numbers(left, right, whole, |a, b| a / b).unwrap_or(Val::Null));
    }
    match (left, right) {
        (Val::Str(text), Val::Str(_)) if text.is_empty() => Ok(Val::arr(vec![])),
        (Val::Str(text), Val::Str(by)) => split(ctx, text, by),
        _ => misfit("divide", left, right),
    }
}

pub(super) fn split(ctx: &Ctx, text: &str, by: &str) -> Result<Val, Stop> {
    ctx.charge(64 + 56 * text.len() as u64)?;
    if by.is_empty() {
        return Ok(Val::arr(text.chars().map(|sign| Val::text(sign.encode_utf8(&mut [0; 4]))).collect()));
    }
    Ok(Val::arr(text.split(by).map(Val::text).collect()))
}

fn modulo(left: &Val, right: &Val) -> Result<Val, Stop> {
    let (Some(a), Some(b)) = (left.float(), right.float()) else { return misfit("modulo", left, right) };
    if a.is_nan() || b.is_nan() {
        return Ok(Val::Float(f64::NAN));
    }
    match (left.int(), right.int()) {
        (Some(a), Some(b)) if b != 0 => Ok(Val::Int(a.checked_rem(b).unwrap_or(0))),
        _ => error("cannot divide by zero"),
    }
}

pub(super) fn negate(val: &Val) -> Result<Val, Stop> {
    match val {
        Val::Int(i) => Ok(i.checked_neg().map_or(Val::Float(-(*i as f64)), Val::Int)),
        Val::Float(f) => Ok(Val::Float(-f)),
        other => error(format!("cannot negate: {}", other.type_name())),
    }
}
