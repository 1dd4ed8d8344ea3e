//! What is done, and in which order, when an application is deleted: its hooks before, its objects, its hooks after.
//!
//! Every step stands for a finalizer of the Application and is over when that is taken off, so that any process can go
//! on where another stopped.

mod confirmation;
mod hooks;
mod objects;

use jiff::Timestamp;
use lynceus_api::{Application, WaitFor, finalizers};
use lynceus_object::{Object, ObjectKey, Propagation, Str};

use crate::action::Action;
use crate::run::Health;

pub use confirmation::needs_confirmation;
use hooks::Moment;

/// What the decision is made from.
pub struct Situation<'a> {
    /// The application, which is being deleted.
    pub application: &'a Application,
    /// What it is called in the cluster that it is in.
    pub key: &'a ObjectKey,
    /// The live objects that carry its mark and that its project permits.
    pub live: &'a [Object],
    /// The objects of its sources, housed and marked; `None` while nobody has asked for them.
    pub desired: Option<&'a [Object]>,
    /// How a live object is doing; `None` for kinds that have no health of their own.
    pub health: &'a dyn Fn(&Object) -> Option<Health>,
    /// The time.
    pub now: Timestamp,
}

/// What to do next about an application that is being deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Find out which objects its sources have, and decide again.
    Ask,
    /// Have these done, if any, and decide again when the world has changed.
    Wait {
        /// What to do.
        actions: Vec<Action>,
        /// What is waited for.
        for_: Vec<WaitFor>,
    },
    /// Hooks have failed: say so, and decide again at the time given, when they are tried once more.
    Fail {
        /// What to say.
        message: String,
        /// When to decide again.
        again_at: Timestamp,
    },
    /// Take these finalizers off, and decide again.
    Release(Vec<Str>),
    /// Nothing of ours holds it any longer.
    Done,
}

/// Decides.
pub fn decide(situation: &Situation<'_>) -> Decision {
    let application = situation.application;
    let has = |finalizer: &str| application.metadata.finalizers.iter().any(|one| one == finalizer);
    if has(finalizers::PRE_DELETE) {
        hooks::run(situation, Moment::Before)
    } else if let Some(propagation) = propagation(application) {
        objects::delete(situation, propagation)
    } else if has(finalizers::POST_DELETE) {
        hooks::run(situation, Moment::After)
    } else if has(finalizers::PRE_DELETE_CLEANUP) {
        hooks::clean_up(situation, Moment::Before)
    } else if has(finalizers::POST_DELETE_CLEANUP) {
        hooks::clean_up(situation, Moment::After)
    } else {
        Decision::Done
    }
}

/// Whether an application that is deleted takes its objects along, and what happens to what they own.
fn propagation(application: &Application) -> Option<Propagation> {
    let mut cascades =
        application.metadata.finalizers.iter().filter(|finalizer| finalizers::deletes_resources(finalizer));
    let first = cascades.next()?;
    let background =
        [first].into_iter().chain(cascades).any(|finalizer| finalizer == finalizers::RESOURCES_BACKGROUND);
    Some(if background { Propagation::Background } else { Propagation::Foreground })
}

/// The finalizers that an application with such objects in its sources has to have, so that the hooks around its deletion
/// are run. The others stay as they are.
pub fn finalizers_for(before: &[Str], desired: &[Object]) -> Vec<Str> {
    let mut after: Vec<Str> =
        before.iter().filter(|finalizer| !finalizers::is_of_hooks(finalizer)).cloned().collect();
    for (moment, steps) in [
        (Moment::Before, [finalizers::PRE_DELETE, finalizers::PRE_DELETE_CLEANUP]),
        (Moment::After, [finalizers::POST_DELETE, finalizers::POST_DELETE_CLEANUP]),
    ] {
        if desired.iter().any(|object| moment.has(object)) {
            after.extend(steps.map(Str::from));
        }
    }
    let same = after.len() == before.len() && after.iter().all(|finalizer| before.contains(finalizer));
    if same { before.to_vec() } else { after }
}

/// What is waited for when an object was deleted. Finalizers of the garbage collector say nothing new.
fn departure(object: &Object, is_hook: bool) -> WaitFor {
    let common = ["foregroundDeletion", "orphan", finalizers::HOOK];
    let held: Vec<Str> = object.finalizers().filter(|name| !common.contains(name)).map(Str::from).collect();
    match (object.is_deleting() && !held.is_empty(), is_hook) {
        (true, _) => WaitFor::Held { object: object.key(), finalizers: held },
        (false, true) => WaitFor::HookDeletion(object.key()),
        (false, false) => WaitFor::Deletion(object.key()),
    }
}

#[cfg(test)]
mod tests;
