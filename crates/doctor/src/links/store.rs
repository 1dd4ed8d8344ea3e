//! External secrets wait for their stores, and stores for the service that they ask.

use lynceus_object::{Object, ObjectKey};

use super::service;
use crate::case::Case;
use crate::graph::Graph;

const GROUP: &str = "external-secrets.io";

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    for secret in case.of_kind(server, GROUP, "ExternalSecret") {
        if !case.is_unwell(secret) {
            continue;
        }
        let from = case.node(server, &secret.key());
        graph.link(from.clone(), case.node(server, &store_of(secret)));
        for source in copied(case, server, secret).iter().filter(|source| case.is_absent(server, source)) {
            graph.link(from.clone(), case.node(server, source));
        }
    }
    for kind in ["SecretStore", "ClusterSecretStore"] {
        for store in case.of_kind(server, GROUP, kind) {
            if !case.is_unwell(store) {
                continue;
            }
            let from = case.node(server, &store.key());
            for host in service::hosts(store.at(&["spec", "provider"])) {
                if let Some(key) = service::named(&host, store.namespace()) {
                    graph.link(from.clone(), case.node(server, &key));
                }
            }
        }
    }
}

/// The store that an external secret reads.
pub(crate) fn store_of(secret: &Object) -> ObjectKey {
    let part = |field| secret.value().str_at(&["spec", "secretStoreRef", field]);
    let kind = part("kind").filter(|kind| !kind.is_empty()).unwrap_or("SecretStore");
    let namespace = if kind == "ClusterSecretStore" { "" } else { secret.namespace() };
    ObjectKey::new(GROUP, kind, namespace, part("name").unwrap_or_default())
}

/// The Secrets of the cluster that an external secret copies, which it does through a store of the kubernetes provider.
pub(crate) fn copied(case: &Case<'_>, server: &str, secret: &Object) -> Vec<ObjectKey> {
    let Some(store) = case.live(server, &store_of(secret)) else { return Vec::new() };
    let Some(provider) = store.at(&["spec", "provider", "kubernetes"]) else { return Vec::new() };
    // A provider with an address is another cluster.
    if provider.str_at(&["server", "url"]).is_some_and(|url| !url.contains("kubernetes.default")) {
        return Vec::new();
    }
    let namespace = provider.str_at(&["remoteNamespace"]).unwrap_or("default");
    let data =
        secret.value().items_at(&["spec", "data"]).iter().filter_map(|one| one.str_at(&["remoteRef", "key"]));
    let whole = secret
        .value()
        .items_at(&["spec", "dataFrom"])
        .iter()
        .filter_map(|one| one.str_at(&["extract", "key"]));
    data.chain(whole).map(|name| ObjectKey::new("", "Secret", namespace, name)).collect()
}
