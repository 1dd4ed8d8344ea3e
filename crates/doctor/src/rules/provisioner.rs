//! Volumes that are not made.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, ObjectKey};

use super::claims::{self, Sets};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::Fix;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0603",
    title: "What makes volumes fails or is not there",
    explanation: "\
The class is there and the claim may be bound, but the program that makes volumes for the class says why it cannot, or does not answer
at all.

## Why
The driver was never installed or does not run, its rights in the cloud are not enough, a quota is used up, or a parameter of the
class is wrong.

## Example
```
failed to provision volume with StorageClass \"fast\": rpc error: code = ResourceExhausted desc = quota exceeded
Waiting for a volume to be created either by the external provisioner 'disk.csi.example.org' or manually
```

## What to do
Read what the driver says; it names the cloud's answer. If it is silent, look whether its pods run.
",
    check,
};

/// How long a driver may take before its silence means something.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let mut failing: BTreeMap<&str, Vec<(&Object, String)>> = BTreeMap::new();
        for claim in claims::pending(case, server) {
            let Some(class) = claims::class_of(case, server, claim) else { continue };
            if let Some(said) = failure(case, server, claim, class) {
                failing.entry(class.name()).or_default().push((claim, said));
            }
        }
        failing.into_iter().for_each(|(class, claims)| findings.add(found(case, server, class, &claims)));
    }
}

/// What is said of a claim that no volume is made for.
fn failure(case: &Case<'_>, server: &str, claim: &Object, class: &Object) -> Option<String> {
    let failed = claims::told(case, server, claim, &["ProvisioningFailed"]);
    if let Some(said) = failed.iter().find(|said| !said.contains("storageclass.storage.k8s.io")) {
        return (!super::volume_unfit::is_unfit(said)).then(|| (*said).to_owned());
    }
    let waits = claims::told(case, server, claim, &["ExternalProvisioning"]);
    let said = waits.first()?;
    let provisioner = class.value().str_at(&["provisioner"]).unwrap_or_default();
    let driver = ObjectKey::new("storage.k8s.io", "CSIDriver", "", provisioner);
    let knows_drivers = !case.of_kind(server, "storage.k8s.io", "CSIDriver").is_empty();
    let is_gone = knows_drivers && case.is_absent(server, &driver);
    (is_gone || is_old(case, claim)).then(|| (*said).to_owned())
}

/// Whether a claim has waited for longer than a driver takes.
fn is_old(case: &Case<'_>, claim: &Object) -> bool {
    let made = claim.meta_str("creationTimestamp").parse::<Timestamp>();
    made.is_ok_and(|made| case.snapshot.taken_at.duration_since(made) > PATIENCE)
}

fn found<'a>(case: &Case<'a>, server: &str, class: &str, failing: &[(&'a Object, String)]) -> Finding {
    let (claim, said) = &failing[0];
    let object = case.live(server, &claims::class_key(class));
    let provisioner = object.and_then(|class| class.value().str_at(&["provisioner"])).unwrap_or_default();
    let names =
        words::list(failing.iter().map(|(claim, _)| format!("{}/{}", claim.namespace(), claim.name())));
    let cause = match said.starts_with("Waiting for a volume") {
        true => format!(
            "{provisioner}, which makes volumes of class {class}, makes none for {names}: it does not answer"
        ),
        false => format!(
            "{provisioner}, which makes volumes of class {class}, makes none for {names}: {}",
            words::quote(reason(said))
        ),
    };
    let claims: Vec<&Object> = failing.iter().map(|(claim, _)| *claim).collect();
    Finding::new(RULE.code, Node::object(server, claims::class_key(class)), cause)
        .of(Sets::new(case, server).app(case, server, &claims))
        .seen(case.event(server, &claim.key(), &["ProvisioningFailed", "ExternalProvisioning"]))
        .seen(drivers(case, server, provisioner))
        .affects(failing.iter().map(|(claim, _)| Node::object(server, claim.key())))
        .unless_deeper()
        .fix([Fix::new(format!("Mend what makes volumes of class {class}"))
            .person(format!("look at the pods of the driver {provisioner} and at what they say"))
            .verify(format!("kubectl -n {} describe pvc {}", claim.namespace(), claim.name()))])
}

/// What the driver says, without what everybody knows.
fn reason(said: &str) -> &str {
    said.split_once("desc = ")
        .map_or_else(|| said.split_once("\": ").map_or(said, |(_, rest)| rest), |(_, rest)| rest)
}

fn drivers(case: &Case<'_>, server: &str, provisioner: &str) -> Option<Evidence> {
    let all = case.of_kind(server, "storage.k8s.io", "CSIDriver");
    let is_known = all.iter().any(|driver| driver.name() == provisioner);
    (!all.is_empty() && !is_known).then(|| Evidence::seen(format!("there is no CSIDriver {provisioner}")))
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const FAILS: &str = "
@app db Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, creationTimestamp: '2026-01-01T11:59:00Z'}
spec: {storageClassName: fast}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disk.example.org
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shop}
involvedObject: {kind: PersistentVolumeClaim, namespace: shop, name: data}
reason: ProvisioningFailed
message: 'failed to provision volume with StorageClass \"fast\": rpc error: code = ResourceExhausted desc = quota exceeded'
";

    #[test]
    fn a_driver_that_says_why_it_makes_no_volume_is_found() {
        assert_eq!(
            check("LYN0603", FAILS),
            "P1 LYN0603/db/StorageClass/fast: disk.example.org, which makes volumes of class fast, makes none for shop/data: \
             quota exceeded\n  event ProvisioningFailed of PersistentVolumeClaim shop/data: failed to provision volume with \
             StorageClass \"fast\": rpc error: code = ResourceExhausted desc = quota exceeded\n  fix: Mend what makes volumes of \
             class fast\n"
        );
        assert_eq!(roots(FAILS), "P1 LYN0603/db/StorageClass/fast explains db\n");
    }

    #[test]
    fn a_driver_that_was_asked_a_minute_ago_may_take_its_time() {
        let waits = FAILS.replace("reason: ProvisioningFailed", "reason: ExternalProvisioning").replace(
            "failed to provision volume with StorageClass \"fast\": rpc error: code = ResourceExhausted desc = quota exceeded",
            "Waiting for a volume to be created either by the external provisioner",
        );
        assert_eq!(check("LYN0603", &waits), "");
        let old = waits.replace("11:59:00Z", "11:09:00Z");
        assert!(check("LYN0603", &old).contains("it does not answer"));
    }
}
