//! Pods that lack the tolerations that they were meant to inherit.

use lynceus_object::{FieldPath, Value};

use super::scheduler;
use super::tolerations::{self, Blocked};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0402",
    title: "An override took the tolerations away",
    explanation: "\
The pods are kept off their nodes by a taint which others of their kind tolerate. They would tolerate it too, but something nearer
to them says that they have no tolerations: an empty list in values does not mean nothing, it replaces what is inherited.

## Why
A values file was made by copying the defaults of a chart, `tolerations: []` and `nodeSelector: {}` with them. They win over the
file that is meant to hold for all.

## Example
```
globals.yaml     tolerations: [{key: example.org/environment, value: dev, effect: NoSchedule}]
apps/web.yaml    tolerations: []
```

## What to do
Take the empty fields out, so that what is meant for all holds again. Adding the toleration there works too, and has to be done
again with the next environment.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for blocked in tolerations::blocked(case, server) {
            if blocked.is_overridden() {
                findings.add(found(case, server, &blocked));
            }
        }
    }
}

fn found(case: &Case<'_>, server: &str, blocked: &Blocked<'_>) -> Finding {
    let waiting = &blocked.waiting;
    let key = waiting.owner.key();
    let taint = blocked.taints.first().map(|(taint, _)| tolerations::shown(taint)).unwrap_or_default();
    let why = match (&blocked.covered, blocked.emptied) {
        (Some((_, covered)), _) => {
            format!("{} takes away what {} has for them", covered.told(), covered.covered)
        }
        (None, Some(emptied)) => format!("`{emptied}` is set for them, which takes away what is inherited"),
        (None, None) => format!(
            "{} of {} in the namespace tolerate it and they do not",
            blocked.tolerating.len(),
            words::count(blocked.others, "other workload")
        ),
    };
    let cause = format!("{}: they do not tolerate the taint {taint} of their nodes; {why}", waiting.told());
    let app = case.owner(server, &key);
    // What one file has for many is taken away from all of them in one go, and for every environment that has it.
    let taint_key = blocked.taints.first().and_then(|(taint, _)| taint.str_at(&["key"])).unwrap_or_default();
    let file = match &blocked.covered {
        Some((_, covered)) => Some(covered.covered.clone()),
        None => case.written_in(server, &key),
    };
    let slip = file.map(|file| format!("{} {taint_key} {file}", key.kind));
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(app.clone())
        .alike(slip)
        .seen(waiting.evidence(case, server))
        .seen(written(case, server, blocked))
        .about(app.iter().filter(|_| blocked.covered.is_none()).flat_map(|app| {
            let paths = emptied(case, server, blocked).into_iter();
            paths.map(|path| (app.clone(), waiting.owner.key(), path))
        }))
        .fix(app.iter().flat_map(|app| fixes(case, server, app, blocked)))
}

/// Where the override stands, or who has what is missing.
fn written(case: &Case<'_>, server: &str, blocked: &Blocked<'_>) -> Vec<Evidence> {
    let owner = blocked.waiting.owner;
    if let Some((app, covered)) = &blocked.covered {
        return covered.evidence(app);
    }
    let Some(emptied) = blocked.emptied else {
        let names = blocked.tolerating.iter().map(|one| format!("{} {}", one.kind(), one.name()));
        return vec![Evidence::seen(format!("{} tolerate it", words::list(names)))];
    };
    let wanted = case.wanted(server, &owner.key());
    let file = wanted.first().and_then(|(app, wanted)| {
        app.file(wanted, format!("{} {} has {emptied}", owner.kind(), owner.name()))
    });
    file.into_iter().collect()
}

