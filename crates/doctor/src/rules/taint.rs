//! Pods that no node takes because of its taints.

use lynceus_object::{FieldPath, Value};

use super::scheduler::{self, Waiting};
use super::tolerations::{self, Blocked};
use super::{fit, near};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0401",
    title: "No node takes the pods: a taint is not tolerated",
    explanation: "\
Every node that would do has a taint, and the pods do not tolerate it. They stay Pending for ever, and so do their volumes if the
class waits for its first consumer.

## Why
Nodes are set apart for an environment or a purpose by a taint, and a workload that belongs there was not told.

## Example
```
0/3 nodes are available: 3 node(s) had untolerated taint {example.org/environment: dev}.
```

## What to do
Give the pods the toleration where their values come from. Do not take the taint off: it keeps others away.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for blocked in tolerations::blocked(case, server) {
            // What somebody has taken away is to be given back, not added: that has a rule of its own.
            if !blocked.is_overridden() {
                findings.add(found(case, server, &blocked));
            }
        }
    }
}

fn found(case: &Case<'_>, server: &str, blocked: &Blocked<'_>) -> Finding {
    let waiting = &blocked.waiting;
    let key = waiting.owner.key();
    let shown: Vec<String> = blocked.taints.iter().map(|(taint, _)| tolerations::shown(taint)).collect();
    let cause = format!(
        "{}: the nodes that would take them have the {} {}, which the pods do not tolerate",
        waiting.told(),
        if shown.len() == 1 { "taint" } else { "taints" },
        words::list(&shown)
    );
    let template = Pods::of(waiting.owner);
    let slip = template.as_ref().and_then(|pods| {
        let (path, right) = blocked.taints.iter().find_map(|(taint, _)| misspelt(pods, taint))?;
        let has = path.get(waiting.owner.value()).and_then(Value::as_str)?;
        Some((path, has.to_owned(), right))
    });
    let cause = match &slip {
        Some((_, has, right)) => format!("{cause}; they tolerate {has}, and {right} is meant"),
        None => cause,
    };
    let seen = slip.map(|(path, value, _)| Evidence::Field { object: key.clone(), path, value });
    let app = case.owner(server, &key);
    let fixes =
        blocked.taints.iter().filter(|(taint, _)| blocked.taints.len() == 1 || !fit::is_of_system(taint));
    let fixes = fixes.filter_map(|(taint, nodes)| tolerate(app.as_ref()?, waiting, taint, nodes));
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(app.clone())
        .seen(waiting.evidence(case, server))
        .seen(blocked.pools())
        .seen(seen)
        .fix(fixes)
}

/// The part of a toleration that was meant for a taint and is misspelt, and what it should be.
fn misspelt<'a>(pods: &Pods<'_>, taint: &'a Value) -> Option<(FieldPath, &'a str)> {
    let tolerations = pods.spec.items_at(&["tolerations"]).iter().enumerate();
    let mut slips = tolerations.flat_map(|(place, one)| {
        ["key", "value", "effect"].into_iter().filter_map(move |field| {
            let (has, right) = (one.str_at(&[field])?, taint.str_at(&[field])?);
            let mut others = ["key", "value"].into_iter().filter(|other| *other != field);
            let is_meant = others.all(|other| {
                let is_any = other == "value" && one.str_at(&["operator"]) == Some("Exists");
                is_any || one.str_at(&[other]) == taint.str_at(&[other])
            });
            near::nearest(has, [right]).filter(|_| is_meant)?;
            Some((pods.path.field("tolerations").index(place).field(field), right))
        })
    });
    slips.next()
}

fn tolerate(app: &AppName, waiting: &Waiting<'_>, taint: &Value, nodes: &[&str]) -> Option<Fix> {
    let (owner, shown) = (waiting.owner, tolerations::shown(taint));
    let title = format!("Have the pods of {} {} tolerate {shown}", owner.kind(), owner.name());
    let template = Pods::of(owner)?;
    let (place, title) = match misspelt(&template, taint) {
        Some((path, right)) => {
            let title = format!("{title}: write {right} in {path}");
            (Place::Field { object: owner.key(), path, value: Some(Value::from(right)) }, title)
        }
        None => {
            let mut all = template.spec.items_at(&["tolerations"]).to_vec();
            all.push(tolerations::toleration(taint));
            let value = Some(Value::Seq(all.into_iter().collect()));
            (Place::Field { object: owner.key(), path: template.path.field("tolerations"), value }, title)
        }
    };
    Some(
        Fix::new(title)
            .git(app, place)
            .risk(Risk::Low, format!("the pods of {} {} are made anew", owner.kind(), owner.name()))
            .why(format!("it lets them onto {}", words::list(nodes)))
            .verify(scheduler::verify(owner)),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app vault Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev}
spec:
  template:
    spec: {containers: [{name: vault, image: vault}]}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev, uid: s1}
