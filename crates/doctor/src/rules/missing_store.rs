//! A store of secrets that asks where nobody is, or that is not there itself.

use lynceus_object::{FieldPath, Object, ObjectKey, Value, value};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::{service, store};
use crate::node::Node;
use crate::rules::{Rule, near};
use crate::words;

const GROUP: &str = "external-secrets.io";

pub(super) const RULE: Rule = Rule {
    code: "LYN0701",
    title: "A store of secrets points at something that is not there",
    explanation: "\
A SecretStore asks a service that does not exist, often in a namespace that does not exist; or an ExternalSecret names a store that
does not exist. No Secret comes from it, and pods that need those Secrets do not start.

## Why
The backend was moved to another namespace or is deployed once per environment, and the store still has the old address. Or a
store was replaced by one of the other kind (SecretStore, ClusterSecretStore) and what reads it was not changed.

## Example
```
ClusterSecretStore vault: spec.provider.vault.server: http://vault.vault.svc:8200
there is no Namespace vault; Service vault is in the namespaces dev, staging and prod
```

## What to do
Let the store point at the service where it is. Where there is one backend for each environment, use a SecretStore in each of
their namespaces instead of one ClusterSecretStore.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for kind in ["SecretStore", "ClusterSecretStore"] {
            for store in case.of_kind(server, GROUP, kind).iter().filter(|store| case.is_unwell(store)) {
                if let Some(finding) = astray(case, server, store) {
                    findings.add(finding);
                }
            }
        }
        for finding in absent(case, server) {
            findings.add(finding);
        }
    }
}

/// The service that a store asks and that is nowhere.
pub(super) fn lost<'a>(
    case: &Case<'_>,
    server: &str,
    store: &'a Object,
) -> Option<(ObjectKey, FieldPath, &'a str)> {
    let provider = store.at(&["spec", "provider"])?;
    let mut texts = Vec::new();
    walk(provider, &FieldPath::fields(["spec", "provider"]), &mut texts);
    texts.into_iter().find_map(|(path, text)| {
        let host = service::hosts_in(text).into_iter().find(|host| host.contains('.'))?;
        let key = service::named(&host, store.namespace())?;
        // `vault.example` may be anywhere; it is of the cluster if it says so, or if its namespace is there.
        let namespace = ObjectKey::new("", "Namespace", "", key.namespace.clone());
        let is_inside = host.contains(".svc") || case.live(server, &namespace).is_some();
        let is_lost = case.is_nowhere(server, &key);
        (is_inside && is_lost).then_some((key, path, text))
    })
}

fn walk<'a>(value: &'a Value, path: &FieldPath, texts: &mut Vec<(FieldPath, &'a str)>) {
    match value {
        Value::Map(map) => map.iter().for_each(|(field, part)| walk(part, &path.field(field.clone()), texts)),
        Value::Seq(items) => {
            items.iter().enumerate().for_each(|(place, item)| walk(item, &path.index(place), texts));
        }
        _ => texts.extend(value.as_str().map(|text| (path.clone(), text))),
    }
}

