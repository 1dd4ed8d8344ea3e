//! A Vault that is sealed, or was never initialised.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, message};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::{Trouble, backends, behind, evidence, has};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0702",
    title: "Vault is sealed",
    explanation: "\
Vault runs and answers 503 to everything, because it is sealed. Every store that asks it is invalid, and no Secret is made or
brought up to date.

## Why
Vault is sealed whenever it starts. Without auto-unseal somebody, or a Job, has to unseal it after each restart of its pods.

## Example
```
unable to log in with Kubernetes auth: Error making API request.
Code: 503. Errors:
* Vault is sealed
```

## What to do
Unseal each pod with the unseal keys. Configure auto-unseal, or a job that unseals after restarts, so that it does not come back.
",
    check,
};

/// What is known of one Vault.
#[derive(Default)]
struct Vault {
    stores: Vec<(Node, String)>,
    evidence: Vec<Evidence>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut vaults: BTreeMap<(&str, ObjectKey), Vault> = BTreeMap::new();
    for backend in backends(case) {
        let seen = evidence(backend.told(Trouble::Sealed));
        if seen.is_empty() {
            continue;
        }
        let found = backend.services().iter().find_map(|service| answering(case, backend.server, service));
        let vault = vaults.entry((backend.server, found.unwrap_or_else(|| backend.key.clone()))).or_default();
        vault.stores.push((backend.node(), backend.name()));
        vault.evidence.extend(seen);
    }
    for server in case.servers() {
        for (key, seen) in pods(case, server) {
            vaults.entry((server, key)).or_default().evidence.push(seen);
        }
    }
    for ((server, key), vault) in vaults {
        findings.add(found(case, server, key, vault));
    }
}

/// The workload that answers for a service, or the service where that cannot be told.
fn answering(case: &Case<'_>, server: &str, service: &ObjectKey) -> Option<ObjectKey> {
    let workload = behind(case, server, service).first().map(|owner| owner.key());
    workload.or_else(|| case.live(server, service).map(|_| service.clone()))
}

/// Pods that say themselves that they are sealed: by Vault's own label, or by the words of `vault status` in a failed probe.
fn pods(case: &Case<'_>, server: &str) -> Vec<(ObjectKey, Evidence)> {
    let mut found = Vec::new();
    for pod in case.of_kind(server, "", "Pod").iter().filter(|pod| !is_ready(pod)) {
        let owner = || case.top(server, pod).key();
        if pod.label("vault-sealed") == Some("true") {
            found.push((
                owner(),
                Evidence::seen(format!("Pod {} has the label vault-sealed=true", pod.name())),
            ));
        } else if case.events(server, &pod.key()).iter().any(|event| says_sealed(message(event))) {
            found.extend(case.event(server, &pod.key(), &["Unhealthy"]).map(|event| (owner(), event)));
        }
    }
    found
}

fn is_ready(pod: &Object) -> bool {
    crate::case::condition(pod, "Ready") == Some("True")
}

/// The table that `vault status` prints, or the words of an answer.
fn says_sealed(text: &str) -> bool {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&line, &["sealed true", "vault is sealed"])
}

