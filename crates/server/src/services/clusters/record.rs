//! A cluster between its Secret and the message that the API has for it.

use lynceus_api::{annotations, labels};
use lynceus_object::{Map, Object, Value, json, value};
use lynceus_source::redact;

use super::Entry;
use crate::server::Server;
use crate::services::secrets;

/// What `config` may hold.
const CONFIG: [&str; 8] = [
    "username",
    "password",
    "bearerToken",
    "tlsClientConfig",
    "awsAuthConfig",
    "execProviderConfig",
    "disableCompression",
    "proxyUrl",
];

/// The parts of a cluster that can be changed one by one.
pub(super) const FIELDS: [&str; 8] =
    ["name", "namespaces", "config", "shard", "clusterResources", "labels", "annotations", "project"];

/// A cluster as it is answered: nothing of what lets one in, neither in its own place nor in an annotation that kubectl
/// has left.
pub(super) fn shown(entry: &Entry) -> Value {
    let Entry { server, name, project, secret } = entry;
    let mut cluster =
        value!({"server": server, "name": name, "config": {"tlsClientConfig": {"insecure": false}}});
    if !project.is_empty() {
        cluster.set(&["project"], project.as_str());
    }
    let Some(secret) = secret else { return cluster };
    cluster.set(&["config"], config(&secrets::text(secret, "config")));
    let namespaces: Vec<Value> = list(&secrets::text(secret, "namespaces")).map(Value::from).collect();
    if !namespaces.is_empty() {
        cluster.set(&["namespaces"], namespaces);
    }
    if secrets::text(secret, "clusterResources") == "true" {
        cluster.set(&["clusterResources"], true);
    }
    if let Ok(shard) = secrets::text(secret, "shard").trim().parse::<i64>() {
        cluster.set(&["shard"], shard);
    }
    let told = |pairs: &mut dyn Iterator<Item = (&str, &str)>| -> Map {
        pairs.filter(|(key, _)| !is_ours(key)).map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
    };
    for (field, map) in
        [("labels", told(&mut secret.labels())), ("annotations", told(&mut secret.annotations()))]
    {
        if !map.is_empty() {
            cluster.set(&[field], map);
        }
    }
    if let Some(at) = secret.annotation(annotations::REFRESH) {
        cluster.set(&["refreshRequestedAt"], at);
    }
    cluster
}

/// Of the configuration, what says how a cluster is reached and not who we are.
fn config(text: &str) -> Value {
    let stored = json::parse(text.as_bytes()).unwrap_or_default();
    let mut config = value!({
        "tlsClientConfig": {"insecure": stored.bool_at(&["tlsClientConfig", "insecure"]).unwrap_or_default()},
    });
    if let Some(name) = stored.str_at(&["tlsClientConfig", "serverName"]).filter(|name| !name.is_empty()) {
        config.set(&["tlsClientConfig", "serverName"], name);
    }
    for field in ["clusterName", "roleARN"] {
        if let Some(text) = stored.str_at(&["awsAuthConfig", field]) {
            config.set(&["awsAuthConfig", field], text);
        }
    }
    if stored.bool_at(&["disableCompression"]) == Some(true) {
        config.set(&["disableCompression"], true);
    }
    if let Some(proxy) = stored.str_at(&["proxyUrl"]).filter(|proxy| !proxy.is_empty()) {
        config.set(&["proxyUrl"], redact(proxy));
    }
    config
}

