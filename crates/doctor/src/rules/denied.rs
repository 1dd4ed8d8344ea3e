//! An object that a policy or a webhook denies.

use std::collections::BTreeMap;

use lynceus_object::ObjectKey;

use crate::case::{Case, Said};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0805",
    title: "A policy denies it",
    explanation: "\
An admission webhook or a ValidatingAdmissionPolicy looked at the object and said no. It stays as it was, or is not made at all.

## Why
The cluster has rules of its own, for labels, images, resources or anything else, and what Git wants does not keep them. Webhooks of
operators also deny what their kinds do not allow.

## Example
```
admission webhook \"validate.kyverno.svc-fail\" denied the request: resource Deployment/shop/web was blocked: label team is required
```

## What to do
Change the object so that it keeps the rule. Ask for an exception where it cannot.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut denied: BTreeMap<(&str, ObjectKey), Vec<(&Said<'_>, Denial<'_>)>> = BTreeMap::new();
    for said in case.said() {
        let Some(denial) = denial(said.text) else { continue };
        let key = said.node.key().cloned().unwrap_or_else(|| said.about.clone());
        denied.entry((said.server, key)).or_default().push((said, denial));
    }
    for ((server, key), said) in denied {
        findings.add(found(case, server, key, &said));
    }
}

struct Denial<'a> {
    by: String,
    why: &'a str,
}

fn denial(text: &str) -> Option<Denial<'_>> {
    if let Some((_, rest)) = text.split_once("admission webhook \"") {
        let (name, rest) = rest.split_once('"')?;
        let why = rest.split_once("denied the request")?.1.trim_start_matches([':', ' ']);
        return Some(Denial { by: format!("the admission webhook {name}"), why });
    }
    let (_, rest) = text.split_once("ValidatingAdmissionPolicy '")?;
    let (name, rest) = rest.split_once('\'')?;
    let why = rest.split_once("denied request")?.1.trim_start_matches([':', ' ']);
    Some(Denial { by: format!("ValidatingAdmissionPolicy {name}"), why })
}

fn found(case: &Case<'_>, server: &str, key: ObjectKey, said: &[(&Said<'_>, Denial<'_>)]) -> Finding {
    let (by, why) = said.first().map(|(_, denial)| (denial.by.as_str(), denial.why)).unwrap_or_default();
    let cause = format!("{by} denies {} {}: {}", key.kind, key.name, words::quote(why));
    let app = said.iter().find_map(|(said, _)| said.app.clone()).or_else(|| case.owner(server, &key));
    let fix = Fix::new(format!("Change {} {} so that {by} lets it in", key.kind, key.name))
        .person(format!(
            "Change {} {} in Git according to what is said: {}",
            key.kind,
            key.name,
            words::quote(why)
        ))
        .risk(Risk::Low, format!("{} {}", key.kind, key.name));
    let node = match said.first() {
        Some((said, _)) => said.node.clone(),
        None => Node::object(server, key),
    };
    Finding::new(RULE.code, node, cause).of(app).seen(evidence(said.iter().map(|(said, _)| *said))).fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const DENIED: &str = "
@app shop OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: SyncFailed, message: 'admission webhook \"policies.example.com\" denied the request: label team is required'}]}}}
";

    #[test]
    fn an_object_that_a_webhook_denies_is_found() {
        assert_eq!(
            check("LYN0805", DENIED),
            "P1 LYN0805/shop/Deployment/web: the admission webhook policies.example.com denies Deployment web: label team is required\n  status of shop: Deployment web: admission webhook \"policies.example.com\" denied the request: label team is required\n  fix: Change Deployment web so that the admission webhook policies.example.com lets it in\n"
        );
    }

    #[test]
    fn an_object_that_a_policy_denies_is_found() {
        let policy = DENIED.replace(
            "admission webhook \"policies.example.com\" denied the request: label team is required",
            "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy \\'p\\' with binding \\'b\\' denied request: too many replicas",
        );
        let policy = policy.replace("\\'", "''");
        assert!(check("LYN0805", &policy).starts_with("P1 LYN0805/shop/Deployment/web: ValidatingAdmissionPolicy p denies Deployment web: too many replicas\n"));
    }

    #[test]
    fn a_webhook_that_does_not_answer_denies_nothing() {
        let away = DENIED.replace(
            "admission webhook \"policies.example.com\" denied the request",
            "failed calling webhook \"policies.example.com\"",
        );
        assert_eq!(check("LYN0805", &away), "");
    }
}
