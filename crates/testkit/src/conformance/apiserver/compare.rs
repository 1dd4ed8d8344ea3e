//! Whether two answers say the same, apart from what never can be the same.

use jiff::Timestamp;
use lynceus_object::{Map, Seq, Value, json};

use super::names;

/// Words for what is left out.
const TIME: &str = "<time>";

/// The first difference between what the real server answered and what we answered.
pub(super) fn difference(theirs: &Value, ours: &Value) -> Option<String> {
    let (mut theirs, mut ours) = (theirs.clone(), ours.clone());
    normalise(&mut theirs);
    normalise(&mut ours);
    in_order(&mut theirs);
    in_order(&mut ours);
    diff("", &theirs, &ours)
}

/// The items of two lists that stand for each other, whatever their names.
pub(super) fn twins<'a>(theirs: &'a Value, ours: &'a Value) -> impl Iterator<Item = (&'a Value, &'a Value)> {
    let sorted = |list: &'a Value| {
        let mut items: Vec<(String, &Value)> = list
            .items_at(&["items"])
            .iter()
            .map(|item| (names::mask(item.str_at(&["metadata", "name"]).unwrap_or_default()), item))
            .collect();
        items.sort_by(|a, b| a.0.cmp(&b.0));
        items
    };
    let mut ours = sorted(ours);
    sorted(theirs).into_iter().filter_map(move |(name, item)| {
        let at = ours.iter().position(|(other, _)| *other == name)?;
        Some((item, ours.remove(at).1))
    })
}

/// Objects with generated names come in the order of those names, which says nothing.
fn in_order(list: &mut Value) {
    let Some(Value::Seq(items)) = list.at_mut(&["items"]) else { return };
    if items.iter().any(|item| item.str_at(&["metadata", "name"]).is_some_and(names::is_masked)) {
        items.make_mut().sort_by_cached_key(json::to_string);
    }
}

fn diff(path: &str, theirs: &Value, ours: &Value) -> Option<String> {
    match (theirs, ours) {
        (Value::Map(a), Value::Map(b)) => {
            let mut keys: Vec<&str> = a.keys().chain(b.keys()).map(|key| key.as_str()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let here = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => diff(&here, a, b),
                    (Some(a), None) => Some(format!("{here}: missing, should be {}", short(a))),
                    (None, Some(b)) => Some(format!("{here}: should not be there, is {}", short(b))),
                    (None, None) => None,
                }
            })
        }
        (Value::Seq(a), Value::Seq(b)) => {
            if a.len() != b.len() {
                return Some(format!(
                    "{path}: should have {} items, has {}: {} / {}",
                    a.len(),
                    b.len(),
                    short(theirs),
                    short(ours)
                ));
            }
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| diff(&format!("{path}[{at}]"), a, b))
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path}: should be {}, is {}", short(a), short(b))),
    }
}

fn short(value: &Value) -> String {
    let text = json::to_string(value);
    if text.chars().count() > 300 { text.chars().take(300).chain("…".chars()).collect() } else { text }
}

/// The latest time that stands in a value.
pub(super) fn latest_time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Map(map) => map.values().filter_map(latest_time).max(),
        Value::Seq(items) => items.iter().filter_map(latest_time).max(),
        Value::Str(text) if is_time(text) => text.parse().ok(),
        _ => None,
    }
}

/// Replaces what differs from run to run by words.
pub(super) fn normalise(value: &mut Value) {
    match value {
        Value::Map(map) => {
            for key in ["uid", "resourceVersion", "continue", "selfLink"] {
                if map.contains(key) {
                    map.insert(key, format!("<{key}>"));
                }
            }
            // Who did what when is the controllers' business, and theirs run beside the requests.
            if let Some(Value::Seq(entries)) = map.get_mut("managedFields") {
                entries.retain(|entry| entry.str_at(&["manager"]) != Some("kube-controller-manager"));
                // Their order is that of their times, which are rounded to seconds.
                entries.make_mut().sort_by_cached_key(|entry| {
                    ["manager", "operation", "subresource"]
                        .map(|field| entry.str_at(&[field]).map(str::to_owned))
                });
            }
            if map.get("managedFields").is_some_and(Value::is_empty) {
                map.remove("managedFields");
            }
            // From one version to the next: what is null is left out, and lists are never null.
            for key in ["creationTimestamp", "f:creationTimestamp"] {
                if map.get(key).is_some_and(Value::is_empty) {
                    map.remove(key);
                }
            }
            if map.contains("items") && map.get("items").is_some_and(Value::is_null) {
                map.insert("items", Value::Seq(Seq::new()));
            }
            // Any free address will do.
            for key in ["clusterIP", "clusterIPs"] {
                if let Some(found) = map.get_mut(key)
                    && json::to_string(found).contains("\"10.")
                {
                    *found = format!("<{key}>").into();
                }
            }
            // Any free port will do, and any authority that the cluster trusts.
            for key in ["nodePort", "ca.crt"] {
                if map.contains(key) {
                    map.insert(key, format!("<{key}>"));
                }
            }
            // Counted since 1.35.
            map.remove("terminatingReplicas");
            normalise_table(map);
            for (_, value) in map.iter_mut() {
                normalise(value);
            }
        }
        Value::Seq(items) => items.make_mut().iter_mut().for_each(normalise),
        Value::Str(text) if is_time(text) => *value = TIME.into(),
        Value::Str(text) if text.contains("metadata") && text.starts_with('{') => {
            // An object in an annotation.
            if let Ok(mut inner) = json::parse(text.as_bytes()) {
                normalise(&mut inner);
                *value = json::to_string(&inner).into();
            }
        }
        Value::Str(text) if text.split(['=', ',', '"']).any(is_uid) => {
            let parts = text.split_inclusive(['=', ',', '"']).map(|part| {
                let word = part.trim_end_matches(['=', ',', '"']);
                if is_uid(word) { part.replace(word, "<uid>") } else { part.to_owned() }
            });
            *value = parts.collect::<String>().into();
        }
        Value::Str(text) => {
            let masked = names::mask(text);
            if masked != **text {
                *value = masked.into();
            }
        }
        _ => {}
    }
}

/// Ages are a matter of when one asks; words about columns are ours.
fn normalise_table(map: &mut Map) {
    if map.get("kind").and_then(Value::as_str) != Some("Table") {
        return;
    }
    let columns: Vec<String> = map
        .get("columnDefinitions")
        .and_then(Value::as_seq)
        .unwrap_or_default()
        .iter()
        .map(|column| column.str_at(&["name"]).unwrap_or_default().to_owned())
        .collect();
    if let Some(Value::Seq(definitions)) = map.get_mut("columnDefinitions") {
        for definition in definitions.make_mut() {
            definition.remove(&["description"]);
        }
    }
    let Some(Value::Seq(rows)) = map.get_mut("rows") else { return };
    for row in rows.make_mut() {
        let Some(Value::Seq(cells)) = row.at_mut(&["cells"]) else { continue };
        for (cell, column) in cells.make_mut().iter_mut().zip(&columns) {
            if matches!(
                column.as_str(),
                "Age" | "Last Seen" | "Duration" | "Last Schedule" | "Created At" | "First Seen"
            ) {
                *cell = "<age>".into();
            }
        }
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20
        && bytes.len() <= 32
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && text.ends_with('Z')
        && text.parse::<Timestamp>().is_ok()
}

fn is_uid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}
