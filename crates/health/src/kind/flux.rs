//! Flux's kinds count what their conditions say: two that tell of work, or as many as it takes that tell of success.

use lynceus_api::HealthStatusCode;
use lynceus_object::Object;

use crate::{Health, conditions, text};

/// What is counted for a kind.
struct Tally {
    /// The status of `Ready` that tells of work.
    working: &'static str,
    /// The reasons of `Reconciling` that tell of work; any, if there are none.
    reasons: &'static [&'static str],
    /// Conditions besides `Ready` that tell of success.
    successes: &'static [&'static str],
    /// How much success is needed.
    needed: usize,
    /// What two that tell of work come to.
    busy: HealthStatusCode,
}

const TALLY: Tally = Tally {
    working: "Unknown",
    reasons: &[],
    successes: &[],
    needed: 1,
    busy: HealthStatusCode::Progressing,
};

const SOURCE: Tally = Tally { successes: &["ArtifactInStorage"], needed: 2, ..TALLY };

pub(super) fn helm_release(object: &Object) -> Health {
    suspended(object).unwrap_or_else(|| {
        count(object, &Tally { successes: &["Released", "TestSuccess"], needed: 2, ..TALLY })
    })
}

pub(super) fn kustomization(object: &Object) -> Health {
    suspended(object).unwrap_or_else(|| count(object, &TALLY))
}

pub(super) fn image_policy(object: &Object) -> Health {
    let reasons = &["NewGeneration", "AccessingRepository", "ApplyingPolicy"];
    count(object, &Tally { working: "False", reasons, ..TALLY })
}

pub(super) fn image_repository(object: &Object) -> Health {
    let reasons = &["NewGeneration", "Scanning"];
    suspended(object).unwrap_or_else(|| count(object, &Tally { working: "False", reasons, ..TALLY }))
}

pub(super) fn receiver(object: &Object) -> Health {
    let busy = HealthStatusCode::Degraded;
    suspended(object).unwrap_or_else(|| count(object, &Tally { working: "False", busy, ..TALLY }))
}

pub(super) fn source(object: &Object) -> Health {
    suspended(object).unwrap_or_else(|| count(object, &SOURCE))
}

pub(super) fn helm_repository(object: &Object) -> Health {
    if let Some(health) = suspended(object) {
        return health;
    }
    if text(object, &["spec", "type"]) == "oci" {
        return Health::healthy(
            "Helm repositories of type 'oci' do not contain any information in the status.",
        );
    }
    count(object, &SOURCE)
}

fn suspended(object: &Object) -> Option<Health> {
    let suspended = object.value().bool_at(&["spec", "suspend"]) == Some(true);
    suspended.then(|| Health::suspended(format!("{} is suspended", object.kind())))
}

fn count(object: &Object, tally: &Tally) -> Health {
    if !crate::present(object, &["status", "conditions"]) {
        return Health::progressing("Status unknown");
    }
    let (mut work, mut success, mut message) = (0, 0, String::new());
    for condition in conditions(object) {
        match (condition.kind, condition.status) {
            ("Ready", status) => {
                success += usize::from(status == "True");
                work += usize::from(status == tally.working);
                message = condition.reason.to_owned();
            }
            ("Reconciling", "True") => {
                let counts = tally.reasons.is_empty() || tally.reasons.contains(&condition.reason);
                work += usize::from(counts);
            }
            ("ArtifactOutdated", "True") if tally.successes == SOURCE.successes => {
                message = format!("{message} {}", condition.reason);
            }
            (kind, "True") if tally.successes.contains(&kind) => success += 1,
            _ => {}
        }
    }
    match (work, success) {
        (2, _) => Health::new(tally.busy, message),
        (_, success) if success == tally.needed => Health::healthy(message),
        _ => Health::degraded(message),
    }
}
