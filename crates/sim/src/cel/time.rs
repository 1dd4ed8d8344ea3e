//! Timestamps and durations.

use jiff::{SignedDuration, Timestamp, civil, tz::Offset};

use super::error::EvalError;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

/// A date, or a date with time and zone.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    let date: civil::Date = text.parse().ok()?;
    Offset::UTC.to_timestamp(date.to_datetime(civil::Time::midnight())).ok()
}

/// A timestamp moved by nanoseconds.
pub(super) fn shift(at: Timestamp, nanos: i64) -> Outcome {
    at.checked_add(SignedDuration::from_nanos(nanos))
        .map(Val::Timestamp)
        .map_err(|_| EvalError::failed("timestamp overflow"))
}

/// A duration as `string()` writes it: seconds.
pub(super) fn duration_text(nanos: i64) -> String {
    format!("{}s", nanos as f64 / 1e9)
}

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    Some(match (name, args) {
        ("timestamp", [Val::Timestamp(at)]) => Ok(Val::Timestamp(*at)),
        ("timestamp", [Val::String(text)]) => timestamp(text).map(Val::Timestamp).ok_or_else(|| {
            EvalError::failed("type conversion error from 'string' to 'google.protobuf.Timestamp'")
        }),
        ("timestamp", [Val::Int(seconds)]) => Timestamp::from_second(*seconds)
            .map(Val::Timestamp)
            .map_err(|_| EvalError::failed("timestamp overflow")),
        ("duration", [Val::Duration(nanos)]) => Ok(Val::Duration(*nanos)),
        ("duration", [Val::Int(_)]) => {
            Err(EvalError::failed("type conversion error from 'int' to 'google.protobuf.Duration'"))
        }
        ("duration", [Val::String(text)]) => {
            crate::crd::go_duration(text).map(Val::Duration).ok_or_else(|| {
                EvalError::failed("type conversion error from 'string' to 'google.protobuf.Duration'")
            })
        }
        (name, [Val::Duration(nanos)]) if name.starts_with("get") => part_of_duration(name, *nanos),
        (name, [Val::Timestamp(at), zone @ ..]) if name.starts_with("get") => {
            part_of_time(name, *at, zone.first())
        }
        _ => return None,
    })
}

fn part_of_duration(name: &str, nanos: i64) -> Outcome {
    let unit = match name {
        "getHours" => 3_600_000_000_000,
        "getMinutes" => 60_000_000_000,
        "getSeconds" => 1_000_000_000,
        "getMilliseconds" => 1_000_000,
        _ => return Err(EvalError::Overload),
    };
    Ok(Val::Int(nanos / unit))
}

fn part_of_time(name: &str, at: Timestamp, zone: Option<&Val>) -> Outcome {
    let offset = match zone {
        None => Offset::UTC,
        Some(Val::String(text)) => {
            offset(text).ok_or_else(|| EvalError::failed(format!("unknown time zone {text}")))?
        }
        Some(_) => return Err(EvalError::Overload),
    };
    let time = offset.to_datetime(at);
    Ok(Val::Int(match name {
        "getFullYear" => time.year().into(),
        "getMonth" => i64::from(time.month()) - 1,
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDate" => time.day().into(),
        "getDayOfWeek" => time.weekday().to_sunday_zero_offset().into(),
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getHours" => time.hour().into(),
        "getMinutes" => time.minute().into(),
        "getSeconds" => time.second().into(),
        "getMilliseconds" => time.millisecond().into(),
        _ => return Err(EvalError::Overload),
    }))
}

/// `UTC`, or an offset such as `-08:00`. Named zones would need a database that may not be there.
fn offset(text: &str) -> Option<Offset> {
    if matches!(text, "UTC" | "Z" | "") {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    Offset::from_seconds(sign * seconds).ok()
}
