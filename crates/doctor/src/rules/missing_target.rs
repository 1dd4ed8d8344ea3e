//! Autoscalers whose workload is not there.

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::autoscaled_replicas::{self, Scalers};
use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0308",
    title: "An autoscaler scales what is not there",
    explanation: "\
A HorizontalPodAutoscaler or ScaledObject names a workload that is not in its namespace and that nobody brings. It scales nothing,
and its condition AbleToScale is False.

## Why
The workload was renamed, or is of another kind than the autoscaler says: a Deployment became a StatefulSet; or its chart calls it
after the release.

## Example
```
HorizontalPodAutoscaler web: scaleTargetRef: Deployment web        there is Deployment shop-web
the HPA controller was unable to get the target's current scale: deployments.apps \"web\" not found
```

## What to do
Name the workload that is there, or remove the autoscaler with the workload that it was for.
",
    check,
};

/// The kinds that autoscalers are for, with the kinds of workloads that one may be mistaken for.
const SCALERS: [(&str, &str); 2] = [("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")];
const WORKLOADS: [&str; 2] = ["Deployment", "StatefulSet"];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for (group, kind) in SCALERS {
            for scaler in case.due(server, group, kind) {
                // Whoever made it made what it scales, or knows why not.
                let target = autoscaled_replicas::target(scaler).filter(|_| scaler.controller().is_none());
                if let Some(target) = target.filter(|target| is_gone(case, server, target)) {
                    findings.add(found(case, server, scaler, &target));
                }
            }
        }
    }
}

/// Whether a workload is certainly not there and nobody makes it. Of kinds that are not Kubernetes' own too little is known.
fn is_gone<'a>(case: &Case<'a>, server: &'a str, target: &ObjectKey) -> bool {
    target.group == "apps"
        && !target.name.is_empty()
        && case.is_nowhere(server, target)
        && case.origins().of(server, target).is_empty()
}

/// The workload that is meant: one of that name and another kind, one that is called almost so, or the only one of the same application
/// that nobody scales.
fn meant<'a>(case: &Case<'a>, server: &str, scaler: &Object, target: &ObjectKey) -> Option<&'a Object> {
    let here = |kind: &str| {
        let all = case.due(server, "apps", kind);
        all.filter(|one| one.namespace() == scaler.namespace()).collect::<Vec<&'a Object>>()
    };
    let other = WORKLOADS.iter().filter(|kind| **kind != target.kind.as_str());
    let same = other.flat_map(|kind| here(kind)).find(|one| one.name() == target.name.as_str());
    let scalers = Scalers::new(case);
    let is_free = |one: &&Object| scalers.of(server, &one.key()).is_none();
    let kin: Vec<&'a Object> = here(&target.kind).into_iter().filter(is_free).collect();
    let likely = || {
        let name = near::likely(&target.name, kin.iter().map(|one| one.name()))?;
        kin.iter().find(|one| one.name() == name).copied()
    };
    let owner = case.owner(server, &scaler.key());
    let own = || {
        let mut own = kin.iter().filter(|one| owner.is_some() && case.owner(server, &one.key()) == owner);
        let only = own.next().copied();
        only.filter(|_| own.next().is_none())
    };
    same.or_else(likely).or_else(own)
}

fn found(case: &Case<'_>, server: &str, scaler: &Object, target: &ObjectKey) -> Finding {
    let key = scaler.key();
    let meant = meant(case, server, scaler, target);
    let hint = meant.map(|one| format!("; there is {} {}", one.kind(), one.name())).unwrap_or_default();
    let cause = format!(
        "{} {} scales {} {}, which is defined nowhere{hint}",
        key.kind, key.name, target.kind, target.name
    );
    let path = FieldPath::fields(["spec", "scaleTargetRef"]);
    let conditions = scaler.value().items_at(&["status", "conditions"]).iter();
    let said = conditions
        .filter(|one| one.str_at(&["status"]) == Some("False"))
        .filter_map(|one| one.str_at(&["message"]))
        .find(|text| text.contains("not found"));
    let said = said.map(|text| Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["status", "conditions"]),
        value: words::quote(text),
    });
    Finding::new(RULE.code, case.node(server, &key), cause)
        .of(case.owner(server, &key))
        .severity(if case.is_unwell(scaler) { Severity::P1 } else { Severity::P2 })
        .seen([Evidence::Field {
            object: key.clone(),
            path: path.field("name"),
            value: target.name.to_string(),
        }])
        .seen(said)
        .affects([Node::object(server, key.clone())])
        .fix(meant.and_then(|meant| rename(case, server, &key, target, meant)))
        .fix([Fix::new("Name a workload that is there, or remove the autoscaler")
            .person(format!("compare with: kubectl -n {} get deployments,statefulsets", key.namespace))])
}