fn found(case: &Case<'_>, server: &str, key: ObjectKey, vault: Vault) -> Finding {
    let is_new =
        vault.evidence.iter().any(|seen| has(&seen.to_string(), &["not initialized", "initialized false"]));
    let what = if is_new { "was never initialised, and is sealed" } else { "is sealed" };
    let stores = words::list(vault.stores.iter().map(|(_, name)| name));
    let cause = match stores.as_str() {
        "" => format!("the Vault of {} {} {what}", key.kind, key.name),
        stores if key.kind.ends_with("Store") => format!("the Vault that {stores} asks {what}"),
        stores => format!("the Vault of {} {} {what}; it answers 503 to {stores}", key.kind, key.name),
    };
    let mut seen = vault.evidence;
    seen.truncate(crate::limits::EVIDENCE);
    let step = match key.kind.as_str() {
        "StatefulSet" | "Deployment" => format!(
            "Unseal each pod of {} {} with the unseal keys: kubectl -n {} exec -it {}-0 -- vault operator unseal",
            key.kind, key.name, key.namespace, key.name
        ),
        _ => "Unseal Vault with the unseal keys: vault operator unseal".to_owned(),
    };
    let step = if is_new { format!("Initialise Vault first: vault operator init. {step}") } else { step };
    let fix = Fix::new("Unseal Vault")
        .person(step)
        .risk(Risk::Low, "everything that reads from this Vault goes on")
        .why("only those who hold the keys can do it")
        .verify("kubectl get secretstores,clustersecretstores -A");
    let owner = case.owner(server, &key);
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(owner)
        .seen(seen)
        .affects(vault.stores.into_iter().map(|(node, _)| node))
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    pub(super) const SEALED: &str = "
@live
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
spec: {provider: {vault: {server: 'http://vault.core.svc:8200'}}}
status: {conditions: [{type: Ready, status: 'False', reason: InvalidProviderConfig, message: unable to validate store}]}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: shop}
involvedObject: {kind: SecretStore, namespace: shop, name: vault}
type: Warning
reason: InvalidProviderConfig
message: |-
  unable to log in with Kubernetes auth: Error making API request.

  Code: 503. Errors:

  * Vault is sealed
---
apiVersion: v1
kind: Service
metadata: {name: vault, namespace: core}
spec: {selector: {app: vault}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: core, uid: v1}
spec:
  template:
    metadata: {labels: {app: vault}}
    spec: {containers: [{name: vault, image: vault}]}
";

    #[test]
    fn a_sealed_vault_is_found_behind_the_service_that_a_store_asks() {
        assert_eq!(
            check("LYN0702", SEALED),
            "P1 LYN0702/core/StatefulSet/vault: the Vault of StatefulSet vault is sealed; it answers 503 to SecretStore vault\n  event InvalidProviderConfig of SecretStore shop/vault: unable to log in with Kubernetes auth: Error making API request. Code: 503. Errors: * Vault is sealed\n  fix: Unseal Vault\n"
        );
    }

    #[test]
    fn two_stores_of_one_vault_are_one_trouble() {
        let (_, store) = SEALED.split_once("@live\n").unwrap();
        let (store, _) = store.split_once("---\napiVersion: v1\nkind: Service").unwrap();
        let other = store.replace("namespace: shop", "namespace: other");
        let found = check("LYN0702", &format!("{SEALED}---\n{other}"));
        assert_eq!(found.matches("LYN0702").count(), 1, "{found}");
        assert!(found.contains("SecretStore vault and SecretStore vault"), "{found}");
    }

    #[test]
    fn a_probe_that_prints_the_status_of_vault_says_it_too() {
        let text = "
@live
apiVersion: v1
kind: Pod
metadata: {name: vault-0, namespace: core}
spec: {containers: [{name: vault, image: vault}]}
status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: core}
involvedObject: {kind: Pod, namespace: core, name: vault-0}
type: Warning
reason: Unhealthy
message: \"Readiness probe failed: Key  Value\\n---  -----\\nInitialized  false\\nSealed  true\"
";
        assert_eq!(
            check("LYN0702", text),
            "P1 LYN0702/core/Pod/vault-0: the Vault of Pod vault-0 was never initialised, and is sealed\n  event Unhealthy of Pod core/vault-0: Readiness probe failed: Key Value --- ----- Initialized false Sealed true\n  fix: Unseal Vault\n"
        );
    }

    #[test]
    fn a_store_that_is_well_again_is_not_found_for_an_old_event() {
        let mended = SEALED.replace(
            "status: 'False', reason: InvalidProviderConfig, message: unable to validate store",
            "status: 'True'",
        );
        assert_eq!(check("LYN0702", &mended), "");
    }

    #[test]
    fn another_503_is_another_trouble() {
        assert_eq!(check("LYN0702", &SEALED.replace("* Vault is sealed", "* upstream is away")), "");
    }
}
