//! What an Application waits for.

use std::fmt;

use lynceus_api::{ProgressiveSyncStatusCode as Code, Time};
use lynceus_object::Str;

use super::advance::Looked;
use super::turn::Turn;

/// An Application that is not done, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The Application.
    pub application: Str,
    /// What it waits for.
    pub wants: Wants,
}

/// What an Application lacks to get further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Nothing: it is done.
    Nothing,
    /// Its turn.
    Turn,
    /// A step that selects it.
    Step,
    /// An earlier step to end.
    EarlierStep {
        /// The step, counted from 1.
        step: usize,
        /// Its Applications that are not done.
        unfinished: Vec<Str>,
    },
    /// Room among those that may change at a time.
    Room {
        /// How many may.
        most: usize,
        /// How many do.
        updating: usize,
    },
    /// Its new spec to be written.
    SpecWritten,
    /// To be compared: what its status says is about another spec.
    Compared,
    /// Its sync to start.
    SyncStarted {
        /// When it was told to.
        since: Option<Time>,
    },
    /// Its sync to end.
    SyncEnded,
    /// To be looked at again: what its status says is from before its sync ended.
    SeenSince {
        /// When it ended.
        finished: Time,
    },
    /// To become Synced and Healthy.
    Health {
        /// What it is instead of Synced.
        sync: Str,
        /// What it is instead of Healthy.
        health: Str,
    },
}

/// What one that was looked at waits for, once the turns are given.
pub(super) fn of(one: &Looked, turn: &Turn) -> Option<Waiting> {
    if one.status.status == Code::Healthy {
        return None;
    }
    let wants = match (&one.wants, one.step, turn.step) {
        (Wants::Turn, None, _) => Wants::Step,
        (Wants::Turn, Some(step), Some(open)) if step >= open => {
            Wants::EarlierStep { step: open, unfinished: turn.unfinished.clone() }
        }
        (Wants::Turn, Some(step), _) => match turn.limits.get(&step) {
            Some((most, updating)) => Wants::Room { most: *most, updating: *updating },
            None => Wants::Turn,
        },
        (wants, _, _) => wants.clone(),
    };
    Some(Waiting { application: one.status.application.clone(), wants })
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {}", self.application, self.wants)
    }
}

impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wants::Nothing => f.write_str("nothing"),
            Wants::Turn => f.write_str("its turn"),
            Wants::Step => f.write_str("a step that selects it: no matchExpressions fit its labels"),
            Wants::EarlierStep { step, unfinished } => {
                write!(f, "step {step} to end, in which {} not Healthy yet", are(unfinished))
            }
            Wants::Room { most, updating } => {
                write!(f, "room in its step: {updating} change at the moment, and maxUpdate allows {most}")
            }
            Wants::SpecWritten => f.write_str("its new spec to be written"),
            Wants::Compared => f.write_str("a comparison with the spec that it has now"),
            Wants::SyncStarted { since: Some(since) } => write!(f, "its sync to start, since {since}"),
            Wants::SyncStarted { since: None } => f.write_str("its sync to start"),
            Wants::SyncEnded => f.write_str("its sync to end"),
            Wants::SeenSince { finished } => {
                write!(f, "its health to be looked at after its sync, which ended {finished}")
            }
            Wants::Health { sync, health } => {
                write!(f, "Synced and Healthy; it is {sync} and {health}")
            }
        }
    }
}

/// `a is`, `a and b are`, `a, b and 3 more are`.
fn are(names: &[Str]) -> String {
    match names {
        [] => "nothing is".to_owned(),
        [one] => format!("{one} is"),
        [one, other] => format!("{one} and {other} are"),
        [one, other, rest @ ..] => format!("{one}, {other} and {} more are", rest.len()),
    }
}
