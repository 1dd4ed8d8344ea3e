//! The tasks of one pass with what is known about each.

use lynceus_api::{HookType, OperationPhase, ResultCode, SyncPhase, Word, finalizers};
use lynceus_object::{Object, Str};

use super::ledger::{Ledger, Record, images};
use crate::plan::Plan;
use crate::task::{Task, Work};

/// A task's place on the board.
pub(crate) type Place = usize;

/// A task and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) task: Task,
    pub(crate) status: Option<ResultCode>,
    pub(crate) progress: Option<OperationPhase>,
    pub(crate) message: Str,
}

impl Entry {
    pub(crate) fn is_pending(&self) -> bool {
        self.progress.is_none()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.progress == Some(OperationPhase::Running)
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.progress.is_some_and(OperationPhase::is_completed)
    }

    pub(crate) fn is_unsuccessful(&self) -> bool {
        self.progress.is_some_and(OperationPhase::is_unsuccessful)
    }

    /// Whether the hook of an earlier sync has to go before this one is made.
    pub(crate) fn is_deleted_first(&self) -> bool {
        self.task.live.is_some() && self.is_pending() && self.task.deletion().before_creation
    }

    /// Whether an object is on its way out after having been pruned.
    pub(crate) fn is_leaving(&self) -> bool {
        self.status == Some(ResultCode::Pruned) && self.task.live.as_ref().is_some_and(Object::is_deleting)
    }

    /// Whether the failure of this task is what a failed sync gives as its reason.
    pub(crate) fn sync_failed(&self) -> bool {
        self.status == Some(ResultCode::SyncFailed)
    }
}

/// The tasks of one pass in the plan's order, and the ledger that they are recorded in.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    entries: Vec<Entry>,
    ledger: Ledger,
}

impl Board {
    /// Joins a plan with what has been done so far.
    pub(crate) fn new(plan: &Plan, ledger: Ledger) -> Self {
        let entries = plan.tasks().map(|task| {
            let record = ledger.get(&task.key(), task.phase);
            Entry {
                task: task.clone(),
                status: record.and_then(|record| record.status),
                progress: record.and_then(|record| record.progress),
                message: record.map(|record| record.message.clone()).unwrap_or_default(),
            }
        });
        Board { entries: entries.collect(), ledger }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn places(&self) -> std::ops::Range<Place> {
        0..self.entries.len()
    }

    pub(crate) fn filter(&self, keep: impl Fn(&Entry) -> bool) -> Vec<Place> {
        self.places().filter(|place| keep(&self[*place])).collect()
    }

    /// Whether there is more than one wave or phase, so that one has to wait for the other.
    pub(crate) fn has_steps(&self) -> bool {
        let step = |entry: &Entry| (entry.task.phase, entry.task.wave);
        self.entries.first().map(step) != self.entries.last().map(step)
    }

    /// Writes down how a task stands. An empty message leaves the last one.
    pub(crate) fn record(
        &mut self,
        place: Place,
        status: Option<ResultCode>,
        progress: Option<OperationPhase>,
        message: &str,
    ) {
        let Some(entry) = self.entries.get_mut(place) else { return };
        entry.status = status;
        entry.progress = progress;
        if !message.is_empty() {
            entry.message = message.into();
        }
        let task = &entry.task;
        let object = task.object();
        self.ledger.put(Record {
            key: task.key(),
            version: object.gvk().version,
            phase: task.phase,
            hook: hook_type(task),
            status,
            progress,
            message: entry.message.clone(),
            images: images(object),
        });
    }

    /// Writes down how far a task has come and leaves what was done to it.
    pub(crate) fn progress(&mut self, place: Place, progress: OperationPhase, message: &str) {
        let status = self[place].status;
        self.record(place, status, Some(progress), message);
    }

    /// Takes the hook finalizer off the copies of the live object, once it is off the object. A hook of two phases has
    /// two tasks with one object.
    pub(crate) fn forget_finalizer(&mut self, place: Place) {
        let Some(key) = self[place].task.live.as_ref().map(Object::key) else { return };
        let lives = self
            .entries
            .iter_mut()
            .filter(|entry| entry.task.is_hook())
            .filter_map(|entry| entry.task.live.as_mut());
        for live in lives.filter(|live| live.key() == key) {
            let rest: Vec<Str> =
                live.finalizers().filter(|name| *name != finalizers::HOOK).map(Str::from).collect();
            live.set(&["metadata", "finalizers"], rest);
        }
    }

    /// Sets what the cluster has of a task's object.
    pub(crate) fn set_live(&mut self, place: Place, live: Option<Object>) {
        if let Some(entry) = self.entries.get_mut(place) {
            entry.task.live = live;
        }
    }
}

impl std::ops::Index<Place> for Board {
    type Output = Entry;

    fn index(&self, place: Place) -> &Entry {
        &self.entries[place]
    }
}

fn hook_type(task: &Task) -> Option<HookType> {
    match task.work {
        Work::Hook { .. } => HookType::parse(SyncPhase::as_str(task.phase)),
        _ => None,
    }
}
