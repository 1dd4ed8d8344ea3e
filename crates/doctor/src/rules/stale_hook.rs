//! A hook that was not run, or not as Git has it now.

use lynceus_api::{HookType, OperationPhase, SyncStatusCode, hook};
use lynceus_object::{Object, ObjectKey, Value};

use crate::case::{App, Case, Pods, condition};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Risk};
use crate::rules::Rule;
use crate::snapshot::Wanted;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0906",
    title: "A hook has to be run again",
    explanation: "\
Hooks run only during a sync, and they are no part of what is compared. A hook that was added or changed while nothing else differs is
not run, and one that is still there from an earlier sync keeps what Git said then: its image, its tolerations, its service account.

## Why
Nothing is out of sync, so that nobody syncs; only some objects were synced, which leaves hooks out; or the Job hangs, and a Job's pods
cannot be changed.

## Example
```
Job bootstrap is from an earlier sync: its pods lack the tolerations that Git has now
```

## What to do
Sync the application once more. A Job that hangs has to be deleted first, if its delete policy does not do that.
",
    check,
};

/// Fields of pods that are compared: those that the API server does not fill in by itself.
const FIELDS: [&str; 4] = ["tolerations", "nodeSelector", "serviceAccountName", "imagePullSecrets"];
const CONTAINER: [&str; 4] = ["image", "command", "args", "envFrom"];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        for wanted in app.wanted().iter().filter(|wanted| is_of_sync(&wanted.object)) {
            let key = wanted.object.key();
            let found = match case.live(app.server(), &key) {
                Some(job) if !app.is_fine() => outdated(case, app, wanted, job),
                Some(_) => None,
                None => never_run(app, wanted).filter(|_| case.is_absent(app.server(), &key)),
            };
            if let Some(finding) = found {
                findings.add(finding);
            }
        }
    }
}

fn is_of_sync(object: &Object) -> bool {
    let types = hook::sync_types(object);
    let runs = |one: &HookType| matches!(one, HookType::PreSync | HookType::Sync | HookType::PostSync);
    // What gets a name of its own each time cannot be found again.
    let is_named = !object.name().is_empty();
    is_named && (object.group(), object.kind()) == ("batch", "Job") && types.iter().any(runs)
}

/// A Job that has not ended well and is not what Git has now.
fn outdated(case: &Case<'_>, app: &App<'_>, wanted: &Wanted, job: &Object) -> Option<Finding> {
    if condition(job, "Complete") == Some("True") {
        return None;
    }
    let fields = differences(&wanted.object, job);
    if fields.is_empty() {
        return None;
    }
    let key = job.key();
    let cause = format!(
        "hook {} is from an earlier sync and has not ended: it has other {} than Git has now",
        key.name,
        words::list(&fields)
    );
    let seen = Evidence::seen(format!("Job {} was made at {}", key.name, job.meta_str("creationTimestamp")));
    let finding = Finding::new(RULE.code, case.node(app.server(), &key), cause)
        .of(Some(app.name.clone()))
        .seen((!job.meta_str("creationTimestamp").is_empty()).then_some(seen))
        .seen(app.file(wanted, "what Git has"))
        .affects([app.node()]);
    Some(finding.fix([again(app, &key, true)]))
}

/// What differs in the pods of two Jobs. None of these fields gets a default in a template, so that one which is missing on one side
/// only was added or taken out.
fn differences(wanted: &Object, job: &Object) -> Vec<String> {
    let (Some(wanted), Some(live)) = (Pods::of(wanted), Pods::of(job)) else { return Vec::new() };
    let differs = |one: &Value, other: &Value, field: &str| {
        let said = |value: &Value| value.at(&[field]).filter(|value| !value.is_empty()).cloned();
        said(one) != said(other)
    };
    let of_pods = FIELDS.into_iter().filter(|field| differs(wanted.spec, live.spec, field));
    let (ours, theirs) = (wanted.containers(), live.containers());
    let of_containers = CONTAINER
        .into_iter()
        .filter(|field| ours.iter().zip(&theirs).any(|((_, one), (_, other))| differs(one, other, field)));
    of_pods.chain(of_containers).map(str::to_owned).collect()
}

