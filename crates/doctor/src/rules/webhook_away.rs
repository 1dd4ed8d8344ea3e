//! An admission webhook that does not answer.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Said};
use crate::finding::{Finding, Findings};
use crate::fix::{Action, Fix, Risk};
use crate::links::service;
use crate::node::Node;
use crate::rules::backend::evidence;
use crate::rules::{Rule, near};
use crate::words;

const GROUP: &str = "admissionregistration.k8s.io";

pub(super) const RULE: Rule = Rule {
    code: "LYN0804",
    title: "An admission webhook does not answer",
    explanation: "\
The API server asks a webhook before it takes an object, and the webhook does not answer. With failurePolicy Fail nothing that the
webhook looks at can be made or changed, whoever asks for it.

## Why
The pods behind the webhook's service are not ready or were removed while the configuration stayed, or the certificate in the
configuration is not the one that the webhook shows.

## Example
```
Internal error occurred: failed calling webhook \"webhook.cert-manager.io\": failed to call webhook: Post
\"https://cert-manager-webhook.cert-manager.svc:443/validate?timeout=30s\": dial tcp 10.0.3.4:443: connect: connection refused
```

## What to do
Bring the pods behind the webhook up. If the webhook is no longer there at all, remove its configuration.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut away: BTreeMap<(&str, &str), Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said() {
        if let Some(name) = called(said.text) {
            away.entry((said.server, name)).or_default().push(said);
        }
    }
    if away.is_empty() {
        return;
    }
    for ((server, name), said) in away {
        findings.add(found(case, server, name, &said));
    }
}

/// The name of the webhook that was called and did not answer.
fn called(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("failed calling webhook \"")?;
    rest.split('"').next().filter(|name| !name.is_empty())
}

fn found(case: &Case<'_>, server: &str, name: &str, said: &[&Said<'_>]) -> Finding {
    let configuration = configuration(case, server, name);
    let service = said.iter().find_map(|said| service_of(said.text));
    let subject = configuration.map(Object::key).or_else(|| service.clone());
    let subject =
        subject.unwrap_or_else(|| ObjectKey::new(GROUP, "ValidatingWebhookConfiguration", "", name));
    let users: std::collections::BTreeSet<&Node> = said.iter().map(|said| &said.node).collect();
    let names = words::list(users.iter().map(|node| node.to_string()));
    let whom =
        service.as_ref().map(|key| format!(" (Service {}/{})", key.namespace, key.name)).unwrap_or_default();
    let why = reason(said.first().map(|said| said.text).unwrap_or_default());
    let cause = format!(
        "the admission webhook {name}{whom} does not answer: {why}; without it {names} cannot be applied"
    );
    let is_gone = service.as_ref().is_some_and(|service| case.is_nowhere(server, service));
    let fix = match (is_gone, configuration) {
        (true, Some(configuration)) => {
            Fix::new(format!("Remove {} {}", configuration.kind(), configuration.name()))
                .cluster(Action::Delete { cluster: server.to_owned(), object: configuration.key() })
                .risk(Risk::Medium, "what the webhook would have checked is no longer checked")
                .why("its service is not there, and nobody is going to make it")
                .undo(format!("apply {} {} again", configuration.kind(), configuration.name()))
        }
        _ => Fix::new(format!("Have the webhook {name} answer"))
            .person("Bring the pods behind its service up, or correct the certificate in its configuration.")
            .risk(Risk::Low, "everything that the webhook looks at"),
    };
    let finding = Finding::new(RULE.code, Node::object(server, subject.clone()), cause)
        .of(case.owner(server, &subject))
        .seen(evidence(said.iter().copied()))
        .affects(users.into_iter().cloned())
        .fix([fix.verify(format!("kubectl get {} {}", subject.kind.to_lowercase(), subject.name))]);
    let near = service.as_ref().filter(|_| is_gone).and_then(|service| {
        let all = case.of_kind(server, "", "Service").iter();
        let beside = all.filter(|one| one.namespace() == service.namespace.as_str());
        near::likely(&service.name, beside.map(|one| one.name()))
    });
    if is_gone && near.is_none() {
        finding
    } else {
        finding.because(service.map(|service| case.node(server, &service))).unless_deeper()
    }
}

/// The configuration that a webhook stands in.
fn configuration<'a>(case: &Case<'a>, server: &str, name: &str) -> Option<&'a Object> {
    let kinds = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
    let all = kinds.iter().flat_map(|kind| case.of_kind(server, GROUP, kind).iter().copied());
    let has = |one: &&Object| {
        one.value().items_at(&["webhooks"]).iter().any(|hook| hook.str_at(&["name"]) == Some(name))
    };
    all.into_iter().find(has)
}

/// The service in the address that was called, or the one that is said not to be there.
pub(super) fn service_of(text: &str) -> Option<ObjectKey> {
    service::hosts_in(text).iter().filter(|host| host.contains('.')).find_map(|host| service::named(host, ""))
}

fn reason(text: &str) -> String {
    words::quote(
        text.rsplit("?timeout=")
            .next()
            .and_then(|rest| rest.split_once("\": "))
            .map_or(text, |(_, rest)| rest),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const AWAY: &str = "
@app shop OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: '', version: v1, kind: ConfigMap, namespace: shop, name: c, status: SyncFailed, message: 'Internal error occurred: failed calling webhook \"check.example.com\": failed to call webhook: Post \"https://checker.tools.svc:443/validate?timeout=10s\": dial tcp 10.0.3.4:443: connect: connection refused'}]}}}
@live
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checker}
webhooks: [{name: check.example.com}]
---
apiVersion: v1
kind: Service
metadata: {name: checker, namespace: tools}
spec: {selector: {app: checker}}
";

    #[test]
    fn a_webhook_that_does_not_answer_is_found() {
        assert_eq!(
            check("LYN0804", AWAY),
            "P1 LYN0804/-/ValidatingWebhookConfiguration/checker: the admission webhook check.example.com (Service tools/checker) does not answer: dial tcp 10.0.3.4:443: connect: connection refused; without it ConfigMap shop/c cannot be applied\n  status of shop: ConfigMap c: Internal error occurred: failed calling webhook \"check.example.com\": failed to call webhook: Post \"https://checker.tools.svc:443/validate?timeout=10s\": dial tcp 10.0.3.4:443: connect: connection refused\n  fix: Have the webhook check.example.com answer\n"
        );
    }

    #[test]
    fn a_webhook_whose_service_is_gone_may_go_too() {
        let (gone, _) = AWAY.split_once("---\napiVersion: v1\nkind: Service").unwrap();
        assert!(check("LYN0804", gone).ends_with("fix: Remove ValidatingWebhookConfiguration checker\n"));
    }

    #[test]
    fn a_webhook_that_says_no_has_answered() {
        let denied = AWAY.replace(
            "failed calling webhook \"check.example.com\":",
            "admission webhook \"check.example.com\" denied the request:",
        );
        assert_eq!(check("LYN0804", &denied), "");
    }
}
