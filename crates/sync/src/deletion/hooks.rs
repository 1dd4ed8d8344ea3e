//! The hooks around the deletion of an application.

use jiff::Timestamp;
use lynceus_api::{ApplicationConditionType, HealthStatusCode, HookDeletePolicy, WaitFor, finalizers, hook};
use lynceus_object::{Object, Propagation, Str};

use super::objects::actions;
use super::{Decision, Situation, departure};
use crate::action::{Deed, Method, Write};
use crate::limits;

/// On which side of the deletion a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

impl Moment {
    pub(super) fn has(self, object: &Object) -> bool {
        match self {
            Moment::Before => hook::is_pre_delete(object),
            Moment::After => hook::is_post_delete(object),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Moment::Before => "PreDelete",
            Moment::After => "PostDelete",
        }
    }

    /// The finalizer that stands for running the hooks.
    fn run(self) -> Str {
        match self {
            Moment::Before => finalizers::PRE_DELETE.into(),
            Moment::After => finalizers::POST_DELETE.into(),
        }
    }

    /// The finalizer that stands for cleaning up after them.
    fn cleanup(self) -> Str {
        match self {
            Moment::Before => finalizers::PRE_DELETE_CLEANUP.into(),
            Moment::After => finalizers::POST_DELETE_CLEANUP.into(),
        }
    }
}

/// Makes the hooks of a moment, all at once, and waits for them. One that fails is tried again after a while, with what its
/// sources say then.
pub(super) fn run(situation: &Situation<'_>, moment: Moment) -> Decision {
    let Some(desired) = situation.desired else { return Decision::Ask };
    let live: Vec<&Object> = situation.live.iter().filter(|object| moment.has(object)).collect();
    let asked = asked(situation);
    // Left from a sync, or from a former application of the same name.
    let old: Vec<&&Object> = live.iter().filter(|object| is_older(object, asked)).collect();
    if !old.is_empty() {
        return remove(old.into_iter().copied());
    }
    let leaving: Vec<&&Object> = live.iter().filter(|object| object.is_deleting()).collect();
    if !leaving.is_empty() {
        return remove(leaving.into_iter().copied());
    }
    let wanted: Vec<Object> = desired
        .iter()
        .filter(|object| moment.has(object))
        .map(|object| named(object, moment, asked))
        .collect();
    let missing: Vec<&Object> =
        wanted.iter().filter(|object| !live.iter().any(|live| live.key() == object.key())).collect();
    if !missing.is_empty() {
        let for_ = missing.iter().map(|object| WaitFor::HookCompletion(object.key())).collect();
        return Decision::Wait {
            actions: actions(missing.into_iter().map(|object| (object, creation()))),
            for_,
        };
    }
    let health = |object: &Object| (situation.health)(object);
    let is = |object: &Object, code| health(object).is_some_and(|health| health.status == code);
    let failed: Vec<&Object> =
        live.iter().copied().filter(|object| is(object, HealthStatusCode::Degraded)).collect();
    if !failed.is_empty() {
        return fail(situation, moment, &failed);
    }
    let running: Vec<WaitFor> = live
        .iter()
        .filter(|object| is(object, HealthStatusCode::Progressing))
        .map(|object| WaitFor::HookCompletion(object.key()))
        .collect();
    if running.is_empty() {
        return Decision::Release(vec![moment.run()]);
    }
    Decision::Wait { actions: Vec::new(), for_: running }
}

/// Deletes the hooks of a moment as their policies say. The policies ask how all of them went together.
pub(super) fn clean_up(situation: &Situation<'_>, moment: Moment) -> Decision {
    let hooks: Vec<&Object> = situation.live.iter().filter(|object| moment.has(object)).collect();
    let mut worst = HealthStatusCode::Healthy;
    for health in hooks.iter().filter_map(|object| (situation.health)(object)) {
        if health.status.is_worse(worst) {
            worst = health.status;
        }
    }
    let is_spent = |object: &&Object| {
        hook::delete_policies(object).iter().any(|policy| match policy {
            HookDeletePolicy::HookFailed => worst == HealthStatusCode::Degraded,
            HookDeletePolicy::HookSucceeded => worst == HealthStatusCode::Healthy,
            HookDeletePolicy::BeforeHookCreation => false,
        })
    };
    // One that is on its way out cannot be asked how it went; it goes.
    let spent: Vec<&Object> =
        hooks.into_iter().filter(|object| object.is_deleting() || is_spent(object)).collect();
    if spent.is_empty() {
        return Decision::Release(vec![moment.cleanup()]);
    }
    remove(spent)
}

/// Deletes hooks, unless that was asked for already, and waits until they are gone.
fn remove<'a>(hooks: impl IntoIterator<Item = &'a Object>) -> Decision {
    let (mut deeds, mut for_) = (Vec::new(), Vec::new());
    for object in hooks {
        if object.finalizers().any(|finalizer| finalizer == finalizers::HOOK) {
            deeds.push((object, Deed::RemoveHookFinalizer));
        }
        if !object.is_deleting() {
            deeds.push((object, Deed::Delete(Propagation::Background)));
        }
        for_.push(departure(object, true));
    }
    Decision::Wait { actions: actions(deeds), for_ }
}

/// Says which hooks failed. They stay for a while, so that somebody can look at them, and are made anew then.
fn fail(situation: &Situation<'_>, moment: Moment, failed: &[&Object]) -> Decision {
    let message = failure(situation, moment, failed);
    let conditions = &situation.application.status.conditions;
    let told = conditions.iter().find(|condition| {
        condition.type_.known() == Some(ApplicationConditionType::DeletionError)
            && condition.message == message
    });
    let since = told.and_then(|condition| condition.last_transition_time).map(|at| at.timestamp());
    let again_at = since.unwrap_or(situation.now) + limits::DELETE_HOOK_RETRY;
    if since.is_some() && again_at <= situation.now {
        return remove(failed.iter().copied());
    }
    Decision::Fail { message, again_at }
}

fn failure(situation: &Situation<'_>, moment: Moment, failed: &[&Object]) -> String {
    let one = |object: &&Object| {
        let why = (situation.health)(object).map(|health| health.message).unwrap_or_default();
        let name = format!("{}/{}", object.namespace(), object.name());
        if why.is_empty() { name } else { format!("{name} ({why})") }
    };
    let names: Vec<String> = failed.iter().map(one).collect();
    let before = if moment == Moment::Before { "error executing pre-delete hooks: " } else { "" };
    format!("{before}{} hook(s) failed: {}", moment.name(), names.join(", "))
}

/// When the deletion was asked for.
fn asked(situation: &Situation<'_>) -> Timestamp {
    let at = situation.application.metadata.deletion_timestamp;
    at.map_or(situation.now, |at| at.timestamp())
}

/// Whether a hook was made before the deletion was asked for, as far as two clocks can tell.
fn is_older(object: &Object, asked: Timestamp) -> bool {
    let created: Option<Timestamp> = object.meta_str("creationTimestamp").parse().ok();
    created.is_some_and(|created| created.duration_since(asked) < -limits::CLOCK_SKEW)
}

/// A hook with a name that is the same every time.
fn named(object: &Object, moment: Moment, asked: Timestamp) -> Object {
    let mut object = object.clone();
    if object.name().is_empty() {
        let suffix = format!("{}-{}", moment.name(), asked.as_second()).to_lowercase();
        let name = format!("{}{suffix}", object.meta_str("generateName"));
        object.set(&["metadata", "name"], name);
    }
    object
}

fn creation() -> Deed {
    Deed::Write(Write { method: Method::Create, dry_run: false, validate: true, await_established: false })
}