fn astray(case: &Case<'_>, server: &str, store: &Object) -> Option<Finding> {
    let (service, path, address) = lost(case, server, store)?;
    let key = store.key();
    let namespace = ObjectKey::new("", "Namespace", "", service.namespace.clone());
    let what = match case.is_nowhere(server, &namespace) {
        true => format!("there is no namespace {}", service.namespace),
        false => format!("there is no Service {} in namespace {}", service.name, service.namespace),
    };
    let mut others = elsewhere(case, server, &service);
    let own = case.owner(server, &key).map(|app| app.name.to_string()).unwrap_or_default();
    if let Some(own) = kindred(&others, &[&key.namespace, &own]) {
        others = vec![own];
    }
    let where_else = match others.as_slice() {
        [] => String::new(),
        others => {
            let places = others.iter().map(|one| format!("{}/{}", one.namespace, one.name));
            format!("; there is Service {}", words::list(places))
        }
    };
    let cause = format!("{} {} asks {address}, and {what}{where_else}", key.kind, key.name);
    let seen = Evidence::Field { object: key.clone(), path: path.clone(), value: address.to_owned() };
    let owner = case.owner(server, &key);
    let fixes = owner.as_ref().map(|app| {
        let fix = Fix::new(format!("Let {} {} ask where the backend is", key.kind, key.name))
            .risk(Risk::Low, format!("what is read through {} {}", key.kind, key.name))
            .verify(format!("kubectl get {} {} -o wide", key.kind.to_lowercase(), key.name));
        match others.as_slice() {
            [other] => {
                let new = moved(address, &service, other);
                fix.git(app, Place::Field { object: key.clone(), path, value: Some(new.as_str().into()) })
            }
            [] => fix.person(format!("Deploy what {address} should be, or correct {path} where it comes from.")),
            _ if key.kind == "SecretStore" => fix.person(format!(
                "Let {path} of SecretStore {} in namespace {} name the one that is meant.",
                key.name, key.namespace
            )),
            _ => fix.person(format!(
                "There are several backends. Replace {} {} by a SecretStore in each namespace that points at its own one, \
                 and have the ExternalSecrets name it.",
                key.kind, key.name
            )),
        }
    });
    let finding = Finding::new(RULE.code, Node::object(server, key.clone()), cause).of(owner).seen([seen]);
    Some(finding.seen(case.event(server, &key, &["InvalidProviderConfig", "ValidationFailed"])).fix(fixes))
}

/// Services of the same name, or behind the same port, in other namespaces.
fn elsewhere(case: &Case<'_>, server: &str, lost: &ObjectKey) -> Vec<ObjectKey> {
    let services = case.of_kind(server, "", "Service").iter().map(|service| service.key());
    let mut found: Vec<ObjectKey> = services.filter(|key| key.name == lost.name).collect();
    found.sort();
    found
}

/// The one of several that is for the same environment, by a word that only its namespace has in common with names of the store.
fn kindred(others: &[ObjectKey], names: &[&str]) -> Option<ObjectKey> {
    let words = |name: &str| name.split(['-', '.', '_']).map(str::to_owned).collect::<Vec<_>>();
    let own: Vec<String> = names.iter().flat_map(|name| words(name)).collect();
    let shares = |other: &ObjectKey| {
        let is_own = |word: &String| !word.is_empty() && own.contains(word);
        let is_others = |word: &String| others.iter().all(|one| words(&one.namespace).contains(word));
        words(&other.namespace).iter().any(|word| is_own(word) && !is_others(word))
    };
    let mut found = others.iter().filter(|_| others.len() > 1).filter(|other| shares(other));
    let only = found.next()?;
    found.next().is_none().then(|| only.clone())
}

/// An address with another service in it.
fn moved(address: &str, old: &ObjectKey, new: &ObjectKey) -> String {
    address.replacen(
        &format!("{}.{}", old.name, old.namespace),
        &format!("{}.{}", new.name, new.namespace),
        1,
    )
}

/// Stores that are named and are not there, each once with all that names it.
fn absent(case: &Case<'_>, server: &str) -> Vec<Finding> {
    let mut named: std::collections::BTreeMap<ObjectKey, Vec<&Object>> = std::collections::BTreeMap::new();
    for secret in case.of_kind(server, GROUP, "ExternalSecret") {
        let key = store::store_of(secret);
        if !key.name.is_empty() && case.is_nowhere(server, &key) && case.is_unwell(secret) {
            named.entry(key).or_default().push(secret);
        }
    }
    named.into_iter().map(|(key, users)| nowhere(case, server, &key, &users)).collect()
}