/// A hook that the last sync did not run although the application counts as synced.
fn never_run(app: &App<'_>, wanted: &Wanted) -> Option<Finding> {
    let status = &app.application().status;
    let state = status.operation_state.as_ref();
    let is_synced = status.sync.status == SyncStatusCode::Synced;
    let is_partial = state
        .is_some_and(|state| state.operation.sync.as_ref().is_some_and(|sync| !sync.resources.is_empty()));
    let is_done = state.is_none_or(|state| state.phase == OperationPhase::Succeeded);
    let key = wanted.object.key();
    let ran = state.and_then(|state| state.sync_result.as_ref()).is_some_and(|result| {
        result.resources.iter().any(|one| one.kind == key.kind && one.name == key.name)
    });
    // A sync of some objects, as healing makes, says nothing of the hooks that ran in the whole sync before it.
    let was_whole = status.history.iter().any(|one| one.revision == status.sync.revision);
    if !is_done || ran || !(is_synced || is_partial) || (is_partial && was_whole) {
        return None;
    }
    // Where all is well, only a sync of another commit shows that the hook came after it.
    if app.is_fine() && state.is_none_or(|state| app.is_of_head(state) != Some(false)) {
        return None;
    }
    let why = match (is_partial, state) {
        (true, _) => "the last sync was of some objects only, which leaves hooks out",
        (false, Some(_)) => "the last sync did not have it, and nothing else differs",
        (false, None) => "nobody has synced the application",
    };
    let cause = format!("hook {} was never started: {why}", key.name);
    Some(
        Finding::new(RULE.code, crate::node::Node::object(app.server(), key.clone()), cause)
            .of(Some(app.name.clone()))
            .severity(if app.is_fine() { Severity::P3 } else { Severity::P2 })
            .seen(app.file(wanted, "the hook"))
            .affects([app.node()])
            .unless_deeper()
            .fix([again(app, &key, false)]),
    )
}

fn again(app: &App<'_>, key: &ObjectKey, delete: bool) -> Fix {
    let mut fix = Fix::new(format!("Run hook {} again", key.name));
    if app.is_operating() {
        fix = fix.cluster(Action::Stop { application: app.name.clone() });
    }
    if delete {
        fix = fix.cluster(Action::Delete { cluster: app.server().to_owned(), object: key.clone() });
    }
    fix.cluster(Action::Sync { application: app.name.clone() })
        .risk(Risk::Low, format!("Job {} runs once more", key.name))
        .verify(format!("kubectl -n {} get job {}", key.namespace, key.name))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const OLD: &str = "
@app shop Synced Progressing
apiVersion: batch/v1
kind: Job
metadata: {name: bootstrap, namespace: shop, annotations: {helm.sh/hook: post-install}}
spec: {template: {spec: {tolerations: [{key: env, value: dev}], containers: [{name: b, image: b}]}}}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: bootstrap, namespace: shop}
spec: {template: {spec: {containers: [{name: b, image: b}]}}}
status: {active: 1}
";

    #[test]
    fn a_hook_that_hangs_with_what_git_had_before_is_found() {
        assert_eq!(
            check("LYN0906", OLD),
            "P1 LYN0906/shop/Job/bootstrap: hook bootstrap is from an earlier sync and has not ended: it has other tolerations than Git has now\n  shop.yaml:1: what Git has\n  fix: Run hook bootstrap again\n"
        );
    }

    #[test]
    fn what_git_has_taken_out_meanwhile_is_a_difference_too() {
        let moved = OLD.replace("tolerations: [{key: env, value: dev}], ", "");
        let (wanted, live) = moved.split_once("@live").unwrap();
        let live = live.replacen("containers:", "nodeSelector: {zone: moon}, containers:", 1);
        let found = check("LYN0906", &format!("{wanted}@live{live}"));
        assert!(found.contains("it has other nodeSelector than Git has now"), "{found}");
    }

    #[test]
    fn a_hook_that_nobody_ran_is_found() {
        let (never, _) = OLD.split_once("@live").unwrap();
        assert_eq!(
            check("LYN0906", never),
            "P2 LYN0906/shop/Job/bootstrap: hook bootstrap was never started: nobody has synced the application\n  shop.yaml:1: the hook\n  fix: Run hook bootstrap again\n"
        );
    }

    #[test]
    fn a_hook_that_came_after_the_last_sync_is_told_although_all_is_well() {
        let (never, _) = OLD.split_once("@live").unwrap();
        let synced = |revision: &str| {
            never.replace(
                "@app shop Synced Progressing\n",
                &format!(
                    "@app shop Synced Healthy\n@status {{sync: {{status: Synced, revision: b}}, operationState: {{phase: Succeeded, \
                     operation: {{}}, startedAt: null, syncResult: {{revision: {revision}, resources: []}}}}}}\n"
                ),
            )
        };
        assert!(
            check("LYN0906", &synced("a"))
                .starts_with("P3 LYN0906/shop/Job/bootstrap: hook bootstrap was never started")
        );
        assert_eq!(check("LYN0906", &synced("b")), "");
    }

    #[test]
    fn a_hook_that_ran_and_was_deleted_is_fine() {
        let (ran, _) = OLD.split_once("@live").unwrap();
        let ran = ran.replace(
            "@app shop Synced Progressing\n",
            "@app shop Synced Progressing\n@status {operationState: {phase: Succeeded, operation: {}, startedAt: null, syncResult: \
             {revision: a, resources: [{group: batch, version: v1, kind: Job, namespace: shop, name: bootstrap, hookPhase: Succeeded}]}}}\n",
        );
        assert_eq!(check("LYN0906", &ran), "");
    }

    #[test]
    fn a_hook_that_is_as_git_has_it_only_takes_its_time() {
        assert_eq!(check("LYN0906", &OLD.replace("tolerations: [{key: env, value: dev}], ", "")), "");
    }
}
