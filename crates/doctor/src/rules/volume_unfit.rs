//! Volumes that cannot be as they are asked for, or where they are asked for.

use lynceus_object::{FieldPath, Object};

use super::claims::{self, Sets};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0604",
    title: "No volume is as the claim asks, or where the pod can be",
    explanation: "\
The claim asks for something that no volume can give: a size, a way of access, a volume that somebody made beforehand. Or its volume
is there, in a zone or on a node where the pod may not run.

## Why
Disks can be written from one node only (`ReadWriteOnce`); `ReadWriteMany` needs a file system over the network. And a disk stays in
the zone that it was made in, whatever happens to the nodes there.

## Example
```
0/4 nodes are available: 4 node(s) had volume node affinity conflict.
Volume capabilities MULTI_NODE_MULTI_WRITER not supported
```

## What to do
Ask for what the class can give, or name a class that can. For a volume in another zone, bring a node to that zone, or move the data.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::VolumeReach) {
                findings.add(out_of_reach(case, server, &one));
            }
        }
        let sets = Sets::new(case, server);
        for claim in claims::pending(case, server) {
            if let Some(said) = unfit(case, server, claim) {
                let app = sets.maker(case, server, claim).1;
                findings.add(found(case, server, claim, said).of(app));
            }
        }
    }
}

/// Whether a driver says that it cannot make such a volume.
pub(super) fn is_unfit(said: &str) -> bool {
    let said = said.to_lowercase();
    let words = [
        "access mode",
        "accessmode",
        "multi_node_multi_writer",
        "multi-node",
        "capabilities not supported",
        "capability not supported",
        "capacity out of range",
        "size is too",
        "requested size",
        "minimum size",
        "maximum size",
        "volume capabilities",
    ];
    words.iter().any(|word| said.contains(word))
}

/// What is said of a claim that no volume fits.
fn unfit<'a>(case: &Case<'a>, server: &str, claim: &Object) -> Option<&'a str> {
    let failed = claims::told(case, server, claim, &["ProvisioningFailed"]);
    let by_driver = failed.into_iter().find(|said| is_unfit(said));
    let bound = || {
        let told = claims::told(case, server, claim, &["VolumeMismatch", "FailedBinding"]);
        let wants_none = claims::class_name(claim) == Some("");
        told.into_iter().find(|said| {
            said.contains("Cannot bind to requested volume")
                || said.contains("already bound to a different claim")
                || (wants_none && said.contains("no persistent volumes available"))
        })
    };
    by_driver.or_else(bound)
}

fn found(case: &Case<'_>, server: &str, claim: &Object, said: &str) -> Finding {
    let said = said.split_once("desc = ").map_or(said, |(_, rest)| rest);
    let cause =
        format!("no volume is as PersistentVolumeClaim {} asks: {}", claim.name(), words::quote(said));
    let field = |path: &[&str]| {
        let value = claim.at(path).map(words::shown)?;
        Some(Evidence::Field { object: claim.key(), path: FieldPath::fields(path.iter().copied()), value })
    };
    Finding::new(RULE.code, case.node(server, &claim.key()), cause)
        .seen(case.event(server, &claim.key(), &["ProvisioningFailed", "VolumeMismatch", "FailedBinding"]))
        .seen([field(&["spec", "accessModes"]), field(&["spec", "resources", "requests", "storage"])].into_iter().flatten())
        .affects([Node::object(server, claim.key())])
        .fix([Fix::new("Ask for what the class can give, or name another class")
            .person("change accessModes, the size or storageClassName where the claim comes from; the claim has to be made anew")
            .risk(Risk::Medium, "the claim is deleted and made anew; it holds nothing yet")
            .verify(format!("kubectl -n {} describe pvc {}", claim.namespace(), claim.name()))])
}