fn nowhere(case: &Case<'_>, server: &str, key: &ObjectKey, users: &[&Object]) -> Finding {
    let names = words::list(users.iter().map(|user| format!("{}/{}", user.namespace(), user.name())));
    let other = namesake(case, server, key, users);
    let near = near_store(case, server, key).filter(|_| other.is_none());
    let hint = match (&other, near) {
        (Some(other), _) => format!("; there is a {} of that name", other.kind),
        (None, Some(near)) => format!("; there is {near}"),
        (None, None) => String::new(),
    };
    let cause = format!(
        "there is no {} {}{}{}, which {} {names} {} from{hint}",
        key.kind,
        key.name,
        if key.namespace.is_empty() { String::new() } else { format!(" in namespace {}", key.namespace) },
        case.of_cluster(server),
        if users.len() == 1 { "ExternalSecret" } else { "the ExternalSecrets" },
        if users.len() == 1 { "reads" } else { "read" }
    );
    let owner = users.first().and_then(|user| case.owner(server, &user.key()));
    let seen = users.iter().take(crate::limits::NAMED).map(|user| Evidence::Field {
        object: user.key(),
        path: FieldPath::fields(["spec", "secretStoreRef"]),
        value: user.at(&["spec", "secretStoreRef"]).map(words::shown).unwrap_or_default(),
    });
    let add = Fix::new(format!("Add {} {}", key.kind, key.name)).person(format!(
        "Add {} {} to Git, or correct the name in spec.secretStoreRef of what reads from it.",
        key.kind, key.name
    ));
    let (set, add) = match (&other, near) {
        (Some(other), _) => {
            let title = format!("Read from {} {}", other.kind, other.name);
            (Some(set(case, server, title, ("kind", other.kind.as_str()), users)), None)
        }
        (None, Some(near)) => {
            let title = format!("Read from {} {near}", key.kind);
            let fix = set(case, server, title, ("name", near), users);
            (Some(fix).filter(Fix::has_edits), Some(add))
        }
        (None, None) => (None, Some(add)),
    };
    Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(owner)
        .seen(seen)
        .affects(users.iter().map(|user| case.node(server, &user.key())))
        .fix(set.into_iter().chain(add).map(|fix| fix.verify("kubectl get externalsecrets -A")))
}

/// Has what reads from a store name another one, or another kind of it.
fn set(case: &Case<'_>, server: &str, title: String, (field, value): (&str, &str), users: &[&Object]) -> Fix {
    let fix = users.iter().fold(Fix::new(title), |fix, user| match case.owner(server, &user.key()) {
        Some(app) => {
            let path = FieldPath::fields(["spec", "secretStoreRef", field]);
            fix.git(&app, Place::Field { object: user.key(), path, value: Some(value!((value))) })
        }
        None => fix,
    });
    fix.risk(Risk::Low, "the Secrets that are made of them")
}

/// A store of the same kind and namespace, there or wanted, that is called almost so.
fn near_store<'a>(case: &Case<'a>, server: &str, key: &ObjectKey) -> Option<&'a str> {
    let live = case.of_kind(server, GROUP, &key.kind).iter().copied();
    let apps = case.apps().filter(|app| app.server() == server);
    let wanted = apps.flat_map(|app| app.wanted()).map(|wanted| &wanted.object);
    let wanted = wanted.filter(|one| (one.group(), one.kind()) == (GROUP, key.kind.as_str()));
    let beside = live.chain(wanted).filter(|one| one.namespace() == key.namespace.as_str());
    near::likely(&key.name, beside.map(Object::name))
}