fn fixes(case: &Case<'_>, server: &str, app: &AppName, blocked: &Blocked<'_>) -> Vec<Fix> {
    let owner = blocked.waiting.owner;
    let Some(template) = Pods::of(owner) else { return Vec::new() };
    let set = |path: FieldPath, value: Option<Value>| Place::Field { object: owner.key(), path, value };
    let dress = |fix: Fix| {
        fix.risk(Risk::Low, format!("the pods of {} {} are made anew", owner.kind(), owner.name()))
            .verify(scheduler::verify(owner))
    };
    let mut fixes = Vec::new();
    if let Some((app, covered)) = &blocked.covered {
        fixes.push(dress(covered.fix(app, &owner.key())));
    } else if blocked.emptied.is_some() {
        let mut fix = Fix::new(format!("Take the empty override out of {} {}", owner.kind(), owner.name()));
        for path in emptied(case, server, blocked) {
            fix = fix.git(app, set(path, None));
        }
        fixes.push(dress(fix.why("what is meant for all holds again, in every environment")));
    }
    let lent = blocked
        .tolerating
        .iter()
        .find_map(|one| Pods::of(one))
        .map(|pods| pods.spec.items_at(&["tolerations"]));
    let own = blocked.taints.first().map(|(taint, _)| vec![tolerations::toleration(taint)]);
    if let Some(all) = lent.map(<[Value]>::to_vec).or(own) {
        let value = Value::Seq(all.into_iter().collect());
        let fix = Fix::new(format!("Give {} {} the toleration itself", owner.kind(), owner.name()))
            .git(app, set(template.path.field("tolerations"), Some(value)))
            .why("it holds for this workload alone");
        fixes.push(dress(fix));
    }
    fixes
}

