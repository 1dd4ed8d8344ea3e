//! Times as objects hold them.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Str, Value};

/// A time as it stands in an object: whole seconds in UTC.
pub(crate) fn stamp(at: Timestamp) -> Str {
    ecow::eco_format!("{}", lynceus_api::Time::from(at))
}

/// The time in a field.
pub(crate) fn read(value: Option<&Value>) -> Option<Timestamp> {
    value.and_then(Value::as_str)?.parse().ok()
}

/// A time some seconds later.
pub(crate) fn after(at: Timestamp, seconds: i64) -> Timestamp {
    at.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// Whole seconds between two times.
pub(crate) fn seconds_between(from: Timestamp, to: Timestamp) -> i64 {
    to.duration_since(from).as_secs()
}
