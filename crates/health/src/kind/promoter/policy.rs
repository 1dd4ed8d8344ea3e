//! What moves commits from one environment to the next.

use lynceus_object::{Object, Value};

use super::{Finalizer, Words, begun};
use crate::Health;

pub(crate) fn change_transfer_policy(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing change transfer policy",
        deleting: "Change transfer policy is being deleted.",
        spec: "change transfer policy",
        failed: "Change transfer policy reconciliation failed",
        not_ready: "Change transfer policy reconciliation failed",
        unknown: None,
        missing: "Change transfer policy is not ready yet",
        finalizers: &[Finalizer {
            name: "changetransferpolicy.promoter.argoproj.io/finalizer",
            waits: "Waiting to clear related PullRequest finalizers and finish cleanup before this policy is removed.",
            risk: "The 'changetransferpolicy.promoter.argoproj.io/pullrequest-finalizer' finalizer may not be cleaned up from PullRequests owned by this ChangeTransferPolicy.",
        }],
    };
    if let Some(health) = begun(object, &WORDS) {
        return health;
    }
    let status = object.at(&["status"]).unwrap_or(&Value::Null);
    let (Some(active), proposed) = (dry(status, "active"), dry(status, "proposed")) else {
        return Health::progressing("The active commit DRY SHA is missing or empty.");
    };
    let Some(proposed) = proposed else {
        return Health::progressing("The proposed commit DRY SHA is missing or empty.");
    };
    if proposed != active {
        let counts = Counts::of(status, "proposed");
        return Health::progressing(format!(
            "Promotion in progress from '{}' to '{}': {}",
            short(active),
            short(proposed),
            counts.told()
        ));
    }
    let counts = Counts::of(status, "active");
    if !counts.pending.is_empty() || !counts.failed.is_empty() {
        return Health::healthy(format!(
            "Environment is up-to-date, but there are non-successful active commit statuses: {}",
            counts.told()
        ));
    }
    Health::healthy(format!("Environment is up-to-date on commit {}.", short(active)))
}

pub(crate) fn promotion_strategy(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing promotion strategy",
        deleting: "Promotion strategy is being deleted",
        spec: "promotion strategy",
        failed: "Promotion strategy reconciliation failed",
        not_ready: "Promotion strategy reconciliation failed",
        unknown: None,
        missing: "Promotion strategy is not ready yet",
        finalizers: &[],
    };
    if let Some(health) = begun(object, &WORDS) {
        return health;
    }
    let environments = object.value().items_at(&["status", "environments"]);
    let Some(first) = environments.first() else {
        return Health::degraded("Promotion strategy has no environments configured");
    };
    unknown_commit(environments)
        .or_else(|| under_way(environments))
        .unwrap_or_else(|| arrived(first, environments))
}

/// Commits that are not known yet, or not the same everywhere.
fn unknown_commit(environments: &[Value]) -> Option<Health> {
    for environment in environments {
        for (which, sha) in [("active", dry(environment, "active")), ("proposed", hydrated(environment))] {
            if sha.is_none() {
                return Some(Health::progressing(format!(
                    "The {which} commit DRY SHA is missing or empty in environment '{}'.",
                    branch(environment)
                )));
            }
        }
    }
    let proposed = environments.first().and_then(hydrated);
    environments.iter().any(|environment| hydrated(environment) != proposed).then(|| {
        Health::progressing(
            "Not all environments have the same proposed commit SHA. This likely means the hydrator has not run for all environments yet.",
        )
    })
}

/// The first environment to which a commit is on its way.
fn under_way(environments: &[Value]) -> Option<Health> {
    let moving =
        environments.iter().find(|environment| dry(environment, "proposed") != dry(environment, "active"))?;
    Some(Health::progressing(format!(
        "Promotion in progress for environment '{}' from '{}' to '{}': {}Hydrator has processed dry commit '{}'. ",
        branch(moving),
        short(dry(moving, "active").unwrap_or_default()),
        short(dry(moving, "proposed").unwrap_or_default()),
        Counts::of(moving, "proposed").told(),
        short(hydrated(moving).unwrap_or_default()),
    )))
}

fn arrived(first: &Value, environments: &[Value]) -> Health {
    let mut unhappy: Vec<(&str, String)> = Vec::new();
    for environment in environments {
        let counts = Counts::of(environment, "active");
        if !counts.pending.is_empty() || !counts.failed.is_empty() {
            let told = format!("({} failed, {} pending)", counts.failed.len(), counts.pending.len());
            unhappy.push((branch(environment), told));
        }
    }
    if unhappy.is_empty() {
        return Health::healthy(format!(
            "All environments are up-to-date on commit '{}'. Hydrator has processed dry commit '{}'.",
            short(dry(first, "active").unwrap_or_default()),
            short(hydrated(first).unwrap_or_default()),
        ));
    }
    let told: Vec<String> = unhappy.iter().map(|(branch, told)| format!("{branch} {told}")).collect();
    Health::healthy(format!(
        "Environments are up-to-date, but some environments have non-successful commit statuses: {}.",
        told.join(", ")
    ))
}

fn branch(environment: &Value) -> &str {
    environment.str_at(&["branch"]).unwrap_or_default()
}

/// The commit that a side of an environment was made from.
fn dry<'a>(environment: &'a Value, side: &str) -> Option<&'a str> {
    environment.str_at(&[side, "dry", "sha"]).filter(|sha| !sha.is_empty())
}

/// The commit that was hydrated last: the note of it, or what the proposal was made from.
fn hydrated(environment: &Value) -> Option<&str> {
    let noted = environment.str_at(&["proposed", "note", "drySha"]).filter(|sha| !sha.is_empty());
    noted.or_else(|| dry(environment, "proposed"))
}

fn short(sha: &str) -> &str {
    sha.get(..7).unwrap_or(sha)
}

/// The commit statuses of a side, by how they are.
struct Counts<'a> {
    pending: Vec<&'a str>,
    failed: Vec<&'a str>,
    passed: usize,
}

impl<'a> Counts<'a> {
    fn of(environment: &'a Value, side: &str) -> Self {
        let mut counts = Counts { pending: Vec::new(), failed: Vec::new(), passed: 0 };
        for status in environment.items_at(&[side, "commitStatuses"]) {
            let key = status.str_at(&["key"]).unwrap_or_default();
            match status.str_at(&["phase"]) {
                Some("pending") => counts.pending.push(key),
                Some("failure") => counts.failed.push(key),
                Some("success") => counts.passed += 1,
                _ => {}
            }
        }
        counts
    }

    fn told(&self) -> String {
        let Counts { pending, failed, passed } = self;
        let mut text = format!("{} pending, {passed} successful, {} failed. ", pending.len(), failed.len());
        for (what, keys) in [("Pending", pending), ("Failed", failed)] {
            if !keys.is_empty() {
                text.push_str(&format!("{what} commit statuses: {}. ", keys.join(", ")));
            }
        }
        text
    }
}
