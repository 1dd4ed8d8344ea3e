//! A backend of secrets that does not answer.

use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::backend::{Backend, Trouble, backends, evidence};
use crate::rules::missing_store;

pub(super) const RULE: Rule = Rule {
    code: "LYN0704",
    title: "The backend of a store of secrets does not answer",
    explanation: "\
The store has the right address as far as can be seen, and nobody answers there: the connection is refused, runs into a timeout,
or a proxy in between says 503.

## Why
The pods of the backend are not there or not ready, a network policy or firewall stands in the way, or the name is known only
elsewhere.

## Example
```
unable to log in to auth method: dial tcp 10.0.1.7:8200: connect: connection refused
```

## What to do
If the backend runs in a cluster that was looked at, what is wrong with its pods is found too, and is the thing to mend. Otherwise
find out from inside the cluster whether the address answers.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for backend in backends(case) {
        let others = [Trouble::Sealed, Trouble::Refused];
        let is_other = others.iter().any(|other| backend.told(*other).next().is_some());
        let is_lost =
            backend.store.is_some_and(|store| missing_store::lost(case, backend.server, store).is_some());
        if !is_other && !is_lost && backend.told(Trouble::Unreachable).next().is_some() {
            findings.add(found(case, &backend));
        }
    }
}

fn found(case: &Case<'_>, backend: &Backend<'_, '_>) -> Finding {
    let told: Vec<_> = backend.told(Trouble::Unreachable).collect();
    let services = backend.services();
    let whom = match services.first() {
        Some(service) => format!("Service {}/{}", service.namespace, service.name),
        None => "its backend".to_owned(),
    };
    let cause = format!("{} cannot reach {whom}", backend.name());
    let fix = Fix::new("Have the backend answer")
        .person(format!("Find out from inside the cluster why {whom} does not answer, and mend that."))
        .risk(Risk::Low, format!("what is read through {}", backend.name()))
        .verify("kubectl get secretstores,clustersecretstores -A");
    Finding::new(RULE.code, backend.node(), cause)
        .of(case.owner(backend.server, &backend.key))
        .seen(evidence(told.iter().copied()))
        .affects(told.iter().map(|said| said.node.clone()).filter(|node| *node != backend.node()))
        .because(services.iter().map(|service| case.node(backend.server, service)))
        .unless_deeper()
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const AWAY: &str = "
@app secrets Synced Degraded
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
@live
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
spec: {provider: {vault: {server: 'http://vault.core.svc:8200'}}}
status:
  conditions:
  - {type: Ready, status: 'False', reason: InvalidProviderConfig, message: 'dial tcp 10.0.1.7:8200: connect: connection refused'}
---
apiVersion: v1
kind: Service
metadata: {name: vault, namespace: core}
spec: {selector: {app: vault}}
";

    #[test]
    fn a_backend_that_refuses_connections_is_found() {
        assert_eq!(
            check("LYN0704", AWAY),
            "P1 LYN0704/secrets/SecretStore/vault: SecretStore vault cannot reach Service core/vault\n  SecretStore shop/vault: status.conditions: dial tcp 10.0.1.7:8200: connect: connection refused\n  fix: Have the backend answer\n"
        );
    }

    #[test]
    fn what_is_wrong_with_its_pods_is_the_deeper_cause() {
        let text = format!(
            "{AWAY}---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: vault, namespace: core, uid: s1}}
spec: {{replicas: 1, template: {{metadata: {{labels: {{app: vault}}}}, spec: {{containers: [{{name: vault, image: vault}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: vault-0, namespace: core, ownerReferences: [{{kind: StatefulSet, name: vault, uid: s1, controller: true}}]}}
spec: {{containers: [{{name: vault, image: vault}}]}}
status:
  phase: Running
  containerStatuses: [{{name: vault, restartCount: 9, state: {{waiting: {{reason: CrashLoopBackOff}}}}, lastState: {{terminated: {{exitCode: 2, message: no storage}}}}}}]
"
        );
        assert_eq!(roots(&text), "P1 LYN0901/core/StatefulSet/vault explains secrets\n");
    }

    #[test]
    fn a_service_that_is_nowhere_is_another_trouble() {
        let lost = AWAY
            .replace("connect: connection refused", "no such host")
            .replace("namespace: core}\nspec", "namespace: else}\nspec");
        assert_eq!(check("LYN0704", &lost), "");
    }
}
