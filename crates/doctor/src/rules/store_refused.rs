//! A backend of secrets that knows who asks and does not let them.

use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::backend::{Backend, Trouble, backends, evidence, has};

pub(super) const RULE: Rule = Rule {
    code: "LYN0703",
    title: "The backend of a store of secrets refuses who asks",
    explanation: "\
The backend answers, and says no: the store logs in with a role or account that does not exist there, may not be used from this
namespace, or may not read what is asked for.

## Why
The role is bound to other service accounts or namespaces than those that ask now, the backend checks an issuer that the cluster
does not have, or a policy lacks the path. Often an environment was added and the backend was not told.

## Example
```
unable to log in with Kubernetes auth: Error making API request.
Code: 403. Errors:
* permission denied
```

## What to do
Look at the role that the store names, in the backend: its service accounts, its namespaces, its policies. For Vault's Kubernetes
login look at the issuer too. A backend that cannot be reached says so in other words; then this is not the place to look.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for backend in backends(case) {
        let is_sealed = backend.told(Trouble::Sealed).next().is_some();
        if !is_sealed && backend.told(Trouble::Refused).next().is_some() {
            findings.add(found(case, &backend));
        }
    }
}

fn found(case: &Case<'_>, backend: &Backend<'_, '_>) -> Finding {
    let role = backend.store.and_then(role);
    let who = role.map(|role| format!(" as {role}")).unwrap_or_default();
    let told: Vec<_> = backend.told(Trouble::Refused).collect();
    let why = told.iter().find_map(|said| reason(said.text)).unwrap_or("permission denied");
    let cause = format!("the backend of {} refuses who asks{who}: {why}", backend.name());
    let key = &backend.key;
    let place = if key.namespace.is_empty() { String::new() } else { format!(" -n {}", key.namespace) };
    let fix = Fix::new(format!("Let {} in at its backend", backend.name()))
        .person(format!(
            "In the backend, give the role or account that {} uses{who} the service account, namespace and paths that ask now; \
             for Vault: vault read auth/kubernetes/role/ROLE, vault read auth/kubernetes/config.",
            backend.name()
        ))
        .risk(Risk::Medium, "who may read which secrets")
        .why("what the backend allows does not stand in Git")
        .verify(format!("kubectl{place} get {} {} -o yaml", key.kind.to_lowercase(), key.name));
    Finding::new(RULE.code, backend.node(), cause)
        .of(case.owner(backend.server, key))
        .seen(evidence(told.iter().copied()))
        .affects(told.iter().map(|said| said.node.clone()).filter(|node| *node != backend.node()))
        .fix([fix])
}

/// The role that a store logs in with.
fn role(store: &lynceus_object::Object) -> Option<String> {
    let vault = store.at(&["spec", "provider", "vault", "auth"])?;
    let methods = vault.as_map()?.iter();
    methods.filter_map(|(_, method)| method.str_at(&["role"])).map(|role| format!("role {role}")).next()
}

/// The words that tell most.
fn reason(text: &str) -> Option<&str> {
    let words = [
        "invalid role name",
        "invalid role",
        "invalid issuer",
        "not authorized",
        "permission denied",
        "access denied",
    ];
    words.into_iter().find(|word| has(text, &[word]))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const REFUSED: &str = "
@app secrets Synced Degraded
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
@live
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
spec: {provider: {vault: {server: 'http://vault.core.svc:8200', auth: {kubernetes: {role: reader}}}}}
status: {conditions: [{type: Ready, status: 'False', reason: InvalidProviderConfig, message: unable to validate store}]}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: shop}
involvedObject: {kind: SecretStore, namespace: shop, name: vault}
type: Warning
reason: InvalidProviderConfig
message: 'unable to log in with Kubernetes auth: Error making API request. Code: 403. Errors: * permission denied'
";

    #[test]
    fn a_store_that_is_refused_is_found() {
        assert_eq!(
            check("LYN0703", REFUSED),
            "P1 LYN0703/secrets/SecretStore/vault: the backend of SecretStore vault refuses who asks as role reader: permission denied\n  event InvalidProviderConfig of SecretStore shop/vault: unable to log in with Kubernetes auth: Error making API request. Code: 403. Errors: * permission denied\n  fix: Let SecretStore vault in at its backend\n"
        );
    }

    #[test]
    fn a_backend_that_does_not_answer_does_not_refuse() {
        let away =
            REFUSED.replace("Code: 403. Errors: * permission denied", "Code: 503. Errors: * Vault is sealed");
        assert_eq!(check("LYN0703", &away), "");
        let away = REFUSED.replace("Code: 403. Errors: * permission denied", "connection refused");
        assert_eq!(check("LYN0703", &away), "");
    }
}
