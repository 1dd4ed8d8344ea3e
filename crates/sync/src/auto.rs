//! Should an application sync by itself now?

use jiff::{SignedDuration, Timestamp};
use lynceus_api::{
    Application, Operation, OperationInitiator, OperationPhase, ResourceStatus, RetryStrategy, SyncOperation,
    SyncOperationResource, SyncStatusCode,
};
use lynceus_object::Str;

use crate::limits;

/// What automation does about an application.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing, because nothing is to be done or the policy does not want it.
    Nothing(&'static str),
    /// Nothing, and the user should know why: it becomes a SyncError.
    Refuse(String),
    /// Nothing yet.
    Wait(Timestamp),
    /// Sync.
    Sync(Box<Operation>),
}

/// What the decision is made from.
pub struct Situation<'a> {
    /// The application with its last operation.
    pub application: &'a Application,
    /// What the comparison found.
    pub sync: SyncStatusCode,
    /// The commits that were compared, in the order of the sources.
    pub revisions: &'a [Str],
    /// The resources with their verdicts.
    pub resources: &'a [ResourceStatus],
    /// Whether a resource is being deleted already.
    pub is_leaving: &'a dyn Fn(&ResourceStatus) -> bool,
    /// How long drift of the same commit is left alone between two attempts to heal it.
    pub heal: Heal,
    /// The time.
    pub now: Timestamp,
}

/// The pauses between two attempts to heal drift of the same commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heal {
    /// The pause where pauses do not grow.
    pub pause: SignedDuration,
    /// The first pause where they grow; zero where they do not.
    pub first: SignedDuration,
    /// By how much each is longer than the one before.
    pub factor: i64,
    /// The longest.
    pub most: SignedDuration,
}

impl Default for Heal {
    fn default() -> Self {
        Heal {
            pause: SignedDuration::ZERO,
            first: limits::HEAL_BACKOFF,
            factor: limits::HEAL_FACTOR,
            most: limits::HEAL_BACKOFF_MAX,
        }
    }
}

impl Heal {
    /// The pause after a number of attempts: by default none after none, then 2 s, 6 s, 18 s, and so on up to five minutes.
    fn after(self, attempts: i64) -> SignedDuration {
        if self.first.is_zero() {
            return self.pause;
        }
        if attempts == 0 {
            return SignedDuration::ZERO;
        }
        let power = u32::try_from(attempts - 1).unwrap_or(u32::MAX);
        // Without a factor every pause is as the first.
        let growth = if self.factor == 0 { 1 } else { self.factor.saturating_pow(power) };
        let seconds = self.first.as_secs().saturating_mul(growth);
        let seconds = if self.most.is_zero() { seconds } else { seconds.min(self.most.as_secs()) };
        SignedDuration::from_secs(seconds)
    }
}

/// Decides. Every commit is tried once; what has drifted since is healed if the policy says so, with growing pauses.
pub fn decide(situation: &Situation<'_>) -> Decision {
    let application = situation.application;
    let Some(policy) = application.spec.automated() else {
        return Decision::Nothing("there is no automated policy");
    };
    if application.operation.is_some() {
        return Decision::Nothing("a sync is under way");
    }
    if application.metadata.deletion_timestamp.is_some() {
        return Decision::Nothing("the application is being deleted");
    }
    if situation.sync != SyncStatusCode::OutOfSync {
        return Decision::Nothing("it is in sync, or that is not known");
    }
    let prunes = |resource: &&ResourceStatus| resource.requires_pruning;
    // What cannot be told of may differ.
    let differs = |status| matches!(status, SyncStatusCode::OutOfSync | SyncStatusCode::Unknown);
    let differing =
        || situation.resources.iter().filter(|resource| resource.status.known().is_some_and(differs));
    if !policy.prunes() && differing().all(|resource| resource.requires_pruning) {
        return Decision::Nothing("only pruning is left to do, and the policy does not prune");
    }
    let mut sync = SyncOperation { prune: policy.prunes(), ..SyncOperation::default() };
    if let Some(policy) = &application.spec.sync_policy {
        sync.sync_options = policy.sync_options.clone();
    }
    if application.spec.has_multiple_sources() {
        sync.sources = application.spec.sources.clone();
        sync.revisions = situation.revisions.to_vec();
    } else {
        sync.revision = situation.revisions.first().cloned().unwrap_or_default();
    }
    let tried = last_attempt(application, situation.revisions);
    if let Some(attempt) = &tried {
        if attempt.phase != OperationPhase::Succeeded {
            let revisions = situation.revisions.join(", ");
            return Decision::Refuse(format!(
                "Failed last sync attempt to [{revisions}]: {}",
                attempt.message
            ));
        }
        if !policy.heals() {
            return Decision::Nothing("this commit was synced already, and the policy does not heal");
        }
        if differing().all(|resource| prunes(&resource) && (situation.is_leaving)(resource)) {
            return Decision::Nothing("what is to be pruned is on its way out");
        }
        let pause = situation.heal.after(attempt.heals);
        if let Some(at) = attempt.finished.and_then(|finished| finished.checked_add(pause).ok())
            && situation.now < at
        {
            return Decision::Wait(at);
        }
        sync.auto_heal_attempts_count = attempt.heals + 1;
        sync.resources =
            differing().filter(|resource| !prunes(resource) || policy.prunes()).map(named).collect();
    }
    let empties =
        !situation.resources.is_empty() && situation.resources.iter().all(|resource| prunes(&resource));
    if policy.prunes() && empties && !policy.allows_empty() {
        let revisions = situation.revisions.join(", ");
        return Decision::Refuse(format!(
            "Skipping sync attempt to [{revisions}]: auto-sync will wipe out all resources"
        ));
    }
    let retry = application.spec.sync_policy.as_ref().and_then(|policy| policy.retry.clone());
    Decision::Sync(Box::new(Operation {
        sync: Some(sync),
        initiated_by: OperationInitiator { automated: true, ..OperationInitiator::default() },
        retry: retry
            .unwrap_or(RetryStrategy { limit: limits::AUTOMATED_RETRIES, ..RetryStrategy::default() }),
        ..Operation::default()
    }))
}

