//! Objects as text: JSON as `kubectl` indents it, YAML as Kubernetes prints it, times and durations as people read them.

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Value, yaml};

use crate::exit::{Doing as _, Outcome};

/// How a command prints what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Wide,
    /// Names only, one per line.
    Name,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// One object, or several as a list, as JSON with two blanks per level, as `argocd` prints it.
pub(crate) fn json(value: &Value) -> Outcome<String> {
    let plain = serde_json::Value::from(value);
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"  ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    serde::Serialize::serialize(&plain, &mut serializer).doing("cannot print JSON")?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Objects as a stream of YAML documents.
pub(crate) fn documents(objects: &[Object]) -> String {
    let texts: Vec<String> = objects.iter().map(|object| yaml::to_string(object.value())).collect();
    texts.join("---\n")
}

/// Without what the server keeps for itself, which nobody wants to read.
pub(crate) fn clean(object: &Object) -> Object {
    let mut object = object.clone();
    object.remove(&["metadata", "managedFields"]);
    object
}

/// A time in the user's zone, as `argocd` prints it: `2026-11-15 21:42:36 +0000 UTC`.
pub(crate) fn time(at: Timestamp) -> String {
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %z %Z").to_string()
}

/// A duration in its two largest units: `3s`, `2m5s`, `4h10m`.
pub(crate) fn duration(span: SignedDuration) -> String {
    let seconds = span.as_secs().max(0);
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, 0) => format!("{m}m"),
        (0, 0, m, s) => format!("{m}m{s}s"),
        (0, h, m, _) => format!("{h}h{m}m"),
        (d, h, _, _) => format!("{d}d{h}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        let texts = [3, 60, 125, 15_000, 100_000].map(|seconds| duration(SignedDuration::from_secs(seconds)));
        assert_eq!(texts, ["3s", "1m", "2m5s", "4h10m", "1d3h"]);
    }
}
