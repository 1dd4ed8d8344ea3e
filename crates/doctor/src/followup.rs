//! What has to be done beside a change in Git for it to reach the cluster.
//!
//! A change in Git is not all: a sync that is under way goes on with the commit that it began with, a StatefulSet does not replace
//! pods that were never ready, and neither a Job's pods nor what a claim asks for nor the role of a binding can be changed. Rules say what is to stand in Git; the
//! rest is the same for all.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use lynceus_api::{OperationPhase, hook};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment};

use crate::case::{App, Case, condition};
use crate::finding::Finding;
use crate::fix::{Action, Edit, Fix, Place, Step};
use crate::node::Node;
use crate::rules::outdated_pods;

/// How long a sync is under way before it counts as one that does not end by itself.
const UNDER_WAY: SignedDuration = SignedDuration::from_mins(3);

/// Adds to the fixes of findings what has to be done after their changes to Git.
pub(crate) fn complete(case: &Case<'_>, findings: &mut [Finding]) {
    for finding in findings {
        let nodes: Vec<ObjectKey> =
            [&finding.subject].into_iter().chain(&finding.affects).filter_map(Node::key).cloned().collect();
        for fix in finding.fixes.iter_mut().filter(|fix| fix.has_edits()) {
            follow(case, fix, &nodes);
        }
    }
}

fn follow(case: &Case<'_>, fix: &mut Fix, nodes: &[ObjectKey]) {
    let edits: Vec<Edit> = fix
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Git(edit) => Some(edit.clone()),
            Step::Cluster(_) | Step::Person(_) => None,
        })
        .collect();
    let mut actions: Vec<Action> = Vec::new();
    let apps: BTreeSet<_> = edits.iter().map(|edit| &edit.application).collect();
    let apps: Vec<&App<'_>> = apps.into_iter().filter_map(|name| case.app(name)).collect();
    actions.extend(
        apps.iter()
            .filter(|app| is_held(case, app))
            .map(|app| Action::Stop { application: app.name.clone() }),
    );
    for app in &apps {
        let edited = edits.iter().filter(|edit| edit.application == app.name).filter_map(of_pods);
        let edited: BTreeSet<&ObjectKey> = edited.collect();
        let live = |key: &&ObjectKey| case.live(app.server(), key);
        let pods = edited.iter().filter_map(&live).flat_map(|set| stuck(case, app.server(), set));
        actions.extend(pods.map(|pod| delete(app, pod)));
        let jobs = edited.iter().copied().chain(nodes).filter_map(|key| live(&key));
        let jobs: BTreeSet<ObjectKey> = jobs.filter(|job| is_over(case, app, job)).map(Object::key).collect();
        let claims = edits.iter().filter(|edit| edit.application == app.name).filter_map(of_claim);
        let claims = claims.filter(|key| live(key).is_some_and(is_unbound)).cloned();
        let sets = edits.iter().filter(|edit| edit.application == app.name).filter_map(of_templates);
        let sets = sets.filter(|key| live(key).is_some()).flat_map(|set| {
            let empty = nodes.iter().filter(|key| is_claim_of(set, key));
            let empty = empty.filter(|key| live(key).is_some_and(is_unbound)).cloned();
            [set.clone()].into_iter().chain(empty).collect::<Vec<_>>()
        });
        let bindings = edits.iter().filter(|edit| edit.application == app.name).filter_map(of_binding);
        let bindings: BTreeSet<ObjectKey> = bindings.filter(|key| live(key).is_some()).cloned().collect();
        // A set that is still there would make its claims anew as they were, and a job without its rights would fail anew.
        let gone: Vec<ObjectKey> = bindings.into_iter().chain(sets).chain(jobs).chain(claims).collect();
        let anew = !gone.is_empty();
        actions.extend(
            gone.into_iter().map(|object| Action::Delete { cluster: app.server().to_owned(), object }),
        );
        actions.extend(anew.then(|| Action::Sync { application: app.name.clone() }));
    }
    for action in actions {
        let step = Step::Cluster(action);
        if !fix.steps.contains(&step) {
            fix.steps.push(step);
        }
    }
}

/// Whether a sync of an older commit has to be stopped first.
fn is_held(case: &Case<'_>, app: &App<'_>) -> bool {
    app.operation().filter(|state| state.phase == OperationPhase::Running).is_some_and(|state| {
        let since = state.started_at.map(lynceus_api::Time::timestamp);
        since.is_some_and(|since| case.snapshot.taken_at.duration_since(since) >= UNDER_WAY)
    })
}

/// The field that a change is about.
fn field(edit: &Edit) -> Option<(&ObjectKey, &FieldPath)> {
    match &edit.place {
        Place::Field { object, path, .. } | Place::Override { object, path, .. } => Some((object, path)),
        _ => None,
    }
}

/// The object whose pods a change is about.
fn of_pods(edit: &Edit) -> Option<&ObjectKey> {
    let (object, path) = field(edit)?;
    let names = ["spec", "template"];
    let starts = path
        .segments()
        .iter()
        .zip(names)
        .all(|(one, name)| matches!(one, Segment::Field(field) if *field == name));
    (starts && path.segments().len() > names.len()).then_some(object)
}

