//! Carrying out a set of tasks: finalizers off, prune, delete old hooks, then write kind by kind.

use lynceus_api::{OperationPhase, ResultCode, finalizers};
use lynceus_object::Object;

use super::board::{Board, Entry, Place};
use crate::action::{Action, ActionId, Deed, Done, Failure, Report, Write};
use crate::settings::{PruneRule, Settings};

/// How a flight stands; the worst of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FlightState {
    Successful,
    /// Something has to be gone, or be confirmed, before the rest can go on.
    Pending,
    Failed,
}

/// A set of tasks under way.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    tasks: Vec<Place>,
    dry_run: bool,
    leg: Leg,
    pub(crate) state: FlightState,
}

/// The part of a flight whose reports are awaited. Each starts when the one before has landed well.
#[derive(Clone, Debug)]
enum Leg {
    Boarding,
    Finalizers,
    Prune,
    Delete,
    /// Writing, with the tasks that are still to be written.
    Write(Vec<Place>),
    Landed,
}

impl Flight {
    /// Sets out to carry out tasks, which are in the plan's order.
    pub(crate) fn new(tasks: Vec<Place>, dry_run: bool, settings: &Settings) -> Self {
        Flight {
            tasks,
            dry_run: dry_run || settings.dry_run,
            leg: Leg::Boarding,
            state: FlightState::Successful,
        }
    }

    pub(crate) fn tasks(&self) -> &[Place] {
        &self.tasks
    }

    /// The next batch of actions; `None` when there is nothing more to do.
    pub(crate) fn next(&mut self, board: &mut Board, settings: &Settings) -> Option<Vec<Action>> {
        loop {
            let batch = match std::mem::replace(&mut self.leg, Leg::Landed) {
                Leg::Boarding => {
                    self.leg = Leg::Finalizers;
                    self.finalizers(board)
                }
                Leg::Finalizers if self.is_good() => {
                    self.leg = Leg::Prune;
                    self.prune(board, settings)
                }
                Leg::Prune if self.is_good() => {
                    self.leg = Leg::Delete;
                    self.delete(board, settings)
                }
                Leg::Delete if self.is_good() => {
                    let rest = self.tasks.iter().copied().filter(|place| !board[*place].task.is_prune());
                    self.leg = Leg::Write(rest.collect());
                    Vec::new()
                }
                Leg::Write(rest) if !rest.is_empty() => self.write(board, settings, rest),
                _ => return None,
            };
            if !batch.is_empty() {
                return Some(batch);
            }
        }
    }

    /// Takes in what came of the last batch.
    pub(crate) fn settle(&mut self, board: &mut Board, settings: &Settings, reports: &[Report]) {
        for report in reports.iter().filter(|report| self.tasks.binary_search(&report.id.0).is_ok()) {
            let state = self.settle_one(board, settings, report);
            self.state = self.state.max(state);
        }
    }

    fn is_good(&self) -> bool {
        self.state == FlightState::Successful
    }

    /// Hooks that an earlier sync left keep no finalizer, or they could never be replaced.
    fn finalizers(&self, board: &Board) -> Vec<Action> {
        if self.dry_run {
            return Vec::new();
        }
        let left_over = |entry: &Entry| entry.task.is_hook() && entry.is_pending();
        release(board, self.tasks.iter().copied().filter(|place| left_over(&board[*place])))
    }

    fn prune(&mut self, board: &mut Board, settings: &Settings) -> Vec<Action> {
        let places: Vec<Place> =
            self.tasks.iter().copied().filter(|place| board[*place].task.is_prune()).collect();
        if places.iter().any(|place| board[*place].task.awaits_confirmation(settings)) {
            self.state = FlightState::Pending;
            return Vec::new();
        }
        let mut actions = Vec::new();
        for place in places {
            let Some(live) = board[place].task.live.clone() else { continue };
            let (code, message) = match settings.prune_rule(&live) {
                _ if !settings.prune => (ResultCode::PruneSkipped, "ignored (requires pruning)"),
                PruneRule::Forbidden => (ResultCode::PruneSkipped, "ignored (no prune)"),
                _ if self.dry_run => (ResultCode::Pruned, "pruned (dry run)"),
                _ if live.is_deleting() => (ResultCode::Pruned, "pruned"),
                _ => {
                    actions.push(Action {
                        id: ActionId(place),
                        object: live,
                        deed: Deed::Prune(settings.propagation),
                    });
                    continue;
                }
            };
            if self.counts(settings) {
                board.record(place, Some(code), Some(OperationPhase::Succeeded), message);
            }
        }
        actions
    }

    /// Deletes the hooks of an earlier sync that are to be made anew.
    fn delete(&self, board: &Board, settings: &Settings) -> Vec<Action> {
        if self.dry_run {
            return Vec::new();
        }
        let places = self.tasks.iter().copied().filter(|place| board[*place].is_deleted_first());
        places.map(|place| delete(board, place, settings)).collect()
    }

