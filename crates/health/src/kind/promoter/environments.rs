//! Gates that say for every environment whether it may go on.

use lynceus_object::Object;

use super::{Words, begun};
use crate::Health;

/// The words about environments.
struct Gate {
    words: Words,
    reconciled: &'static str,
    failed: &'static str,
    pending: &'static str,
    passed: &'static str,
}

pub(crate) fn git(object: &Object) -> Health {
    const GATE: Gate = Gate {
        words: Words {
            initializing: "Initializing git commit validation",
            deleting: "GitCommitStatus is being deleted",
            spec: "GitCommitStatus",
            failed: "Git commit validation failed",
            not_ready: "Git commit validation not ready",
            unknown: Some("Git commit validation status unknown"),
            missing: "GitCommitStatus Ready condition is missing",
            finalizers: &[],
        },
        reconciled: "Git commit validation reconciled",
        failed: "Git commit validation failed",
        pending: "Git commit validation pending",
        passed: "Git commit validation passed",
    };
    check(object, &GATE)
}

pub(crate) fn timed(object: &Object) -> Health {
    const GATE: Gate = Gate {
        words: Words {
            initializing: "Initializing timed commit gate",
            deleting: "TimedCommitStatus is being deleted",
            spec: "TimedCommitStatus",
            failed: "Timed commit gate failed",
            not_ready: "Timed commit gate not ready",
            unknown: Some("Timed commit gate status unknown"),
            missing: "TimedCommitStatus Ready condition is missing",
            finalizers: &[],
        },
        reconciled: "Timed commit gate reconciled",
        failed: "Timed commit gate failed",
        pending: "Timed commit gate pending",
        passed: "Timed commit gate satisfied",
    };
    check(object, &GATE)
}

pub(crate) fn web_request(object: &Object) -> Health {
    const GATE: Gate = Gate {
        words: Words {
            initializing: "Initializing web request commit validation",
            deleting: "WebRequestCommitStatus is being deleted",
            spec: "WebRequestCommitStatus",
            failed: "Web request commit validation failed",
            not_ready: "Web request commit validation not ready",
            unknown: Some("Web request commit validation unknown"),
            missing: "WebRequestCommitStatus Ready condition is missing",
            finalizers: &[],
        },
        reconciled: "Web request commit validation reconciled",
        failed: "Web request validation failed",
        pending: "Web request validation pending",
        passed: "Web request validation passed",
    };
    check(object, &GATE)
}

fn check(object: &Object, gate: &Gate) -> Health {
    if let Some(health) = begun(object, &gate.words) {
        return health;
    }
    let environments = object.value().items_at(&["status", "environments"]);
    if environments.is_empty() {
        return Health::healthy(gate.reconciled);
    }
    let (mut failed, mut pending, mut passed) = (Vec::new(), Vec::new(), 0);
    for environment in environments {
        let branch = environment.str_at(&["branch"]).unwrap_or("?");
        match environment.str_at(&["phase"]) {
            Some("failure") => failed.push(branch),
            Some("success") => passed += 1,
            _ => pending.push(branch),
        }
    }
    let of_branches =
        |what: &str, branches: &[&str]| format!("{what} for branch(es): {}", branches.join(", "));
    if !failed.is_empty() {
        return Health::degraded(of_branches(gate.failed, &failed));
    }
    if !pending.is_empty() {
        return Health::progressing(of_branches(gate.pending, &pending));
    }
    Health::healthy(format!("{} for {passed} environment(s)", gate.passed))
}
