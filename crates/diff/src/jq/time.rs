//! Points in time, which are all given: what a rule leaves out does not depend on the clock.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{Offset, TimeZone};

use super::Ctx;
use super::eval::{Stop, error};
use super::value::Val;

fn wrong<T>(what: &str, val: &Val) -> Result<T, Stop> {
    error(format!("{what} cannot be applied to: {}", val.type_name()))
}

/// A point in time taken apart: the year, the month from 0, the day, hours, minutes, seconds, the weekday and the day of
/// the year from 0.
pub(super) fn gmtime(_: &Ctx, input: Val, _: &[Val]) -> Result<Val, Stop> {
    let Some(seconds) = input.float() else { return wrong("gmtime", &input) };
    let nanoseconds = ((seconds - seconds.floor()) * 1e9) as i32;
    let Ok(at) = Timestamp::new(seconds as i64, 0) else { return wrong("gmtime", &input) };
    let at = Offset::UTC.to_datetime(at);
    Ok(Val::arr(vec![
        Val::Int(at.year().into()),
        Val::Int(i64::from(at.month()) - 1),
        Val::Int(at.day().into()),
        Val::Int(at.hour().into()),
        Val::Int(at.minute().into()),
        Val::Float(f64::from(at.second()) + f64::from(nanoseconds) / 1e9),
        Val::Int(at.weekday().to_sunday_zero_offset().into()),
        Val::Int(i64::from(at.day_of_year()) - 1),
    ]))
}

fn together(val: &Val) -> Option<DateTime> {
    let Val::Arr(parts) = val else { return None };
    let part = |at: usize| parts.items.get(at).map_or(Some(0), Val::int);
    let start = DateTime::new(i16::try_from(part(0)?).ok()?, 1, 1, 0, 0, 0, 0).ok()?;
    let span = |days: i64| jiff::Span::new().try_days(days).ok();
    let months = jiff::Span::new().try_months(part(1)?).ok()?;
    let seconds =
        part(3)?.checked_mul(3600)?.checked_add(part(4)?.checked_mul(60)?)?.checked_add(part(5)?)?;
    let seconds = jiff::Span::new().try_seconds(seconds).ok()?;
    let day = if parts.items.len() > 2 { part(2)? } else { 0 };
    start.checked_add(months).ok()?.checked_add(span(day.checked_sub(1)?)?).ok()?.checked_add(seconds).ok()
}

pub(super) fn mktime(_: &Ctx, input: Val, _: &[Val]) -> Result<Val, Stop> {
    let at = together(&input).and_then(|at| at.to_zoned(TimeZone::UTC).ok());
    let Some(at) = at else { return wrong("mktime", &input) };
    let fraction = match &input {
        Val::Arr(parts) => {
            parts.items.get(5).and_then(Val::float).map_or(0.0, |seconds| seconds - seconds.floor())
        }
        _ => 0.0,
    };
    Ok(Val::Float(at.timestamp().as_second() as f64 + fraction))
}

pub(super) fn strftime(ctx: &Ctx, input: Val, args: &[Val]) -> Result<Val, Stop> {
    let [Val::Str(format)] = args else { return error("a format is not a text") };
    let parts = if input.float().is_some() { gmtime(ctx, input, &[])? } else { input };
    let at = together(&parts).and_then(|at| at.to_zoned(TimeZone::UTC).ok());
    let Some(at) = at else { return wrong("strftime", &parts) };
    // A width can make a text of some signs a long one.
    if format.bytes().filter(u8::is_ascii_digit).count() > 2 * format.matches('%').count() {
        return error("a format has too large a width");
    }
    ctx.charge(64 + 100 * format.len() as u64)?;
    match strtime::format(format.as_bytes(), &at) {
        Ok(text) => Ok(Val::Str(text.into())),
        Err(_) => error("strftime: a wrong format"),
    }
}

pub(super) fn strptime(ctx: &Ctx, input: Val, args: &[Val]) -> Result<Val, Stop> {
    let (Val::Str(text), [Val::Str(format)]) = (&input, args) else { return wrong("strptime", &input) };
    ctx.charge(text.len() as u64 + format.len() as u64)?;
    // Go's parser takes Z for an offset.
    let text = match (text.strip_suffix('Z'), format.ends_with("%z")) {
        (Some(text), true) => format!("{text}+0000"),
        _ => text.to_string(),
    };
    let parsed = BrokenDownTime::parse(format.as_bytes(), text.as_bytes());
    let seconds = parsed.ok().and_then(|parsed| {
        let date = parsed.to_date().or_else(|_| jiff::civil::Date::new(1900, 1, 1)).ok()?;
        let time = parsed.to_time().unwrap_or_default();
        let at = date.to_datetime(time);
        parsed.offset().unwrap_or(Offset::UTC).to_timestamp(at).ok()
    });
    match seconds {
        Some(at) => gmtime(ctx, Val::Float(at.as_second() as f64), &[]),
        None => error("strptime: it does not fit the format"),
    }
}