fn rename(case: &Case<'_>, server: &str, key: &ObjectKey, target: &ObjectKey, meant: &Object) -> Option<Fix> {
    let app = case.wanted(server, key).first().map(|(app, _)| app.name.clone())?;
    let mut fix = Fix::new(format!("Scale {} {}", meant.kind(), meant.name()));
    for (field, is, was) in
        [("kind", meant.kind(), target.kind.as_str()), ("name", meant.name(), target.name.as_str())]
    {
        if is != was {
            let path = FieldPath::fields(["spec", "scaleTargetRef"]).field(field);
            fix = fix.git(&app, Place::Field { object: key.clone(), path, value: Some(Value::from(is)) });
        }
    }
    Some(
        fix.risk(Risk::Medium, format!("how many pods {} {} has", meant.kind(), meant.name()))
            .why("it is there, and nobody else scales it")
            .verify(format!(
                "kubectl -n {} describe {} {}",
                key.namespace,
                key.kind.to_lowercase(),
                key.name
            )),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const LOST: &str = "
@app shop Synced Degraded
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: webb}}
@live
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: webb}}
status: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale, message: 'the HPA controller was unable to get the target''s current scale: deployments.apps \"webb\" not found'}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: webs, namespace: shop}
";

    #[test]
    fn an_autoscaler_whose_workload_is_not_there_is_found() {
        assert_eq!(
            check("LYN0308", LOST),
            "P1 LYN0308/shop/HorizontalPodAutoscaler/web: HorizontalPodAutoscaler web scales Deployment webb, which is defined nowhere; \
             there is Deployment webs\n  HorizontalPodAutoscaler shop/web: spec.scaleTargetRef.name: webb\n  HorizontalPodAutoscaler \
             shop/web: status.conditions: the HPA controller was unable to get the target's current scale: deployments.apps \"webb\" not \
             found\n  fix: Scale Deployment webs\n  fix: Name a workload that is there, or remove the autoscaler\n"
        );
        assert_eq!(roots(LOST), "P1 LYN0308/shop/HorizontalPodAutoscaler/web explains shop\n");
    }

    #[test]
    fn one_of_another_kind_is_meant() {
        let other = LOST
            .replace("kind: Deployment\nmetadata: {name: webs", "kind: StatefulSet\nmetadata: {name: webb");
        assert!(
            check("LYN0308", &other).contains("; there is StatefulSet webb\n"),
            "{}",
            check("LYN0308", &other)
        );
    }

    #[test]
    fn a_workload_that_is_there_or_comes_or_that_an_operator_makes_is_fine() {
        assert_eq!(check("LYN0308", &LOST.replace("webs", "webb")), "");
        let comes = format!(
            "@app later OutOfSync Missing\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: webb, namespace: shop}}\n{LOST}"
        );
        assert_eq!(check("LYN0308", &comes), "");
        let made = format!(
            "{LOST}---\napiVersion: example.com/v1\nkind: Web\nmetadata: {{name: webb, namespace: shop}}\n"
        );
        assert_eq!(check("LYN0308", &made), "");
        let scaled = LOST.replace(
            "apiVersion: apps/v1, kind: Deployment, name: webb",
            "apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: webb",
        );
        assert_eq!(check("LYN0308", &scaled), "", "of other kinds nothing is known");
    }

    #[test]
    fn an_autoscaler_that_a_stopped_sync_has_not_come_to_is_told() {
        let (wanted, _) = LOST.split_once("@live").unwrap();
        let set = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: webs, namespace: shop}\n";
        for text in [format!("{wanted}@live\n{set}"), format!("{wanted}---\n{set}@live\n")] {
            let found = check("LYN0308", &text);
            assert!(found.contains("which is defined nowhere; there is Deployment webs\n"), "{found}");
        }
    }
}
