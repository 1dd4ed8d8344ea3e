//! Pods or objects that a quota or a limit range refuses.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, ObjectKey};

use crate::case::{Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0802",
    title: "A quota or limit range refuses it",
    explanation: "\
The namespace has a ResourceQuota that is used up or that wants requests and limits to be said, or a LimitRange whose bounds are not
kept. The workload is there and some or all of its pods are not.

## Why
The namespace was given less than what is now deployed into it, old pods still hold their share during a rollout, or a container
does not say what it needs.

## Example
```
pods \"web-7d4\" is forbidden: exceeded quota: team, requested: requests.cpu=2, used: requests.cpu=7, limited: requests.cpu=8
```

## What to do
Raise the quota where that is meant, or ask for less. Where requests or limits are wanted, say them for each container.
",
    check,
};

/// The words of a limit range.
const RANGE: [&str; 3] = ["maximum ", "minimum ", " max limit to request ratio per "];

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&str, ObjectKey), Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said() {
        if let Some(key) = subject(said) {
            found.entry((said.server, key)).or_default().push(said);
        }
    }
    for ((server, key), said) in found {
        findings.add(match key.kind.as_str() {
            "ResourceQuota" => exceeded(case, server, key, &said),
            _ => unbounded(case, server, key, &said),
        });
    }
}

/// The quota that is used up, which many may run into; or the workload that does not keep the rules.
fn subject(said: &Said<'_>) -> Option<ObjectKey> {
    let own = said.node.key().cloned();
    if let Some(quota) = after(said.text, "exceeded quota: ") {
        return Some(ObjectKey::new("", "ResourceQuota", said.about.namespace.clone(), quota));
    }
    let is_range = said.text.contains("is forbidden") && said.text.contains(" usage per ");
    let is_range =
        (is_range && RANGE.iter().any(|word| said.text.contains(word))) || said.text.contains(RANGE[2]);
    if is_range || said.text.contains("failed quota: ") {
        return own;
    }
    None
}

fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split([',', ':', ' ']).next().filter(|name| !name.is_empty())
}

fn exceeded(case: &Case<'_>, server: &str, key: ObjectKey, said: &[&Said<'_>]) -> Finding {
    let text = said.first().map(|said| said.text).unwrap_or_default();
    let numbers =
        text.split_once("exceeded quota: ").and_then(|(_, rest)| rest.split_once(", ")).map(|(_, rest)| rest);
    let users: std::collections::BTreeSet<&Node> = said.iter().map(|said| &said.node).collect();
    let names = words::list(users.iter().map(|node| node.to_string()));
    let cause = format!(
        "ResourceQuota {} of namespace {} is used up, and {names} {} more: {}",
        key.name,
        key.namespace,
        if users.len() == 1 { "needs" } else { "need" },
        words::quote(numbers.unwrap_or(text))
    );
    let hard = case.live(server, &key).and_then(|quota| quota.at(&["spec", "hard"]));
    let seen = hard.map(|hard| Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["spec", "hard"]),
        value: words::shown(hard),
    });
    let fix = Fix::new(format!("Raise ResourceQuota {}, or ask for less", key.name))
        .person(format!(
            "Raise spec.hard of ResourceQuota {} in namespace {} if that is meant; otherwise lower the requests or the number \
             of pods of {names}.",
            key.name, key.namespace
        ))
        .risk(Risk::Medium, format!("what namespace {} may use", key.namespace))
        .why("how much a namespace may use is for people to decide")
        .verify(format!("kubectl -n {} describe resourcequota {}", key.namespace, key.name));
    let owner = case.owner(server, &key);
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(owner)
        .seen(evidence(said.iter().copied()))
        .seen(seen)
        .affects(users.into_iter().cloned())
        .fix([fix])
}

fn unbounded(case: &Case<'_>, server: &str, key: ObjectKey, said: &[&Said<'_>]) -> Finding {
    let text = said.first().map(|said| said.text).unwrap_or_default();
    let what = text.split_once("is forbidden: ").map_or(text, |(_, rest)| rest);
    let range = range(case, server, &key.namespace, what);
    let by = range.map(|range| format!(" by LimitRange {}", range.name())).unwrap_or_default();
    let cause = format!("the pods of {} {} are refused{by}: {}", key.kind, key.name, words::quote(what));
    let seen = range.map(|range| Evidence::Field {
        object: range.key(),
        path: FieldPath::fields(["spec", "limits"]),
        value: range.at(&["spec", "limits"]).map(words::shown).unwrap_or_default(),
    });
    let fix = Fix::new("Say what each container needs, within the bounds of the namespace")
        .person(format!(
            "Set resources.requests and resources.limits of the containers of {} {} accordingly.",
            key.kind, key.name
        ))
        .risk(Risk::Low, format!("the pods of {} {}", key.kind, key.name))
        .verify(format!("kubectl -n {} get pods", key.namespace));
    let owner = case.owner(server, &key);
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(owner)
        .seen(evidence(said.iter().copied()))
        .seen(seen)
        .fix([fix])
}

