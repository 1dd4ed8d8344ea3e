//! Claims that hold a wave and wait for something behind it.

use lynceus_api::{HealthStatusCode, annotations, wave};
use lynceus_object::{FieldPath, Object, ObjectKey};

use super::claims;
use crate::case::{App, Case};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::snapshot::Wanted;

pub(super) const RULE: Rule = Rule {
    code: "LYN0601",
    title: "A claim holds the wave that its consumer waits behind",
    explanation: "\
The claim's class makes a volume only when a pod that uses it is scheduled. The sync waits for the claim to be bound before it goes on
to the wave in which that pod comes. Neither ever happens.

## Why
Claims were put into an early wave because they are needed first. For classes with `volumeBindingMode: WaitForFirstConsumer` that is
the wrong way round, and Argo CD counts a claim that is not bound as not healthy.

## Example
```
wave 0   PersistentVolumeClaim models   Pending: waiting for first consumer to be created before binding
wave 1   Deployment serving             not there yet; it mounts models
```

## What to do
Put the claim into the wave of what uses it: the claim is still made first. Or have unbound claims count as healthy, by a health
check in `argocd-cm`. Lynceus does not wait for such claims unless it is told to.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| app.is_operating()) {
        for wanted in app.wanted().iter().filter(|one| one.object.kind() == "PersistentVolumeClaim") {
            if let Some(user) = held(case, app, wanted) {
                findings.add(found(case, app, wanted, user));
            }
        }
    }
    for app in case.apps().filter(|app| app.health() == Some(HealthStatusCode::Progressing)) {
        if let Some((parent, claim)) = held_above(case, app) {
            findings.add(found_above(case, app, parent, claim));
        }
    }
}

/// What uses a claim and comes later, if the sync waits for the claim.
fn held<'a>(case: &Case<'a>, app: &App<'a>, claim: &'a Wanted) -> Option<&'a Wanted> {
    let key = claim.object.key();
    let live = case.live(app.server(), &key)?;
    let is_pending = live.value().str_at(&["status", "phase"]) == Some("Pending");
    if !is_pending || !claims::waits_for_consumer(case, app.server(), live) || !app.awaits(&key) {
        return None;
    }
    let own = wave(&claim.object);
    let later = app.wanted().iter().filter(|one| wave(&one.object) > own && claims::uses(&one.object, &key));
    later.into_iter().find(|one| case.is_absent(app.server(), &one.object.key()))
}

fn found(case: &Case<'_>, app: &App<'_>, claim: &Wanted, user: &Wanted) -> Finding {
    let (key, object) = (claim.object.key(), &user.object);
    let (own, later) = (wave(&claim.object), wave(object));
    let cause = format!(
        "PersistentVolumeClaim {} holds wave {own} until it is bound, and it is bound only when {} {} uses it, which comes in \
         wave {later}",
        key.name,
        object.kind(),
        object.name()
    );
    let message = app.application().status.operation_state.as_ref().map(|state| state.message.to_string());
    Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .seen(message.map(|message| app.status(message)))
        .seen(case.event(app.server(), &key, &["WaitForFirstConsumer"]))
        .seen(app.file(claim, format!("it comes in wave {own}")))
        .seen(app.file(user, format!("what uses it comes in wave {later}")))
        .affects([app.node()])
        .fix(fixes(app, key, later))
}

fn fixes(app: &App<'_>, claim: ObjectKey, later: i64) -> Vec<Fix> {
    let path = FieldPath::fields(["metadata", "annotations", annotations::SYNC_WAVE]);
    let value = Some(later.to_string().as_str().into());
    let same = Fix::new(format!("Put PersistentVolumeClaim {} into wave {later}", claim.name))
        .git(&app.name, Place::Field { object: claim, path, value })
        .risk(Risk::Low, "the order of the next sync")
        .verify(format!("lynceus app get {}", app.name))
        .why("it changes this application alone; within a wave claims are made before what uses them");
    [same].into_iter().chain(settings()).collect()
}

/// What holds for all applications of the installation.
fn settings() -> [Fix; 2] {
    let check = "resource.customizations.health.PersistentVolumeClaim: |\n  hs = {status = \"Healthy\"}\n  if obj.status ~= nil and \
                 obj.status.phase == \"Lost\" then hs.status = \"Degraded\" end\n  return hs";
    [
        Fix::new("Have unbound claims count as healthy")
            .person(format!("add to ConfigMap argocd-cm: {check}"))
            .risk(Risk::Medium, "claims of all applications count as healthy while they wait")
            .why("it helps every application, and hides claims that really cannot be bound"),
        Fix::new("Do not have claims hold waves")
            .person("with Lynceus: take lynceus.sync.claimsHoldWaves out of its settings")
            .why("it is what Lynceus does unless it is told otherwise; Argo CD has no such setting"),
    ]
}

