//! Jobs that remove themselves and are wanted for ever.

use jiff::Timestamp;
use lynceus_api::{OperationPhase, ResultCode, annotations, hook};
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::snapshot::Wanted;

pub(super) const RULE: Rule = Rule {
    code: "LYN1108",
    title: "A Job removes itself, and Git wants it to be there",
    explanation: "\
A Job has `ttlSecondsAfterFinished` and is an ordinary object of its application. Once it has ended it is deleted, and the application
is OutOfSync for an object that is missing: until the next sync, which runs the Job again. Where the application heals by itself, that
is at once, and the Job runs for ever.

## Why
The field is there to tidy up Jobs that nobody else keeps. An application keeps its own.

## Example
```
Job migrate: ttlSecondsAfterFinished: 100
```

## What to do
Make it a hook: hooks run with each sync and are not compared with the cluster. Or let it stay, so that it runs once.
",
    check,
};

const LIFE: &str = "ttlSecondsAfterFinished";

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let gone = app.wanted().iter().filter(|wanted| is_gone(case, app, &wanted.object));
        gone.for_each(|wanted| findings.add(found(app, wanted)));
    }
}

/// Whether a Job of an application was made, has ended and was deleted for that, or is being deleted just now.
fn is_gone(case: &Case<'_>, app: &App<'_>, object: &Object) -> bool {
    let Some(seconds) = object.value().int_at(&["spec", LIFE]) else { return false };
    if (object.group(), object.kind()) != ("batch", "Job") || hook::is_hook(object) {
        return false;
    }
    let key = object.key();
    match case.live(app.server(), &key) {
        Some(live) => is_going(case, live),
        // An application may not have noticed, or be at it again already: then the Job's own events tell.
        None => {
            case.is_absent(app.server(), &key)
                && (was_made(app, &key) || has_outlived(case, app.server(), &key, seconds))
        }
    }
}

/// Whether a Job that is there is being deleted, has ended, and its time is over.
fn is_going(case: &Case<'_>, live: &Object) -> bool {
    let mut ended = live.value().items_at(&["status", "conditions"]).iter().filter(|one| {
        let is_end = matches!(one.str_at(&["type"]), Some("Complete" | "Failed"));
        is_end && one.str_at(&["status"]) == Some("True")
    });
    let at = ended.find_map(|one| one.str_at(&["lastTransitionTime"])?.parse::<Timestamp>().ok());
    let life = live.value().int_at(&["spec", LIFE]);
    live.is_deleting() && at.zip(life).is_some_and(|(at, life)| is_past(case, at, life))
}

/// Whether a Job said that it has ended, so long ago that its time is over.
fn has_outlived(case: &Case<'_>, server: &str, key: &ObjectKey, life: i64) -> bool {
    case.events(server, key).iter().any(|event| {
        let text = |field| event.value().str_at(&[field]).unwrap_or_default();
        let at = ["lastTimestamp", "eventTime"]
            .into_iter()
            .find_map(|field| text(field).parse::<Timestamp>().ok());
        matches!(text("reason"), "Completed" | "BackoffLimitExceeded" | "DeadlineExceeded")
            && at.is_some_and(|at| is_past(case, at, life))
    })
}

fn is_past(case: &Case<'_>, ended: Timestamp, life: i64) -> bool {
    case.snapshot.taken_at.duration_since(ended).as_secs() >= life
}

/// Whether an application wants a Job that has removed itself: no sync brings it back for long.
pub(super) fn has_vanished(case: &Case<'_>, app: &App<'_>, key: &ObjectKey) -> bool {
    key.kind == "Job" && case.wanted_by(app, key).is_some_and(|wanted| is_gone(case, app, &wanted.object))
}

/// Whether the last sync went well and brought an object.
fn was_made(app: &App<'_>, key: &ObjectKey) -> bool {
    let state = app.operation().filter(|state| state.phase == OperationPhase::Succeeded);
    let result = state.and_then(|state| state.sync_result.as_ref());
    result.into_iter().flat_map(|result| &result.resources).any(|one| {
        (one.group.as_str(), one.kind.as_str(), one.name.as_str())
            == (key.group.as_str(), key.kind.as_str(), key.name.as_str())
            && one.namespace == key.namespace
            && one.status == ResultCode::Synced
    })
}

fn found(app: &App<'_>, wanted: &Wanted) -> Finding {
    let key = wanted.object.key();
    let seconds = wanted.object.value().int_at(&["spec", LIFE]).unwrap_or_default();
    let cause = format!(
        "Job {} is deleted {seconds} seconds after it has ended, as it asks for, and {} wants it to be there",
        key.name, app.name
    );
    let path = FieldPath::fields(["spec", LIFE]);
    Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .severity(if app.is_troubled() { Severity::P2 } else { Severity::P3 })
        .affects([app.node()])
        .seen([Evidence::Field { object: key.clone(), path: path.clone(), value: seconds.to_string() }])
        .about([(app.name.clone(), key.clone(), path)])
        .fix([as_hook(app, &key), kept(app, &key)])
}

