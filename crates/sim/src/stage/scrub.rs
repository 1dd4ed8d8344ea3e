//! What of an object goes into a snapshot: nothing that is secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, Str, Value};

/// Annotations in which tools keep the whole object that they applied.
const COPIES: [&str; 3] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "kapp.k14s.io/original",
    "objectset.rio.cattle.io/applied",
];

/// Longer annotations of a Secret may be copies of it, whatever they are called.
const LONGEST_ANNOTATION: usize = 256;

/// A file of registries' credentials without any.
const NO_REGISTRIES: &str = r#"{"auths":{}}"#;

/// Takes out of an object what is secret: the values of Secrets, wherever the object itself repeats them, and the
/// releases that Helm keeps in ConfigMaps, which have Secrets in them.
pub(super) fn scrub(object: &mut Object) {
    match (object.api_version(), object.kind()) {
        ("v1", "Secret") => scrub_secret(object),
        ("v1", "ConfigMap") if object.label("owner") == Some("helm") => {
            if object.at(&["data", "release"]).is_some() {
                object.set(&["data", "release"], "");
            }
        }
        _ => {
            // What was applied with a Secret inside, such as a List or a template.
            let copies = COPIES.iter().filter(|name| object.annotation(name).is_some_and(holds_secret));
            let copies: Vec<&str> = copies.copied().collect();
            for name in copies {
                object.remove(&["metadata", "annotations", name]);
            }
        }
    }
}

fn holds_secret(copy: &str) -> bool {
    copy.contains("\"kind\":\"Secret\"") || copy.contains("kind: Secret")
}

/// Keeps the keys of a Secret, which pods name, and empties the values.
fn scrub_secret(secret: &mut Object) {
    let encoded: Vec<Str> = values(secret, "data");
    let plain: Vec<String> = encoded
        .iter()
        .filter_map(|text| String::from_utf8(STANDARD.decode(text.as_str()).ok()?).ok())
        .chain(values(secret, "stringData").iter().map(ToString::to_string))
        .collect();
    let known = |text: &str| {
        let tells = |value: &str| !value.is_empty() && text.contains(value);
        encoded.iter().any(|value| tells(value)) || plain.iter().any(|value| tells(value))
    };
    let annotations: Vec<(Str, bool)> = secret
        .at(&["metadata", "annotations"])
        .and_then(Value::as_map)
        .map(|map| {
            let tells = |value: &Value| {
                let text = value.as_str().unwrap_or_default();
                text.len() > LONGEST_ANNOTATION || known(text)
            };
            map.iter()
                .map(|(name, value)| (name.clone(), COPIES.contains(&name.as_str()) || tells(value)))
                .collect()
        })
        .unwrap_or_default();
    for (name, _) in annotations.iter().filter(|(_, tells)| *tells) {
        secret.remove(&["metadata", "annotations", name]);
    }
    secret.remove(&["stringData"]);
    let keys: Vec<Str> = secret
        .at(&["data"])
        .and_then(Value::as_map)
        .map(|map| map.keys().cloned().collect())
        .unwrap_or_default();
    for key in keys {
        let empty = match key.as_str() {
            ".dockerconfigjson" => STANDARD.encode(NO_REGISTRIES),
            ".dockercfg" => STANDARD.encode("{}"),
            _ => String::new(),
        };
        secret.set(&["data", &key], empty);
    }
}

fn values(object: &Object, field: &str) -> Vec<Str> {
    let map = object.at(&[field]).and_then(Value::as_map);
    map.map(|map| map.iter().filter_map(|(_, value)| value.as_str().map(Str::from)).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use lynceus_object::yaml;

    use super::*;

    fn scrubbed(text: &str) -> String {
        let mut object = Object::new(yaml::parse_str(text).unwrap()).unwrap();
        scrub(&mut object);
        yaml::to_string(object.value())
    }

    #[test]
    fn a_secret_keeps_its_keys_and_loses_its_values_wherever_they_stand() {
        let secret = scrubbed(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  annotations:\n    team: shop\n    note: \"it is hunter2!\"\n    \
             coded: aHVudGVyMg==\n    kubectl.kubernetes.io/last-applied-configuration: '{}'\n    other-tool/copy: \
             '{\"data\":{\"x\":\"eA==\"}}'\ntype: Opaque\ndata: {password: aHVudGVyMg==, x: eA==}\n",
        );
        assert_eq!(
            secret,
            "apiVersion: v1\ndata:\n  password: \"\"\n  x: \"\"\nkind: Secret\nmetadata:\n  annotations:\n    team: shop\n  name: \
             a\ntype: Opaque\n"
        );
    }

    #[test]
    fn pull_secrets_stay_readable_and_name_no_registry() {
        let encoded = STANDARD.encode(r#"{"auths":{"registry.example.com":{"auth":"c2VjcmV0"}}}"#);
        let secret = scrubbed(&format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ntype: kubernetes.io/dockerconfigjson\ndata: \
             {{.dockerconfigjson: {encoded}}}\n"
        ));
        assert!(secret.contains(&STANDARD.encode(NO_REGISTRIES)) && !secret.contains(&encoded), "{secret}");
    }

    #[test]
    fn releases_and_copies_with_secrets_in_them_are_emptied() {
        let release = scrubbed(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {owner: helm}}\ndata: {release: SDRzSUFB}\n",
        );
        assert!(!release.contains("SDRzSUFB"), "{release}");
        let copy = "'{\"items\":[{\"kind\":\"Secret\"}]}'";
        let list = scrubbed(&format!(
            "apiVersion: example.com/v1\nkind: Bundle\nmetadata:\n  name: a\n  annotations:\n    \
             kubectl.kubernetes.io/last-applied-configuration: {copy}\n"
        ));
        assert!(!list.contains("Secret"), "{list}");
    }
}
