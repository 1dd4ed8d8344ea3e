//! A kind whose objects cannot be read.

use std::collections::BTreeMap;

use lynceus_object::{GroupKind, Str};

use crate::case::{App, Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::rules::cluster_error::{Way, way};
use crate::rules::forbidden::Forbidden;
use crate::rules::webhook_away::service_of;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1304",
    title: "The objects of a kind cannot be read",
    explanation: "\
The cluster serves the kind and cannot list its objects, mostly because the webhook that converts between its versions does not answer.
Every application that has such objects is Unknown, and with Argo CD sometimes every application of the cluster.

## Why
The operator that brings the webhook is not running or was removed while its definitions stayed, or its certificate has run out.

## Example
```
conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post \"https://webhook.cert-manager.svc:443/convert\":
no endpoints available for service \"webhook\"
```

## What to do
Bring the webhook's pods up. If the operator is gone for good, take the conversion out of the definition or remove the definition.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut kinds: BTreeMap<(&str, GroupKind), Vec<(&App<'_>, &Said<'_>)>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| said.voice == Voice::Application) {
        let Some(app) = said.app.as_ref().and_then(|name| case.app(name)) else { continue };
        let is_own = Forbidden::read(said.text).is_none() && way(said.text) != Some(Way::Busy);
        let kind = kind(said.text).filter(|_| is_own);
        if let Some(kind) = kind {
            kinds.entry((app.server(), kind)).or_default().push((app, said));
        }
    }
    for ((server, kind), told) in kinds {
        findings.add(found(case, server, kind, &told));
    }
}

/// The kind that a text says cannot be read.
fn kind(text: &str) -> Option<GroupKind> {
    if let Some((_, rest)) = text.split_once("conversion webhook for ") {
        let (version, rest) = rest.split_once(", Kind=")?;
        let kind = rest.split(|sign: char| !sign.is_alphanumeric()).next()?;
        return Some(GroupKind::new(version.split_once('/').map_or("", |(group, _)| group), kind));
    }
    // `Kind.group cannot be read from the cluster`, or the same of one object after its kind.
    let (before, _) = text.split_once(" cannot be read from the cluster")?;
    let word = before
        .rsplit([' ', '\n'])
        .find(|word| word.starts_with(|sign: char| sign.is_uppercase()) || word.contains('/'))?;
    let word =
        word.split('/').find(|part| part.starts_with(|sign: char| sign.is_uppercase())).unwrap_or(word);
    let (kind, group) = word.split_once('.').unwrap_or((word, ""));
    Some(GroupKind::new(group, kind))
}

fn found(case: &Case<'_>, server: &str, kind: GroupKind, told: &[(&App<'_>, &Said<'_>)]) -> Finding {
    let service = told.iter().find_map(|(_, said)| service_of(said.text));
    let whom = service.as_ref().map(|key| {
        format!(": the webhook that converts them (Service {}/{}) does not answer", key.namespace, key.name)
    });
    let names = words::list(told.iter().map(|(app, _)| app.name.name.as_str()));
    let cause = format!(
        "the objects of kind {kind} cannot be read{}; {names} cannot be compared",
        whom.unwrap_or_default()
    );
    let fix = Fix::new(format!("Have the objects of kind {kind} be read again"))
        .person("Bring the pods behind the conversion webhook up, or take the conversion out of the definition if its operator is gone.")
        .risk(Risk::Medium, format!("all objects of kind {kind}"))
        .verify(format!("kubectl get {} -A", kind.kind.to_lowercase()));
    let mut seen: Vec<&App<'_>> = told.iter().map(|(app, _)| *app).collect();
    seen.dedup_by(|a, b| a.name == b.name);
    let node = Node::Kind { cluster: Str::from(server), kind };
    Finding::new(RULE.code, node, cause)
        .seen(evidence(told.iter().map(|(_, said)| *said)))
        .affects(seen.iter().map(|app| app.node()))
        .because(service.map(|service| case.node(server, &service)))
        .unless_deeper()
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::check;

    #[test]
    fn a_kind_whose_webhook_does_not_answer_is_found_once() {
        let app = |name: &str| {
            format!(
                "@app {name} Unknown Unknown\n@condition ComparisonError Failed to load live state: failed to list resources: conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post \"https://hook.cert-manager.svc:443/convert?timeout=30s\": no endpoints available for service \"hook\"\n"
            )
        };
        assert_eq!(
            check("LYN1304", &format!("{}{}", app("a"), app("b"))),
            "P1 LYN1304/-/Kind/Certificate.cert-manager.io: the objects of kind Certificate.cert-manager.io cannot be read: the webhook that converts them (Service cert-manager/hook) does not answer; a and b cannot be compared\n  status of a: ComparisonError: Failed to load live state: failed to list resources: conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post \"https://hook.cert-manager.svc:443/convert?timeout=30s\": no endpoints available for service…\n  status of b: ComparisonError: Failed to load live state: failed to list resources: conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post \"https://hook.cert-manager.svc:443/convert?timeout=30s\": no endpoints available for service…\n  fix: Have the objects of kind Certificate.cert-manager.io be read again\n"
        );
    }

    #[test]
    fn the_kind_is_found_in_our_own_words() {
        assert_eq!(
            kind("Kafka.kafka.strimzi.io cannot be read from the cluster: x").map(|kind| kind.to_string()),
            Some("Kafka.kafka.strimzi.io".to_owned())
        );
        assert_eq!(kind("Secret cannot be read from the cluster: x"), Some(GroupKind::new("", "Secret")));
    }

    #[test]
    fn a_kind_that_may_not_be_read_is_another_trouble() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Secret cannot be read from the cluster: secrets is forbidden: User \"u\" cannot list resource \"secrets\" in API group \"\" at the cluster scope\n";
        assert_eq!(check("LYN1304", text), "");
    }
}
