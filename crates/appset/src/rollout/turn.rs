//! Whose turn it is.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::ProgressiveSyncStatusCode as Code;
use lynceus_object::Str;

use super::Input;
use super::advance::Looked;
use super::steps::{Steps, max_update};
use super::wait::Wants;

const PENDING: &str =
    "Application moved to Pending status, watching for the Application resource to start Progressing";

/// How far the steps are.
pub(super) struct Turn {
    /// The step that is under way, counted from 1.
    pub(super) step: Option<usize>,
    /// The Applications of that step that are not done.
    pub(super) unfinished: Vec<Str>,
    /// How many may change at a time in each step, and how many do.
    pub(super) limits: BTreeMap<usize, (usize, usize)>,
}

/// Gives turns to those whose step has come, as many as may change at a time.
pub(super) fn take(input: &Input<'_>, steps: &Steps, looked: &mut [Looked]) -> Turn {
    let mut turn = reached(steps, looked);
    let open = turn.step.unwrap_or(usize::MAX);
    for step in 0..steps.applications.len().min(open) {
        let of_step = |one: &&mut Looked| one.step == Some(step);
        let total = looked.iter_mut().filter(of_step).count();
        let mut updating = looked.iter_mut().filter(of_step).filter(|one| is_updating(one)).count();
        let most = max_update(input.set, step, total);
        for one in looked.iter_mut().filter(of_step) {
            let has_room = most.is_none_or(|most| updating < most);
            if one.status.status == Code::Waiting && one.wants == Wants::Turn && has_room {
                one.status.status = Code::Pending.into();
                one.status.message = PENDING.into();
                one.status.last_transition_time = Some(input.now);
                one.wants = Wants::SyncStarted { since: Some(input.now) };
                updating += 1;
            }
        }
        turn.limits.extend(most.map(|most| (step, (most, updating))));
    }
    turn
}

fn is_updating(one: &Looked) -> bool {
    one.status.status == Code::Pending || one.status.status == Code::Progressing
}

/// The first step that is not done. One whose Applications are not all there yet is not.
fn reached(steps: &Steps, looked: &[Looked]) -> Turn {
    let healthy: BTreeSet<&Str> = looked
        .iter()
        .filter(|one| one.status.status == Code::Healthy)
        .map(|one| &one.status.application)
        .collect();
    for (at, names) in steps.applications.iter().enumerate() {
        let unfinished: Vec<Str> = names.iter().filter(|name| !healthy.contains(name)).cloned().collect();
        if !unfinished.is_empty() {
            return Turn { step: Some(at + 1), unfinished, limits: BTreeMap::new() };
        }
    }
    Turn { step: None, unfinished: Vec::new(), limits: BTreeMap::new() }
}
