//! Times and durations for callers that put some into the data of a template.

use super::time::{Moment, duration, parse as read, parse_duration as read_duration};
use crate::{Context, Value};

/// The time now.
pub fn now(context: &Context<'_>) -> Value {
    Value::object(Moment::now(context.now()))
}

/// A time that is written in a layout of Go, such as `2006-01-02T15:04:05Z07:00`. The error has Go's words.
pub fn parse(layout: &str, text: &str) -> Result<Value, String> {
    read(layout, text.as_bytes()).map(Value::object)
}

/// The time so many seconds after 1970, told in UTC.
pub fn unix(seconds: i64) -> Value {
    Value::object(Moment::unix(seconds).within(super::time::Zone::Utc))
}

/// A duration.
pub fn of_nanos(nanos: i64) -> Value {
    duration(nanos)
}

/// A duration that is written as Go writes it: `1h30m`.
pub fn parse_duration(text: &str) -> Result<Value, String> {
    read_duration(text).map(duration)
}

/// The nanoseconds of a duration; other values have none.
pub fn nanos_of(value: &Value) -> Option<i64> {
    (value.type_name() == "time.Duration").then(|| value.underlying().as_i64()).flatten()
}

/// The nanoseconds between 1970 and a time; other values have none.
pub fn since_1970(value: &Value) -> Option<i128> {
    value.as_object::<Moment>().map(Moment::unix_nanos)
}

/// The time so many nanoseconds after a time.
pub fn plus(time: &Value, nanos: i64) -> Option<Value> {
    time.as_object::<Moment>().map(|moment| Value::object(moment.plus(nanos)))
}

/// How many nanoseconds a time is after another.
pub fn between(later: &Value, earlier: &Value) -> Option<i64> {
    Some(later.as_object::<Moment>()?.since(earlier.as_object::<Moment>()?))
}
