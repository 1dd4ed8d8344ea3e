//! What of an object goes into a snapshot: nothing that is secret.
//!
//! Not what `diff` masks for a comparison: there it has to show that two values differ, and no server reads it again. Here nothing
//! may be told of a value, Secrets within other objects count, and what is left has to be taken by a server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, Str, Value};

/// Annotations in which tools keep the whole object that they applied.
const COPIES: [&str; 3] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "kapp.k14s.io/original",
    "objectset.rio.cattle.io/applied",
];

/// Annotations that say by their meaning what things are called. They stay, though a Secret often holds the same names:
/// that of a token has its namespace, and that of a database its user, who is called as the application is.
const NAMES: [&str; 5] = [
    "kubernetes.io/service-account.name",
    "kubernetes.io/service-account.uid",
    "argocd.argoproj.io/tracking-id",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
];

/// Longer annotations of a Secret may be copies of it, whatever they are called.
const LONGEST_ANNOTATION: usize = 256;

/// A file of registries' credentials without any.
const NO_REGISTRIES: &str = r#"{"auths":{}}"#;

/// Takes out of an object what is secret: the values of Secrets, wherever the object itself repeats them or has a Secret
/// within it, and the releases that Helm keeps in ConfigMaps, which have Secrets in them.
pub(super) fn scrub(object: &mut Object) {
    match (object.api_version(), object.kind()) {
        ("v1", "Secret") => scrub_secret(object.value_mut()),
        ("v1", "ConfigMap") if is_release(object) => {
            if object.at(&["data", "release"]).is_some() {
                object.set(&["data", "release"], "");
            }
        }
        ("oauth.openshift.io/v1", "OAuthClient") => {
            object.remove(&["secret"]);
            object.remove(&["additionalSecrets"]);
            remove_annotations(object.value_mut(), |name, _| COPIES.contains(&name));
        }
        _ => {
            // What was applied with a Secret inside, such as a List or a template.
            remove_annotations(object.value_mut(), |_, text| names_secret(text));
            if holds_secret(object.value()) {
                scrub_within(object.value_mut());
            }
        }
    }
}

/// Whether Helm, or the Tiller of old, keeps a release in a ConfigMap.
fn is_release(map: &Object) -> bool {
    map.label("owner") == Some("helm") || map.label("OWNER") == Some("TILLER")
}

/// Whether a text has a manifest of a Secret in it, as JSON or as YAML.
fn names_secret(text: &str) -> bool {
    text.contains("Secret") && {
        let plain: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\\')).collect();
        plain.contains("kind:Secret")
    }
}

fn is_secret(value: &Value) -> bool {
    value.str_at(&["kind"]) == Some("Secret") && value.str_at(&["apiVersion"]) == Some("v1")
}

/// Whether there is a Secret within a value, as in what is to be made in another cluster.
fn holds_secret(value: &Value) -> bool {
    match value {
        Value::Map(map) => is_secret(value) || map.values().any(holds_secret),
        Value::Seq(items) => items.iter().any(holds_secret),
        _ => false,
    }
}

fn scrub_within(value: &mut Value) {
    if is_secret(value) {
        scrub_secret(value);
    }
    match value {
        Value::Map(map) => map.iter_mut().for_each(|(_, value)| scrub_within(value)),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(scrub_within),
        _ => {}
    }
}

/// What a Secret that registers a cluster may tell: what the cluster is called and where it is, as Applications do.
const OF_CLUSTERS: [&str; 3] = ["name", "server", "project"];

/// The fields of a Secret that are no secret.
fn open(secret: &Value) -> &'static [&'static str] {
    let kind = secret.str_at(&["metadata", "labels", "argocd.argoproj.io/secret-type"]);
    if kind == Some("cluster") { &OF_CLUSTERS } else { &[] }
}

