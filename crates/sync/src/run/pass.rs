//! One pass of a sync: from a fresh look at the world to the next wait, or to the end.

use jiff::Timestamp;
use lynceus_api::{OperationPhase, ResultCode, SyncPhase, WaitFor, finalizers};
use lynceus_object::{Object, Str, Value};

use super::board::{Board, Entry, Place};
use super::flight::{Flight, FlightState, delete, release};
use super::{Health, Ledger, Observed, Outcome};
use crate::action::{Action, ActionId, Deed, Report};
use crate::draft::is_own_namespace;
use crate::limits;
use crate::plan::Plan;
use crate::settings::Settings;
use crate::task::Fault;
use lynceus_api::HealthStatusCode;

/// What a pass wants: something done, or to end.
pub(crate) enum Turn {
    Do(Vec<Action>),
    End(End),
}

/// How a pass ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Wait(Vec<WaitFor>),
    Done(Outcome),
}

impl End {
    pub(crate) fn done(phase: OperationPhase, message: impl Into<String>) -> Self {
        End::Done(Outcome { phase, message: message.into() })
    }
}

/// One pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    board: Board,
    settings: Settings,
    namespace: Str,
    stage: Stage,
    /// Hooks that a failure of the sync will delete.
    spent_on_failure: Vec<Place>,
    /// Hooks that the success of the sync will delete.
    spent_on_success: Vec<Place>,
}

/// What the next reports are about, and so what follows.
#[derive(Clone, Debug)]
enum Stage {
    Start,
    /// The application's namespace, which has to be there before anything is tried out.
    Namespace(Flight),
    DryRun(Flight),
    Assess,
    /// Objects that run and that the cache does not show were asked for.
    Reading(Vec<Place>),
    /// Completed hooks are being released.
    Releasing,
    Judge,
    /// Hooks are being deleted by their policy.
    Cleanup(Then),
    /// A wave is being carried out; `last` if no other follows.
    Wave {
        flight: Flight,
        last: bool,
    },
    /// The hooks for a failed sync are being started; then these are waited for.
    Rescue {
        flight: Flight,
        wait_for: Vec<Place>,
    },
}

/// What follows the deletion of hooks.
#[derive(Clone, Debug)]
enum Then {
    Rescue,
    End(End),
}

/// A turn of the pass, or the stage that follows at once.
enum Flow {
    Do(Vec<Action>, Stage),
    On(Stage),
    End(End),
}

impl Pass {
    pub(crate) fn new(
        plan: &Plan,
        ledger: Ledger,
        settings: Settings,
        namespace: &Str,
        started_at: Timestamp,
    ) -> Self {
        let mut board = Board::new(plan, ledger);
        adopt_hooks(&mut board, started_at);
        Pass {
            board,
            settings,
            namespace: namespace.clone(),
            stage: Stage::Start,
            spent_on_failure: Vec::new(),
            spent_on_success: Vec::new(),
        }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        self.board.ledger()
    }

    pub(crate) fn into_ledger(self) -> Ledger {
        self.board.into_ledger()
    }

