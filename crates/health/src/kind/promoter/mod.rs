//! The kinds of GitOps Promoter. All begin alike: being deleted, not seen yet, failed; then each has its own to say.

mod commits;
mod environments;
mod policy;

use lynceus_object::{Object, Value};

use crate::{Health, present};

pub(super) use commits::{argocd_commit_status, commit_status, pull_request};
pub(super) use environments::{git, timed, web_request};
pub(super) use policy::{change_transfer_policy, promotion_strategy};

/// The words of a kind.
struct Words {
    initializing: &'static str,
    deleting: &'static str,
    /// What has to be observed: `Waiting for … spec update to be observed`.
    spec: &'static str,
    /// What has failed.
    failed: &'static str,
    /// The same for any other reason than an error, which comes in parentheses.
    not_ready: &'static str,
    /// What is unknown; kinds without this word take an unknown state for a good one.
    unknown: Option<&'static str>,
    missing: &'static str,
    /// What finalizers wait for and why they should not be removed by hand.
    finalizers: &'static [Finalizer],
}

struct Finalizer {
    name: &'static str,
    waits: &'static str,
    risk: &'static str,
}

/// What all kinds have in common; `None` if the object is past that.
fn begun(object: &Object, words: &Words) -> Option<Health> {
    if object.is_deleting() {
        return Some(Health::progressing(deleting(object, words)));
    }
    if !present(object, &["status"]) {
        return Some(Health::progressing(words.initializing));
    }
    let kinds: &[&str] = if object.kind() == "PullRequest" { &["Ready", "Reconciled"] } else { &["Ready"] };
    let mut found = false;
    for condition in object.value().items_at(&["status", "conditions"]) {
        if condition.str_at(&["type"]).is_some_and(|kind| kinds.contains(&kind)) {
            found = true;
            if let Some(health) = unready(object, condition, words) {
                return Some(health);
            }
        }
    }
    (!found).then(|| Health::progressing(words.missing))
}

fn unready(object: &Object, condition: &Value, words: &Words) -> Option<Health> {
    let observed = condition.int_at(&["observedGeneration"]);
    let generation = object.value().int_at(&["metadata", "generation"]);
    if observed.is_some() && generation.is_some() && observed != generation {
        return Some(Health::progressing(format!("Waiting for {} spec update to be observed", words.spec)));
    }
    let reason = condition.str_at(&["reason"]).unwrap_or("Unknown");
    let message = |default| condition.str_at(&["message"]).unwrap_or(default);
    match (condition.str_at(&["status"])?, words.unknown) {
        ("False", _) if reason == "ReconciliationError" => {
            Some(Health::degraded(format!("{}: {}", words.failed, message("Unknown error"))))
        }
        ("False", _) => {
            Some(Health::degraded(format!("{} ({reason}): {}", words.not_ready, message("Unknown error"))))
        }
        ("Unknown", Some(unknown)) => {
            Some(Health::progressing(format!("{unknown} ({reason}): {}", message("Unknown"))))
        }
        _ => None,
    }
}

fn deleting(object: &Object, words: &Words) -> String {
    let known = object
        .finalizers()
        .filter_map(|name| words.finalizers.iter().find(|finalizer| finalizer.name == name))
        .map(|one| format!("{}: {} Risk if removed manually: {}", one.name, one.waits, one.risk));
    std::iter::once(words.deleting.to_owned()).chain(known).collect::<Vec<_>>().join(" ")
}

pub(super) fn cluster_scm_provider(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing cluster SCM provider",
        deleting: "ClusterScmProvider is being deleted.",
        spec: "ClusterScmProvider",
        failed: "Cluster SCM provider validation failed",
        not_ready: "Cluster SCM provider not ready",
        unknown: Some("Cluster SCM provider readiness unknown"),
        missing: "ClusterScmProvider Ready condition is missing",
        finalizers: &[Finalizer {
            name: "clusterscmprovider.promoter.argoproj.io/finalizer",
            waits: "Waiting until no GitRepository still references this cluster-wide SCM provider.",
            risk: "GitRepository objects can reference a provider that no longer exists.",
        }],
    };
    begun(object, &WORDS).unwrap_or_else(|| Health::healthy("Cluster SCM provider is ready"))
}

pub(super) fn scm_provider(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing SCM provider",
        deleting: "ScmProvider is being deleted.",
        spec: "ScmProvider",
        failed: "SCM provider validation failed",
        not_ready: "SCM provider not ready",
        unknown: Some("SCM provider readiness unknown"),
        missing: "ScmProvider Ready condition is missing",
        finalizers: &[Finalizer {
            name: "scmprovider.promoter.argoproj.io/finalizer",
            waits: "Waiting until no GitRepository in this namespace still references this provider.",
            risk: "GitRepository objects can reference a provider that no longer exists.",
        }],
    };
    begun(object, &WORDS).unwrap_or_else(|| Health::healthy("SCM provider is ready"))
}

pub(super) fn git_repository(object: &Object) -> Health {
    const WORDS: Words = Words {
        initializing: "Initializing Git repository",
        deleting: "GitRepository is being deleted.",
        spec: "GitRepository",
        failed: "Git repository validation failed",
        not_ready: "Git repository not ready",
        unknown: Some("Git repository readiness unknown"),
        missing: "GitRepository Ready condition is missing",
        finalizers: &[Finalizer {
            name: "gitrepository.promoter.argoproj.io/finalizer",
            waits: "Waiting until no non-deleting PullRequests still reference this repository.",
            risk: "repository metadata may be removed while promotions still depend on it.",
        }],
    };
    begun(object, &WORDS).unwrap_or_else(|| Health::healthy("Git repository is ready"))
}
