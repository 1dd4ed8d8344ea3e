//! The state machine that turns a plan into steps.

mod board;
mod flight;
mod ledger;
mod pass;
mod terminate;

use jiff::Timestamp;
use lynceus_api::{HealthStatusCode, OperationPhase, Wait, WaitFor};
use lynceus_object::{Object, Str};

pub use ledger::{Ledger, Record, images};

use crate::action::{Action, Report};
use crate::plan::Plan;
use crate::settings::Settings;
use pass::{End, Pass, Turn};
use terminate::Termination;

/// What a run is told about the world.
pub struct Observed<'a> {
    /// The plan, made anew from the cluster as it is now. It is read when a pass begins.
    pub plan: &'a Plan,
    /// How a live object is doing; `None` for kinds that have no health of their own.
    pub health: &'a dyn Fn(&Object) -> Result<Option<Health>, Str>,
    /// What came of the actions of the last step.
    pub reports: &'a [Report],
}

/// How an object is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The code.
    pub status: HealthStatusCode,
    /// What there is to say about it.
    pub message: Str,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Store the ledger, carry these actions out, store the ledger again and come back with the reports.
    ///
    /// Storing it first is what keeps a hook from running twice: a hook is written down before it is made.
    Do(Vec<Action>),
    /// Store the ledger and come back when the world has changed, or at the time given.
    Wait(Wait),
    /// Store the ledger; it is over.
    Done(Outcome),
}

/// How a sync ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Succeeded, Failed or Error.
    pub phase: OperationPhase,
    /// Why.
    pub message: String,
}

/// One sync under way.
///
/// It is a value: it reads no clock and touches no cluster. Everything that it has to remember is in its
/// [`Ledger`], so that any process can go on where another stopped.
#[derive(Clone, Debug)]
pub struct Run {
    settings: Settings,
    namespace: Str,
    started_at: Timestamp,
    state: State,
    waiting: Option<Wait>,
    terminating: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// Between two passes.
    Idle(Ledger),
    /// In the middle of a pass; actions are under way.
    Passing(Box<Pass>),
    /// Stopping; actions are under way.
    Terminating(Box<Termination>),
    /// At the end.
    Over(Ledger, Outcome),
}

impl Run {
    /// Starts a sync, or goes on with one whose ledger was stored.
    pub fn new(settings: Settings, namespace: impl Into<Str>, started_at: Timestamp, ledger: Ledger) -> Self {
        Run {
            settings,
            namespace: namespace.into(),
            started_at,
            state: State::Idle(ledger),
            waiting: None,
            terminating: false,
        }
    }

    /// Goes on with other settings from the next pass on: a user may have confirmed what was waited for.
    pub fn adjust(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Asks for an early end. Running hooks are deleted; what was applied stays.
    pub fn terminate(&mut self) {
        self.terminating = true;
    }

    /// What has been done so far.
    pub fn ledger(&self) -> &Ledger {
        match &self.state {
            State::Idle(ledger) | State::Over(ledger, _) => ledger,
            State::Passing(pass) => pass.ledger(),
            State::Terminating(termination) => termination.ledger(),
        }
    }

    /// Says what to do next.
    pub fn next(&mut self, observed: &Observed<'_>, now: Timestamp) -> Step {
        let placeholder = State::Idle(Ledger::default());
        match std::mem::replace(&mut self.state, placeholder) {
            State::Over(ledger, outcome) => {
                self.state = State::Over(ledger, outcome.clone());
                Step::Done(outcome)
            }
            State::Idle(ledger) if self.terminating => {
                let termination = Termination::new(observed.plan, ledger, self.settings.clone());
                self.end_early(Box::new(termination), observed)
            }
            State::Terminating(termination) => self.end_early(termination, observed),
            State::Idle(ledger) => match self.held_until(now) {
                Some(wait) => {
                    self.state = State::Idle(ledger);
                    Step::Wait(wait)
                }
                None => {
                    let pass = Pass::new(
                        observed.plan,
                        ledger,
                        self.settings.clone(),
                        &self.namespace,
                        self.started_at,
                    );
                    self.go_on(Box::new(pass), observed, now)
                }
            },
            State::Passing(pass) => self.go_on(pass, observed, now),
        }
    }

    /// The wait between two waves, if it is not over.
    fn held_until(&self, now: Timestamp) -> Option<Wait> {
        self.waiting.clone().filter(|wait| wait.until.is_some_and(|until| now < until))
    }

    fn go_on(&mut self, mut pass: Box<Pass>, observed: &Observed<'_>, now: Timestamp) -> Step {
        match pass.turn(observed) {
            Turn::Do(actions) => {
                self.state = State::Passing(pass);
                Step::Do(actions)
            }
            Turn::End(End::Done(outcome)) => {
                self.state = State::Over(pass.into_ledger(), outcome.clone());
                Step::Done(outcome)
            }
            Turn::End(End::Wait(for_)) => {
                self.state = State::Idle(pass.into_ledger());
                Step::Wait(self.wait(for_, now))
            }
        }
    }

    fn end_early(&mut self, mut termination: Box<Termination>, observed: &Observed<'_>) -> Step {
        match termination.turn(observed) {
            Turn::Do(actions) => {
                self.state = State::Terminating(termination);
                Step::Do(actions)
            }
            Turn::End(End::Done(outcome)) => {
                self.state = State::Over(termination.into_ledger(), outcome.clone());
                Step::Done(outcome)
            }
            Turn::End(End::Wait(_)) => unreachable!("a termination waits for nothing"),
        }
    }

    /// Waiting on for the same things is one wait, with one beginning.
    fn wait(&mut self, for_: Vec<WaitFor>, now: Timestamp) -> Wait {
        let since = self.waiting.take().filter(|wait| wait.for_ == for_).map_or(now, |wait| wait.since);
        let delayed = for_.iter().any(|item| matches!(item, WaitFor::WaveDelay { .. }));
        let mut wait = Wait::new(for_, since);
        if delayed && let Ok(until) = now.checked_add(self.settings.wave_delay) {
            wait = wait.until(until);
        }
        self.waiting = Some(wait.clone());
        wait
    }
}