/// The limit range whose bound is not kept: the only one of the namespace that has such a bound.
fn range<'a>(case: &Case<'a>, server: &str, namespace: &str, what: &str) -> Option<&'a Object> {
    let (words, _) = what.split_once(" per ")?;
    let bound = if words.contains("ratio") {
        "maxLimitRequestRatio"
    } else if words.starts_with("minimum ") {
        "min"
    } else {
        "max"
    };
    let resource = words.split_whitespace().find(|word| !["maximum", "minimum", "max"].contains(word))?;
    let has = |range: &&Object| {
        let limits = range.value().items_at(&["spec", "limits"]).iter();
        let mut limits = limits.filter(|limit| what.contains(limit.str_at(&["type"]).unwrap_or_default()));
        range.namespace() == namespace && limits.any(|limit| limit.at(&[bound, resource]).is_some())
    };
    let mut ranges = case.of_kind(server, "", "LimitRange").iter().copied().filter(has);
    let only = ranges.next()?;
    ranges.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const SET: &str = "
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {replicas: 3, template: {spec: {containers: [{name: db, image: db}]}}}
status: {replicas: 1}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: shop}
involvedObject: {kind: StatefulSet, namespace: shop, name: db}
type: Warning
reason: FailedCreate
message: 'create Pod db-1 in StatefulSet db failed error: pods \"db-1\" is forbidden: exceeded quota: team, requested: cpu=2, used: cpu=7, limited: cpu=8'
";

    #[test]
    fn a_quota_that_is_used_up_is_found() {
        assert_eq!(
            check("LYN0802", SET),
            "P1 LYN0802/shop/ResourceQuota/team: ResourceQuota team of namespace shop is used up, and StatefulSet shop/db needs more: requested: cpu=2, used: cpu=7, limited: cpu=8\n  event FailedCreate of StatefulSet shop/db: create Pod db-1 in StatefulSet db failed error: pods \"db-1\" is forbidden: exceeded quota: team, requested: cpu=2, used: cpu=7, limited: cpu=8\n  fix: Raise ResourceQuota team, or ask for less\n"
        );
    }

    #[test]
    fn a_limit_range_is_about_the_workload() {
        let range = SET.replace(
            "exceeded quota: team, requested: cpu=2, used: cpu=7, limited: cpu=8",
            "maximum cpu usage per Container is 1, but limit is 2",
        );
        assert_eq!(
            check("LYN0802", &range),
            "P1 LYN0802/shop/StatefulSet/db: the pods of StatefulSet db are refused: maximum cpu usage per Container is 1, but limit is 2\n  event FailedCreate of StatefulSet shop/db: create Pod db-1 in StatefulSet db failed error: pods \"db-1\" is forbidden: maximum cpu usage per Container is 1, but limit is 2\n  fix: Say what each container needs, within the bounds of the namespace\n"
        );
    }

    #[test]
    fn the_limit_range_with_the_bound_is_named() {
        let range = SET.replace(
            "exceeded quota: team, requested: cpu=2, used: cpu=7, limited: cpu=8",
            "maximum cpu usage per Container is 1, but limit is 2",
        );
        let of = |name: &str, bound: &str| {
            format!(
                "---\napiVersion: v1\nkind: LimitRange\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{limits: [{{type: Container, {bound}: {{cpu: '1'}}}}]}}\n"
            )
        };
        let one = check("LYN0802", &format!("{range}{}{}", of("small", "max"), of("other", "default")));
        assert!(one.contains("are refused by LimitRange small: maximum cpu"), "{one}");
        let two = check("LYN0802", &format!("{range}{}{}", of("small", "max"), of("other", "max")));
        assert!(two.contains("are refused: maximum cpu"), "{two}");
    }

    #[test]
    fn what_was_refused_and_made_later_is_fine() {
        let later = SET
            .replace("reason: FailedCreate", "reason: FailedCreate\nlastTimestamp: '2026-01-01T10:00:00Z'");
        let made = "---\napiVersion: v1\nkind: Event\nmetadata: {name: b, namespace: shop}\ninvolvedObject: {kind: StatefulSet, \
                    namespace: shop, name: db}\ntype: Normal\nreason: SuccessfulCreate\nlastTimestamp: '2026-01-01T11:00:00Z'\n";
        assert_eq!(check("LYN0802", &format!("{later}{made}")), "");
    }
}