/// Labels and annotations that are not the user's.
fn is_ours(key: &str) -> bool {
    [labels::SECRET_TYPE, annotations::MANAGED_BY, annotations::LAST_APPLIED, annotations::REFRESH]
        .contains(&key)
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// Writes parts of a cluster into its Secret.
pub(super) fn fill(secret: &mut Object, cluster: &Value, fields: &[&str]) {
    for field in fields {
        match *field {
            "config" => {
                let mut config = cluster.get("config").cloned().unwrap_or_else(|| value!({}));
                if let Some(map) = config.as_map_mut() {
                    map.retain(|key, value| CONFIG.contains(&key) && !value.is_null());
                }
                secrets::set(secret, "config", &json::to_string(&config));
            }
            "namespaces" => {
                let names: Vec<&str> =
                    cluster.items_at(&["namespaces"]).iter().filter_map(Value::as_str).collect();
                secrets::set(secret, "namespaces", &names.join(","));
            }
            "labels" | "annotations" => notes(secret, cluster, field),
            // The first of several is number 0, so that it cannot be told from none as other numbers are.
            "shard" => {
                let shard = cluster.int_at(&["shard"]).map(|shard| shard.to_string()).unwrap_or_default();
                secrets::set(secret, "shard", &shard);
            }
            field => secrets::set(secret, field, &secrets::as_text(cluster.get(field))),
        }
    }
}

/// Labels or annotations as they are wanted, with those that are ours as they were.
fn notes(secret: &mut Object, cluster: &Value, field: &str) {
    let known = secret.at(&["metadata", field]).and_then(Value::as_map).cloned().unwrap_or_default();
    let wanted = cluster.get(field).and_then(Value::as_map).cloned().unwrap_or_default();
    let ours = known.iter().filter(|(key, _)| is_ours(key));
    let theirs = wanted.iter().filter(|(key, text)| !is_ours(key) && text.as_str().is_some());
    let all: Map = ours.chain(theirs).map(|(key, text)| (key.clone(), text.clone())).collect();
    secret.set(&["metadata", field], all);
}

/// The Secret of a cluster that is new.
pub(super) fn secret(server: &Server, cluster: &Value, address: &str) -> Object {
    let mut secret = secrets::new(server, &secret_name(address), labels::SECRET_TYPE_CLUSTER);
    secrets::set(&mut secret, "server", address);
    fill(&mut secret, cluster, &FIELDS);
    if secrets::text(&secret, "name").is_empty() {
        secrets::set(&mut secret, "name", address);
    }
    secret
}

/// `cluster-<host>-<number>`.
fn secret_name(address: &str) -> String {
    let authority = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => match address.parse::<std::net::Ipv6Addr>() {
            Ok(address) => address.segments().map(|part| format!("{part:04x}")).join("-"),
            Err(_) => String::new(),
        },
        None => authority.split(':').next().unwrap_or_default().to_lowercase(),
    };
    // What no name of a Secret can have is left to the number.
    let host: String =
        host.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')).take(200).collect();
    format!("cluster-{host}-{}", secrets::number(&[address]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_after_the_host() {
        assert_eq!(
            secret_name("https://10.0.0.1:6443").rsplit_once('-').map(|(a, _)| a),
            Some("cluster-10.0.0.1")
        );
        assert_eq!(
            secret_name("https://[2001:db8::1]:6443").rsplit_once('-').map(|(a, _)| a.to_owned()),
            Some("cluster-2001-0db8-0000-0000-0000-0000-0000-0001".to_owned())
        );
        assert_eq!(
            secret_name("https://kubernetes.default.svc"),
            "cluster-kubernetes.default.svc-3396314289"
        );
        assert!(!secret_name("https://a b\n/../x").contains([' ', '\n', '/']));
    }

    #[test]
    fn a_configuration_is_shown_without_what_lets_one_in() {
        let shown = config(
            r#"{"username": "u1", "password": "p1", "bearerToken": "t1", "disableCompression": true,
                "proxyUrl": "http://me:p2@proxy:3128", "awsAuthConfig": {"clusterName": "c", "profile": "x"},
                "tlsClientConfig": {"insecure": true, "certData": "Yw==", "keyData": "aw==", "caData": "YQ=="},
                "execProviderConfig": {"command": "aws", "env": {"TOKEN": "t2"}}}"#,
        );
        assert_eq!(
            json::to_string(&shown),
            r#"{"awsAuthConfig":{"clusterName":"c"},"disableCompression":true,"proxyUrl":"http://proxy:3128","tlsClientConfig":{"insecure":true}}"#
        );
        assert_eq!(json::to_string(&config("no JSON, p3")), r#"{"tlsClientConfig":{"insecure":false}}"#);
    }
}
