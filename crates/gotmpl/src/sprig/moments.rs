//! Times and durations for callers that put some into the data of a template.

use super::time::{
    Moment, Zone, duration, location, parse_duration as read_duration, parse_in as read_in, zone_of,
};
use crate::{Context, Value};

/// The time now.
pub fn now(context: &Context<'_>) -> Value {
    Value::object(Moment::now(context.now()))
}

/// A time that is written in a layout of Go, such as `2006-01-02T15:04:05Z07:00`; without a zone it is in UTC. The error has
/// Go's words.
pub fn parse(layout: &str, text: &str) -> Result<Value, String> {
    read_in(layout, text.as_bytes(), &Zone::Utc).map(Value::object)
}

/// The same of what is told in a zone.
pub fn parse_in(layout: &str, text: &str, zone: &Value) -> Result<Value, String> {
    let zone = zone_of(zone).ok_or_else(|| format!("{} is no zone", zone.type_name()))?;
    read_in(layout, text.as_bytes(), zone).map(Value::object)
}

/// A zone by its name, such as `Europe/Zurich`. The error has Go's words.
pub fn zone(name: &str) -> Result<Value, String> {
    Zone::load(name).map(location).ok_or_else(|| format!("unknown time zone {name}"))
}

/// Whether a value is a zone.
pub fn is_zone(value: &Value) -> bool {
    zone_of(value).is_some()
}

/// The same time told in a zone.
pub fn within(time: &Value, zone: &Value) -> Option<Value> {
    Some(Value::object(time.as_object::<Moment>()?.within(zone_of(zone)?.clone())))
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
