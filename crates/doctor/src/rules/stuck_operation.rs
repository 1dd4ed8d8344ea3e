//! A sync that has been under way for very long.

use jiff::SignedDuration;
use lynceus_api::{GROUP, OperationPhase, OperationState, ReasonCode};
use lynceus_object::{FieldPath, ObjectKey};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::limits;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1204",
    title: "A sync has been under way for very long",
    explanation: "\
A sync began long ago and has not ended. While it is under way nothing newer is applied: a commit that would mend things waits as
well.

## Why
It waits for an object to become healthy or to be gone, for a hook to complete, or for somebody to confirm, and that does not come.
If another cause is found for that object, it is named instead.

## Example
```
waiting for healthy state of serving.kserve.io/InferenceService/model
```

## What to do
Mend what it waits for. If the mend is in Git, stop the sync first (`lynceus app terminate-op`): it goes on with the old commit
otherwise.
",
    check,
};

/// A sync that takes longer than this does not end by itself, most likely.
const LONG: SignedDuration = SignedDuration::from_mins(15);

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let Some(state) = app.operation().filter(|_| app.is_operating()) else { continue };
        let Some(since) = state.started_at.map(lynceus_api::Time::timestamp) else { continue };
        let age = case.snapshot.taken_at.duration_since(since);
        let is_running = state.phase.known().is_some_and(|phase| !phase.is_completed());
        if is_running && age >= LONG {
            let finding = found(case, app, state, age);
            // What it waits for has its own causes, however little is known of them.
            findings.add(if waits_for_troubled(case, app) { finding.weak() } else { finding });
        }
    }
}