/// Keeps the keys of a Secret, which pods name, and empties the values.
fn scrub_secret(secret: &mut Value) {
    let open = open(secret);
    let encoded: Vec<Str> = values(secret, "data");
    let plain: Vec<String> = encoded
        .iter()
        .filter_map(|text| String::from_utf8(STANDARD.decode(text.as_str()).ok()?).ok())
        .chain(values(secret, "stringData").iter().map(ToString::to_string))
        .collect();
    let known = |text: &str| {
        let tells = |value: &str| !value.is_empty() && text.contains(value);
        encoded.iter().any(|value| tells(value)) || plain.iter().any(|value| tells(value.trim()))
    };
    remove_annotations(secret, |name, text| {
        COPIES.contains(&name) || (!NAMES.contains(&name) && (text.len() > LONGEST_ANNOTATION || known(text)))
    });
    for field in ["data", "stringData"] {
        let Some(values) = secret.at_mut(&[field]).and_then(Value::as_map_mut) else { continue };
        for (key, value) in values.iter_mut().filter(|(key, _)| !open.contains(&key.as_str())) {
            let empty = match key.as_str() {
                ".dockerconfigjson" => NO_REGISTRIES,
                ".dockercfg" => "{}",
                _ => "",
            };
            *value = if field == "data" { STANDARD.encode(empty).into() } else { empty.into() };
        }
    }
}

/// Takes annotations away.
fn remove_annotations(object: &mut Value, is_unwanted: impl Fn(&str, &str) -> bool) {
    let annotations = object.at(&["metadata", "annotations"]).and_then(Value::as_map);
    let unwanted: Vec<Str> = annotations
        .into_iter()
        .flat_map(|map| map.iter())
        .filter(|(name, text)| is_unwanted(name, text.as_str().unwrap_or_default()))
        .map(|(name, _)| name.clone())
        .collect();
    for name in unwanted {
        object.remove(&["metadata", "annotations", &name]);
    }
}

fn values(secret: &Value, field: &str) -> Vec<Str> {
    let open = open(secret);
    let map = secret.at(&[field]).and_then(Value::as_map);
    let hidden = map.into_iter().flat_map(|map| map.iter()).filter(|(key, _)| !open.contains(&key.as_str()));
    hidden.filter_map(|(_, value)| value.as_str().map(Str::from)).collect()
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

    #[test]
    fn where_a_registered_cluster_is_stays_and_what_lets_in_does_not() {
        let secret = scrubbed(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  labels: {argocd.argoproj.io/secret-type: cluster, tier: web}\n  \
             annotations: {team: 'of east', note: hunter2}\nstringData: {name: east, server: 'https://e', config: hunter2}\n",
        );
        assert!(secret.contains("name: east") && secret.contains("server: https://e"), "{secret}");
        assert!(secret.contains("team: of east") && !secret.contains("hunter2"), "{secret}");
    }

    #[test]
    fn names_stay_though_a_secret_holds_them() {
        let token = scrubbed(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  annotations:\n    kubernetes.io/service-account.name: \
             default\n    argocd.argoproj.io/tracking-id: default:/Secret:default/a\n    other: default\ntype: \
             kubernetes.io/service-account-token\ndata: {namespace: ZGVmYXVsdA==}\n",
        );
        assert!(token.contains("service-account.name: default") && token.contains("tracking-id"), "{token}");
        assert!(!token.contains("other"), "{token}");
    }

    #[test]
    fn a_value_is_known_without_the_line_end_that_it_was_stored_with() {
        let encoded = STANDARD.encode("hunter2\n");
        let secret = scrubbed(&format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a, annotations: {{note: it is hunter2}}}}\ndata: {{x: {encoded}}}\n"
        ));
        assert!(!secret.contains("hunter2"), "{secret}");
    }

    #[test]
    fn secrets_within_other_objects_are_emptied_as_well() {
        let work = scrubbed(
            "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata:\n  name: a\n  annotations:\n    tool: \
             'apiVersion: v1\n\n\n      kind: \"Secret\"\n\n\n      data: {a: hunter2}'\nspec:\n  manifests:\n  - {apiVersion: v1, \
             kind: ConfigMap, data: {a: stays}}\n  - {apiVersion: v1, kind: Secret, data: {a: aHVudGVyMg==}, stringData: {b: \
             hunter2}}\n",
        );
        assert!(!work.contains("hunter2") && !work.contains("aHVudGVyMg=="), "{work}");
        assert!(work.contains("a: stays") && work.contains("b: \"\""), "{work}");
    }

    #[test]
    fn clients_of_a_login_lose_their_secret() {
        let client = scrubbed(
            "apiVersion: oauth.openshift.io/v1\nkind: OAuthClient\nmetadata: {name: a}\nsecret: hunter2\nadditionalSecrets: \
             [hunter3]\n",
        );
        assert!(!client.contains("hunter"), "{client}");
    }
}