/// A claim that nothing uses yet and that keeps its application Progressing, while an application above waits for that one
/// before it makes others.
pub(super) fn held_above<'a>(case: &'a Case<'a>, app: &App<'a>) -> Option<(&'a App<'a>, &'a Object)> {
    let (parent, child) = case.parent(&app.name)?;
    let own = wave(&child.object);
    let is_later = |one: &&Wanted| {
        one.object.kind() == "Application"
            && wave(&one.object) > own
            && case.is_absent(parent.server(), &one.object.key())
    };
    if !parent.awaits(&child.object.key()) {
        return None;
    }
    let live = |one: &Wanted| case.live(app.server(), &one.object.key());
    let unwell: Vec<&Object> =
        app.wanted().iter().filter_map(live).filter(|object| case.is_unwell(object)).collect();
    let waits = |claim: &&Object| {
        claim.kind() == "PersistentVolumeClaim"
            && claim.value().str_at(&["status", "phase"]) == Some("Pending")
            && case.event(app.server(), &claim.key(), &["WaitForPodScheduled"]).is_none()
            && claims::waits_for_consumer(case, app.server(), claim)
            && !app.wanted().iter().any(|one| claims::uses(&one.object, &claim.key()))
    };
    let claim = unwell.first().copied().filter(|_| unwell.iter().all(waits))?;
    // A parent may have thousands of children, so they come last.
    parent.wanted().iter().any(|one| is_later(&one)).then_some((parent, claim))
}

fn found_above(case: &Case<'_>, app: &App<'_>, parent: &App<'_>, claim: &Object) -> Finding {
    let cause = format!(
        "PersistentVolumeClaim {} is bound only when something uses it, and nothing does yet: application {} stays Progressing, \
         and {} waits for that before it goes on",
        claim.name(),
        app.name,
        parent.name
    );
    Finding::new(RULE.code, Node::object(app.server(), claim.key()), cause)
        .of(Some(app.name.clone()))
        .seen(case.event(app.server(), &claim.key(), &["WaitForFirstConsumer"]))
        .affects([app.node(), parent.node()])
        .unless_deeper()
        .fix(settings())
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const HELD: &str = "
@app ml OutOfSync Missing
@status {operationState: {phase: Running, message: 'waiting for healthy state of /PersistentVolumeClaim/models', operation: {}, startedAt: '2026-01-01T11:00:00Z'}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: ml}
spec: {storageClassName: disk}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: serving, namespace: ml, annotations: {argocd.argoproj.io/sync-wave: '1'}}
spec: {template: {spec: {containers: [{name: s, image: s}], volumes: [{name: m, persistentVolumeClaim: {claimName: models}}]}}}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: ml}
spec: {storageClassName: disk}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
provisioner: disk.example.org
volumeBindingMode: WaitForFirstConsumer
";

    #[test]
    fn a_claim_that_waits_for_a_later_wave_is_found() {
        assert_eq!(
            check("LYN0601", HELD),
            "P1 LYN0601/ml/PersistentVolumeClaim/models: PersistentVolumeClaim models holds wave 0 until it is bound, and it is \
             bound only when Deployment serving uses it, which comes in wave 1\n  status of ml: waiting for healthy state of \
             /PersistentVolumeClaim/models\n  ml.yaml:1: it comes in wave 0\n  ml.yaml:6: what uses it comes in wave 1\n  fix: \
             Put PersistentVolumeClaim models into wave 1\n  fix: Have unbound claims count as healthy\n  fix: Do not have \
             claims hold waves\n"
        );
        assert_eq!(roots(HELD), "P1 LYN0601/ml/PersistentVolumeClaim/models explains ml\n");
    }

    #[test]
    fn a_sync_that_waits_for_something_else_is_another_matter() {
        assert_eq!(check("LYN0601", &HELD.replace("/PersistentVolumeClaim/models'", "/Service/web'")), "");
    }

    #[test]
    fn a_claim_that_is_not_complete_is_waited_for_though_another_is_named() {
        let result = |phase: &str| {
            format!(
                "syncResult: {{revision: a, resources: [{{group: '', version: v1, kind: PersistentVolumeClaim, namespace: ml, name: models, \
                 status: Synced, hookPhase: {phase}}}]}}, startedAt"
            )
        };
        let other = HELD.replace("/PersistentVolumeClaim/models'", "/Service/web and 1 more resources'");
        let found = check("LYN0601", &other.replace("startedAt", &result("Running")));
        assert!(found.starts_with("P1 LYN0601/ml/PersistentVolumeClaim/models: "), "{found}");
        assert_eq!(check("LYN0601", &other.replace("startedAt", &result("Succeeded"))), "");
    }

    #[test]
    fn a_claim_whose_consumer_is_there_is_another_matter() {
        let there = format!(
            "{HELD}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: serving, namespace: ml}}\n"
        );
        assert_eq!(check("LYN0601", &there), "");
    }

    #[test]
    fn an_application_above_that_waits_for_the_claim_is_found() {
        let text = "
@app root Synced Progressing
@status {operationState: {phase: Running, message: 'waiting for healthy state of argoproj.io/Application/storage', operation: {}, startedAt: '2026-01-01T11:00:00Z'}}
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: storage, namespace: argocd}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: serving, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: '1'}}
@app storage Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: ml}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: ml}
spec: {storageClassName: disk}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
volumeBindingMode: WaitForFirstConsumer
";
        assert_eq!(
            roots(text),
            "P0 LYN0601/storage/PersistentVolumeClaim/models explains root storage\n".replace("P0", "P1")
        );
    }
}
