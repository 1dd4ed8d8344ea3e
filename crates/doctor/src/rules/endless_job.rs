//! A Job that does not end.

use lynceus_api::{OperationPhase, hook};
use lynceus_object::{FieldPath, Object, Value};

use crate::case::{Case, Pods, condition};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::container::{Container, age, long};

pub(super) const RULE: Rule = Rule {
    code: "LYN0904",
    title: "A hook or Job does not end",
    explanation: "\
A Job runs far longer than such Jobs do. As a hook it holds its sync for all that time: nothing that comes after it is applied, and no
other sync of the application begins.

## Why
It waits for something that does not come, often in a loop without an end, and has no deadline. If what it waits for was found, or
that it may not look for it, that is the cause. A Job with `spec.suspend` does not even begin.

## Example
```
Job wait-for-image runs for 5 hours: while ! oc get imagestreamtag web:latest; do sleep 30; done
```

## What to do
Mend what it waits for. Give it a deadline (`spec.activeDeadlineSeconds`), so that the sync fails and says so.
",
    check,
};

/// How long a hook and any other Job may take, in seconds.
const HOOK: i64 = 600;
const JOB: i64 = 3600;

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for job in case.of_kind(server, "batch", "Job") {
            if let Some(finding) = find(case, server, job).or_else(|| suspended(case, server, job)) {
                findings.add(finding);
            }
        }
    }
}

fn find<'a>(case: &Case<'a>, server: &str, job: &'a Object) -> Option<Finding> {
    let is_over = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"]
        .iter()
        .any(|kind| condition(job, kind) == Some("True"));
    if is_over || job.is_deleting() {
        return None;
    }
    let since =
        job.value().str_at(&["status", "startTime"]).unwrap_or_else(|| job.meta_str("creationTimestamp"));
    let age = age(case, since)?;
    let key = job.key();
    let app = Some(case.app_of(server, &key)?);
    let is_held = hook::is_hook(job)
        && app.is_some_and(|app| {
            let state = app.application().status.operation_state.as_ref();
            state.is_some_and(|state| state.phase == OperationPhase::Running)
        });
    if age <= (if is_held { HOOK } else { JOB }) {
        return None;
    }
    let pods = case.pods(server, job);
    let container = pods.iter().flat_map(|pod| Container::all(pod)).find(Container::runs)?;
    let noun = if hook::is_hook(job) { "hook" } else { "Job" };
    let cause = format!("{noun} {} runs for {} and does not end", key.name, long(age));
    let app = app.map(|app| app.name.clone());
    let fix = app.as_ref().filter(|_| job.at(&["spec", "activeDeadlineSeconds"]).is_none()).map(|app| {
        let path = FieldPath::fields(["spec", "activeDeadlineSeconds"]);
        Fix::new("Mend what it waits for, and give it a deadline")
            .person(format!("kubectl -n {} logs job/{}", key.namespace, key.name))
            .git(app, Place::Field { object: key.clone(), path, value: Some(600.into()) })
            .risk(Risk::Low, format!("Job {} fails instead of waiting for ever", key.name))
            .verify(format!("kubectl -n {} get job {}", key.namespace, key.name))
    });
    let finding = Finding::new(RULE.code, case.node(server, &key), cause)
        .of(app.clone())
        .seen([container.evidence("running")])
        .seen(command(job))
        .affects(app.filter(|_| is_held).map(Node::Application))
        .unless_deeper();
    Some(finding.fix(fix))
}

