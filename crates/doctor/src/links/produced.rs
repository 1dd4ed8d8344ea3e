//! A Secret that is not there waits for what would make it.

use std::collections::{BTreeSet, HashMap};

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::Case;
use crate::graph::Graph;

/// Where kinds say which Secret they make; without one it is called as they are.
const MAKERS: [(&str, &str, &[&str]); 14] = [
    ("external-secrets.io", "ExternalSecret", &["spec", "target", "name"]),
    ("bitnami.com", "SealedSecret", &["spec", "template", "metadata", "name"]),
    ("cert-manager.io", "Certificate", &["spec", "secretName"]),
    ("secrets.hashicorp.com", "VaultStaticSecret", &["spec", "destination", "name"]),
    ("secrets.hashicorp.com", "VaultDynamicSecret", &["spec", "destination", "name"]),
    ("secrets.hashicorp.com", "VaultPKISecret", &["spec", "destination", "name"]),
    ("kafka.strimzi.io", "KafkaUser", &["metadata", "name"]),
    ("onepassword.com", "OnePasswordItem", &["metadata", "name"]),
    ("objectbucket.io", "ObjectBucketClaim", &["metadata", "name"]),
    ("secrets.infisical.com", "InfisicalSecret", &["spec", "managedSecretReference", "secretName"]),
    ("secrets.doppler.com", "DopplerSecret", &["spec", "managedSecret", "name"]),
    ("ricoberger.de", "VaultSecret", &["metadata", "name"]),
    ("secretgenerator.mittwald.de", "StringSecret", &["metadata", "name"]),
    ("external-secrets.io", "ClusterExternalSecret", &["spec", "externalSecretSpec", "target", "name"]),
];

/// Kinds whose operators make several Secrets, called after the object and ending so.
const OPERATED: [(&str, &str, &[&str]); 9] = [
    ("postgresql.cnpg.io", "Cluster", &["app", "superuser", "ca", "server", "replication"]),
    ("kafka.strimzi.io", "Kafka", &["cluster-ca-cert", "cluster-ca", "clients-ca-cert", "clients-ca"]),
    ("k8s.keycloak.org", "Keycloak", &["initial-admin"]),
    ("rabbitmq.com", "RabbitmqCluster", &["default-user", "erlang-cookie"]),
    ("rabbitmq.com", "User", &["user-credentials"]),
    (
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        &["es-elastic-user", "es-http-certs-public", "es-http-certs-internal"],
    ),
    ("kibana.k8s.elastic.co", "Kibana", &["kb-http-certs-public", "kb-config"]),
    ("grafana.integreatly.org", "Grafana", &["admin-credentials"]),
    ("opensearch.opster.io", "OpenSearchCluster", &["admin-password"]),
];

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    for ((server, secret), makers) in makers(case) {
        let made = case.live(server, &secret).is_some();
        for maker in makers {
            let is_late = case.live(server, &maker).is_none_or(|maker| case.is_unwell(maker));
            // A Secret that is there may still lack a key because its maker cannot bring it up to date.
            if !made || is_late {
                graph.link(case.node(server, &secret), case.node(server, &maker));
            }
        }
    }
}

/// Which objects make which Secrets, whether they are there or only wanted.
pub(crate) fn makers<'a>(case: &Case<'a>) -> HashMap<(&'a str, ObjectKey), Vec<ObjectKey>> {
    let mut makers: HashMap<(&'a str, ObjectKey), Vec<ObjectKey>> = HashMap::new();
    let mut note = |server: &'a str, maker: &Object| {
        for name in made(maker) {
            let secret = ObjectKey::new("", "Secret", maker.namespace(), name);
            let all = makers.entry((server, secret)).or_default();
            if !all.contains(&maker.key()) {
                all.push(maker.key());
            }
        }
    };
    for server in case.servers() {
        for (group, kind, _) in MAKERS {
            for maker in case.of_kind(server, group, kind) {
                note(server, maker);
            }
        }
        for (group, kind, _) in OPERATED {
            for operated in case.of_kind(server, group, kind) {
                note(server, operated);
            }
        }
    }
    for app in case.apps() {
        for wanted in app.wanted() {
            note(app.server(), &wanted.object);
        }
    }
    makers
}

