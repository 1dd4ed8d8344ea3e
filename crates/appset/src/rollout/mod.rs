//! Progressive syncs: whose turn it is, and what everybody else waits for.
//!
//! An Application is [`Waiting`](Code::Waiting) until its step's turn has come, [`Pending`](Code::Pending) until the sync
//! that it is told to do starts, [`Progressing`](Code::Progressing) until it is Synced and Healthy, and then
//! [`Healthy`](Code::Healthy). What counts is the health of what was asked for last. A verdict about something older, one
//! that was made for another spec or before the sync ended, opens no gate.

mod advance;
mod recorded;
mod steps;
mod turn;
mod wait;

pub use recorded::{Recorded, recorded};
pub use steps::{Steps, is_reversed, is_rolling};
pub use wait::{Waiting, Wants};

use std::collections::BTreeMap;

use lynceus_api::{
    Application, ApplicationSet, ApplicationSetApplicationStatus, Operation,
    ProgressiveSyncStatusCode as Code, Time,
};
use lynceus_api::{Info, OperationInitiator, RetryStrategy, SyncOperation};
use lynceus_diff::Ignore;
use lynceus_object::Str;

use crate::plan::same_spec;

/// What a progressive sync is decided by.
pub struct Input<'a> {
    /// The ApplicationSet, whose status says how far it was.
    pub set: &'a ApplicationSet,
    /// Its Applications in the cluster.
    pub existing: &'a [Application],
    /// Its Applications as they are to be.
    pub desired: &'a [Application],
    /// Fields of them that are left alone.
    pub ignore: &'a Ignore,
    /// The time.
    pub now: Time,
}

/// Where a progressive sync stands.
#[derive(Clone, Debug, Default)]
pub struct Rollout {
    /// What is written down about each Application, in the order of their names.
    pub statuses: Vec<ApplicationSetApplicationStatus>,
    /// The Applications that are to be synced now.
    pub sync: Vec<Str>,
    /// What each Application that is not done waits for.
    pub waiting: Vec<Waiting>,
    /// The step that is under way, counted from 1; none if all are done.
    pub step: Option<usize>,
    /// What is wrong with the steps.
    pub problems: Vec<String>,
}

/// Takes a progressive sync as far as what is known allows.
pub fn advance(input: &Input<'_>) -> Rollout {
    if !is_rolling(input.set) {
        return Rollout::default();
    }
    let mut steps = Steps::of(input.set, input.desired);
    let (mut looked, problems) = look(input, &steps);
    steps.problems.extend(problems);
    looked.sort_by(|one, other| one.status.application.cmp(&other.status.application));
    let turn = turn::take(input, &steps, &mut looked);
    let sync = looked.iter().filter(|one| one.status.status == Code::Pending);
    let sync = sync.map(|one| one.status.application.clone()).collect();
    let waiting = looked.iter().filter_map(|one| wait::of(one, &turn)).collect();
    let statuses: Vec<_> = looked.into_iter().map(|one| one.status).collect();
    Rollout { step: turn.step, statuses, sync, waiting, problems: steps.problems }
}

/// Every Application that there is, and what is wrong with those that cannot be compared. They wait.
fn look(input: &Input<'_>, steps: &Steps) -> (Vec<advance::Looked>, Vec<String>) {
    let mut problems = Vec::new();
    let before: BTreeMap<&Str, &ApplicationSetApplicationStatus> =
        input.set.status.application_status.iter().map(|one| (&one.application, one)).collect();
    let desired: BTreeMap<&Str, &Application> =
        input.desired.iter().map(|app| (&app.metadata.name, app)).collect();
    let looked = input.existing.iter().map(|app| {
        let name = &app.metadata.name;
        let spec_differs = desired.get(name).is_some_and(|desired| {
            let mut desired = (*desired).clone();
            stop_automation(&mut desired);
            let same = same_spec(input.ignore, app, &desired);
            !same.unwrap_or_else(|why| {
                problems.push(format!("{name} cannot be compared: {why}"));
                false
            })
        });
        let step = steps.step_of(name);
        advance::look(app, before.get(name).copied(), step, spec_differs, input.now)
    });
    let looked = looked.collect();
    (looked, problems)
}

/// Turns automated sync off: whose turn it is, is decided here. Gives back whether it would have pruned.
pub fn stop_automation(app: &mut Application) -> bool {
    let Some(automated) = app.spec.sync_policy.as_mut().and_then(|policy| policy.automated.as_mut()) else {
        return false;
    };
    let prunes = automated.enabled != Some(false) && automated.prune == Some(true);
    automated.enabled = Some(false);
    prunes
}

/// The sync that an Application is told to do when its turn has come.
pub fn operation(app: &Application, prune: bool) -> Operation {
    /// As often as automated sync tries.
    const RETRIES: i64 = 5;
    let policy = app.spec.sync_policy.as_ref();
    let retry = policy.and_then(|policy| policy.retry.clone());
    Operation {
        sync: Some(SyncOperation {
            prune: prune && policy.is_some(),
            sync_options: policy.map(|policy| policy.sync_options.clone()).unwrap_or_default(),
            ..SyncOperation::default()
        }),
        initiated_by: OperationInitiator {
            username: "applicationset-controller".into(),
            automated: true,
            ..OperationInitiator::default()
        },
        info: vec![Info {
            name: "Reason".into(),
            value: "ApplicationSet RollingSync triggered a sync of this Application resource".into(),
            ..Info::default()
        }],
        retry: retry.unwrap_or(RetryStrategy { limit: RETRIES, ..RetryStrategy::default() }),
        ..Operation::default()
    }
}
