//! Takes out of an answer what no two servers share.

use jiff::Timestamp;
use lynceus_object::{Map, Value, json};

/// Fields that a server makes up. Their presence counts, and whether they are empty.
const MADE_UP: [&str; 5] = ["uid", "resourceVersion", "continue", "token", "ca.crt"];

/// Replaces what differs from run to run by words.
pub(super) fn normalise(value: &mut Value) {
    match value {
        Value::Map(map) => normalise_map(map),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(normalise),
        Value::Str(text) if is_time(text) => *value = "<time>".into(),
        Value::Str(text) if text.starts_with("{\"") => {
            // An object in an annotation.
            if let Ok(mut inner) = json::parse(text.as_bytes()) {
                normalise(&mut inner);
                *value = json::to_string(&inner).into();
            }
        }
        Value::Str(text) => {
            let plain = normalise_text(text);
            if plain != **text {
                *value = plain.into();
            }
        }
        _ => {}
    }
}

fn normalise_map(map: &mut Map) {
    for key in MADE_UP {
        if map.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty()) {
            map.insert(key, format!("<{key}>"));
        }
    }
    if let Some(Value::Seq(entries)) = map.get_mut("managedFields") {
        // Their order is that of their times, which are rounded to seconds.
        entries.make_mut().sort_by_cached_key(|entry| {
            ["manager", "operation", "subresource", "apiVersion"]
                .map(|field| entry.str_at(&[field]).map(str::to_owned))
        });
    }
    if map.get("generateName").and_then(Value::as_str).is_some_and(|prefix| !prefix.is_empty())
        && map.contains("name")
    {
        map.insert("name", "<generated>");
    }
    // Any free address or port will do.
    for key in ["clusterIP", "clusterIPs"] {
        if map.get(key).is_some_and(|found| json::to_string(found).contains("\"10.0.")) {
            map.insert(key, format!("<{key}>"));
        }
    }
    for key in ["nodePort", "healthCheckNodePort"] {
        if map.get(key).and_then(Value::as_int).is_some_and(|port| port > 0) {
            map.insert(key, format!("<{key}>"));
        }
    }
    normalise_groups(map);
    normalise_table(map);
    for (_, value) in map.iter_mut() {
        normalise(value);
    }
}

/// The group of what is made to go wrong is the embedded server's own.
fn normalise_groups(map: &mut Map) {
    let is_own = |group: &Value| {
        let named = group.str_at(&["name"]).or_else(|| group.str_at(&["metadata", "name"]));
        named == Some(lynceus_sim::faults::GROUP)
    };
    let list = match map.get("kind").and_then(Value::as_str) {
        Some("APIGroupList") => "groups",
        Some("APIGroupDiscoveryList") => "items",
        _ => return,
    };
    let Some(groups) = map.get(list).and_then(Value::as_seq) else { return };
    let others: Vec<Value> = groups.iter().filter(|group| !is_own(group)).cloned().collect();
    map.insert(list, others);
}

/// Ages are a matter of when one asks.
fn normalise_table(map: &mut Map) {
    if map.get("kind").and_then(Value::as_str) != Some("Table") {
        return;
    }
    // What a column means is told in our own words.
    if let Some(Value::Seq(definitions)) = map.get_mut("columnDefinitions") {
        for definition in definitions.make_mut() {
            definition.remove(&["description"]);
        }
    }
    let Some(Value::Seq(rows)) = map.get_mut("rows") else { return };
    for row in rows.make_mut() {
        let Some(Value::Seq(cells)) = row.at_mut(&["cells"]) else { continue };
        for cell in cells.make_mut() {
            if cell.as_str().is_some_and(is_age) {
                *cell = "<age>".into();
            } else if cell.as_str().is_some_and(|text| text.starts_with("10.0.")) {
                *cell = "<address>".into();
            } else if let Some((port, node_port)) = cell.as_str().and_then(|text| text.split_once(":3")) {
                let rest = node_port.trim_start_matches(|c: char| c.is_ascii_digit());
                *cell = format!("{port}:<port>{rest}").into();
            }
        }
    }
}

/// Replaces uids, times and made-up names inside a text.
pub(super) fn normalise_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = &without_version(&without_token_volume(text));
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | ':' | '.')) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let plain = if is_uid(word) {
            "<uid>"
        } else if is_time(word) {
            "<time>"
        } else {
            word
        };
        out.push_str(plain);
        out.push_str(&part[word.len()..]);
    }
    out
}

/// The version that an object has when somebody expected another.
fn without_version(text: &str) -> String {
    const RECORD: &str = "the ResourceVersion in record (";
    match text.split_once(RECORD) {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}{RECORD}<version>{rest}")
        }
        None => text.to_owned(),
    }
}

/// The volume that holds a pod's token has a name of its own in each pod.
fn without_token_volume(text: &str) -> String {
    const VOLUME: &str = "kube-api-access-";
    let mut parts = text.split(VOLUME);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(VOLUME);
        out.push_str("<name>");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    out
}

fn is_age(text: &str) -> bool {
    text.len() < 8
        && text.ends_with(['s', 'm', 'h', 'd'])
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"smhd".contains(&byte))
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    (20..=32).contains(&bytes.len())
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && text.ends_with('Z')
        && text.parse::<Timestamp>().is_ok()
}

fn is_uid(text: &str) -> bool {
    text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn what_servers_make_up_is_replaced() {
        let mut object = value!({
            "metadata": {
                "uid": "6a2b0a0e-1f0b-4b55-9a53-0d5f1b9a0c11", "resourceVersion": "7", "generateName": "a-", "name": "a-x2k9p",
                "creationTimestamp": "2026-11-15T20:00:00Z",
            },
            "message": "uid 6a2b0a0e-1f0b-4b55-9a53-0d5f1b9a0c11, not mine",
        });
        normalise(&mut object);
        assert_eq!(
            json::to_string(&object),
            "{\"message\":\"uid <uid>, not mine\",\"metadata\":{\"creationTimestamp\":\"<time>\",\"generateName\":\"a-\",\
             \"name\":\"<generated>\",\"resourceVersion\":\"<resourceVersion>\",\"uid\":\"<uid>\"}}"
        );
    }

    #[test]
    fn an_empty_version_stays_empty() {
        let mut object = value!({"resourceVersion": ""});
        normalise(&mut object);
        assert_eq!(json::to_string(&object), "{\"resourceVersion\":\"\"}");
    }
}
