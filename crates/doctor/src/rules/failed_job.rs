//! A hook or Job that failed.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{HookDeletePolicy, hook};
use lynceus_object::{Object, ObjectKey};

use crate::case::{App, Case, condition};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Risk};
use crate::rules::Rule;
use crate::rules::container::Container;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0905",
    title: "A hook or Job failed",
    explanation: "\
A Job gave up: its pods failed too often, or it took longer than its deadline. A Job that failed stays failed; a sync whose hook failed
has failed too, and what comes after the hook was not applied.

## Why
What it says last tells more than that it failed. Often something was not there yet when it ran, and is there now: then it only has
to run again.

## Example
```
Job migrate: Failed: BackoffLimitExceeded: Job has reached the specified backoff limit
```

## What to do
Mend what its pods say, then run it again: sync the application. A hook without the delete policy BeforeHookCreation, and a Job that
is no hook, have to be deleted first.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut told: BTreeSet<(&str, ObjectKey)> = BTreeSet::new();
    for server in case.servers() {
        let newest = newest(case, server);
        for job in
            case.of_kind(server, "batch", "Job").iter().filter(|job| condition(job, "Failed") == Some("True"))
        {
            let is_old =
                job.controller().is_some_and(|owner| newest.get(&owner.uid.to_string()) != Some(&job.name()));
            let app = case.app_of(server, &job.key());
            // A hook of an application that has done without it since does not matter any more.
            let is_past = hook::is_hook(job) && app.is_some_and(App::is_fine);
            if !is_old && !is_past && app.is_some() {
                told.insert((server, job.key()));
                findings.add(found(case, server, job, app));
            }
        }
    }
    for app in case.apps().filter(|app| !app.is_fine()) {
        for (key, text) in app.failures().into_iter().filter(|(key, _)| is_hook(app, key)) {
            if !told.contains(&(app.server(), key.clone())) {
                findings.add(gone(case, app, key, text));
            }
        }
    }
}

/// Of the Jobs of each CronJob the one that was made last: a failed run that another followed is history.
fn newest<'a>(case: &Case<'a>, server: &str) -> BTreeMap<String, &'a str> {
    let mut newest: BTreeMap<String, (&'a str, &'a str)> = BTreeMap::new();
    for job in case.of_kind(server, "batch", "Job") {
        let Some(owner) = job.controller() else { continue };
        let made = (job.meta_str("creationTimestamp"), job.name());
        let known = newest.entry(owner.uid.to_string()).or_insert(made);
        *known = (*known).max(made);
    }
    newest.into_iter().map(|(owner, (_, name))| (owner, name)).collect()
}

/// Whether an object that a sync failed at is a hook: the result says of which type.
fn is_hook(app: &App<'_>, key: &ObjectKey) -> bool {
    let result =
        app.application().status.operation_state.as_ref().and_then(|state| state.sync_result.as_ref());
    result.is_some_and(|result| {
        result
            .resources
            .iter()
            .any(|one| one.name == key.name && one.kind == key.kind && one.hook_type.known().is_some())
    })
}

fn found<'a>(case: &Case<'a>, server: &str, job: &'a Object, app: Option<&App<'_>>) -> Finding {
    let key = job.key();
    let mut conditions = job.value().items_at(&["status", "conditions"]).iter();
    let failed = conditions.rfind(|one| one.str_at(&["type"]) == Some("Failed"));
    let text = |field| failed.and_then(|one| one.str_at(&[field])).unwrap_or_default();
    let pods = case.pods(server, job);
    let ends = pods.iter().flat_map(|pod| Container::all(pod));
    let mut ends =
        ends.filter_map(|one| Some((one.told(), one.ended().filter(|ended| ended.code != 0)?.told(), one)));
    let last = ends.next_back();
    let how = match (text("reason"), &last) {
        ("DeadlineExceeded", _) => "it took longer than its deadline".to_owned(),
        (_, Some((who, how, _))) => format!("{who} ended with {how}"),
        (_, None) => words::quote(text("message")),
    };
    let noun = if hook::is_hook(job) { "hook" } else { "Job" };
    let seen = Evidence::Field {
        object: key.clone(),
        path: lynceus_object::FieldPath::fields(["status", "conditions"]),
        value: words::quote(&format!("Failed: {}: {}", text("reason"), text("message"))),
    };
    let fix = again(server, &key, app, !deletes_itself(job));
    Finding::new(RULE.code, case.node(server, &key), format!("{noun} {} failed: {how}", key.name))
        .of(app.map(|app| app.name.clone()))
        .seen([seen])
        .seen(last.map(|(_, how, one)| one.evidence(how)))
        .affects(app.filter(|_| hook::is_hook(job)).map(App::node))
        .unless_deeper()
        .fix([fix])
}