/// Pods whose volume is somewhere else.
fn out_of_reach(case: &Case<'_>, server: &str, one: &Waiting<'_>) -> Finding {
    let claims = mounted(case, server, &one.spec);
    let volumes: Vec<&Object> = claims.iter().filter_map(|claim| volume(case, server, claim)).collect();
    let places: Vec<String> = volumes.iter().filter_map(|volume| place(volume)).collect();
    let nothing = one.said.contains("find available persistent volumes to bind");
    let what = match (nothing, places.first()) {
        (true, _) => "no volume that is free fits their claim on a node that would take them".to_owned(),
        (false, Some(place)) => format!("their volume is in {place}, where no node takes them"),
        (false, None) => "their volume is where no node takes them".to_owned(),
    };
    let cause = format!("{}: {what}", one.told());
    let seen = volumes.iter().map(|volume| {
        let path = FieldPath::fields(["spec", "nodeAffinity"]);
        Evidence::Field { object: volume.key(), path, value: place(volume).unwrap_or_default() }
    });
    Finding::new(RULE.code, Node::object(server, one.owner.key()), cause)
        .of(case.owner(server, &one.owner.key()))
        .seen(one.evidence(case, server))
        .seen(seen.filter(|_| !nothing).take(crate::limits::NAMED))
        .fix([Fix::new("Bring a node to where the volume is")
            .person("add a node in that zone to the pool, or let the pods run on the nodes that are there")
            .verify(scheduler::verify(one.owner))
            .why("the data stay where they are")])
        .fix([Fix::new("Have a new volume made where the pods run")
            .person("save the data, delete the claim and the pod, and bring the data back")
            .risk(Risk::High, "the data on the volume")
            .why("what is on the volume is lost unless it is saved before")])
}

fn mounted<'a>(case: &Case<'a>, server: &str, pods: &Pods<'_>) -> Vec<&'a Object> {
    let needs =
        pods.needs().into_iter().map(|(key, ..)| key).filter(|key| key.kind == "PersistentVolumeClaim");
    needs.filter_map(|key| case.live(server, &key)).collect()
}

fn volume<'a>(case: &Case<'a>, server: &str, claim: &Object) -> Option<&'a Object> {
    let name = claim.value().str_at(&["spec", "volumeName"])?;
    case.live(server, &lynceus_object::ObjectKey::new("", "PersistentVolume", "", name))
}

/// Where a volume can be had, in words: `topology.kubernetes.io/zone west-1`.
fn place(volume: &Object) -> Option<String> {
    let terms = volume.value().items_at(&["spec", "nodeAffinity", "required", "nodeSelectorTerms"]);
    let expression = terms.first()?.items_at(&["matchExpressions"]).first()?;
    let values = expression.items_at(&["values"]).iter().filter_map(lynceus_object::Value::as_str);
    Some(format!("{} {}", expression.str_at(&["key"])?, words::list(values)))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const FAR: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: shop}
spec: {containers: [{name: db, image: db}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had volume node affinity conflict.'}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {zone: east}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {volumeName: pv-1}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [west]}]}]}}}
";

    #[test]
    fn a_volume_in_another_zone_is_found() {
        assert_eq!(
            check("LYN0604", FAR),
            "P1 LYN0604/shop/Pod/db: the pods of Pod db are not scheduled: their volume is in zone west, where no node takes \
             them\n  Pod shop/db: status.conditions: 0/1 nodes are available: 1 node(s) had volume node affinity conflict.\n  \
             PersistentVolume pv-1: spec.nodeAffinity: zone west\n  fix: Bring a node to where the volume is\n  fix: Have a new \
             volume made where the pods run\n"
        );
    }

    const MODE: &str = "
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: disk, accessModes: [ReadWriteMany]}
status: {phase: Pending}
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shop}
involvedObject: {kind: PersistentVolumeClaim, namespace: shop, name: data}
reason: ProvisioningFailed
message: 'rpc error: code = InvalidArgument desc = Volume capabilities MULTI_NODE_MULTI_WRITER not supported'
";

    #[test]
    fn a_way_of_access_that_disks_have_not_is_found() {
        assert_eq!(
            check("LYN0604", MODE),
            "P1 LYN0604/shop/PersistentVolumeClaim/data: no volume is as PersistentVolumeClaim data asks: Volume capabilities \
             MULTI_NODE_MULTI_WRITER not supported\n  event ProvisioningFailed of PersistentVolumeClaim shop/data: rpc error: \
             code = InvalidArgument desc = Volume capabilities MULTI_NODE_MULTI_WRITER not supported\n  PersistentVolumeClaim \
             shop/data: spec.accessModes: [\"ReadWriteMany\"]\n  fix: Ask for what the class can give, or name another class\n"
        );
    }

    #[test]
    fn a_driver_that_has_no_room_is_another_matter() {
        assert_eq!(
            check(
                "LYN0604",
                &MODE.replace("Volume capabilities MULTI_NODE_MULTI_WRITER not supported", "quota exceeded")
            ),
            ""
        );
    }
}
