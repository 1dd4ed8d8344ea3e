//! Commit statuses and pull requests.

use lynceus_object::Object;

use super::{Finalizer, Words, begun};
use crate::{Health, present, rules};

pub(crate) fn argocd_commit_status(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing Argo CD commit status",
        deleting: "Argo CD commit status is being deleted",
        spec: "Argo CD commit status",
        failed: "Argo CD commit status reconciliation failed",
        not_ready: "Argo CD commit status reconciliation failed",
        unknown: None,
        missing: "Argo CD commit status is not ready yet",
        finalizers: &[],
    };
    if let Some(health) = begun(object, &WORDS) {
        return health;
    }
    match object.value().items_at(&["status", "applicationsSelected"]).len() {
        0 => Health::degraded("Argo CD commit status has no applications configured"),
        count => {
            Health::healthy(format!("Argo CD commit status is healthy and is tracking {count} applications"))
        }
    }
}

pub(crate) fn commit_status(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing commit status",
        deleting: "Commit status is being deleted",
        spec: "commit status",
        failed: "Commit status reconciliation failed",
        not_ready: "Commit status reconciliation failed",
        unknown: None,
        missing: "Commit status is not ready yet",
        finalizers: &[],
    };
    begun(object, &WORDS).unwrap_or_else(|| {
        match (object.value().str_at(&["status", "sha"]), object.value().str_at(&["status", "phase"])) {
            (Some(sha), Some(phase)) => {
                Health::healthy(format!("Commit status for commit {sha} reports {phase}"))
            }
            _ => Health::healthy("Commit status is healthy"),
        }
    })
}

pub(crate) fn pull_request(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing pull request",
        deleting: "Pull request is being deleted.",
        spec: "pull request",
        failed: "Pull request reconciliation failed",
        not_ready: "Pull request reconciliation failed",
        unknown: None,
        missing: "Pull request is not ready yet",
        finalizers: &[
            Finalizer {
                name: "pullrequest.promoter.argoproj.io/finalizer",
                waits: "Waiting for SCM closure or reconciliation of the pull request.",
                risk: "the real PR can stay open after the CR is gone.",
            },
            Finalizer {
                name: "changetransferpolicy.promoter.argoproj.io/pullrequest-finalizer",
                waits: "Waiting for the ChangeTransferPolicy to observe PR identity and state.",
                risk: "promotion status or history can be wrong or racy.",
            },
        ],
    };
    if let Some(health) = begun(object, &WORDS) {
        return health;
    }
    if !present(object, &["status", "id"]) || !present(object, &["status", "state"]) {
        return Health::healthy("Pull request is healthy");
    }
    let field = |name| object.at(&["status", name]).map(rules::plain).unwrap_or_default();
    Health::healthy(format!("Pull request is {} as PR {}", field("state"), field("id")))
}