/// The last sync, if it was of what would be synced now.
struct Attempt {
    phase: OperationPhase,
    message: Str,
    finished: Option<Timestamp>,
    heals: i64,
}

fn last_attempt(application: &Application, revisions: &[Str]) -> Option<Attempt> {
    let state = application.status.operation_state.as_ref()?;
    let result = state.sync_result.as_ref()?;
    let sync = state.operation.sync.as_ref()?;
    // A try-out or a sync of some resources only says nothing about the rest.
    if sync.dry_run || (!sync.resources.is_empty() && sync.auto_heal_attempts_count == 0) {
        return None;
    }
    let same = if application.spec.has_multiple_sources() {
        result.revisions == revisions && result.sources == application.spec.sources
    } else {
        let mut wanted = application.spec.all_sources().into_iter().next().unwrap_or_default();
        let mut had = result.source.clone();
        // The commit counts, not the name that it was found under.
        wanted.target_revision = Str::new();
        had.target_revision = Str::new();
        revisions.first() == Some(&result.revision) && wanted == had
    };
    let phase = state.phase.known().filter(|phase| phase.is_completed())?;
    same.then(|| Attempt {
        phase,
        message: state.message.clone(),
        finished: state.finished_at.map(|at| at.timestamp()),
        heals: sync.auto_heal_attempts_count,
    })
}

