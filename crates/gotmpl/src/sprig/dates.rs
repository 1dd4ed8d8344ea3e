//! Dates. The local zone is UTC: a render has no machine of its own.

use super::args::{any, text};
use super::cast::parse_int;
use super::time::{Moment, TIME, Zone, format, parse, parse_duration, round, show_duration};
use crate::types;
use crate::{Context, Functions, Int, Value, signature};

const SECOND: i64 = 1_000_000_000;

pub(super) fn register(to: &mut Functions) {
    to.add("now", takes!(() -> TIME), |context, _| Ok(Value::object(Moment::now(context.now()))));
    showing(to);
    making(to);
    durations(to);
}

fn showing(to: &mut Functions) {
    to.add("date", signature!((STRING, ANY) -> STRING), |context, args| {
        Ok(shown(context, text(args, 0), any(args, 1), "Local"))
    });
    for name in ["dateInZone", "date_in_zone"] {
        to.add(name, signature!((STRING, ANY, STRING) -> STRING), |context, args| {
            Ok(shown(context, text(args, 0), any(args, 1), text(args, 2)))
        });
    }
    to.add("htmlDate", signature!((ANY) -> STRING), |context, args| {
        Ok(shown(context, "2006-01-02", any(args, 0), "Local"))
    });
    to.add("htmlDateInZone", signature!((ANY, STRING) -> STRING), |context, args| {
        Ok(shown(context, "2006-01-02", any(args, 0), text(args, 1)))
    });
    to.add("unixEpoch", takes!((TIME) -> types::STRING), |_, args| {
        Ok(moment(any(args, 0)).unix_seconds().to_string().into())
    });
}

fn making(to: &mut Functions) {
    to.add("toDate", takes!((types::STRING, types::STRING) -> TIME), |_, args| {
        let read = parse(text(args, 0), &text(args, 1).bytes());
        Ok(Value::object(read.unwrap_or_else(|_| Moment::zero())))
    });
    to.add("mustToDate", takes!((types::STRING, types::STRING) -> TIME), |_, args| {
        Ok(Value::object(parse(text(args, 0), &text(args, 1).bytes())?))
    });
    for name in ["dateModify", "date_modify"] {
        to.add(name, takes!((types::STRING, TIME) -> TIME), |_, args| {
            let by = parse_duration(text(args, 0)).unwrap_or_default();
            Ok(Value::object(moment(any(args, 1)).plus(by)))
        });
    }
    for name in ["mustDateModify", "must_date_modify"] {
        to.add(name, takes!((types::STRING, TIME) -> TIME), |_, args| {
            Ok(Value::object(moment(any(args, 1)).plus(parse_duration(text(args, 0))?)))
        });
    }
}

fn durations(to: &mut Functions) {
    to.add("ago", signature!((ANY) -> STRING), |context, args| {
        let now = Moment::now(context.now());
        let then = match any(args, 0) {
            Value::Int(seconds, Int::I | Int::I64) => Moment::unix(*seconds),
            value => value.as_object::<Moment>().unwrap_or(&now).clone(),
        };
        Ok(show_duration(round(now.since(&then), SECOND)).into())
    });
    to.add("duration", signature!((ANY) -> STRING), |_, args| {
        let seconds = match any(args, 0) {
            Value::Str(text) => seconds(text),
            Value::Int(seconds, Int::I64) => *seconds,
            _ => 0,
        };
        Ok(show_duration(seconds.wrapping_mul(SECOND)).into())
    });
    to.add("durationRound", signature!((ANY) -> STRING), |context, args| {
        let nanos = match any(args, 0) {
            Value::Str(text) => parse_duration(text).unwrap_or_default(),
            Value::Int(nanos, Int::I64) => *nanos,
            value => match value.as_object::<Moment>() {
                Some(moment) => Moment::now(context.now()).since(moment),
                None => 0,
            },
        };
        Ok(largest_unit(nanos.unsigned_abs()).into())
    });
}

/// What Go reads out of a number: the nearest that fits if it is too large, 0 if it is none.
fn seconds(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    parse_int(text, 10).unwrap_or(if numeric { beyond } else { 0 })
}

/// A duration in its largest unit, which it must exceed: an hour sharp is `60m`.
fn largest_unit(nanos: u64) -> String {
    const UNITS: [(&str, u64); 6] =
        [("y", 365 * 86_400), ("mo", 30 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let second = SECOND.unsigned_abs();
    UNITS
        .iter()
        .find(|(_, seconds)| nanos > seconds * second)
        .map_or_else(|| "0s".to_owned(), |(name, seconds)| format!("{}{name}", nanos / (seconds * second)))
}

fn moment(value: &Value) -> Moment {
    value.as_object::<Moment>().cloned().unwrap_or_else(Moment::zero)
}

/// A date in a layout and a zone. Numbers are seconds since 1970; what is no date is now, an unknown zone is UTC.
fn shown(context: &Context<'_>, layout: &str, date: &Value, zone: &str) -> Value {
    let moment = match date {
        Value::Int(seconds, Int::I | Int::I32 | Int::I64) => Moment::unix(*seconds),
        value => value.as_object::<Moment>().cloned().unwrap_or_else(|| Moment::now(context.now())),
    };
    format(&moment.within(Zone::load(zone).unwrap_or(Zone::Utc)), layout).into()
}