    /// Writes the tasks at the front that are of one kind.
    fn write(&mut self, board: &mut Board, settings: &Settings, mut rest: Vec<Place>) -> Vec<Action> {
        let kind = |place: Place| board[place].task.object().kind();
        let first = rest.first().map(|place| kind(*place));
        let count = rest.iter().take_while(|place| Some(kind(**place)) == first).count();
        let later = rest.split_off(count);
        rest.retain(|place| !(self.dry_run && board[*place].task.skip_dry_run));
        let actions = rest.into_iter().filter_map(|place| self.write_one(board, settings, place)).collect();
        self.leg = Leg::Write(later);
        actions
    }

    fn write_one(&self, board: &mut Board, settings: &Settings, place: Place) -> Option<Action> {
        let task = &board[place].task;
        let target = task.target()?.clone();
        let write = Write::of(task, &target, self.dry_run, settings);
        if task.is_hook() && !self.dry_run {
            // A record without an outcome: whoever finds it next to a live hook knows that the hook has been made.
            board.record(place, None, None, "");
        }
        Some(Action { id: ActionId(place), object: target, deed: Deed::Write(write) })
    }

    /// Whether what succeeds here is worth a record. A failure always is.
    fn counts(&self, settings: &Settings) -> bool {
        !self.dry_run || settings.dry_run
    }

    fn settle_one(&self, board: &mut Board, settings: &Settings, report: &Report) -> FlightState {
        let place = report.id.0;
        match self.leg {
            Leg::Finalizers => match &report.outcome {
                Ok(_) => {
                    board.forget_finalizer(place);
                    FlightState::Successful
                }
                Err(failure) => unhook_failed(board, place, failure),
            },
            Leg::Prune => self.pruned(board, place, &report.outcome),
            Leg::Delete => deleted(board, place, &report.outcome),
            Leg::Write(_) => self.written(board, settings, place, &report.outcome),
            Leg::Boarding | Leg::Landed => FlightState::Successful,
        }
    }

    fn pruned(&self, board: &mut Board, place: Place, outcome: &Result<Done, Failure>) -> FlightState {
        match outcome {
            Ok(done) => {
                let (code, message) = match done.kept {
                    true => (ResultCode::PruneSkipped, "ignored (belongs to another application by now)"),
                    false => (ResultCode::Pruned, "pruned"),
                };
                board.record(place, Some(code), Some(OperationPhase::Succeeded), message);
                FlightState::Successful
            }
            Err(failure) => {
                let code = Some(ResultCode::SyncFailed);
                board.record(place, code, Some(OperationPhase::Failed), &failure.message);
                FlightState::Failed
            }
        }
    }

    fn written(
        &self,
        board: &mut Board,
        settings: &Settings,
        place: Place,
        outcome: &Result<Done, Failure>,
    ) -> FlightState {
        match outcome {
            Ok(done) => {
                // Nothing runs after a dry run: to have been accepted is all that there is to wait for.
                let progress =
                    if settings.dry_run { OperationPhase::Succeeded } else { OperationPhase::Running };
                if self.counts(settings) {
                    board.record(place, Some(ResultCode::Synced), Some(progress), &done.message);
                }
                FlightState::Successful
            }
            Err(failure) => {
                let code = Some(ResultCode::SyncFailed);
                board.record(place, code, Some(OperationPhase::Failed), &failure.message);
                FlightState::Failed
            }
        }
    }
}

fn unhook_failed(board: &mut Board, place: Place, failure: &Failure) -> FlightState {
    board.progress(place, OperationPhase::Error, &format!("failed to remove hook finalizer: {failure}"));
    FlightState::Failed
}

/// A hook that is already gone need not be waited for.
fn deleted(board: &mut Board, place: Place, outcome: &Result<Done, Failure>) -> FlightState {
    match outcome {
        Ok(_) => FlightState::Pending,
        Err(failure) if failure.not_found => {
            board.set_live(place, None);
            FlightState::Successful
        }
        Err(failure) => {
            board.progress(place, OperationPhase::Error, &format!("failed to delete resource: {failure}"));
            FlightState::Failed
        }
    }
}

/// The actions that take the hook finalizer off live hooks that have it, one per object.
pub(crate) fn release(board: &Board, places: impl IntoIterator<Item = Place>) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for place in places {
        let Some(live) = &board[place].task.live else { continue };
        let is_held = live.finalizers().any(|finalizer| finalizer == finalizers::HOOK);
        if is_held && !actions.iter().any(|action| action.object.key() == live.key()) {
            actions.push(Action {
                id: ActionId(place),
                object: live.clone(),
                deed: Deed::RemoveHookFinalizer,
            });
        }
    }
    actions
}

/// The action that deletes a task's object.
pub(crate) fn delete(board: &Board, place: Place, settings: &Settings) -> Action {
    let task = &board[place].task;
    let object: &Object = task.live.as_ref().unwrap_or(task.object());
    Action { id: ActionId(place), object: object.clone(), deed: Deed::Delete(settings.propagation) }
}
