//! Claims that wait for whoever uses them first, and that nothing uses.

use lynceus_object::Object;

use super::{claim_holds_wave, claims};
use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN0606",
    title: "A claim waits for its first consumer, and nothing uses it",
    explanation: "\
The claim's class makes a volume only when a pod that uses the claim is scheduled, and no pod does: neither one that is there nor one that
any application would make. The claim stays Pending and its application Progressing, though nothing else is wrong with it.

## Why
What used the claim was taken out and the claim was left, or what is to use it names another one. Argo CD counts a claim that is not
bound as not healthy.

## Example
```
PersistentVolumeClaim scratch   Pending: waiting for first consumer to be created before binding
Deployment report               mounts an emptyDir
```

## What to do
Have what is meant for the claim use it, or take the claim out of Git: there is no volume yet that could be lost.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for claim in claims::pending(case, server) {
            let Some(app) = case.app_of(server, &claim.key()) else { continue };
            if !app.is_fine() && is_idle(case, server, app, claim) {
                findings.add(found(case, server, app, claim));
            }
        }
    }
}

/// Whether it is only that nothing uses a claim. That an application above waits for it is more.
fn is_idle(case: &Case<'_>, server: &str, app: &App<'_>, claim: &Object) -> bool {
    claims::waits_for_consumer(case, server, claim)
        && case.event(server, &claim.key(), &["WaitForPodScheduled"]).is_none()
        && claims::is_unused(case, server, &claim.key())
        && claim_holds_wave::held_above(case, app).is_none()
}

fn found(case: &Case<'_>, server: &str, app: &App<'_>, claim: &Object) -> Finding {
    let key = claim.key();
    let cause =
        format!("PersistentVolumeClaim {} is bound only when something uses it, and nothing does", key.name);
    let use_it = Fix::new("Have what is meant for it use it").person(format!(
        "name PersistentVolumeClaim {} in the volumes of the pods that are to have it, in namespace {}",
        key.name, key.namespace
    ));
    let remove = Fix::new(format!("Take PersistentVolumeClaim {} out", key.name))
        .git(&app.name, Place::Remove { object: key.clone() })
        .risk(Risk::Medium, "what is to use it later has to bring it again")
        .why("it has no volume yet, so that nothing is lost")
        .verify(format!("lynceus app get {}", app.name));
    let wanted = app.wants(&key);
    Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P3)
        .affects([app.node()])
        .seen(case.event(server, &key, &["WaitForFirstConsumer"]))
        .seen(wanted.and_then(|one| app.file(one, "it is wanted here")))
        .fix([use_it])
        .fix(wanted.map(|_| remove))
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const IDLE: &str = "
@app shared Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: shared}
spec: {storageClassName: disk}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: report, namespace: shared}
spec: {template: {spec: {containers: [{name: s, image: s}], volumes: [{name: m, emptyDir: {}}]}}}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: shared}
spec: {storageClassName: disk}
status: {phase: Pending}
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shared}
type: Normal
reason: WaitForFirstConsumer
message: waiting for first consumer to be created before binding
involvedObject: {kind: PersistentVolumeClaim, namespace: shared, name: scratch}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
volumeBindingMode: WaitForFirstConsumer
";

    #[test]
    fn a_claim_that_nothing_uses_is_found() {
        assert_eq!(
            check("LYN0606", IDLE),
            "P3 LYN0606/shared/PersistentVolumeClaim/scratch: PersistentVolumeClaim scratch is bound only when something uses it, \
             and nothing does\n  event WaitForFirstConsumer of PersistentVolumeClaim shared/scratch: waiting for first consumer to be \
             created before binding\n  shared.yaml:1: it is wanted here\n  fix: Have what is meant for it use it\n  fix: Take \
             PersistentVolumeClaim scratch out\n"
        );
        assert_eq!(roots(IDLE), "P3 LYN0606/shared/PersistentVolumeClaim/scratch explains shared\n");
    }

    #[test]
    fn a_claim_that_something_uses_or_speaks_of_waits_for_that() {
        let used = IDLE.replace("emptyDir: {}", "persistentVolumeClaim: {claimName: scratch}");
        assert_eq!(check("LYN0606", &used), "");
        let spoken = "---\napiVersion: example.org/v1\nkind: Notebook\nmetadata: {name: n, namespace: shared}\nspec: {storage: \
                      {existingClaim: scratch}}\n";
        assert_eq!(check("LYN0606", &format!("{IDLE}{spoken}")), "");
    }

    #[test]
    fn a_claim_of_a_class_that_makes_volumes_at_once_waits_for_something_else() {
        let text = IDLE.replace("WaitForFirstConsumer\n", "Immediate\n");
        assert_eq!(check("LYN0606", &text), "");
    }

    #[test]
    fn a_claim_that_nothing_uses_may_be_the_one_that_is_meant() {
        let text = IDLE
            .replace("name: scratch", "name: jenkins-data")
            .replace("emptyDir: {}", "persistentVolumeClaim: {claimName: jenkins-home}");
        let found = check("LYN0301", &text);
        assert!(found.contains("; there is PersistentVolumeClaim jenkins-data"), "{found}");
        let other = check("LYN0301", &text.replace("jenkins-data", "reports"));
        assert!(other.contains("jenkins-home") && !other.contains("; there is"), "{other}");
    }
}
