//! Single values that Go prints in a way of its own.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use lynceus_object::{Str, Value, value};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire::Wire;

/// A point in time, in whole seconds, as Kubernetes keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Timestamp);

impl Time {
    /// The point in time.
    pub fn timestamp(self) -> Timestamp {
        self.0
    }
}

/// Fractions of a second are dropped, because they would not survive being written.
impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Time(Timestamp::from_second(at.as_second()).unwrap_or(at))
    }
}

impl FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<Timestamp>().map(Time::from)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Wire for Time {
    fn is_zero(&self) -> bool {
        false
    }

    fn schema(_: bool) -> Value {
        value!({"type": "string", "format": "date-time"})
    }
}

/// A count, or a part of the whole such as `25%`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrString {
    /// A count.
    Int(i64),
    /// A part of the whole, or a count as text.
    Str(Str),
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(count) => count.fmt(f),
            IntOrString::Str(text) => f.pad(text),
        }
    }
}

impl Wire for IntOrString {
    fn is_zero(&self) -> bool {
        false
    }

    fn schema(_: bool) -> Value {
        value!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true})
    }
}

macro_rules! raw {
    ($(#[$meta:meta])* $name:ident, $schema:tt) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Value);

        impl Wire for $name {
            fn is_zero(&self) -> bool {
                false
            }

            fn schema(_: bool) -> Value {
                value!($schema)
            }
        }
    };
}

raw!(
    /// Any JSON value.
    Json,
    {"x-kubernetes-preserve-unknown-fields": true}
);
raw!(
    /// Any JSON object.
    RawObject,
    {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
);

macro_rules! bytes {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq, Eq)]
        pub struct $name(pub Vec<u8>);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&STANDARD.encode(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Str::deserialize(deserializer)?;
                // The decoder's own message would show part of what may be a secret.
                STANDARD.decode(text.as_bytes()).map($name).map_err(|_| D::Error::custom("not valid base64"))
            }
        }

        impl Wire for $name {
            fn is_zero(&self) -> bool {
                self.0.is_empty()
            }

            fn schema(_: bool) -> Value {
                value!({"type": "string", "format": "byte"})
            }
        }
    };
}

bytes!(
    /// Bytes, which stand on the wire as base64.
    Bytes
);
bytes!(
    /// Bytes that nobody should see in a log.
    SecretBytes
);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Text that nobody should see in a log.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Str);

impl Secret {
    /// The text. The name is a reminder to think about where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<Str>> From<T> for Secret {
    fn from(text: T) -> Self {
        Secret(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "\"\"" } else { "***" })
    }
}

impl Wire for Secret {
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn schema(_: bool) -> Value {
        value!({"type": "string"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_seconds_in_utc() {
        let time: Time = serde_json::from_str("\"2026-03-01T12:30:45.75+02:00\"").unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2026-03-01T10:30:45Z\"");
    }

    #[test]
    fn counts_and_parts_stay_what_they_are() {
        for text in ["3", "\"25%\"", "\"3\""] {
            let value: IntOrString = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = Secret::from("hunter2");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
        let error = serde_json::from_str::<SecretBytes>("\"hunter2!\"").unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
}
