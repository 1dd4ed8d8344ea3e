//! An early end: running hooks are stopped, what was applied stays.

use lynceus_api::OperationPhase;

use super::board::{Board, Place};
use super::flight::{delete, release};
use super::pass::{End, Turn, progress_of};
use super::{Ledger, Observed};
use crate::action::{Action, ActionId, Deed, Report};
use crate::plan::Plan;
use crate::settings::Settings;

/// A termination under way.
#[derive(Clone, Debug)]
pub(crate) struct Termination {
    board: Board,
    settings: Settings,
    stage: Stage,
    clean: bool,
}

/// What the next reports are about.
#[derive(Clone, Debug)]
enum Stage {
    Start,
    /// Completed hooks are being released.
    Releasing,
    /// Running hooks that the cache does not show were asked for.
    Reading,
    /// Running hooks are being released.
    Stopping(Vec<Hook>),
    /// Stopped hooks are being deleted.
    Deleting(Vec<Hook>),
}

/// A hook that was running, and what its health says now; `None` if that could not be read.
#[derive(Clone, Debug)]
struct Hook {
    place: Place,
    progress: Option<(OperationPhase, String)>,
}

impl Hook {
    fn is_running(&self) -> bool {
        !self.progress.as_ref().is_some_and(|(phase, _)| phase.is_completed())
    }
}

impl Termination {
    pub(crate) fn new(plan: &Plan, ledger: Ledger, settings: Settings) -> Self {
        Termination { board: Board::new(plan, ledger), settings, stage: Stage::Start, clean: true }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        self.board.ledger()
    }

    pub(crate) fn into_ledger(self) -> Ledger {
        self.board.into_ledger()
    }

    /// Goes on until something has to be done, or all is done.
    pub(crate) fn turn(&mut self, observed: &Observed<'_>) -> Turn {
        let mut reports = observed.reports;
        loop {
            let (actions, stage) = match std::mem::replace(&mut self.stage, Stage::Start) {
                Stage::Start => (self.release(), Stage::Releasing),
                Stage::Releasing => {
                    self.released(reports);
                    (self.read(), Stage::Reading)
                }
                Stage::Reading => {
                    self.was_read(reports);
                    let hooks = self.running_hooks(observed);
                    (release(&self.board, hooks.iter().map(|hook| hook.place)), Stage::Stopping(hooks))
                }
                Stage::Stopping(hooks) => {
                    let hooks = self.stopped(hooks, reports);
                    let doomed = hooks.iter().filter(|hook| self.is_deleted(hook));
                    (
                        doomed.map(|hook| delete(&self.board, hook.place, &self.settings)).collect(),
                        Stage::Deleting(hooks),
                    )
                }
                Stage::Deleting(hooks) => {
                    self.deleted(hooks, reports);
                    return Turn::End(self.end());
                }
            };
            self.stage = stage;
            if !actions.is_empty() {
                return Turn::Do(actions);
            }
            reports = &[];
        }
    }

    fn end(&self) -> End {
        if self.clean {
            End::done(OperationPhase::Failed, "Operation terminated")
        } else {
            End::done(OperationPhase::Error, "Operation termination had errors")
        }
    }

    fn release(&self) -> Vec<Action> {
        let completed = self.board.filter(|entry| entry.task.is_hook() && entry.is_completed());
        release(&self.board, completed)
    }

    fn released(&mut self, reports: &[Report]) {
        for report in reports {
            if let Err(failure) = &report.outcome {
                let message = format!("Failed to remove hook finalizer: {failure}");
                self.board.progress(report.id.0, OperationPhase::Error, &message);
            }
        }
    }

    fn running(&self) -> Vec<Place> {
        self.board.filter(|entry| entry.task.is_hook() && entry.is_running())
    }

    fn read(&self) -> Vec<Action> {
        let unseen = |place: &Place| self.board[*place].task.live.is_none();
        let read = |place| Action {
            id: ActionId(place),
            object: self.board[place].task.object().clone(),
            deed: Deed::Read,
        };
        self.running().into_iter().filter(unseen).map(read).collect()
    }

    fn was_read(&mut self, reports: &[Report]) {
        for report in reports {
            let place = report.id.0;
            match &report.outcome {
                Ok(done) => self.board.set_live(place, done.object.clone()),
                Err(failure) if failure.not_found => {}
                Err(failure) => {
                    self.fail(
                        place,
                        OperationPhase::Error,
                        &format!("Failed to get live resource: {failure}"),
                    );
                }
            }
        }
        for place in self.running() {
            if self.board[place].task.live.is_none() {
                self.board.progress(place, OperationPhase::Succeeded, "Terminated");
            }
        }
    }

    fn running_hooks(&mut self, observed: &Observed<'_>) -> Vec<Hook> {
        let mut hooks = Vec::new();
        for place in self.running() {
            let Some(live) = self.board[place].task.live.clone() else { continue };
            let progress = match (observed.health)(&live) {
                Ok(health) => Some(progress_of(&live, health)),
                Err(why) => {
                    let message = format!("Failed to get hook health: {why}");
                    self.board.progress(place, OperationPhase::Error, &message);
                    None
                }
            };
            hooks.push(Hook { place, progress });
        }
        hooks
    }

    fn stopped(&mut self, hooks: Vec<Hook>, reports: &[Report]) -> Vec<Hook> {
        let mut held = Vec::new();
        for report in reports {
            if let Err(failure) = &report.outcome {
                let message = format!("Failed to remove hook finalizer: {failure}");
                self.fail(report.id.0, OperationPhase::Error, &message);
                held.push(report.id.0);
            }
        }
        hooks.into_iter().filter(|hook| !held.contains(&hook.place)).collect()
    }

    /// A hook that still runs is deleted, and one that has just completed if a failure would delete it.
    fn is_deleted(&self, hook: &Hook) -> bool {
        hook.is_running() || self.board[hook.place].task.deletion().on_failure
    }

    fn deleted(&mut self, hooks: Vec<Hook>, reports: &[Report]) {
        let mut left = Vec::new();
        for report in reports {
            if let Err(failure) = &report.outcome
                && !failure.not_found
            {
                self.fail(report.id.0, OperationPhase::Failed, &format!("Failed to delete: {failure}"));
                left.push(report.id.0);
            }
        }
        for hook in hooks.into_iter().filter(|hook| !left.contains(&hook.place)) {
            match hook.progress {
                Some((phase, message)) if phase.is_completed() => {
                    self.board.progress(hook.place, phase, &message)
                }
                Some(_) => self.board.progress(hook.place, OperationPhase::Failed, "Terminated"),
                None => {}
            }
        }
    }

    fn fail(&mut self, place: Place, phase: OperationPhase, message: &str) {
        self.clean = false;
        self.board.progress(place, phase, message);
    }
}