spec:
  template:
    spec: {containers: [{name: vault, image: vault}]}
---
apiVersion: v1
kind: Pod
metadata:
  {name: vault-0, namespace: dev, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: vault, uid: s1, controller: true}]}
spec: {containers: [{name: vault, image: vault}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
";

    #[test]
    fn a_toleration_that_is_misspelt_is_corrected_and_another_is_left_alone() {
        let with = |value: &str| {
            let tolerations = format!(
                "spec: {{tolerations: [{{key: env, operator: Equal, value: {value}, effect: NoSchedule}}], containers"
            );
            PENDING.replace("value: dev", "value: develop").replace("spec: {containers", &tolerations)
        };
        let found = check("LYN0401", &with("devlop"));
        assert!(
            found.contains("which the pods do not tolerate; they tolerate devlop, and develop is meant\n"),
            "{found}"
        );
        assert!(found.contains("write develop in spec.template.spec.tolerations[0].value\n"), "{found}");
        assert!(!check("LYN0401", &with("prod")).contains("is meant"));
    }

    #[test]
    fn pods_that_do_not_tolerate_the_taint_of_every_node_are_found() {
        assert_eq!(
            check("LYN0401", PENDING),
            "P1 LYN0401/vault/StatefulSet/vault: the pods of StatefulSet vault are not scheduled: the nodes that would \
             take them have the taint env=dev:NoSchedule, which the pods do not tolerate\n  Pod dev/vault-0: \
             status.conditions: 0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.\n  \
             env=dev:NoSchedule is on dev-1\n  fix: Have the pods of StatefulSet vault tolerate env=dev:NoSchedule\n"
        );
    }

    #[test]
    fn pods_for_which_a_node_was_asked_for_only_have_to_wait() {
        let event = |at: &str| {
            format!(
                "---\napiVersion: v1\nkind: Event\nmetadata: {{name: e, namespace: dev}}\ninvolvedObject: {{kind: Pod, namespace: \
                 dev, name: vault-0}}\nreason: TriggeredScaleUp\nlastTimestamp: '{at}'\n"
            )
        };
        assert_eq!(check("LYN0401", &format!("{PENDING}{}", event("2026-01-01T11:58:00Z"))), "");
        assert!(check("LYN0401", &format!("{PENDING}{}", event("2026-01-01T10:00:00Z"))).contains("LYN0401"));
    }

    #[test]
    fn pods_that_tolerate_it_in_git_only_have_to_be_synced() {
        let mended = PENDING.replacen(
            "spec: {containers",
            "spec: {tolerations: [{key: env, value: dev}], containers",
            1,
        );
        assert_eq!(check("LYN0401", &mended), "");
    }

    #[test]
    fn pods_that_wait_for_something_else_are_not() {
        let other = PENDING.replace("1 node(s) had untolerated taint {env: dev}", "1 Insufficient cpu");
        assert_eq!(check("LYN0401", &other), "");
    }

    /// Of a StatefulSet that a sync has not come to.
    fn to_come(node: &str) -> String {
        let (wanted, _) = PENDING.split_once("@live").unwrap();
        format!("{wanted}@live\napiVersion: v1\nkind: Node\nmetadata: {{name: dev-1{node}\n")
    }

    #[test]
    fn pods_that_a_stopped_sync_has_not_come_to_are_told_before_they_are_made() {
        let tainted = to_come("}\nspec: {taints: [{key: env, value: dev, effect: NoSchedule}]}");
        assert_eq!(
            check("LYN0401", &tainted),
            "P1 LYN0401/vault/StatefulSet/vault: the pods of StatefulSet vault will not be scheduled: the nodes that would \
             take them have the taint env=dev:NoSchedule, which the pods do not tolerate\n  env=dev:NoSchedule is on dev-1\n  \
             fix: Have the pods of StatefulSet vault tolerate env=dev:NoSchedule\n"
        );
        assert_eq!(check("LYN0401", &to_come("}\nspec: {}")), "");
        let grows = to_come(
            ", labels: {cloud.google.com/gke-nodepool: a}}\nspec: {taints: [{key: env, value: dev, effect: NoSchedule}]}",
        );
        assert_eq!(check("LYN0401", &grows), "", "another pool may have no node just now");
        assert_eq!(
            check("LYN0401", &tainted.replace("spec:\n  template", "spec:\n  replicas: 0\n  template")),
            ""
        );
        assert_eq!(
            check("LYN0401", &tainted.replace("Synced Progressing", "Synced Healthy")),
            "",
            "it lacks only hooks"
        );
    }
}
