//! Hiding secret data without hiding that it differs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lynceus_api::annotations;
use lynceus_object::{Object, Str, Value, json};

use crate::normalize::secret;

/// What the first value of a field is shown as; every further one is longer.
const MASK: &str = "++++++++";
const LONGER: &str = "++++";

/// Whether objects like this hold data that must not be shown.
pub fn is_secret(object: &Object) -> bool {
    object.kind() == "Secret" && object.group().is_empty()
}

/// Hides the data of a Secret, and the annotations named, in the desired and the live object alike. Of an object that is
/// no Secret only the annotations are hidden.
///
/// Equal values stay equal and different ones different, also inside the last applied configuration.
pub fn mask(
    desired: Option<&Object>,
    live: Option<&Object>,
    hidden: &[Str],
) -> (Option<Object>, Option<Object>) {
    let mut sides = [Side::new(desired), Side::new(live)];
    let holds_secrets = desired.into_iter().chain(live).any(is_secret);
    let mut objects: Vec<&mut Object> = sides.iter_mut().flat_map(Side::objects).collect();
    if holds_secrets {
        hide_data(&mut objects);
    }
    for name in hidden.iter().filter(|name| *name != annotations::LAST_APPLIED) {
        hide(&mut objects, &["metadata", "annotations", name]);
    }
    let all = hidden.iter().any(|name| name == annotations::LAST_APPLIED);
    let [desired, live] = sides.map(|side| side.finish(all));
    (desired, live)
}

/// A message about objects, without what it quotes of the data of those that are Secrets.
///
/// Servers quote what they refuse, and some a piece of the text that they could not read.
pub fn unquoted(message: &str, objects: &[&Object]) -> String {
    let secrets: Vec<&&Object> = objects.iter().filter(|object| is_secret(object)).collect();
    if secrets.is_empty() {
        return message.to_owned();
    }
    let mut text = message.to_owned();
    for marker in [", error found in #", " error found in #"] {
        if let Some(at) = text.find(marker) {
            text.truncate(at);
        }
    }
    for value in secrets.iter().flat_map(|secret| values(secret)) {
        let quoted = format!("\"{value}\"");
        text = text.replace(&quoted, &format!("\"{MASK}\""));
        // What is shorter may be part of any word, and is no secret.
        if value.len() >= SHORTEST {
            text = text.replace(&value, MASK);
        }
    }
    without_invalid_values(&text)
}

/// The shortest text that is looked for inside of others.
const SHORTEST: usize = 4;

/// What a Secret holds, as it is written and as it is meant; the longest first, so that none is left in pieces.
fn values(object: &Object) -> Vec<String> {
    let mut values = Vec::new();
    let last = object.annotation(annotations::LAST_APPLIED);
    let last = last.and_then(|text| Object::new(json::parse(text.as_bytes()).ok()?).ok());
    for object in std::iter::once(object).chain(&last) {
        for field in ["data", "stringData"] {
            let map = object.at(&[field]).and_then(Value::as_map);
            for value in map.into_iter().flat_map(|map| map.values()).filter_map(Value::as_str) {
                values.push(value.to_owned());
                values.extend(decoded(value));
                values.push(BASE64.encode(value));
            }
        }
    }
    values.retain(|value| !value.is_empty());
    values.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
    values.dedup();
    values
}

fn decoded(value: &str) -> Option<String> {
    String::from_utf8(BASE64.decode(value).ok()?).ok()
}

/// What an API server says of a value that it refuses, without the value.
fn without_invalid_values(text: &str) -> String {
    const MARKER: &str = "Invalid value: \"";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARKER) {
        let (before, after) = rest.split_at(at + MARKER.len());
        out.push_str(before);
        out.push_str(MASK);
        let mut escaped = false;
        let end = after.find(|sign: char| {
            let ends = sign == '"' && !escaped;
            escaped = sign == '\\' && !escaped;
            ends
        });
        rest = end.map_or("", |end| &after[end..]);
    }
    out.push_str(rest);
    out
}

/// An object and the configuration that was last applied to it.
struct Side {
    object: Option<Object>,
    last_applied: LastApplied,
}

enum LastApplied {
    None,
    Unreadable,
    Object(Object),
}

impl Side {
    fn new(object: Option<&Object>) -> Self {
        let text = object.and_then(|object| object.annotation(annotations::LAST_APPLIED));
        let last_applied = match text.map(|text| json::parse(text.as_bytes()).map(Object::new)) {
            None => LastApplied::None,
            Some(Ok(Ok(object))) => LastApplied::Object(object),
            Some(_) => LastApplied::Unreadable,
        };
        Side { object: object.cloned(), last_applied }
    }

    fn objects(&mut self) -> impl Iterator<Item = &mut Object> {
        let last_applied = match &mut self.last_applied {
            LastApplied::Object(object) => Some(object),
            _ => None,
        };
        self.object.iter_mut().chain(last_applied)
    }