/// The claim that a change is about: what it asks for is fixed when it is made.
fn of_claim(edit: &Edit) -> Option<&ObjectKey> {
    let (object, path) = field(edit)?;
    let is_spec = matches!(path.segments().first(), Some(Segment::Field(field)) if *field == "spec");
    (is_spec && (object.group.as_str(), object.kind.as_str()) == ("", "PersistentVolumeClaim"))
        .then_some(object)
}

/// The StatefulSet whose claims a change is about: neither it nor its claims can be given others.
fn of_templates(edit: &Edit) -> Option<&ObjectKey> {
    let (object, path) = field(edit)?;
    let is_template =
        matches!(path.segments().get(1), Some(Segment::Field(field)) if *field == "volumeClaimTemplates");
    (is_template && (object.group.as_str(), object.kind.as_str()) == ("apps", "StatefulSet"))
        .then_some(object)
}

/// The binding whose role a change is about: it is fixed when the binding is made.
fn of_binding(edit: &Edit) -> Option<&ObjectKey> {
    let (object, path) = field(edit)?;
    let is_role = matches!(path.segments().first(), Some(Segment::Field(field)) if *field == "roleRef");
    (is_role && object.group == "rbac.authorization.k8s.io" && object.kind.ends_with("Binding"))
        .then_some(object)
}

/// Whether a claim was made by a StatefulSet, by its name: `data-web-0`.
fn is_claim_of(set: &ObjectKey, claim: &ObjectKey) -> bool {
    let number = claim.name.rsplit_once('-').map(|(before, _)| before);
    claim.kind == "PersistentVolumeClaim"
        && claim.namespace == set.namespace
        && number.is_some_and(|before| before.ends_with(&format!("-{}", set.name)))
}

/// Whether a claim has no volume, so that nothing is lost with it.
fn is_unbound(claim: &Object) -> bool {
    claim.value().str_at(&["spec", "volumeName"]).is_none_or(str::is_empty)
}

/// The pods of a StatefulSet that it does not replace by itself.
fn stuck<'a>(case: &Case<'a>, server: &str, set: &'a Object) -> Vec<&'a Object> {
    if (set.group(), set.kind()) != ("apps", "StatefulSet") {
        return Vec::new();
    }
    let pods = case.children(server, set);
    let unwell: Vec<&Object> =
        pods.iter().copied().filter(|pod| case.is_unwell(pod) && !pod.is_deleting()).collect();
    if outdated_pods::is_stuck(case, set, pods) { unwell } else { Vec::new() }
}

fn delete(app: &App<'_>, object: &Object) -> Action {
    Action::Delete { cluster: app.server().to_owned(), object: object.key() }
}

/// Whether a Job of the application has failed or hangs, and nobody makes it anew: hooks are made anew by each sync.
fn is_over(case: &Case<'_>, app: &App<'_>, job: &Object) -> bool {
    (job.group(), job.kind()) == ("batch", "Job")
        && !hook::is_hook(job)
        && app.wants(&job.key()).is_some()
        && condition(job, "Complete") != Some("True")
        && (condition(job, "Failed") == Some("True")
            || case.pods(app.server(), job).iter().any(|pod| case.is_unwell(pod)))
}

#[cfg(test)]
mod tests {
    use crate::tests::roots_with_fixes;

    const SET: &str = "
@app vault Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev}
spec: {template: {spec: {containers: [{name: vault, image: vault}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev, uid: s1, annotations: {argocd.argoproj.io/tracking-id: 'vault:apps/StatefulSet:dev/vault'}}
spec: {template: {spec: {containers: [{name: vault, image: vault}]}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: vault-0
  namespace: dev
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: vault, uid: s1, controller: true}]
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
    fn a_pod_that_was_never_ready_is_deleted_after_its_template_was_changed() {
        assert_eq!(
            roots_with_fixes(SET),
            "LYN0401/vault/StatefulSet/vault\n  Have the pods of StatefulSet vault tolerate env=dev:NoSchedule\n    in the files of \
             vault: set spec.template.spec.tolerations of StatefulSet vault to \
             [{\"effect\":\"NoSchedule\",\"key\":\"env\",\"operator\":\"Equal\",\"value\":\"dev\"}]\n    kubectl -n dev delete pod vault-0\n"
        );
    }

    #[test]
    fn a_sync_that_is_under_way_is_stopped_first() {
        let held = SET.replacen(
            "@app vault Synced Progressing",
            "@app vault OutOfSync Progressing\n@status {operationState: {phase: Running, startedAt: '2020-01-01T00:00:00Z', operation: {sync: {}}}}",
            1,
        );
        assert!(
            roots_with_fixes(&held)
                .contains("    lynceus app terminate-op vault\n    kubectl -n dev delete pod vault-0\n")
        );
    }

    #[test]
    fn a_claim_without_a_volume_is_made_anew() {
        let text = "
@app web Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: gp2}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: gp2}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
";
        let fixes = roots_with_fixes(text);
        assert!(
            fixes.contains(
                "    kubectl -n shop delete persistentvolumeclaim data\n    lynceus app sync web\n"
            ),
            "{fixes}"
        );
        let bound =
            text.replacen("@live", "@live\n", 1).replace("gp2}\nstatus", "gp2, volumeName: pv}\nstatus");
        assert!(!roots_with_fixes(&bound).contains("kubectl"));
    }

    #[test]
    fn a_deployment_replaces_its_pods_by_itself() {
        let deployment = SET.replace("StatefulSet", "Deployment");
        assert!(!roots_with_fixes(&deployment).contains("kubectl"));
    }
}
