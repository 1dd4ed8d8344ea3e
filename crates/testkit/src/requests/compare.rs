//! Whether two answers say the same.

use lynceus_object::{Value, json, yaml};

use super::normalise::{normalise, normalise_text};
use super::server::Answer;

/// How many differences are told of one answer.
const MOST: usize = 3;
/// How much of a value is told.
const SHORT: usize = 260;

/// How our answer differs from the real one, if it does.
pub(super) fn difference(theirs: &Answer, ours: &Answer) -> Option<String> {
    if theirs.status != ours.status {
        return Some(format!(
            "status should be {}, is {}: {} / {}",
            theirs.status,
            ours.status,
            said(theirs),
            said(ours)
        ));
    }
    let mut found = Vec::new();
    if theirs.content_type != ours.content_type {
        found.push(format!("content type should be {:?}, is {:?}", theirs.content_type, ours.content_type));
    }
    if theirs.warnings != ours.warnings {
        found.push(format!("warnings should be {:?}, are {:?}", theirs.warnings, ours.warnings));
    }
    compare_bodies(theirs, ours, &mut found);
    found.truncate(MOST);
    (!found.is_empty()).then(|| found.join("\n"))
}

fn said(answer: &Answer) -> String {
    let message = answer.value().and_then(|value| value.str_at(&["message"]).map(str::to_owned));
    shortened(&message.unwrap_or_else(|| answer.text.clone()))
}

fn compare_bodies(theirs: &Answer, ours: &Answer, found: &mut Vec<String>) {
    match (values(&theirs.text), values(&ours.text)) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(&b) {
                walk("", a, b, found);
            }
        }
        (Some(a), Some(b)) => {
            found.push(format!(
                "should have {} events, has {}: {} / {}",
                a.len(),
                b.len(),
                kinds(&a),
                kinds(&b)
            ));
        }
        _ => {
            let (a, b) = (normalise_text(&theirs.text), normalise_text(&ours.text));
            if a != b {
                found.push(format!("should say {:?}, says {:?}", shortened(&a), shortened(&b)));
            }
        }
    }
}

/// A body's values: one, or one in each line of a watch.
fn values(text: &str) -> Option<Vec<Value>> {
    if let Ok(value) = json::parse(text.as_bytes()) {
        return Some(vec![normalised(value)]);
    }
    if text.starts_with("apiVersion: ") {
        return yaml::parse_str(text).ok().map(|value| vec![normalised(value)]);
    }
    let lines: Result<Vec<Value>, _> = text.lines().map(|line| json::parse(line.as_bytes())).collect();
    lines.ok().map(|values| values.into_iter().map(normalised).collect())
}

fn normalised(mut value: Value) -> Value {
    normalise(&mut value);
    value
}

fn kinds(events: &[Value]) -> String {
    events.iter().map(|event| event.str_at(&["type"]).unwrap_or("?")).collect::<Vec<_>>().join(" ")
}

fn walk(path: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    if found.len() >= MOST || theirs == ours {
        return;
    }
    match (theirs, ours) {
        (Value::Map(a), Value::Map(b)) => {
            let mut keys: Vec<&str> = a.keys().chain(b.keys()).map(|key| key.as_str()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let here = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => walk(&here, a, b, found),
                    (Some(a), None) => found.push(format!("{here}: missing, should be {}", short(a))),
                    (None, Some(b)) => found.push(format!("{here}: should not be there, is {}", short(b))),
                    (None, None) => {}
                }
            }
        }
        (Value::Seq(a), Value::Seq(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}[{at}]"), a, b, found);
            }
        }
        (a, b) => found.push(format!("{path}: should be {}, is {}", short(a), short(b))),
    }
}

fn short(value: &Value) -> String {
    shortened(&json::to_string(value))
}

fn shortened(text: &str) -> String {
    if text.chars().count() > SHORT {
        text.chars().take(SHORT).chain("…".chars()).collect()
    } else {
        text.to_owned()
    }
}