/// A hook that failed and was deleted since: only the sync still tells of it.
fn gone(case: &Case<'_>, app: &App<'_>, key: ObjectKey, text: &str) -> Finding {
    let cause = format!("hook {} {} failed: {}", key.kind, key.name, words::quote(text));
    let seen = app.status(format!("{} {}: {text}", key.kind, key.name));
    let fix = again(app.server(), &key, Some(app), false);
    Finding::new(RULE.code, case.node(app.server(), &key), cause)
        .of(Some(app.name.clone()))
        .seen([seen])
        .affects([app.node()])
        .unless_deeper()
        .fix([fix])
}

/// Whether a new sync makes a hook anew by itself.
fn deletes_itself(job: &Object) -> bool {
    hook::is_hook(job) && hook::delete_policies(job).contains(&HookDeletePolicy::BeforeHookCreation)
}

fn again(server: &str, key: &ObjectKey, app: Option<&App<'_>>, delete: bool) -> Fix {
    let mut fix = Fix::new(format!("Mend what it says, then run {} again", key.name))
        .person(format!("kubectl -n {} logs job/{}", key.namespace, key.name));
    if delete {
        fix = fix.cluster(Action::Delete { cluster: server.to_owned(), object: key.clone() });
    }
    if let Some(app) = app {
        fix = fix.cluster(Action::Sync { application: app.name.clone() });
    }
    fix.risk(Risk::Low, format!("{} {} runs once more", key.kind, key.name))
        .verify(format!("kubectl -n {} get job {}", key.namespace, key.name))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const FAILED: &str = "
@app shop OutOfSync Degraded
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {argocd.argoproj.io/hook: PreSync}}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, uid: j1, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {containers: [{name: m, image: m}]}}}
status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}
---
apiVersion: v1
kind: Pod
metadata: {name: migrate-1, namespace: shop, ownerReferences: [{kind: Job, name: migrate, uid: j1, controller: true}]}
spec: {containers: [{name: m, image: m}]}
status: {phase: Failed, containerStatuses: [{name: m, state: {terminated: {exitCode: 3, message: no route to db}}}]}
";

    #[test]
    fn a_hook_that_failed_is_found_with_its_last_words() {
        assert_eq!(
            check("LYN0905", FAILED),
            "P1 LYN0905/shop/Job/migrate: hook migrate failed: container m ended with exit code 3: no route to db\n  Job shop/migrate: status.conditions: Failed: BackoffLimitExceeded: Job has reached the specified backoff limit\n  Pod shop/migrate-1: status.containerStatuses[0]: exit code 3: no route to db\n  fix: Mend what it says, then run migrate again\n"
        );
    }

    #[test]
    fn a_hook_that_failed_and_was_deleted_is_found_in_the_sync() {
        let text = "
@app shop OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: batch, version: v1, kind: Job, namespace: shop, name: migrate, hookType: PreSync, hookPhase: Failed, message: Job has reached the specified backoff limit}]}}}
";
        assert_eq!(
            check("LYN0905", text),
            "P1 LYN0905/shop/Job/migrate: hook Job migrate failed: Job has reached the specified backoff limit\n  status of shop: Job migrate: Job has reached the specified backoff limit\n  fix: Mend what it says, then run migrate again\n"
        );
    }

    #[test]
    fn a_run_of_a_cron_job_that_another_followed_is_history() {
        let run = |name: &str, made: &str, status: &str| {
            format!(
                "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: shop, creationTimestamp: '{made}', \
                 ownerReferences: [{{kind: CronJob, name: c, uid: c1, controller: true}}]}}\nstatus: {{conditions: [{{type: {status}, \
                 status: 'True'}}]}}\n"
            )
        };
        let text = format!(
            "@live\n{}{}",
            run("c-1", "2026-01-01T01:00:00Z", "Failed"),
            run("c-2", "2026-01-01T02:00:00Z", "Complete")
        );
        assert_eq!(check("LYN0905", &text), "");
    }

    #[test]
    fn a_hook_that_failed_once_of_an_application_that_is_fine_now_does_not_matter() {
        assert_eq!(
            check("LYN0905", &FAILED.replace("@app shop OutOfSync Degraded", "@app shop Synced Healthy")),
            ""
        );
    }
}