    /// Goes on until something has to be done, or the pass is over.
    pub(crate) fn turn(&mut self, observed: &Observed<'_>) -> Turn {
        let mut reports = observed.reports;
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Start);
            match self.flow(stage, observed, reports) {
                Flow::Do(actions, stage) => {
                    self.stage = stage;
                    return Turn::Do(actions);
                }
                Flow::On(stage) => self.stage = stage,
                Flow::End(end) => return Turn::End(end),
            }
            // Reports are for the stage that asked for them.
            reports = &[];
        }
    }

    fn flow(&mut self, stage: Stage, observed: &Observed<'_>, reports: &[Report]) -> Flow {
        match stage {
            Stage::Start => self.start(),
            Stage::Namespace(flight) => self.fly(flight, reports, Stage::Namespace, Self::after_namespace),
            Stage::DryRun(flight) => self.fly(flight, reports, Stage::DryRun, Self::after_dry_run),
            Stage::Assess => self.assess(observed),
            Stage::Reading(running) => self.after_reading(running, reports),
            Stage::Releasing => self.after_release(reports),
            Stage::Judge => self.judge(),
            Stage::Cleanup(then) => self.after_cleanup(then, reports),
            Stage::Wave { flight, last } => self.fly(
                flight,
                reports,
                |flight| Stage::Wave { flight, last },
                |pass, flight| pass.after_wave(flight, last),
            ),
            Stage::Rescue { flight, wait_for } => {
                let again = wait_for.clone();
                self.fly(
                    flight,
                    reports,
                    |flight| Stage::Rescue { flight, wait_for: again },
                    |pass, _| Flow::End(pass.wait_for(&wait_for, Reason::Progress)),
                )
            }
        }
    }

    /// Has the next batch of a flight carried out, or goes on when it has landed.
    fn fly(
        &mut self,
        mut flight: Flight,
        reports: &[Report],
        stage: impl FnOnce(Flight) -> Stage,
        landed: impl FnOnce(&mut Self, Flight) -> Flow,
    ) -> Flow {
        flight.settle(&mut self.board, &self.settings, reports);
        match flight.next(&mut self.board, &self.settings) {
            Some(actions) => Flow::Do(actions, stage(flight)),
            None => landed(self, flight),
        }
    }

    fn start(&mut self) -> Flow {
        for place in self.board.places() {
            match self.board[place].task.fault.clone() {
                Some(Fault::Invalid(why)) => {
                    self.board.record(place, Some(ResultCode::SyncFailed), None, &why)
                }
                Some(Fault::Failed(why)) => {
                    self.board.record(place, Some(ResultCode::SyncFailed), Some(OperationPhase::Error), &why);
                }
                None => {}
            }
        }
        if self.board.entries().iter().any(|entry| matches!(entry.task.fault, Some(Fault::Invalid(_)))) {
            return Flow::End(End::done(OperationPhase::Failed, self.invalid_message()));
        }
        if !self.board.ledger().is_empty() {
            return Flow::On(Stage::Assess);
        }
        let missing = |entry: &Entry| {
            entry.task.live.is_none()
                && entry.task.target().is_some_and(|target| is_own_namespace(target, &self.namespace))
        };
        let namespace = self.board.filter(missing).into_iter().take(1).collect();
        Flow::On(Stage::Namespace(Flight::new(namespace, false, &self.settings)))
    }

    fn invalid_message(&self) -> String {
        let failed = self
            .board
            .ledger()
            .records()
            .iter()
            .filter(|record| record.status == Some(ResultCode::SyncFailed) && !record.message.is_empty());
        let mut reasons: Vec<&str> = failed.map(|record| record.message.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let message = "one or more synchronization tasks are not valid";
        if reasons.is_empty() { message.into() } else { format!("{message}: {}", reasons.join("; ")) }
    }

    fn after_namespace(&mut self, flight: Flight) -> Flow {
        if flight.state == FlightState::Failed {
            let message = self.reason("the namespace failed to apply", flight.tasks());
            return Flow::End(End::done(OperationPhase::Failed, message));
        }
        let tasks = self.board.places().filter(|place| !flight.tasks().contains(place));
        let tasks = self.without_unmodified(tasks.collect());
        Flow::On(Stage::DryRun(Flight::new(tasks, true, &self.settings)))
    }

    fn after_dry_run(&mut self, flight: Flight) -> Flow {
        if flight.state == FlightState::Failed {
            let message = "one or more objects failed to apply (dry run)";
            return Flow::End(End::done(OperationPhase::Failed, message));
        }
        Flow::On(Stage::Assess)
    }

    fn without_unmodified(&self, places: Vec<Place>) -> Vec<Place> {
        let keep =
            |place: &Place| !self.settings.apply_out_of_sync_only || !self.board[*place].task.is_unmodified();
        places.into_iter().filter(keep).collect()
    }

    /// Reads the health of everything that was applied and has not come to an end.
    fn assess(&mut self, observed: &Observed<'_>) -> Flow {
        for place in self.board.filter(Entry::is_running) {
            let Some(live) = self.board[place].task.live.clone() else { continue };
            let health = (observed.health)(&live);
            if self.board[place].task.is_hook() {
                let (progress, message) = hook_progress(&live, health);
                self.board.progress(place, progress, &message);
            } else if let Some((progress, message)) = object_progress(health) {
                self.board.progress(place, progress, &message);
            }
        }
        let steps = self.board.has_steps();
        let running = self.board.filter(|entry| entry.is_running() && (steps || entry.task.is_hook()));
        if running.is_empty() { self.release() } else { self.read(running) }
    }

    /// Asks for the objects that should be there and are not seen: waiting for them could take for ever.
    fn read(&mut self, running: Vec<Place>) -> Flow {
        let unseen = running.iter().filter(|place| self.board[**place].task.live.is_none());
        let actions: Vec<Action> = unseen
            .map(|place| Action {
                id: ActionId(*place),
                object: self.board[*place].task.object().clone(),
                deed: Deed::Read,
            })
            .collect();
        if actions.is_empty() {
            Flow::On(Stage::Reading(running))
        } else {
            Flow::Do(actions, Stage::Reading(running))
        }
    }

    fn after_reading(&mut self, running: Vec<Place>, reports: &[Report]) -> Flow {
        for report in reports {
            let place = report.id.0;
            match &report.outcome {
                Err(failure) if !failure.not_found => {
                    let message = format!("Failed to get live resource {failure}");
                    self.board.progress(place, OperationPhase::Error, &message);
                }
                Ok(done) if done.object.is_some() => {}
                _ => {
                    let title = self.board[place].task.title();
                    let message = format!("Resource {title} is missing, it might have been deleted");
                    let code = Some(ResultCode::SyncFailed);
                    self.board.record(place, code, Some(OperationPhase::Error), &message);
                }
            }
        }
        Flow::End(self.wait_for(&running, Reason::Progress))
    }

    /// Lets completed hooks go, once nothing runs and nothing that was pruned is still on its way out.
    fn release(&mut self) -> Flow {
        let leaving = self.board.filter(Entry::is_leaving);
        if !leaving.is_empty() {
            return Flow::End(self.wait_for(&leaving, Reason::Deletion));
        }
        let completed = self.board.filter(|entry| entry.task.is_hook() && entry.is_completed());
        let actions = release(&self.board, completed);
        if actions.is_empty() { Flow::On(Stage::Judge) } else { Flow::Do(actions, Stage::Releasing) }
    }

    fn after_release(&mut self, reports: &[Report]) -> Flow {
        for report in reports {
            match &report.outcome {
                Ok(_) => self.board.forget_finalizer(report.id.0),
                Err(failure) => {
                    let message = format!("Failed to remove hook finalizer: {failure}");
                    self.board.progress(report.id.0, OperationPhase::Error, &message);
                }
            }
        }
        Flow::On(Stage::Judge)
    }

    /// Nothing runs: the sync has failed, or is done, or goes on with its next wave.
    fn judge(&mut self) -> Flow {
        let spent = |entry: &Entry| entry.task.live.is_some() && !entry.is_running();
        self.spent_on_failure = self.board.filter(|entry| spent(entry) && entry.task.deletion().on_failure);
        self.spent_on_success = self.board.filter(|entry| spent(entry) && entry.task.deletion().on_success);
        if self.board.entries().iter().any(|entry| is_regular(entry) && entry.is_unsuccessful()) {
            return self.clean_up(self.spent_on_failure.clone(), Then::Rescue);
        }
        let pending =
            self.without_unmodified(self.board.filter(|entry| is_regular(entry) && entry.is_pending()));
        // A dry run gives no result to what it has to leave out.
        let pending: Vec<Place> = pending
            .into_iter()
            .filter(|place| !(self.settings.dry_run && self.board[*place].task.skip_dry_run))
            .collect();
        let step = |place: &Place| (self.board[*place].task.phase, self.board[*place].task.wave);
        let Some(next) = pending.first().map(step) else {
            return self.succeed("successfully synced (no more tasks)");
        };
        let last = pending.last().map(step) == Some(next);
        let wave: Vec<Place> = pending.iter().copied().filter(|place| step(place) == next).collect();
        Flow::On(Stage::Wave { flight: Flight::new(wave, false, &self.settings), last })
    }

    fn after_wave(&mut self, flight: Flight, last: bool) -> Flow {
        let tasks = flight.tasks();
        match flight.state {
            FlightState::Failed => self.wave_failed(tasks),
            FlightState::Successful
                if last && !tasks.iter().any(|place| self.board[*place].task.is_hook()) =>
            {
                // Nothing waits for the last objects: to have been accepted is enough.
                self.succeed("successfully synced (all tasks run)")
            }
            FlightState::Successful => Flow::End(self.pause(tasks, Reason::Progress, last)),
            FlightState::Pending => {
                let open =
                    |entry: &Entry| entry.is_deleted_first() || entry.task.is_prune() && entry.is_pending();
                let open: Vec<Place> =
                    tasks.iter().copied().filter(|place| open(&self.board[*place])).collect();
                Flow::End(self.pause(&open, Reason::Deletion, last))
            }
        }
    }

    /// A wave failed. What runs is waited for; the hooks for a failed sync are started at once.
    fn wave_failed(&mut self, tasks: &[Place]) -> Flow {
        let of_wave = |keep: fn(&Entry) -> bool| -> Vec<Place> {
            tasks.iter().copied().filter(|place| keep(&self.board[*place])).collect()
        };
        let running = of_wave(Entry::is_running);
        let reason = self.reason("one or more objects failed to apply", &of_wave(Entry::sync_failed));
        let rescuers = self.board.filter(|entry| !is_regular(entry));
        match (self.rescuers_to_start(), running.is_empty()) {
            (Some(pending), true) => self.rescue(pending.clone(), pending),
            (Some(pending), false) => self.rescue(pending, [running, rescuers].concat()),
            (None, false) => Flow::End(self.wait_for(&running, Reason::Progress)),
            (None, true) => {
                let end = End::done(OperationPhase::Failed, self.failure_message(reason));
                self.clean_up(self.spent_on_failure.clone(), Then::End(end))
            }
        }
    }

    fn succeed(&mut self, message: &str) -> Flow {
        let end = End::done(OperationPhase::Succeeded, message);
        self.clean_up(self.spent_on_success.clone(), Then::End(end))
    }

    fn clean_up(&mut self, hooks: Vec<Place>, then: Then) -> Flow {
        let actions: Vec<Action> =
            hooks.into_iter().map(|place| delete(&self.board, place, &self.settings)).collect();
        if actions.is_empty() {
            Flow::On(Stage::Cleanup(then))
        } else {
            Flow::Do(actions, Stage::Cleanup(then))
        }
    }

    fn after_cleanup(&mut self, then: Then, reports: &[Report]) -> Flow {
        for report in reports {
            if let Err(failure) = &report.outcome
                && !failure.not_found
            {
                let message = format!("failed to delete resource: {failure}");
                self.board.progress(report.id.0, OperationPhase::Error, &message);
            }
        }
        match then {
            Then::End(end) => Flow::End(end),
            Then::Rescue => match self.rescuers_to_start() {
                Some(pending) => self.rescue(pending.clone(), pending),
                None => {
                    let failed = self.board.filter(|entry| is_regular(entry) && entry.sync_failed());
                    let message = "one or more synchronization tasks completed unsuccessfully";
                    let message = self.failure_message(self.reason(message, &failed));
                    Flow::End(End::done(OperationPhase::Failed, message))
                }
            },
        }
    }

    /// The hooks for a failed sync that have not been started; `None` if there are none, or all have completed.
    fn rescuers_to_start(&self) -> Option<Vec<Place>> {
        let rescuers = self.board.filter(|entry| !is_regular(entry));
        if rescuers.iter().all(|place| self.board[*place].is_completed()) {
            return None;
        }
        Some(rescuers.into_iter().filter(|place| self.board[*place].is_pending()).collect())
    }

    fn rescue(&mut self, hooks: Vec<Place>, wait_for: Vec<Place>) -> Flow {
        Flow::On(Stage::Rescue { flight: Flight::new(hooks, false, &self.settings), wait_for })
    }

    fn failure_message(&self, reason: String) -> String {
        let failed = self.board.filter(|entry| !is_regular(entry) && entry.sync_failed());
        if failed.is_empty() {
            return reason;
        }
        format!("{reason}\n{}", self.reason("one or more SyncFail hooks failed", &failed))
    }

    /// A message with the messages of tasks behind it, each once.
    fn reason(&self, message: &str, tasks: &[Place]) -> String {
        let mut reasons: Vec<&str> = Vec::new();
        for place in tasks {
            let reason = self.board[*place].message.as_str();
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if reasons.is_empty() { message.into() } else { format!("{message}, reason: {}", reasons.join(",")) }
    }

    fn wait_for(&self, tasks: &[Place], reason: Reason) -> End {
        End::Wait(tasks.iter().map(|place| self.waited_for(*place, reason)).collect())
    }

    /// Waits, and lets controllers notice the wave unless it was the last.
    fn pause(&self, tasks: &[Place], reason: Reason, last: bool) -> End {
        let mut for_: Vec<WaitFor> = tasks.iter().map(|place| self.waited_for(*place, reason)).collect();
        if let Some(task) = tasks.first().map(|place| &self.board[*place].task)
            && !last
        {
            for_.push(WaitFor::WaveDelay { phase: task.phase, wave: task.wave });
        }
        End::Wait(for_)
    }

    fn waited_for(&self, place: Place, reason: Reason) -> WaitFor {
        let task = &self.board[place].task;
        match (reason, task.is_hook()) {
            _ if task.awaits_confirmation(&self.settings) => WaitFor::PruneConfirmation(task.key()),
            (Reason::Progress, true) => WaitFor::HookCompletion(task.key()),
            (Reason::Progress, false) => WaitFor::Healthy(task.key()),
            (Reason::Deletion, true) => WaitFor::HookDeletion(task.key()),
            (Reason::Deletion, false) => WaitFor::Deletion(task.key()),
        }
    }
}

#[derive(Clone, Copy)]
enum Reason {
    Progress,
    Deletion,
}

/// Whether a task belongs to the sync proper, and not to what happens when it fails.
fn is_regular(entry: &Entry) -> bool {
    entry.task.phase != SyncPhase::SyncFail
}

/// Takes hooks for running that were written down and made, but whose making was not reported: the process died
/// in between.
fn adopt_hooks(board: &mut Board, started_at: Timestamp) {
    let made = |entry: &Entry, noted: bool| {
        let live = entry.task.live.as_ref().filter(|live| !live.is_deleting());
        noted
            && entry.task.is_hook()
            && entry.is_pending()
            && entry.status.is_none()
            && live.is_some_and(|live| {
                entry.task.deletion().before_creation || is_of_operation(live, started_at)
            })
    };
    for place in board.places() {
        let entry = &board[place];
        let noted = board.ledger().get(&entry.task.key(), entry.task.phase).is_some();
        if made(entry, noted) {
            board.record(place, Some(ResultCode::Synced), Some(OperationPhase::Running), "");
        }
    }
}

/// Whether a live hook was made by the operation that started then, as far as two clocks can tell.
fn is_of_operation(live: &Object, started_at: Timestamp) -> bool {
    let created: Option<Timestamp> = live.meta_str("creationTimestamp").parse().ok();
    let held = live.finalizers().any(|finalizer| finalizer == finalizers::HOOK);
    held && created.is_some_and(|created| created.duration_since(started_at) >= -limits::CLOCK_SKEW)
}

/// What the health of a live hook says about its end. A hook without health is done when it is there.
pub(crate) fn hook_progress(live: &Object, health: Result<Option<Health>, Str>) -> (OperationPhase, String) {
    match health {
        Ok(_) if is_abandoned(live) => (
            OperationPhase::Failed,
            format!("{} was deleted by somebody else before it was done", live.name()),
        ),
        Err(why) => (OperationPhase::Error, format!("failed to get resource health: {why}")),
        Ok(health) => progress_of(live, health),
    }
}

/// Whether a hook was deleted and can come to no end of its own any more: our finalizer keeps it, and it would be waited
/// for for ever. One whose work still runs is seen to its end.
fn is_abandoned(live: &Object) -> bool {
    live.is_deleting()
        && match (live.group(), live.kind()) {
            ("batch", "Job") => is_idle_job(live),
            // What no node has taken is stopped by none either.
            ("", "Pod") => live.value().str_at(&["status", "phase"]).is_none_or(|phase| phase == "Pending"),
            _ => false,
        }
}

/// Whether a Job is not over and nothing of it runs: it has no pods, and makes no new ones once it is deleted, or those
/// that it has cannot start.
fn is_idle_job(live: &Object) -> bool {
    let count = |field: &str| live.value().int_at(&["status", field]).unwrap_or_default();
    let wanted = live.value().int_at(&["spec", "completions"]).unwrap_or(1);
    let conditions = live.value().items_at(&["status", "conditions"]);
    let is_over = |condition: &Value| {
        let kind = condition.str_at(&["type"]).unwrap_or_default();
        matches!(kind, "Complete" | "Failed" | "SuccessCriteriaMet" | "FailureTarget")
            && condition.str_at(&["status"]) == Some("True")
    };
    // A server that does not count those that are ready cannot tell one that runs from one that does not.
    let stuck = live.value().int_at(&["status", "ready"]) == Some(0) && count("active") > 0;
    let empty = [count("active"), count("terminating")] == [0, 0];
    (stuck || empty && live.at(&["status", "startTime"]).is_some())
        && count("succeeded") < wanted
        && !conditions.iter().any(is_over)
}

/// The same, where health could be read.
pub(crate) fn progress_of(live: &Object, health: Option<Health>) -> (OperationPhase, String) {
    let created = || (OperationPhase::Succeeded, format!("{} created", live.name()));
    let Some(Health { status, message }) = health else { return created() };
    let phase = match status {
        HealthStatusCode::Unknown | HealthStatusCode::Degraded => OperationPhase::Failed,
        HealthStatusCode::Progressing | HealthStatusCode::Suspended => OperationPhase::Running,
        HealthStatusCode::Healthy => OperationPhase::Succeeded,
        HealthStatusCode::Missing => return created(),
    };
    (phase, message.into())
}

/// What the health of an ordinary object says about its end; `None` to go on waiting.
fn object_progress(health: Result<Option<Health>, Str>) -> Option<(OperationPhase, String)> {
    match health.ok()? {
        None => Some((OperationPhase::Succeeded, String::new())),
        Some(Health { status: HealthStatusCode::Healthy, message }) => {
            Some((OperationPhase::Succeeded, message.into()))
        }
        Some(Health { status: HealthStatusCode::Degraded, message }) => {
            Some((OperationPhase::Failed, message.into()))
        }
        Some(_) => None,
    }
}