/// The names of the Secrets that an object makes.
pub(crate) fn made(maker: &Object) -> Vec<String> {
    let operated =
        |(group, kind, _): &&(&str, &str, &[&str])| (*group, *kind) == (maker.group(), maker.kind());
    if let Some((_, _, ends)) = OPERATED.iter().find(operated) {
        return ends.iter().map(|end| format!("{}-{end}", maker.name())).collect();
    }
    let fits = |(group, kind, _): &&(&str, &str, &[&str])| (*group, *kind) == (maker.group(), maker.kind());
    let Some((_, _, path)) = MAKERS.iter().find(fits) else { return Vec::new() };
    let named = maker.value().at(path).and_then(Value::as_str).filter(|name| !name.is_empty());
    vec![named.unwrap_or(maker.name()).to_owned()]
}

/// The keys that a Secret has which an object makes, where its spec says all of them. Nothing where it takes over whatever a backend has,
/// adds to what others make, or is of a kind that is not known to say.
pub(crate) fn keys_written(maker: &Object) -> Option<BTreeSet<&str>> {
    let value = maker.value();
    let names = |path: &[&str]| -> BTreeSet<&str> {
        let map = value.at(path).and_then(Value::as_map);
        map.into_iter().flat_map(|map| map.iter()).map(|(key, _)| key.as_str()).collect()
    };
    match (maker.group(), maker.kind()) {
        ("external-secrets.io", "ExternalSecret") => {
            let target = |path: &[&str]| value.at(&["spec", "target"]).and_then(|target| target.str_at(path));
            // Otherwise it writes into what somebody else makes.
            if !matches!(target(&["creationPolicy"]), None | Some("Owner" | "Orphan"))
                || !value.items_at(&["spec", "target", "template", "templateFrom"]).is_empty()
            {
                return None;
            }
            // A template replaces what is read unless it says that it adds to it.
            let made = names(&["spec", "target", "template", "data"]);
            if !made.is_empty() && target(&["template", "mergePolicy"]) != Some("Merge") {
                return Some(made);
            }
            let read = value.items_at(&["spec", "data"]).iter().filter_map(|one| one.str_at(&["secretKey"]));
            let is_whole = value.items_at(&["spec", "dataFrom"]).is_empty();
            let all: BTreeSet<&str> = read.chain(made).collect();
            (is_whole && !all.is_empty()).then_some(all)
        }
        ("bitnami.com", "SealedSecret") => {
            let sealed = names(&["spec", "encryptedData"]);
            let plain = names(&["spec", "template", "data"]);
            (!sealed.is_empty()).then(|| sealed.into_iter().chain(plain).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    fn keys(kind: &str, spec: &str) -> Option<String> {
        let group = if kind == "SealedSecret" { "bitnami.com" } else { "external-secrets.io" };
        let text = format!(
            "apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: db, namespace: shop}}\nspec: {spec}\n"
        );
        let maker = Object::new(yaml::parse(text.as_bytes()).unwrap()).unwrap();
        keys_written(&maker).map(|keys| keys.into_iter().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_keys_of_a_secret_are_known_where_the_spec_of_its_maker_names_all() {
        let secret = |spec: &str| keys("ExternalSecret", spec);
        let data = "data: [{secretKey: user}, {secretKey: password}]";
        assert_eq!(secret(&format!("{{{data}}}")).as_deref(), Some("password user"));
        let template = |more: &str| format!("{{{data}, target: {{template: {{data: {{url: x}}{more}}}}}}}");
        assert_eq!(secret(&template("")).as_deref(), Some("url"));
        assert_eq!(secret(&template(", mergePolicy: Merge")).as_deref(), Some("password url user"));
        assert_eq!(keys("SealedSecret", "{encryptedData: {user: x}}").as_deref(), Some("user"));
    }

    #[test]
    fn they_are_not_known_where_more_may_come_from_elsewhere() {
        let secret = |spec: &str| keys("ExternalSecret", spec);
        let data = "data: [{secretKey: user}]";
        assert_eq!(secret(&format!("{{{data}, dataFrom: [{{extract: {{key: shop}}}}]}}")), None);
        assert_eq!(secret(&format!("{{{data}, target: {{creationPolicy: Merge}}}}")), None);
        let from = "target: {template: {data: {url: x}, templateFrom: [{configMap: {name: a}}]}}";
        assert_eq!(secret(&format!("{{{data}, {from}}}")), None);
        assert_eq!(keys("ClusterExternalSecret", &format!("{{{data}}}")), None);
        assert_eq!(secret("{}"), None);
    }
}