/// A Job that a sync waits for, and that does not begin before somebody lets it.
fn suspended(case: &Case<'_>, server: &str, job: &Object) -> Option<Finding> {
    let key = job.key();
    let app = case.app_of(server, &key)?;
    let is_operating = app
        .application()
        .status
        .operation_state
        .as_ref()
        .is_some_and(|state| state.phase == OperationPhase::Running);
    let path = FieldPath::fields(["spec", "suspend"]);
    let is_suspended = path.get(job.value()).and_then(Value::as_bool) == Some(true);
    if !is_operating || !is_suspended || job.is_deleting() {
        return None;
    }
    let noun = if hook::is_hook(job) { "hook" } else { "Job" };
    let cause = format!("{noun} {} is suspended, and the sync of {} waits for it", key.name, app.name);
    let fix = Fix::new("Let it begin")
        .git(&app.name, Place::Field { object: key.clone(), path: path.clone(), value: Some(false.into()) })
        .risk(Risk::Medium, format!("Job {} runs", key.name))
        .verify(format!("kubectl -n {} get job {}", key.namespace, key.name));
    let seen = Evidence::Field { object: key.clone(), path, value: "true".to_owned() };
    Some(
        Finding::new(RULE.code, case.node(server, &key), cause)
            .of(Some(app.name.clone()))
            .seen([seen])
            .affects([app.node()])
            .fix([fix]),
    )
}

/// What it does, which often says what it waits for.
fn command(job: &Object) -> Option<Evidence> {
    let (path, container) = Pods::of(job)?.containers().into_iter().next_back()?;
    let field = ["args", "command"].into_iter().find(|field| !container.items_at(&[field]).is_empty())?;
    let value = crate::words::shown(container.at(&[field])?);
    Some(Evidence::Field { object: job.key(), path: path.field(field), value })
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const WAITS: &str = "
@app shop OutOfSync Progressing
@status {operationState: {phase: Running, operation: {}, startedAt: '2026-01-01T11:00:00Z'}}
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: shop, annotations: {argocd.argoproj.io/hook: Sync}}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: shop, uid: j1, annotations: {argocd.argoproj.io/hook: Sync}}
spec: {template: {spec: {containers: [{name: wait, image: cli, args: ['while ! oc get istag web; do sleep 30; done']}]}}}
status: {active: 1, startTime: '2026-01-01T11:00:00Z'}
---
apiVersion: v1
kind: Pod
metadata: {name: wait-1, namespace: shop, ownerReferences: [{kind: Job, name: wait, uid: j1, controller: true}]}
spec: {containers: [{name: wait, image: cli}]}
status: {phase: Running, containerStatuses: [{name: wait, ready: true, state: {running: {}}}]}
";

    #[test]
    fn a_hook_that_does_not_end_is_found() {
        assert_eq!(
            check("LYN0904", WAITS),
            "P1 LYN0904/shop/Job/wait: hook wait runs for 60 minutes and does not end\n  Pod shop/wait-1: status.containerStatuses[0]: running\n  Job shop/wait: spec.template.spec.containers[0].args: [\"while ! oc get istag web; do sleep 30; done\"]\n  fix: Mend what it waits for, and give it a deadline\n"
        );
    }

    #[test]
    fn a_job_that_is_suspended_is_found_while_a_sync_waits_for_it() {
        let held = WAITS
            .replace("spec: {template", "spec: {suspend: true, template")
            .replace("status: {active: 1, startTime: '2026-01-01T11:00:00Z'}", "status: {}");
        assert_eq!(
            check("LYN0904", &held),
            "P1 LYN0904/shop/Job/wait: hook wait is suspended, and the sync of shop waits for it\n  Job shop/wait: spec.suspend: \
             true\n  fix: Let it begin\n"
        );
        assert_eq!(
            check("LYN0904", &held.replace("phase: Running, operation", "phase: Succeeded, operation")),
            ""
        );
    }

    #[test]
    fn a_hook_that_has_just_begun_is_fine() {
        assert_eq!(
            check(
                "LYN0904",
                &WAITS.replace("startTime: '2026-01-01T11:00:00Z'", "startTime: '2026-01-01T11:55:00Z'")
            ),
            ""
        );
    }

    #[test]
    fn a_hook_whose_pod_does_not_run_is_another_trouble() {
        assert_eq!(check("LYN0904", &WAITS.replace("running: {}", "waiting: {reason: ErrImagePull}")), "");
    }
}