fn as_hook(app: &App<'_>, key: &ObjectKey) -> Fix {
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotations::HOOK);
    Fix::new(format!("Make Job {} a hook", key.name))
        .git(&app.name, Place::Field { object: key.clone(), path, value: Some(Value::from("Sync")) })
        .risk(Risk::Low, format!("Job {} runs with each sync", key.name))
        .why("hooks are not compared with the cluster, and may go when they have ended")
}

fn kept(app: &App<'_>, key: &ObjectKey) -> Fix {
    let path = FieldPath::fields(["spec", LIFE]);
    Fix::new(format!("Let Job {} stay", key.name))
        .git(&app.name, Place::Field { object: key.clone(), path, value: None })
        .risk(Risk::Low, format!("Job {} runs once more, and not again until it changes", key.name))
        .why("it then runs once")
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const GONE: &str = "
@app shop OutOfSync Missing
@spec {syncPolicy: {automated: {prune: true}}}
@status {sync: {status: OutOfSync, revision: abc}, resources: [{group: batch, kind: Job, namespace: shop, name: tidy, status: OutOfSync}], operationState: {phase: Succeeded, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: abc, resources: [{group: batch, version: v1, kind: Job, namespace: shop, name: tidy, status: Synced}]}}}
apiVersion: batch/v1
kind: Job
metadata: {name: tidy, namespace: shop}
spec: {ttlSecondsAfterFinished: 60}
";

    #[test]
    fn a_job_that_has_removed_itself_is_found_and_not_taken_for_drift() {
        assert_eq!(
            check("LYN1108", GONE),
            "P2 LYN1108/shop/Job/tidy: Job tidy is deleted 60 seconds after it has ended, as it asks for, and shop wants it to be \
             there\n  Job shop/tidy: spec.ttlSecondsAfterFinished: 60\n  fix: Make Job tidy a hook\n  fix: Let Job tidy stay\n"
        );
        assert_eq!(roots(GONE), "P2 LYN1108/shop/Job/tidy explains shop\n");
    }

    #[test]
    fn a_hook_a_job_that_stays_and_one_that_was_never_made_are_not() {
        let hook = GONE.replace(
            "{name: tidy, namespace: shop}\nspec",
            "{name: tidy, namespace: shop, annotations: {argocd.argoproj.io/hook: Sync}}\nspec",
        );
        assert_eq!(check("LYN1108", &hook), "");
        assert_eq!(check("LYN1108", &GONE.replace("ttlSecondsAfterFinished: 60", "backoffLimit: 1")), "");
        assert_eq!(
            check("LYN1108", &GONE.replace("name: tidy, status: Synced", "name: other, status: Synced")),
            ""
        );
        assert_eq!(check("LYN1108", &there("{name: tidy, namespace: shop}", "{}")), "");
    }

    /// The same while the Job is there.
    fn there(metadata: &str, status: &str) -> String {
        format!(
            "{GONE}@live\napiVersion: batch/v1\nkind: Job\nmetadata: {metadata}\nspec: {{ttlSecondsAfterFinished: 60}}\nstatus: \
             {status}\n"
        )
    }

    const ENDED: &str = "{conditions: [{type: Complete, status: 'True', lastTransitionTime: 'AT'}]}";

    #[test]
    fn a_job_that_is_being_deleted_because_it_has_ended_is_as_good_as_gone() {
        let deleting = "{name: tidy, namespace: shop, deletionTimestamp: '2026-01-01T12:00:00Z', finalizers: [foregroundDeletion]}";
        let ended = |at: &str| ENDED.replace("AT", at);
        let is_found = |text: &str| check("LYN1108", text).starts_with("P2 LYN1108/shop/Job/tidy: ");
        assert!(is_found(&there(deleting, &ended("2026-01-01T11:59:00Z"))));
        assert!(!is_found(&there(deleting, &ended("2026-01-01T11:59:30Z"))), "somebody else deletes it");
        assert!(!is_found(&there(deleting, "{active: 1}")), "somebody deletes it while it runs");
        assert!(!is_found(&there("{name: tidy, namespace: shop}", &ended("2026-01-01T11:59:00Z"))));
    }

    #[test]
    fn one_that_is_gone_while_its_application_is_at_it_again_says_itself_that_it_had_ended() {
        let again = GONE
            .replace("phase: Succeeded", "phase: Running")
            .replace("name: tidy, status: Synced", "name: x, status: Synced");
        let event = |reason: &str, at: &str| {
            format!(
                "{again}@live\napiVersion: v1\nkind: Event\nmetadata: {{name: e, namespace: shop}}\ninvolvedObject: {{kind: Job, \
                 namespace: shop, name: tidy}}\nreason: {reason}\nlastTimestamp: '{at}'\n"
            )
        };
        assert_eq!(check("LYN1108", &again), "");
        assert!(
            check("LYN1108", &event("Completed", "2026-01-01T11:50:00Z")).contains("LYN1108/shop/Job/tidy")
        );
        assert_eq!(
            check("LYN1108", &event("Completed", "2026-01-01T11:59:30Z")),
            "",
            "somebody else took it away"
        );
        assert_eq!(check("LYN1108", &event("SuccessfulCreate", "2026-01-01T11:50:00Z")), "");
    }
}