/// The fields that are empty. A selector that asks for something is meant.
fn emptied(case: &Case<'_>, server: &str, blocked: &Blocked<'_>) -> Vec<FieldPath> {
    let owner = blocked.waiting.owner;
    let wanted = case.wanted(server, &owner.key());
    let object = wanted.first().map_or(owner, |(_, wanted)| &wanted.object);
    let Some(pods) = Pods::of(object) else { return Vec::new() };
    let is_empty =
        |field: &&str| pods.spec.get(field).is_some_and(|value| !value.is_null() && value.is_empty());
    let empty = ["tolerations", "nodeSelector"].into_iter().filter(is_empty);
    let paths: Vec<FieldPath> = empty.map(|field| pods.path.field(field)).collect();
    // What was applied is known, and not what it stands in.
    if paths.is_empty() { vec![pods.path.field("tolerations")] } else { paths }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app web Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec: {template: {spec: {tolerations: [], nodeSelector: {}, containers: [{name: web, image: web}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop, uid: s1}
spec: {template: {spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: v1
kind: Pod
metadata:
  {name: web-0, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s1, controller: true}]}
spec: {containers: [{name: web, image: web}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint(s).'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
";

    const OTHERS: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec: {template: {spec: {tolerations: [{key: env, operator: Equal, value: dev, effect: NoSchedule}], containers: [{name: api, image: api}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mail, namespace: shop}
spec: {template: {spec: {tolerations: [{key: env, operator: Exists}], containers: [{name: mail, image: mail}]}}}
";

    #[test]
    fn an_empty_list_that_replaces_what_is_inherited_is_found() {
        assert_eq!(
            check("LYN0402", PENDING),
            "P1 LYN0402/web/StatefulSet/web: the pods of StatefulSet web are not scheduled: they do not tolerate the taint \
             env=dev:NoSchedule of their nodes; `tolerations: []` is set for them, which takes away what is inherited\n  \
             Pod shop/web-0: status.conditions: 0/1 nodes are available: 1 node(s) had untolerated taint(s).\n  \
             web.yaml:1: StatefulSet web has tolerations: []\n  fix: Take the empty override out of StatefulSet web\n  \
             fix: Give StatefulSet web the toleration itself\n"
        );
        assert_eq!(check("LYN0401", PENDING), "", "one trouble has one name");
    }

    const COVERED: &str = "@covers envs/live.yaml:3 tolerations [] values.yaml StatefulSet web spec.template.spec.tolerations \
                           [{key: env, operator: Exists}]\n@live\n";

    #[test]
    fn a_value_file_that_empties_what_the_chart_has_is_named_though_nothing_is_rendered() {
        let text = PENDING.replace("tolerations: [], nodeSelector: {}, ", "").replacen("@live\n", COVERED, 1);
        assert_eq!(
            check("LYN0402", &text),
            "P1 LYN0402/web/StatefulSet/web: the pods of StatefulSet web are not scheduled: they do not tolerate the taint \
             env=dev:NoSchedule of their nodes; `tolerations: []` in envs/live.yaml takes away what values.yaml has for them\n  \
             Pod shop/web-0: status.conditions: 0/1 nodes are available: 1 node(s) had untolerated taint(s).\n  \
             envs/live.yaml:3: tolerations: [] covers what values.yaml has\n  fix: Take `tolerations: []` out of envs/live.yaml\n  \
             fix: Give StatefulSet web the toleration itself\n"
        );
        assert_eq!(check("LYN0401", &text), "");
        let steps = crate::tests::roots_with_fixes(&text);
        assert!(
            steps.contains(
                "    in the files of web: take tolerations out of envs/live.yaml\n    kubectl -n shop delete pod web-0\n"
            ),
            "{steps}"
        );
    }

    #[test]
    fn a_covered_toleration_of_another_taint_would_not_help() {
        let text = PENDING.replace("tolerations: [], nodeSelector: {}, ", "").replacen(
            "@live\n",
            &COVERED.replace("key: env", "key: other"),
            1,
        );
        assert_eq!(check("LYN0402", &text), "");
        assert!(check("LYN0401", &text).contains("LYN0401/web/StatefulSet/web"));
    }

    #[test]
    fn the_one_that_lacks_what_all_others_have_is_found() {
        let text = format!("{}{OTHERS}", PENDING.replace("tolerations: [], nodeSelector: {}, ", ""));
        let found = check("LYN0402", &text);
        assert!(
            found.contains("2 of 2 other workloads in the namespace tolerate it and they do not"),
            "{found}"
        );
        assert_eq!(check("LYN0401", &text), "");
    }

    #[test]
    fn one_slip_in_several_places_is_one_cause_and_its_fix_mends_them_all() {
        let (wanted, live) = PENDING.split_once("@live\n").unwrap();
        let other = |text: &str| text.replace("web", "seed").replace("s1", "s2");
        let text = format!("{wanted}{}@live\n{live}---\n{}", other(wanted).trim_start(), other(live));
        let found = crate::tests::told(&text);
        assert!(
            found.contains("\n2 root causes, which explain 2 applications\n"),
            "each in its own file: {found}"
        );
        let text = text.replace("Progressing\napiVersion", "Progressing\n@file charts/set.yaml\napiVersion");
        let found = crate::tests::told(&text);
        assert!(found.contains("\n1 root cause, which explains 2 applications\n"), "{found}");
        assert!(found.contains("   the same in 1 other place: StatefulSet shop/web\n"), "{found}");
        assert!(
            found.contains(
                "   fix 1 (proposed, low risk): Take the empty override out of StatefulSet seed, and the same in 1 other place\n     \
                 in the files of seed: take spec.template.spec.tolerations out of StatefulSet seed\n     \
                 in the files of seed: take spec.template.spec.nodeSelector out of StatefulSet seed\n     \
                 kubectl -n shop delete pod seed-0\n     \
                 in the files of web: take spec.template.spec.tolerations out of StatefulSet web\n     \
                 in the files of web: take spec.template.spec.nodeSelector out of StatefulSet web\n"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_selector_that_asks_for_something_stays() {
        let found = crate::tests::told(&PENDING.replace("nodeSelector: {}", "nodeSelector: {tier: secure}"));
        assert!(found.contains("take spec.template.spec.tolerations out of StatefulSet web"), "{found}");
        assert!(!found.contains("take spec.template.spec.nodeSelector"), "{found}");
    }

    #[test]
    fn pods_that_never_had_a_toleration_among_others_that_have_none_are_left_to_the_other_rule() {
        let text = PENDING.replace("tolerations: [], nodeSelector: {}, ", "");
        assert_eq!(check("LYN0402", &text), "");
        assert!(check("LYN0401", &text).contains("LYN0401/web/StatefulSet/web"));
    }

    #[test]
    fn pods_that_tolerate_something_else_were_not_overridden() {
        let text = format!("{}{OTHERS}", PENDING.replace("tolerations: [], nodeSelector: {}, ", "")).replace(
            "spec: {containers: [{name: web, image: web}]}",
            "spec: {tolerations: [{key: env, value: prod}], containers: [{name: web, image: web}]}",
        );
        assert_eq!(check("LYN0402", &text), "");
    }
}