    fn finish(self, hide_last_applied: bool) -> Option<Object> {
        let mut object = self.object?;
        match self.last_applied {
            LastApplied::None => {}
            LastApplied::Object(last) if !hide_last_applied => {
                object.set_annotation(annotations::LAST_APPLIED, json::go_string(last.value()));
            }
            _ => object.set_annotation(annotations::LAST_APPLIED, MASK),
        }
        Some(object)
    }
}

fn hide_data(objects: &mut [&mut Object]) {
    for object in objects.iter_mut() {
        secret(object);
    }
    let mut keys: Vec<Str> = objects
        .iter()
        .filter_map(|object| object.at(&["data"])?.as_map())
        .flat_map(|map| map.keys().cloned())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for key in &keys {
        hide(objects, &["data", key]);
    }
}

fn hide(objects: &mut [&mut Object], path: &[&str]) {
    let mut seen: Vec<Value> = Vec::new();
    for object in objects {
        let Some(value) = object.at(path).cloned() else { continue };
        let at = seen.iter().position(|known| *known == value).unwrap_or_else(|| {
            seen.push(value);
            seen.len() - 1
        });
        object.set(path, format!("{MASK}{}", LONGER.repeat(at)));
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn secret(data: Value) -> Object {
        Object::new(value!({"apiVersion": "v1", "kind": "Secret", "data": data})).expect("a map")
    }

    fn data(object: Option<Object>) -> Value {
        object.and_then(|object| object.at(&["data"]).cloned()).unwrap_or_default()
    }

    #[test]
    fn equal_values_look_equal_and_different_ones_do_not() {
        let (desired, live) = mask(
            Some(&secret(value!({"same": "YQ==", "other": "Yg==", "new": "Yw=="}))),
            Some(&secret(value!({"same": "YQ==", "other": "eHg="}))),
            &[],
        );
        assert_eq!(data(desired), value!({"same": "++++++++", "other": "++++++++", "new": "++++++++"}));
        assert_eq!(data(live), value!({"same": "++++++++", "other": "++++++++++++"}));
    }

    #[test]
    fn string_data_is_hidden_too() {
        let desired =
            Object::new(value!({"apiVersion": "v1", "kind": "Secret", "stringData": {"key": "hush"}}))
                .expect("a map");
        let (desired, _) = mask(Some(&desired), None, &[]);
        assert!(!json::to_string(desired.expect("it").value()).contains("hush"));
    }

    #[test]
    fn the_last_applied_configuration_is_hidden_even_if_it_cannot_be_read() {
        for last in
            [r#"{"kind":"Secret","apiVersion":"v1","data":{"key":"aHVzaA=="}}"#, "aHVzaA== is not JSON"]
        {
            let mut live = secret(value!({"key": "aHVzaA=="}));
            live.set_annotation(annotations::LAST_APPLIED, last);
            let (_, live) = mask(None, Some(&live), &[]);
            assert!(!json::to_string(live.expect("it").value()).contains("aHVzaA"), "{last}");
        }
    }

    #[test]
    fn annotations_are_hidden_in_any_object_and_its_data_stays() {
        let map = |token: &str| {
            let mut map = Object::new(value!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}))
                .expect("a map");
            map.set_annotation("a.io/token", token);
            let last = json::to_string(map.value());
            map.set_annotation(annotations::LAST_APPLIED, last);
            map
        };
        let (desired, live) = mask(Some(&map("hush")), Some(&map("hushed")), &["a.io/token".into()]);
        for (object, shown) in [(desired, "++++++++"), (live, "++++++++++++")] {
            let object = object.expect("it");
            assert_eq!(object.annotation("a.io/token"), Some(shown));
            assert_eq!(object.value().str_at(&["data", "a"]), Some("b"));
            assert!(!json::to_string(object.value()).contains("hush"));
        }
    }

    #[test]
    fn what_a_server_quotes_of_a_secret_is_not_repeated() {
        let mut object = secret(value!({"key": "aHVzaC1odXNo", "pin": "MTI="}));
        object.set(&["stringData"], value!({"word": "tell nobody"}));
        for (message, expect) in [
            (
                "Secret \"s\" is invalid: data[key]: Invalid value: \"hush-hush\": too long",
                "Secret \"s\" is invalid: data[key]: Invalid value: \"++++++++\": too long",
            ),
            ("denied: the value tell nobody is weak", "denied: the value ++++++++ is weak"),
            ("denied: dGVsbCBub2JvZHk= is base64", "denied: ++++++++ is base64"),
            ("pin \"12\" of 12 signs", "pin \"++++++++\" of 12 signs"),
            (
                "illegal base64 data at input byte 4, error found in #10 byte of ...|ey\":\"hus|...",
                "illegal base64 data at input byte 4",
            ),
            ("data: Invalid value: \"what nobody \\\" knows\": no", "data: Invalid value: \"++++++++\": no"),
        ] {
            assert_eq!(unquoted(message, &[&object]), expect);
        }
        let map = Object::new(value!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "bare"}}))
            .expect("a map");
        assert_eq!(unquoted("bare", &[&map]), "bare");
    }
}