/// Whether a sync waits for another application that is not well. A message says nothing of that one's namespace.
fn waits_for_troubled(case: &Case<'_>, app: &App<'_>) -> bool {
    let awaited = app.awaited();
    let mut awaited =
        awaited.iter().filter(|key| (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application"));
    awaited.any(|key| {
        case.apps().any(|other| {
            let is_named = other.name.name == key.name
                && (key.namespace.is_empty() || key.namespace == other.name.namespace);
            is_named && other.is_troubled()
        })
    })
}

fn found(case: &Case<'_>, app: &App<'_>, state: &OperationState, age: SignedDuration) -> Finding {
    let doing = match state.phase.known() {
        Some(OperationPhase::Terminating) => "is being stopped",
        _ => "is under way",
    };
    let said = match state.message.as_str() {
        "" => String::new(),
        message => format!(": {}", words::quote(message)),
    };
    let cause =
        format!("the sync of {} {doing} since {} minutes and does not end{said}", app.name, age.as_mins());
    let stop = Fix::new(format!("Stop the sync of {}, mend what it waits for, and sync again", app.name))
        .person(format!("lynceus app terminate-op {0}; lynceus app sync {0}", app.name))
        .risk(Risk::Low, "what was applied stays")
        .why("the sync goes on with the commit that it began with; a newer one waits until it has ended")
        .verify(format!("lynceus app get {}", app.name));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .unless_deeper()
        .seen(waits(app))
        .seen(judged(case, app))
        .fix([stop])
}

/// What it waits for, as Lynceus wrote it down.
fn waits(app: &App<'_>) -> Vec<Evidence> {
    let reasons = app.reasons();
    let waiting = reasons.iter().filter(|one| one.code == ReasonCode::SyncWaits).flat_map(|one| one.roots());
    waiting.take(limits::NAMED).map(|one| app.status(&one.text)).collect()
}

/// What the health checks say of the objects that it waits for: the status has it where a check is of the users' own.
fn judged(case: &Case<'_>, app: &App<'_>) -> Vec<Evidence> {
    let listed: Vec<_> = app.resources().filter_map(|(key, one)| Some((key, one.health.as_ref()?))).collect();
    let mut told = Vec::new();
    for awaited in app.awaited() {
        let is_meant = |key: &ObjectKey| {
            key.group_kind() == awaited.group_kind()
                && key.name == awaited.name
                && (awaited.namespace.is_empty() || key.namespace == awaited.namespace)
        };
        let of_status = listed.iter().filter(|(key, health)| is_meant(key) && !health.message.is_empty());
        let of_status =
            of_status.map(|(key, health)| (key.clone(), format!("{}: {}", health.status, health.message)));
        let mut all: Vec<(ObjectKey, String)> = of_status.collect();
        if all.is_empty() {
            let own = app.wanted().iter().map(|one| one.object.key()).filter(is_meant);
            all.extend(own.filter_map(|key| {
                let health = case
                    .health(case.live(app.server(), &key)?)
                    .filter(|health| !health.message.is_empty())?;
                Some((key, format!("{}: {}", health.status, health.message)))
            }));
        }
        let path = FieldPath::fields(["status"]);
        told.extend(all.into_iter().map(|(object, value)| Evidence::Field {
            object,
            path: path.clone(),
            value: words::quote(&value),
        }));
    }
    told.truncate(limits::NAMED);
    told
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::case::Case;
    use crate::finding::Findings;
    use crate::tests::{check, snapshot};

    const STUCK: &str = "
@app shop OutOfSync Progressing
@status {operationState: {phase: Running, message: 'waiting for healthy state of example.org/Gadget/a', operation: {}, startedAt: '2026-01-01T10:00:00Z'}}
";

    #[test]
    fn a_sync_that_began_hours_ago_is_found() {
        assert_eq!(
            check("LYN1204", STUCK),
            "P1 LYN1204/shop/Application/shop: the sync of shop is under way since 120 minutes and does not end: waiting for \
             healthy state of example.org/Gadget/a\n  fix: Stop the sync of shop, mend what it waits for, and sync again\n"
        );
    }

    #[test]
    fn what_the_health_check_says_of_what_it_waits_for_is_told() {
        let listed = STUCK.replace(
            "@status {",
            "@status {resources: [{group: example.org, kind: Gadget, namespace: shop, name: a, status: Synced, health: {status: Degraded, \
             message: no model}}], ",
        );
        assert!(
            check("LYN1204", &listed).contains("\n  Gadget shop/a: status: Degraded: no model\n"),
            "{}",
            check("LYN1204", &listed)
        );
        let set = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: shop}\n";
        let status =
            "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}";
        let live =
            format!("{}{set}@live\n{set}{status}\n", STUCK.replace("example.org/Gadget", "apps/Deployment"));
        assert!(
            check("LYN1204", &live).contains("\n  Deployment shop/a: status: Degraded: "),
            "{}",
            check("LYN1204", &live)
        );
    }

    #[test]
    fn one_that_has_just_begun_or_has_ended_is_not() {
        assert_eq!(check("LYN1204", &STUCK.replace("T10:00:00Z", "T11:55:00Z")), "");
        assert_eq!(check("LYN1204", &STUCK.replace("phase: Running", "phase: Succeeded")), "");
    }

    /// One application waits for another, which is hung for a reason that is not known either.
    fn waits_for(message: &str, reasons: &str, namespace: &str) -> String {
        format!(
            "@app apps OutOfSync Progressing\n@metadata {{annotations: {{lynceus.dev/reasons: '{reasons}'}}}}\n@status \
             {{operationState: {{phase: Running, message: '{message}', operation: {{}}, startedAt: '2026-01-01T10:00:00Z'}}}}\n@app \
             shop OutOfSync Progressing\n@metadata {{namespace: {namespace}}}\n"
        )
    }

    #[test]
    fn one_that_waits_for_another_application_only_repeats_what_is_known_of_that() {
        let is_weak = |text: &str| {
            let (snapshot, mut findings) = (snapshot(text), Findings::default());
            (RULE.check)(&Case::new(&snapshot), &mut findings);
            findings.into_sorted()[0].is_weak
        };
        let message = |name: &str| {
            format!("waiting for healthy state of argoproj.io/Application/{name} and 1 more resources")
        };
        assert!(is_weak(&waits_for(&message("shop"), "[]", "argocd")));
        assert!(!is_weak(&waits_for(&message("other"), "[]", "argocd")));
        // What Lynceus wrote down names all that is waited for, each with its namespace.
        let reasons = "[{\"code\": \"SyncWaits\", \"text\": \"the sync waits\", \"because\": [{\"code\": \"WaitsForHealth\", \
                       \"text\": \"it waits\", \"object\": {\"group\": \"argoproj.io\", \"kind\": \"Application\", \"namespace\": \
                       \"argocd\", \"name\": \"shop\"}}]}]";
        assert!(is_weak(&waits_for("one or more tasks are running", reasons, "argocd")));
        assert!(!is_weak(&waits_for("one or more tasks are running", reasons, "team")));
    }
}
