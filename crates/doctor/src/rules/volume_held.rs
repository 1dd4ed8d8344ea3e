//! Volumes that are gone, or that another holds.

use lynceus_object::{FieldPath, Object, ObjectKey, value};

use super::fit;
use super::scheduler::{self, Obstacle};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0605",
    title: "The volume is gone, or another holds it",
    explanation: "\
A claim has lost its volume, or the volume is still attached to another node, where another pod has it. A disk can be attached to one
machine at a time, so the new pod waits in `ContainerCreating` for ever.

## Why
An update starts the new pod before the old one has gone, and they are on different nodes; or the old node is lost and nobody has let
the volume go. A lost volume was deleted behind the claim's back.

## Example
```
Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-5f4-abc
```

## What to do
Let the old pod go first: `strategy: Recreate` for Deployments with such a volume. If the old node is lost, mend or remove that.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for claim in case.of_kind(server, "", "PersistentVolumeClaim").iter().copied() {
            if claim.value().str_at(&["status", "phase"]) == Some("Lost") {
                findings.add(lost(case, server, claim));
            }
        }
        for pod in case.of_kind(server, "", "Pod").iter().copied().filter(|pod| !pod.is_deleting()) {
            if let Some(said) = held(case, server, pod) {
                findings.add(elsewhere(case, server, pod, said));
            }
        }
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::VolumeInUse) {
                findings.add(elsewhere(case, server, one.pod, one.said));
            }
        }
    }
}

fn lost(case: &Case<'_>, server: &str, claim: &Object) -> Finding {
    let volume = claim.value().str_at(&["spec", "volumeName"]).unwrap_or_default();
    let cause = format!(
        "PersistentVolumeClaim {} has lost its volume {volume}: what was on it is gone with it",
        claim.name()
    );
    let phase = Evidence::Field {
        object: claim.key(),
        path: FieldPath::fields(["status", "phase"]),
        value: "Lost".to_owned(),
    };
    Finding::new(RULE.code, case.node(server, &claim.key()), cause)
        .of(case.owner(server, &claim.key()))
        .seen([phase])
        .seen(case.event(server, &claim.key(), &["ClaimLost"]))
        .affects([Node::object(server, claim.key())])
        .fix([Fix::new("Make the claim anew, and bring the data back")
            .cluster(Action::Delete { cluster: server.to_owned(), object: claim.key() })
            .person("bring the data back from a backup")
            .risk(Risk::High, "the claim; its volume is lost already")
            .verify(format!("kubectl -n {} get pvc {}", claim.namespace(), claim.name()))])
}

/// What is said of a pod whose volume is attached elsewhere. An old event about a pod that has started since means nothing.
fn held<'a>(case: &Case<'a>, server: &str, pod: &Object) -> Option<&'a str> {
    if pod.value().str_at(&["status", "phase"]) != Some("Pending") {
        return None;
    }
    let events = case.events(server, &pod.key()).iter().copied();
    let mut told = events.filter_map(|event| event.value().str_at(&["message"]));
    told.find(|text| text.contains("Multi-Attach error"))
}

fn elsewhere(case: &Case<'_>, server: &str, pod: &Object, said: &str) -> Finding {
    let owner = top(case, server, pod);
    let other = holder(case, server, pod);
    let who = match other {
        Some(other) => format!("pod {} on node {} has it", other.name(), node_of(other)),
        None => "another node has it".to_owned(),
    };
    let cause = format!(
        "the pods of {} {} wait for a volume that only one can have at a time: {who}",
        owner.kind, owner.name
    );
    // A node that is lost does not let a volume go.
    let dead = other.and_then(|other| {
        let key = ObjectKey::new("", "Node", "", node_of(other));
        case.live(server, &key).filter(|node| !fit::is_ready(node)).map(|_| Node::object(server, key))
    });
    let app = case.owner(server, &owner);
    let event = case.event(server, &pod.key(), &["FailedAttachVolume"]);
    let seen = event.unwrap_or_else(|| Evidence::seen(words::quote(said)));
    let finding =
        Finding::new(RULE.code, Node::object(server, owner.clone()), cause).of(app.clone()).seen([seen]);
    let recreate = app.filter(|_| owner.kind == "Deployment").map(|app| {
        let path = FieldPath::fields(["spec", "strategy"]);
        Fix::new(format!("Have Deployment {} stop the old pod before it starts the new one", owner.name))
            .git(
                &app,
                Place::Field { object: owner.clone(), path, value: Some(value!({"type": "Recreate"})) },
            )
            .risk(Risk::Medium, "it does not answer while it is updated")
            .why("it holds for every update to come")
    });
    let delete = other.map(|other| {
        Fix::new(format!("Delete the old pod {}", other.name()))
            .cluster(Action::Delete { cluster: server.to_owned(), object: other.key() })
            .risk(Risk::Medium, "what the old pod still does")
            .why("it lets the volume go this once")
    });
    let finding = finding.fix(recreate).fix(delete);
    match dead {
        Some(node) => finding.because([node]),
        None => finding,
    }
}

fn top(case: &Case<'_>, server: &str, pod: &Object) -> ObjectKey {
    match case.node(server, &pod.key()) {
        Node::Object { key, .. } => key,
        _ => pod.key(),
    }
}

fn node_of(pod: &Object) -> &str {
    pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default()
}

/// Another pod with one of the same claims, on another node.
fn holder<'a>(case: &Case<'a>, server: &str, pod: &Object) -> Option<&'a Object> {
    let claims = |pod: &Object| -> Vec<ObjectKey> {
        let needs = Pods::of(pod).map(|pods| pods.needs()).unwrap_or_default();
        needs.into_iter().map(|(key, ..)| key).filter(|key| key.kind == "PersistentVolumeClaim").collect()
    };
    let own = claims(pod);
    let is_other = |other: &&'a Object| {
        other.namespace() == pod.namespace() && other.name() != pod.name() && !node_of(other).is_empty()
    };
    let mut others = case.of_kind(server, "", "Pod").iter().copied().filter(is_other);
    others.find(|other| claims(other).iter().any(|claim| own.contains(claim)))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const HELD: &str = "
@app web Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d}
---
apiVersion: v1
kind: Pod
metadata: {name: web-new, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {nodeName: b, containers: [{name: web, image: web}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: web-old, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {nodeName: a, containers: [{name: web, image: web}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shop}
involvedObject: {kind: Pod, namespace: shop, name: web-new}
reason: FailedAttachVolume
message: Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-old
";

    #[test]
    fn a_volume_that_the_old_pod_still_has_is_found() {
        assert_eq!(
            check("LYN0605", HELD),
            "P1 LYN0605/web/Deployment/web: the pods of Deployment web wait for a volume that only one can have at a time: pod \
             web-old on node a has it\n  event FailedAttachVolume of Pod shop/web-new: Multi-Attach error for volume \"pvc-1\" \
             Volume is already used by pod(s) web-old\n  fix: Have Deployment web stop the old pod before it starts the new \
             one\n  fix: Delete the old pod web-old\n"
        );
    }

    #[test]
    fn a_pod_that_has_started_since_is_not() {
        assert_eq!(check("LYN0605", &HELD.replace("phase: Pending", "phase: Running")), "");
    }

    #[test]
    fn a_claim_that_lost_its_volume_is_found() {
        let text = "@live\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {volumeName: pv-1}\nstatus: {phase: Lost}\n";
        assert!(check("LYN0605", text).contains("has lost its volume pv-1"));
    }
}
