//! Times as objects hold them.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Str, Value};

/// A time as it stands in an object: whole seconds in UTC.
pub(crate) fn stamp(at: Timestamp) -> Str {
    lynceus_object::schema::print_time(at)
}

/// The time in a field.
pub(crate) fn read(value: Option<&Value>) -> Option<Timestamp> {
    let text = value.and_then(Value::as_str)?;
    lynceus_object::schema::parse_plain_time(text).or_else(|| text.parse().ok())
}

/// A time some seconds later.
pub(crate) fn after(at: Timestamp, seconds: i64) -> Timestamp {
    at.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// Whole seconds between two times.
pub(crate) fn seconds_between(from: Timestamp, to: Timestamp) -> i64 {
    to.duration_since(from).as_secs()
}
