//! Taking away differences that mean nothing.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lynceus_object::schema;
use lynceus_object::{Map, Object, Str, Value};

use crate::ignore::Tally;
use crate::settings::Settings;

/// Takes away what means nothing in an object of any kind, and what the settings leave out of the account.
pub(crate) fn normalize(object: &mut Object, settings: &Settings, tally: &mut Tally) {
    object.remove(&["metadata", "creationTimestamp"]);
    if settings.ignores_status(object) {
        object.remove(&["status"]);
    }
    match (object.group(), object.kind()) {
        ("", "Secret") => secret(object),
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => role(object, settings),
        ("", "Endpoints") => endpoints(object),
        _ => {}
    }
    settings.ignore.apply(object, tally);
    settings.known_types.apply(object);
}

/// Moves `stringData` into `data`, as the server does, and writes empty values one way.
pub(crate) fn secret(object: &mut Object) {
    if let Some(Value::Map(texts)) = object.at(&["stringData"]).cloned() {
        let mut data = object.at(&["data"]).and_then(Value::as_map).cloned().unwrap_or_default();
        for (key, value) in texts.iter() {
            data.insert(
                key.clone(),
                value.as_str().map_or_else(|| value.clone(), |text| BASE64.encode(text).into()),
            );
        }
        object.set(&["data"], data);
        object.remove(&["stringData"]);
    }
    let Some(data) = object.at(&["data"]).and_then(Value::as_map) else { return };
    // A Secret that cannot be read as one stays as it is.
    let decoded = |value: &Value| match value {
        Value::Null => Some(Str::new()),
        Value::Str(text) => {
            BASE64.decode(without_line_breaks(text)).ok().map(|bytes| BASE64.encode(bytes).into())
        }
        _ => None,
    };
    let data: Option<Map> =
        data.iter().map(|(key, value)| Some((key.clone(), Value::Str(decoded(value)?)))).collect();
    if let Some(data) = data {
        object.set(&["data"], data);
    }
}

/// Go's decoder passes over line breaks in base64.
fn without_line_breaks(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect()
}

/// Empty rules and no rules are the same; the rules of an aggregated role are the server's.
fn role(object: &mut Object, settings: &Settings) {
    let aggregated = matches!(object.at(&["aggregationRule"]), Some(Value::Map(_)));
    let empty = object.at(&["rules"]).and_then(Value::as_seq).is_some_and(<[Value]>::is_empty);
    if empty || aggregated && settings.ignore_aggregated_roles {
        object.set(&["rules"], Value::Null);
    }
}

/// The order of addresses, ports and subsets means nothing.
fn endpoints(object: &mut Object) {
    let Some(ty) = schema::builtin().of_manifest(object.api_version(), object.kind()) else { return };
    if schema::check(object.value(), ty).iter().any(|problem| problem.kind != schema::ProblemKind::Unknown) {
        return;
    }
    schema::round_trip(object.value_mut(), ty);
    let Some(Value::Seq(subsets)) = object.value_mut().at_mut(&["subsets"]) else { return };
    for subset in subsets.make_mut() {
        for addresses in ["addresses", "notReadyAddresses"] {
            sort(subset, addresses, by_address);
        }
        if let Some(Value::Seq(ports)) = subset.at_mut(&["ports"]) {
            for port in ports.make_mut() {
                if port.str_at(&["protocol"]).unwrap_or_default().is_empty() {
                    port.set(&["protocol"], "TCP");
                }
            }
        }
        sort(subset, "ports", by_text);
    }
    subsets.make_mut().sort_by(by_text);
}

fn sort(subset: &mut Value, field: &str, order: impl Fn(&Value, &Value) -> Ordering) {
    if let Some(Value::Seq(items)) = subset.at_mut(&[field]) {
        items.make_mut().sort_by(order);
    }
}

fn by_address(a: &Value, b: &Value) -> Ordering {
    let key = |value: &Value| {
        let text = |path: &[&str]| value.str_at(path).unwrap_or_default().to_owned();
        (text(&["ip"]), text(&["targetRef", "uid"]))
    };
    key(a).cmp(&key(b))
}

fn by_text(a: &Value, b: &Value) -> Ordering {
    lynceus_object::json::to_string(a).cmp(&lynceus_object::json::to_string(b))
}
