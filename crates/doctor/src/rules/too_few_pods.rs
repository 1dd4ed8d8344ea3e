//! A workload with too few pods, and nothing that says why.

use lynceus_object::{FieldPath, Object};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::node::Node;
use crate::rules::{Rule, unhealthy};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1903",
    title: "A workload has too few pods",
    explanation: "\
A workload has fewer ready pods than it should have, and nothing that was seen says why. It may simply not be done yet.

## Why
Its pods have just been made, or what keeps them from getting ready stands nowhere that was looked at.

## Example
```
Deployment web has 1 of 3 pods ready
```

## What to do
Look again in a minute. If it stays so: `kubectl describe` its pods, and their logs.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for owner in case.pod_owners(server).filter(|owner| is_wanting(case, server, owner)) {
            if let Some(finding) = find(case, server, owner) {
                findings.add(finding);
            }
        }
    }
}

fn is_wanting(case: &Case<'_>, server: &str, owner: &Object) -> bool {
    case.is_unwell(owner) && !unhealthy::is_in_peace(case, server, owner)
}

fn find(case: &Case<'_>, server: &str, owner: &Object) -> Option<Finding> {
    if !matches!(
        owner.kind(),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController"
    ) {
        return None;
    }
    let number = |path: &[&str]| owner.value().int_at(path);
    let wanted =
        number(&["spec", "replicas"]).or_else(|| number(&["status", "desiredNumberScheduled"])).unwrap_or(1);
    let ready = number(&["status", "readyReplicas"])
        .or_else(|| number(&["status", "numberReady"]))
        .unwrap_or_default();
    let key = owner.key();
    let what = match ready < wanted {
        true => format!(
            "has {ready} of {} ready",
            words::count(usize::try_from(wanted).unwrap_or_default(), "pod")
        ),
        false => "is not done with its last change".to_owned(),
    };
    let said = case.health(owner).map(|health| health.message).filter(|text| !text.is_empty());
    let why = said.map(|text| format!(": {}", words::quote(&text))).unwrap_or_default();
    let seen = Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["status"]),
        value: format!("{ready} of {wanted} ready"),
    };
    Some(
        Finding::new(
            RULE.code,
            Node::object(server, key.clone()),
            format!("{} {} {what}{why}", key.kind, key.name),
        )
        .of(case.owner(server, &key))
        .seen([seen])
        .weak(),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const FEW: &str = "
@app shop Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec: {replicas: 3, template: {spec: {containers: [{name: web, image: web}]}}}
status: {observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 1, availableReplicas: 1}
";

    #[test]
    fn a_workload_with_too_few_pods_is_told_where_nothing_else_is() {
        assert_eq!(
            check("LYN1903", FEW),
            "P1 LYN1903/shop/Deployment/web: Deployment web has 1 of 3 pods ready: Waiting for rollout to finish: 1 of 3 updated replicas are available...\n  Deployment shop/web: status: 1 of 3 ready\n"
        );
        assert_eq!(roots(FEW), "P1 LYN1903/shop/Deployment/web explains shop\n");
    }

    #[test]
    fn one_that_has_all_of_them_is_fine() {
        assert_eq!(
            check(
                "LYN1903",
                &FEW.replace(
                    "readyReplicas: 1, availableReplicas: 1",
                    "readyReplicas: 3, availableReplicas: 3"
                )
            ),
            ""
        );
    }
}