fn named(resource: &ResourceStatus) -> SyncOperationResource {
    SyncOperationResource {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        name: resource.name.clone(),
        namespace: resource.namespace.clone(),
        ..SyncOperationResource::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value, value};

    fn application(automated: Value, status: Value) -> Application {
        let mut object = Object::new(value!({
            "metadata": {"name": "shop"},
            "spec": {
                "project": "default", "destination": {}, "source": {"repoURL": "r", "path": "p"},
                "syncPolicy": {"syncOptions": ["CreateNamespace=true"]},
            },
        }))
        .unwrap();
        object.set(&["spec", "syncPolicy", "automated"], automated);
        object.set(&["status"], status);
        Application::from_object(&object).unwrap()
    }

    fn resource(name: &str, prune: bool) -> ResourceStatus {
        ResourceStatus {
            kind: "ConfigMap".into(),
            name: name.into(),
            status: SyncStatusCode::OutOfSync.into(),
            requires_pruning: prune,
            ..ResourceStatus::default()
        }
    }

    fn check(application: &Application, resources: &[ResourceStatus], second: i64) -> String {
        let decision = decide(&Situation {
            application,
            sync: SyncStatusCode::OutOfSync,
            revisions: &["c1".into()],
            resources,
            is_leaving: &|resource| resource.name == "leaving",
            heal: Heal::default(),
            now: Timestamp::from_second(second).unwrap(),
        });
        match decision {
            Decision::Nothing(why) => format!("nothing: {why}"),
            Decision::Refuse(why) => format!("refuse: {why}"),
            Decision::Wait(at) => format!("wait until {}", at.as_second()),
            Decision::Sync(operation) => {
                let sync = operation.sync.unwrap();
                let names: Vec<&str> = sync.resources.iter().map(|one| one.name.as_str()).collect();
                format!(
                    "sync {} prune={} heal={} {names:?}",
                    sync.revision, sync.prune, sync.auto_heal_attempts_count
                )
            }
        }
    }

    fn after(phase: &str, heals: i64) -> Value {
        value!({"operationState": {
            "phase": phase, "message": "it said so", "startedAt": "1970-01-01T00:00:00Z",
            "finishedAt": "1970-01-01T00:01:40Z",
            "operation": {"sync": {"revision": "c1", "autoHealAttemptsCount": heals}},
            "syncResult": {"revision": "c1", "source": {"repoURL": "r", "path": "p", "targetRevision": "main"}},
        }})
    }

    #[test]
    fn a_new_commit_is_synced_once() {
        let fresh = application(value!({}), value!({}));
        assert_eq!(check(&fresh, &[resource("a", false)], 0), "sync c1 prune=false heal=0 []");
        let done = application(value!({}), after("Succeeded", 0));
        assert_eq!(
            check(&done, &[resource("a", false)], 200),
            "nothing: this commit was synced already, and the policy does not heal"
        );
    }

    #[test]
    fn a_commit_that_failed_is_not_tried_again() {
        let failed = application(value!({"selfHeal": true}), after("Failed", 0));
        assert_eq!(
            check(&failed, &[resource("a", false)], 200),
            "refuse: Failed last sync attempt to [c1]: it said so"
        );
    }

    #[test]
    fn drift_is_healed_at_once_and_then_with_growing_pauses() {
        let heals = |count| application(value!({"selfHeal": true}), after("Succeeded", count));
        assert_eq!(check(&heals(0), &[resource("a", false)], 100), "sync c1 prune=false heal=1 [\"a\"]");
        assert_eq!(check(&heals(1), &[resource("a", false)], 101), "wait until 102");
        assert_eq!(check(&heals(3), &[resource("a", false)], 101), "wait until 118");
        assert_eq!(check(&heals(20), &[resource("a", false)], 101), "wait until 400");
    }

    #[test]
    fn pauses_grow_as_they_are_told_to() {
        let pauses = |heal: Heal| [0, 1, 2, 3, 99].map(|attempts| heal.after(attempts).as_secs());
        assert_eq!(pauses(Heal::default()), [0, 2, 6, 18, 300]);
        let seconds = SignedDuration::from_secs;
        let flat = Heal { pause: seconds(7), first: SignedDuration::ZERO, ..Heal::default() };
        assert_eq!(pauses(flat), [7; 5]);
        assert_eq!(pauses(Heal { factor: 0, ..Heal::default() }), [0, 2, 2, 2, 2]);
        let endless = Heal { most: SignedDuration::ZERO, factor: 10, ..Heal::default() };
        assert_eq!(pauses(endless), [0, 2, 20, 200, i64::MAX]);
    }

    #[test]
    fn what_is_being_deleted_already_is_no_drift() {
        let heals = application(value!({"selfHeal": true, "prune": true}), after("Succeeded", 0));
        let leaving = [resource("leaving", true)];
        assert_eq!(check(&heals, &leaving, 100), "nothing: what is to be pruned is on its way out");
        let wanted = [resource("leaving", false)];
        assert_eq!(check(&heals, &wanted, 100), "sync c1 prune=true heal=1 [\"leaving\"]");
    }

    #[test]
    fn pruning_alone_is_left_when_the_policy_does_not_prune() {
        let keeps = application(value!({}), value!({}));
        assert_eq!(
            check(&keeps, &[resource("a", true)], 0),
            "nothing: only pruning is left to do, and the policy does not prune"
        );
    }

    #[test]
    fn a_source_that_has_become_empty_does_not_wipe_everything_out() {
        let prunes = application(value!({"prune": true}), value!({}));
        assert_eq!(
            check(&prunes, &[resource("a", true)], 0),
            "refuse: Skipping sync attempt to [c1]: auto-sync will wipe out all resources"
        );
        let allowed = application(value!({"prune": true, "allowEmpty": true}), value!({}));
        assert_eq!(check(&allowed, &[resource("a", true)], 0), "sync c1 prune=true heal=0 []");
    }

    #[test]
    fn automation_that_is_switched_off_does_nothing() {
        let off = application(value!({"enabled": false}), value!({}));
        assert_eq!(check(&off, &[resource("a", false)], 0), "nothing: there is no automated policy");
    }
}
