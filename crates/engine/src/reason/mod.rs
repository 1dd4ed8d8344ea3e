//! Why an application is not Synced and Healthy: what its sync waits for, what keeps it from syncing, what is wrong with
//! its objects, each with what that comes from.

mod around;
mod difference;
mod failure;
mod held;
mod patience;

use std::collections::BTreeSet;

use jiff::Timestamp;
use lynceus_api::{
    Application, ApplicationConditionType as Kind, HealthStatusCode, OperationPhase, Reason, ReasonCode,
    SyncPhase, SyncStatusCode, Wait, annotations, hook, wave,
};
use lynceus_health::{Surroundings, why};
use lynceus_object::{Object, ObjectKey, Str};

use crate::assess::Checks;
use crate::limits;
use crate::look::Look;
use crate::wait_mark::WaitMark;

pub(crate) use around::Around;
pub(crate) use difference::odd_rules;
pub(crate) use patience::unheld;

/// Why an application is as a look found it. Nothing if it is Synced and Healthy, no sync is under way and the last one
/// did not fail.
///
/// `step` is what it waits for where the steps of an ApplicationSet decide when it syncs.
pub(crate) async fn explain(
    application: &Application,
    look: &Look,
    checks: &Checks,
    step: Option<Reason>,
) -> Vec<Reason> {
    if is_fine(application) {
        return failure::last(application, look).into_iter().collect();
    }
    let now = checks.now;
    let Some(cluster) = look.cluster.as_deref() else {
        return Explanation::new(application, look, &Around::nothing(), now).reasons(step);
    };
    for _ in 0..limits::REASON_ROUNDS {
        let around = Around::of(cluster, look, checks);
        let reasons = Explanation::new(application, look, &around, now).reasons(step.clone());
        if !around.fetch(cluster).await {
            return reasons;
        }
    }
    Explanation::new(application, look, &Around::of(cluster, look, checks), now).reasons(step)
}

/// What there is to say of an application that nobody is to look at.
pub(crate) fn skipped() -> Vec<Reason> {
    let words = format!("the annotation {} keeps everybody from looking at it", annotations::SKIP_RECONCILE);
    vec![Reason::new(ReasonCode::Skipped, words)]
}

/// Takes off what was said of a sync that is over: the look that follows says the rest.
pub(crate) fn end_waits(application: &mut Application) {
    let mut reasons = Reason::of(&application.metadata);
    let count = reasons.len();
    reasons.retain(|reason| reason.code != ReasonCode::SyncWaits);
    if reasons.len() != count {
        write(application, &reasons);
    }
}

/// Takes over what stands on another state of the same application.
pub(crate) fn take_over(application: &mut Application, other: &Application) {
    let (own, theirs) = (&mut application.metadata.annotations, &other.metadata.annotations);
    match theirs.get(annotations::REASONS) {
        Some(text) => own.insert(annotations::REASONS.into(), text.clone()),
        None => own.remove(annotations::REASONS),
    };
}

/// Why an application that is being deleted is still there: what its deletion waits for, and what went wrong with it.
pub(crate) fn of_deletion(application: &Application, wait: Option<&Wait>) -> Vec<Reason> {
    let waits = wait.map(|wait| {
        Reason::new(ReasonCode::DeletionWaits, "the deletion waits")
            .since(Some(wait.since.into()))
            .because(wait.for_.iter().map(Reason::from))
    });
    waits.into_iter().chain(conditions(application)).collect()
}

/// Writes the reasons onto an application, or takes off what is no longer so.
pub(crate) fn write(application: &mut Application, reasons: &[Reason]) {
    let text = (!reasons.is_empty()).then(|| serde_json::to_string(reasons).ok()).flatten();
    match text {
        Some(text) => application.metadata.annotations.insert(annotations::REASONS.into(), Str::from(text)),
        None => application.metadata.annotations.remove(annotations::REASONS),
    };
}

