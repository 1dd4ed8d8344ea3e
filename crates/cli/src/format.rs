//! Objects as text: JSON as `kubectl` indents it, YAML as Kubernetes prints it, times and durations as people read them.

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Value, yaml};

use crate::exit::{Code, Doing as _, Failure, Outcome};

/// How a command prints what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Wide,
    /// Names only, one per line.
    #[value(alias = "url", alias = "server")]
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

/// Prints an answer as it is asked for: as data, as names, or for people.
pub(crate) fn print(
    output: Output,
    value: &Value,
    names: impl IntoIterator<Item = String>,
    wide: impl FnOnce() -> String,
) -> Outcome {
    match output {
        Output::Json => println!("{}", json(value)?),
        Output::Yaml => print!("{}", yaml::to_string(value)),
        Output::Name => names.into_iter().for_each(|name| println!("{name}")),
        Output::Wide => print!("{}", wide()),
    }
    Ok(())
}

/// A text of an answer; empty if it is not there.
pub(crate) fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    value.str_at(path).unwrap_or_default()
}

/// A list of texts of an answer.
pub(crate) fn texts(value: &Value, path: &[&str]) -> Vec<String> {
    value.items_at(path).iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

/// A number of an answer, which may be written as text as well.
pub(crate) fn number(value: &Value, path: &[&str]) -> i64 {
    match value.at(path) {
        Some(Value::Str(text)) => text.parse().unwrap_or_default(),
        Some(other) => other.as_int().unwrap_or_default(),
        None => 0,
    }
}

/// A time in seconds as Argo CD prints it: `2026-11-15T21:42:36Z`.
pub(crate) fn seconds(at: i64) -> String {
    Timestamp::from_second(at).map(|at| at.to_string()).unwrap_or_default()
}

/// How many seconds a duration has, as Go writes it: `1h30m`, and with days as Argo CD takes them: `7d`.
pub(crate) fn span(text: &str) -> Option<i64> {
    let (mut total, mut digits) = (0_i64, String::new());
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' => {
                digits.push(letter);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        let count: i64 = std::mem::take(&mut digits).parse().ok()?;
        total = total.checked_add(count.checked_mul(unit)?)?;
    }
    // A bare 0 needs no unit.
    (digits.is_empty() || digits == "0").then_some(total)
}

/// An object that is told as a value; `failed` says what cannot be done with anything else.
pub(crate) fn object(value: Value, failed: &str) -> Outcome<Object> {
    let no_object = |other: Value| {
        Failure::new(Code::Other, format!("{failed}: it is no object but a {}", other.type_name()))
    };
    Object::new(value).map_err(no_object)
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
    fn spans_are_read_as_argo_cd_takes_them() {
        let texts = ["0", "0s", "90m", "1h30m", "7d", "", "5", "h", "1w", "99999999999999999999d"];
        let read = texts.map(span);
        let wanted =
            [Some(0), Some(0), Some(5_400), Some(5_400), Some(604_800), Some(0), None, None, None, None];
        assert_eq!(read, wanted);
    }

    #[test]
    fn durations_have_two_units() {
        let texts = [3, 60, 125, 15_000, 100_000].map(|seconds| duration(SignedDuration::from_secs(seconds)));
        assert_eq!(texts, ["3s", "1m", "2m5s", "4h10m", "1d3h"]);
    }
}
