//! Where a container stands at a time: worked out from when it was first started, so that nothing has to be
//! remembered between two looks.

use jiff::{SignedDuration, Timestamp};

use super::program::Program;

/// The first wait before a container is started again; it doubles with each further one.
const FIRST_BACKOFF: SignedDuration = SignedDuration::from_secs(10);
/// The longest wait before a container is started again.
const LONGEST_BACKOFF: SignedDuration = SignedDuration::from_secs(300);
/// A container that ran this long starts over with the first wait.
const FORGET_AFTER: SignedDuration = SignedDuration::from_secs(600);
/// How many restarts are followed one by one. Far more than the longest wait allows in a year.
const MOST_RESTARTS: usize = 200_000;

/// When a container is started again after it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// Whatever it ended with.
    Always,
    /// When it failed.
    OnFailure,
    /// Not at all.
    Never,
}

impl Restart {
    /// Reads a restart policy.
    pub(crate) fn of(text: Option<&str>) -> Self {
        match text {
            Some("OnFailure") => Restart::OnFailure,
            Some("Never") => Restart::Never,
            _ => Restart::Always,
        }
    }

    fn again(self, exit_code: i64) -> bool {
        match self {
            Restart::Always => true,
            Restart::OnFailure => exit_code != 0,
            Restart::Never => false,
        }
    }
}

/// One run of a container that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// When it was started.
    pub(crate) started: Timestamp,
    /// When it ended.
    pub(crate) finished: Timestamp,
    /// What it ended with.
    pub(crate) exit_code: i64,
}

/// What a container does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended for good.
    Ended(Ended),
    /// It has ended, and is started again after a wait.
    BackOff {
        /// How long the wait is.
        wait: SignedDuration,
    },
}

/// A container at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// What it does.
    pub(crate) state: State,
    /// Its last run that has ended, while a newer one runs or is awaited.
    pub(crate) last: Option<Ended>,
    /// How many times it was started again.
    pub(crate) restarts: i64,
    /// When something changes next; never if none.
    pub(crate) next: Option<Timestamp>,
}

/// Where a container stands at `now` that was first started at `start`.
pub(crate) fn at(program: Program, restart: Restart, start: Timestamp, now: Timestamp) -> Life {
    let mut started = start;
    let mut last = None;
    let mut backoff = FIRST_BACKOFF;
    for restarts in 0..MOST_RESTARTS as i64 {
        let Some(finished) = program.run_for.map(|time| add(started, time)).filter(|end| *end <= now) else {
            let next = program.run_for.map(|time| add(started, time));
            return Life { state: State::Running { since: started }, last, restarts, next };
        };
        let ended = Ended { started, finished, exit_code: program.exit_code };
        if !restart.again(program.exit_code) {
            return Life { state: State::Ended(ended), last, restarts, next: None };
        }
        if program.run_for.is_some_and(|time| time >= FORGET_AFTER) {
            backoff = FIRST_BACKOFF;
        }
        let again = add(finished, backoff);
        if again > now {
            let state = State::BackOff { wait: backoff };
            return Life { state, last: Some(ended), restarts, next: Some(again) };
        }
        last = Some(ended);
        started = again;
        backoff = (backoff * 2).min(LONGEST_BACKOFF);
    }
    Life { state: State::BackOff { wait: LONGEST_BACKOFF }, last, restarts: MOST_RESTARTS as i64, next: None }
}

fn add(at: Timestamp, time: SignedDuration) -> Timestamp {
    at.saturating_add(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn life(run_for: Option<i64>, exit_code: i64, restart: Restart, seconds: i64) -> Life {
        let program = Program { run_for: run_for.map(SignedDuration::from_secs), exit_code };
        at(program, restart, START, add(START, SignedDuration::from_secs(seconds)))
    }

    fn second(at: i64) -> Timestamp {
        Timestamp::from_second(at).unwrap()
    }

    #[test]
    fn a_service_just_runs() {
        let life = life(None, 0, Restart::Always, 1000);
        assert_eq!((life.state, life.restarts, life.next), (State::Running { since: START }, 0, None));
    }

    #[test]
    fn a_task_ends_once() {
        assert_eq!(life(Some(5), 0, Restart::OnFailure, 4).next, Some(second(5)));
        let done = life(Some(5), 0, Restart::OnFailure, 5);
        assert!(matches!(done.state, State::Ended(Ended { exit_code: 0, .. })));
    }

    #[test]
    fn a_crashing_service_waits_longer_each_time() {
        let crash = |seconds| life(Some(1), 1, Restart::Always, seconds);
        assert_eq!(crash(1).state, State::BackOff { wait: SignedDuration::from_secs(10) });
        assert_eq!((crash(11).state, crash(11).restarts), (State::Running { since: second(11) }, 1));
        assert_eq!(crash(12).state, State::BackOff { wait: SignedDuration::from_secs(20) });
        assert_eq!(crash(12).last.unwrap().finished, second(12));
        assert_eq!(crash(12).next, Some(second(32)));
    }

    #[test]
    fn a_failed_task_is_repeated_only_if_told_to() {
        assert!(matches!(
            life(Some(1), 7, Restart::Never, 9).state,
            State::Ended(Ended { exit_code: 7, .. })
        ));
        assert!(matches!(life(Some(1), 7, Restart::OnFailure, 9).state, State::BackOff { .. }));
    }
}