fn is_fine(application: &Application) -> bool {
    let status = &application.status;
    status.sync.status == SyncStatusCode::Synced
        && status.health.status == HealthStatusCode::Healthy
        && !is_operating(application)
}

/// Whether a sync is under way.
pub(crate) fn is_operating(application: &Application) -> bool {
    let state = application.status.operation_state.as_ref();
    state.is_some_and(|state| state.phase.known().is_some_and(|phase| !phase.is_completed()))
}

/// One explanation under way. What was explained once is not explained again.
struct Explanation<'a> {
    application: &'a Application,
    look: &'a Look,
    around: &'a dyn Surroundings,
    now: Timestamp,
    explained: BTreeSet<ObjectKey>,
}

impl<'a> Explanation<'a> {
    fn new(
        application: &'a Application,
        look: &'a Look,
        around: &'a dyn Surroundings,
        now: Timestamp,
    ) -> Self {
        Explanation { application, look, around, now, explained: BTreeSet::new() }
    }

    fn reasons(mut self, step: Option<Reason>) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = self.waits().into_iter().collect();
        reasons.extend(self.conditions());
        reasons.extend(self.out_of_sync(step).or_else(|| self.failed()));
        reasons.extend(self.unhealthy());
        let mut room = limits::REASONS;
        Reason::trim(&mut reasons, &mut room);
        reasons
    }

    /// What the sync that is under way waits for, wave by wave.
    fn waits(&mut self) -> Option<Reason> {
        let state =
            self.application.status.operation_state.as_ref().filter(|_| is_operating(self.application))?;
        let mark = WaitMark::of(self.application)?;
        let mut because: Vec<Reason> = Vec::new();
        for thing in mark.for_ {
            let place = thing.object.as_ref().and_then(|key| self.place(key));
            let is_retry = thing.code == ReasonCode::WaitsForRetry;
            let failures = if is_retry { failure::of_attempt(state) } else { Vec::new() };
            let thing = self.with_cause(thing).because(failures);
            let Some(place) = place else {
                because.push(thing);
                continue;
            };
            match because
                .iter_mut()
                .find(|reason| reason.code == ReasonCode::WaveNotDone && reason.text == place)
            {
                Some(wave) => wave.because.push(thing),
                None => because.push(Reason::new(ReasonCode::WaveNotDone, &place).because([thing])),
            }
        }
        let words = match state.phase.known() {
            Some(OperationPhase::Terminating) => "the sync is being stopped",
            _ => "the sync waits",
        };
        Some(Reason::new(ReasonCode::SyncWaits, words).since(Some(mark.since)).because(because))
    }

    /// The wave that an object is synced in, in words.
    fn place(&self, key: &ObjectKey) -> Option<Str> {
        let changes = &self.look.changes;
        let hooks = changes.hooks.iter().find(|object| object.key() == *key);
        let object = hooks.or_else(|| {
            let change = changes.changes.iter().find(|change| change.key() == *key)?;
            change.pair.desired().or(change.pair.live())
        })?;
        let planned = || hook::sync_types(object).into_iter().find_map(|kind| kind.phase());
        let phase = self.running_in(key).or_else(planned).unwrap_or(SyncPhase::Sync);
        Some(format!("wave {} of phase {phase} is not done", wave(object)).into())
    }

    /// The phase that an object runs in now: a hook may be of several.
    fn running_in(&self, key: &ObjectKey) -> Option<SyncPhase> {
        let result = self.application.status.operation_state.as_ref()?.sync_result.as_ref()?;
        let running = result.resources.iter().rev().find(|one| {
            (&one.group, &one.kind, &one.namespace, &one.name)
                == (&key.group, &key.kind, &key.namespace, &key.name)
                && one.hook_phase == OperationPhase::Running
        });
        running.and_then(|one| one.sync_phase.known())
    }

    /// The last sync, where it failed and nothing differs that it would stand below.
    fn failed(&self) -> Option<Reason> {
        (!is_operating(self.application)).then(|| failure::last(self.application, self.look)).flatten()
    }

    /// What the conditions say. Kinds that cannot be read have a word of their own.
    fn conditions(&self) -> Vec<Reason> {
        let unreadable =
            |text: &Str| self.look.unreadable.iter().any(|words| words.starts_with(text.as_str()));
        let mut reasons = conditions(self.application);
        for reason in &mut reasons {
            if reason.code == ReasonCode::NotCompared && unreadable(&reason.text) {
                reason.code = ReasonCode::KindUnreadable.into();
            }
        }
        reasons
    }

    /// A reason about an object, with what is wrong with that object.
    fn with_cause(&mut self, reason: Reason) -> Reason {
        let Some(key) = reason.object.clone() else { return reason };
        let live = self
            .look
            .changes
            .changes
            .iter()
            .filter_map(|change| change.pair.live())
            .find(|live| live.key() == key);
        let because = live.map(|live| self.causes(live)).unwrap_or_default();
        reason.because(because)
    }

    fn causes(&mut self, object: &Object) -> Vec<Reason> {
        if self.explained.insert(object.key()) { why(object, self.around) } else { Vec::new() }
    }

    /// What differs from Git, and why nobody does anything about it.
    fn out_of_sync(&self, step: Option<Reason>) -> Option<Reason> {
        if self.application.status.sync.status != SyncStatusCode::OutOfSync {
            return None;
        }
        let differing: Vec<Reason> = self.look.changes.changes.iter().filter_map(difference::told).collect();
        let count = differing.len();
        let words = match count {
            1 => "one object is not as Git wants it".to_owned(),
            count => format!("{count} objects are not as Git wants them"),
        };
        let held = || held::held(self.application, self.look, self.now, step);
        let held = (!is_operating(self.application)).then(held).flatten();
        let rules = difference::odd_rules(&self.look.changes);
        // What holds it back has to be seen whole, however many objects differ.
        let mut because: Vec<Reason> = differing.into_iter().chain(rules).collect();
        let mut room = limits::REASON_OBJECTS;
        Reason::trim(&mut because, &mut room);
        let because = held.into_iter().chain(because);
        Some(Reason::new(ReasonCode::OutOfSync, words).because(because))
    }

    /// The objects that are not healthy, but for those that are not there at all.
    fn unhealthy(&mut self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for resource in &self.look.assessment.resources {
            let Some(health) = &resource.health else { continue };
            let is_well = matches!(
                health.status.known(),
                Some(HealthStatusCode::Healthy | HealthStatusCode::Missing | HealthStatusCode::Suspended)
            );
            let (group, kind) = (resource.group.clone(), resource.kind.clone());
            let key = ObjectKey::new(group, kind, resource.namespace.clone(), resource.name.clone());
            if is_well || self.explained.contains(&key) {
                continue;
            }
            let words = match health.message.as_str() {
                "" => format!("{} {} is {}", key.kind, key.name, health.status),
                message => format!("{} {} is {}: {message}", key.kind, key.name, health.status),
            };
            reasons.push(self.with_cause(Reason::new(ReasonCode::Unhealthy, words).about(key)));
        }
        reasons
    }
}

/// Conditions that say that something went wrong.
fn conditions(application: &Application) -> Vec<Reason> {
    let told = |condition: &lynceus_api::ApplicationCondition| {
        let code = match condition.type_.known()? {
            Kind::InvalidSpecError => ReasonCode::InvalidSpec,
            Kind::ComparisonError => ReasonCode::NotCompared,
            Kind::DeletionError => ReasonCode::NotDeleted,
            Kind::UnknownError => ReasonCode::Failed,
            Kind::SharedResourceWarning => ReasonCode::Shared,
            // A sync that was refused is told where it keeps the application out of sync.
            _ => return None,
        };
        Some(Reason::new(code, &condition.message).since(condition.last_transition_time))
    };
    application.status.conditions.iter().filter_map(told).collect()
}
