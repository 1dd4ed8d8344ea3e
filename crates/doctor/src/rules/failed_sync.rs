//! A sync that failed and is not tried again.

use lynceus_api::OperationState;
use lynceus_object::{FieldPath, Value, value};

use crate::case::{App, Case};
use crate::finding::{Finding, Findings};
use crate::fix::{Action, Fix, Place, Risk};
use crate::limits;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1203",
    title: "The last sync failed and is not tried again",
    explanation: "\
The last sync of what Git has now ended badly. It is not tried again by itself: every commit is tried once, and its retries are
used up.

## Why
Something that it needed was not there in time, or still is not. If another cause is found for one of its objects, mend that
first; if none is found, the obstacle may be gone by now.

## Example
```
one or more synchronization tasks completed unsuccessfully (retried 5 times).
```

## What to do
Sync again, and give the policy retries if such things happen now and then.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| !app.is_fine() && !app.is_operating()) {
        let failed = app.failed_sync().filter(|state| app.is_of_head(state) != Some(false));
        if let Some(state) = failed {
            findings.add(found(app, state));
        }
    }
}

fn found(app: &App<'_>, state: &OperationState) -> Finding {
    let tries = match state.retry_count {
        0 => String::new(),
        count => format!(" after {} retries", count),
    };
    let said = match state.message.as_str() {
        "" => String::new(),
        message => format!(": {}", words::quote(message)),
    };
    let cause = format!("the last sync of {} failed{tries} and is not tried again{said}", app.name);
    let failures = app.failures();
    let shown = failures.iter().take(limits::NAMED);
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .unless_deeper()
        .seen(shown.map(|(key, text)| app.status(format!("{} {}: {text}", key.kind, key.name))))
        .fix([again(app)])
        .fix(retries(app))
}

fn again(app: &App<'_>) -> Fix {
    Fix::new(format!("Sync {} again", app.name))
        .cluster(Action::Sync { application: app.name.clone() })
        .risk(Risk::Low, format!("what the failed sync of {} would have done", app.name))
        .why("what it lacked may be there by now")
        .verify(format!("lynceus app get {}", app.name))
}

/// More attempts, where the policy has none.
fn retries(app: &App<'_>) -> Option<Fix> {
    let policy = app.application().spec.sync_policy.as_ref();
    let has = policy.and_then(|policy| policy.retry.as_ref()).is_some_and(|retry| retry.limit != 0);
    let path = FieldPath::fields(["spec", "syncPolicy", "retry"]);
    let value: Value = value!({"limit": 5, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "5m"}});
    (!has).then(|| {
        Fix::new(format!("Let {} try again by itself", app.name))
            .git(&app.name, Place::Application { path, value: Some(value) })
            .risk(Risk::Low, "failed syncs are repeated up to five times")
            .why("what comes a little late does not need a person then")
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const FAILED: &str = "
@app shop OutOfSync Missing
@status {sync: {status: OutOfSync, revision: abc}, operationState: {phase: Failed, message: one or more objects failed to apply, retryCount: 5, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: abc, resources: [{group: '', version: v1, kind: ConfigMap, namespace: shop, name: a, status: SyncFailed, message: connection refused}]}}}
";

    #[test]
    fn a_sync_that_failed_for_good_is_found() {
        assert_eq!(
            check("LYN1203", FAILED),
            "P1 LYN1203/shop/Application/shop: the last sync of shop failed after 5 retries and is not tried again: one or \
             more objects failed to apply\n  status of shop: ConfigMap a: connection refused\n  fix: Sync shop again\n  fix: \
             Let shop try again by itself\n"
        );
    }

    #[test]
    fn what_the_failure_comes_from_counts_instead() {
        let deeper = FAILED.replace("connection refused", "'namespaces \"shop\" not found'");
        assert_eq!(roots(&deeper), "P1 LYN0203/shop/Namespace/shop explains shop\n");
    }

    #[test]
    fn a_sync_of_another_commit_or_one_that_is_under_way_is_not() {
        assert_eq!(
            check(
                "LYN1203",
                &FAILED.replace("status: OutOfSync, revision: abc", "status: OutOfSync, revision: new")
            ),
            ""
        );
        assert_eq!(check("LYN1203", &FAILED.replace("phase: Failed", "phase: Running")), "");
    }
}