/// A store of the same name and the other kind that all of the users could read.
fn namesake(case: &Case<'_>, server: &str, key: &ObjectKey, users: &[&Object]) -> Option<ObjectKey> {
    if key.kind == "SecretStore" {
        let other = ObjectKey::new(GROUP, "ClusterSecretStore", "", key.name.clone());
        return case.live(server, &other).map(|_| other);
    }
    let own = |user: &&Object| ObjectKey::new(GROUP, "SecretStore", user.namespace(), key.name.clone());
    let all = users.iter().all(|user| case.live(server, &own(user)).is_some());
    users.first().filter(|_| all).map(own)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const ASTRAY: &str = "
@app secrets Synced Degraded
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec: {provider: {vault: {server: 'http://vault.vault.svc.cluster.local:8200'}}}
@live
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec: {provider: {vault: {server: 'http://vault.vault.svc.cluster.local:8200'}}}
status: {conditions: [{type: Ready, status: 'False', reason: InvalidProviderConfig, message: unable to validate store}]}
---
apiVersion: v1
kind: Service
metadata: {name: vault, namespace: dev}
";

    #[test]
    fn a_store_that_asks_in_a_namespace_that_is_not_there_is_found() {
        assert_eq!(
            check("LYN0701", ASTRAY),
            "P1 LYN0701/secrets/ClusterSecretStore/vault: ClusterSecretStore vault asks http://vault.vault.svc.cluster.local:8200, and there is no namespace vault; there is Service dev/vault\n  ClusterSecretStore vault: spec.provider.vault.server: http://vault.vault.svc.cluster.local:8200\n  fix: Let ClusterSecretStore vault ask where the backend is\n"
        );
    }

    #[test]
    fn of_several_services_the_one_of_the_same_environment_is_meant() {
        let of = |namespace: &str| {
            format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: vault, namespace: {namespace}}}\n")
        };
        let own = ASTRAY
            .replace("ClusterSecretStore", "SecretStore")
            .replace("{name: vault}\nspec: {prov", "{name: vault, namespace: app-dev}\nspec: {prov")
            .replace("namespace: dev", "namespace: vault-dev");
        let text = format!("{own}{}", of("vault-prod"));
        assert!(
            check("LYN0701", &text)
                .contains("there is no namespace vault; there is Service vault-dev/vault\n")
        );
        let unclear = text.replace("namespace: app-dev", "namespace: app");
        assert!(
            check("LYN0701", &unclear).contains("there is Service vault-dev/vault and vault-prod/vault\n")
        );
    }

    #[test]
    fn a_store_that_names_a_service_that_is_there_is_not() {
        assert_eq!(check("LYN0701", &ASTRAY.replace("namespace: dev", "namespace: vault")), "");
    }

    #[test]
    fn a_service_that_an_application_is_going_to_make_is_not_missing() {
        let planned = ASTRAY.replace(
            "@live\n",
            "---\napiVersion: v1\nkind: Service\nmetadata: {name: vault, namespace: vault}\n@live\n",
        );
        assert_eq!(check("LYN0701", &planned), "");
    }

    #[test]
    fn a_store_outside_of_the_cluster_is_not_missing() {
        assert_eq!(
            check("LYN0701", &ASTRAY.replace("vault.vault.svc.cluster.local", "vault.example.com")),
            ""
        );
    }

    #[test]
    fn a_store_that_is_called_almost_so_is_named_where_that_is_written() {
        let text = "
@app tariffs Synced Degraded
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: tariffs}
spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault-backed}}
@live
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: tariffs}
spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault-backed}}
status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get store}]}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault-backend}
status: {conditions: [{type: Ready, status: 'True'}]}
";
        assert!(
            check("LYN0701", text).contains("ExternalSecret tariffs/db reads from; there is vault-backend\n")
        );
        let fixes = crate::tests::roots_with_fixes(text);
        assert!(
            fixes.contains(
                "  Read from ClusterSecretStore vault-backend\n    in the files of tariffs: set spec.secretStoreRef.name of \
                 ExternalSecret db to \"vault-backend\"\n  Add ClusterSecretStore vault-backed\n"
            ),
            "{fixes}"
        );
        let other = check("LYN0701", &text.replace("vault-backend", "infisical"));
        assert!(other.contains("reads from\n") && !other.contains("fix: Read from"), "{other}");
    }

    #[test]
    fn a_store_that_is_named_and_nowhere_is_found_once() {
        let one = |name: &str| {
            format!(
                "---\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: {name}, namespace: shop}}\n\
                 spec: {{secretStoreRef: {{kind: ClusterSecretStore, name: old}}}}\nstatus: {{conditions: [{{type: Ready, status: \
                 'False', reason: SecretSyncedError, message: could not get secret data from provider}}]}}\n"
            )
        };
        let store = "---\napiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: old, namespace: shop}\n";
        assert_eq!(
            check("LYN0701", &format!("@live\n{}{}{store}", one("a"), one("b"))),
            "P1 LYN0701/-/ClusterSecretStore/old: there is no ClusterSecretStore old, which the ExternalSecrets shop/a and shop/b read from; there is a SecretStore of that name\n  ExternalSecret shop/a: spec.secretStoreRef: {\"kind\":\"ClusterSecretStore\",\"name\":\"old\"}\n  ExternalSecret shop/b: spec.secretStoreRef: {\"kind\":\"ClusterSecretStore\",\"name\":\"old\"}\n  fix: Read from SecretStore old\n"
        );
    }
}
