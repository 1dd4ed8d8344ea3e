//! Stores of secrets, what is said of them, and what answers for them.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Said};
use crate::finding::Evidence;
use crate::limits;
use crate::links::{service, store};
use crate::node::Node;

const EXTERNAL: &str = "external-secrets.io";
const VAULT: &str = "secrets.hashicorp.com";

/// What stands between a store and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Vault is sealed, or was never initialised.
    Sealed,
    /// The backend knows who asks, and does not let them.
    Refused,
    /// The credentials are wrong.
    Credentials,
    /// Nobody answers.
    Unreachable,
    /// What is asked for is not there.
    NotFound,
}

const SEALED: [&str; 3] = ["vault is sealed", "vault is not initialized", "security barrier not initialized"];
const REFUSED: [&str; 12] = [
    "code: 403",
    "status code: 403",
    "statuscode: 403",
    "permission denied",
    "invalid role",
    "invalid issuer",
    "iss claim",
    "not authorized",
    "accessdenied",
    "access denied",
    "caller does not have permission",
    "service account unauthorized",
];
const CREDENTIALS: [&str; 10] = [
    "code: 401",
    "status code: 401",
    "authentication failed",
    "invalid username or password",
    "unauthorized",
    "invalidclienttokenid",
    "signaturedoesnotmatch",
    "invalid client secret",
    "bad credentials",
    "invalid token",
];
const NOT_FOUND: [&str; 11] = [
    "secret does not exist",
    "secret not found",
    "cannot find secret",
    "could not find secret",
    "no secret found",
    "resourcenotfoundexception",
    "secretnotfound",
    "can't find the specified secret",
    "cannot find property",
    "does not exist in data of secret",
    "does not exist in key",
];
pub(super) const UNREACHABLE: [&str; 12] = [
    "connection refused",
    "no such host",
    "i/o timeout",
    "context deadline exceeded",
    "no route to host",
    "network is unreachable",
    "connection reset",
    "code: 503",
    "code: 502",
    "503 service unavailable",
    "client.timeout exceeded",
    "server misbehaving",
];

/// Whether a text has one of some words in it, in any case.
pub(super) fn has(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// What a text about a store or what it holds means. A sealed Vault answers 503 and a missing role 403, so that the first one
/// that fits counts.
pub(super) fn trouble(text: &str) -> Option<Trouble> {
    let sorts = [
        (Trouble::Sealed, SEALED.as_slice()),
        (Trouble::Refused, &REFUSED),
        (Trouble::Credentials, &CREDENTIALS),
        (Trouble::NotFound, &NOT_FOUND),
        (Trouble::Unreachable, &UNREACHABLE),
    ];
    sorts.iter().find(|(_, words)| has(text, words)).map(|(trouble, _)| *trouble)
}

/// Whether something is a store of secrets, or read from one.
pub(super) fn is_of_secrets(key: &ObjectKey) -> bool {
    [EXTERNAL, VAULT].contains(&key.group.as_str())
}

/// A store, with what is said of it and of what is read from it.
pub(super) struct Backend<'c, 'a> {
    /// The cluster.
    pub(super) server: &'a str,
    /// The store.
    pub(super) key: ObjectKey,
    /// The store, if it is there.
    pub(super) store: Option<&'a Object>,
    /// What is said of it.
    pub(super) said: Vec<(&'c Said<'a>, Trouble)>,
}

impl Backend<'_, '_> {
    /// Its place in the graph.
    pub(super) fn node(&self) -> Node {
        Node::object(self.server, self.key.clone())
    }

    /// What is said of a sort of trouble.
    pub(super) fn told(&self, trouble: Trouble) -> impl Iterator<Item = &Said<'_>> {
        self.said.iter().filter(move |(_, found)| *found == trouble).map(|(said, _)| *said)
    }

    /// The services of the cluster that it asks.
    pub(super) fn services(&self) -> Vec<ObjectKey> {
        let Some(store) = self.store else { return Vec::new() };
        let part = if store.group() == VAULT { store.at(&["spec"]) } else { store.at(&["spec", "provider"]) };
        service::hosts(part).iter().filter_map(|host| service::named(host, store.namespace())).collect()
    }

    /// As people call it.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.key.kind, self.key.name)
    }
}

/// All stores of which something is said, in order.
pub(super) fn backends<'c, 'a>(case: &'c Case<'a>) -> Vec<Backend<'c, 'a>> {
    let mut found: BTreeMap<(&'a str, ObjectKey), Vec<(&'c Said<'a>, Trouble)>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| is_of_secrets(&said.about)) {
        let Some(trouble) = trouble(said.text) else { continue };
        let Some(key) = store_of(case, said.server, &said.about) else { continue };
        // That a Vault is sealed or away is true of all that it holds; what is not there is not there for one.
        found.entry((said.server, key)).or_default().push((said, trouble));
    }
    let backend = |((server, key), said): ((&'a str, ObjectKey), _)| {
        let store = case.live(server, &key);
        Backend { server, key, store, said }
    };
    found.into_iter().map(backend).collect()
}

/// The store that an object is, or reads.
fn store_of(case: &Case<'_>, server: &str, about: &ObjectKey) -> Option<ObjectKey> {
    if about.kind.ends_with("SecretStore") || about.kind == "VaultConnection" {
        return Some(about.clone());
    }
    let object = case.live(server, about)?;
    if about.group == EXTERNAL {
        let key = store::store_of(object);
        return (about.kind == "ExternalSecret" && !key.name.is_empty()).then_some(key);
    }
    Some(connection(case, server, object).unwrap_or_else(|| about.clone()))
}

/// The connection that an object of Vault's own operator uses, through what it authenticates with.
fn connection(case: &Case<'_>, server: &str, object: &Object) -> Option<ObjectKey> {
    let named = |holder: &Object, field: &str, kind: &str| {
        let name =
            holder.value().str_at(&["spec", field]).filter(|name| !name.is_empty()).unwrap_or("default");
        let (namespace, name) = name.split_once('/').unwrap_or((holder.namespace(), name));
        ObjectKey::new(VAULT, kind, namespace, name)
    };
    let auth = match object.kind() {
        "VaultAuth" => object,
        _ => case.live(server, &named(object, "vaultAuthRef", "VaultAuth"))?,
    };
    let key = named(auth, "vaultConnectionRef", "VaultConnection");
    case.live(server, &key).map(|_| key)
}

/// The workloads whose pods are behind a service.
pub(super) fn behind<'a>(case: &Case<'a>, server: &str, service: &ObjectKey) -> Vec<&'a Object> {
    let Some(service) = case.live(server, service) else { return Vec::new() };
    let owners = case.pod_owners(server);
    owners.filter(|owner| crate::links::service::is_behind(case, server, service, owner)).collect()
}

/// A few of the evidences of what was said, each text once.
pub(super) fn evidence<'c, 'a: 'c>(said: impl IntoIterator<Item = &'c Said<'a>>) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = Vec::new();
    for one in said {
        if found.len() < limits::EVIDENCE && !found.contains(&one.evidence) {
            found.push(one.evidence.clone());
        }
    }
    found
}
