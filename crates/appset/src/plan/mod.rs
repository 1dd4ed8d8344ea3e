//! What has to change in the cluster for the generated Applications.

mod change;
mod deletion;
mod guard;
mod live;
mod owner;
mod text;

pub use change::FieldChange;
pub use deletion::{Deletion, next_deletion};
pub use guard::{Guard, Held};
pub use live::ignore_rules;
pub(crate) use live::same_spec;

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{Application, ApplicationSet, ApplicationsSyncPolicy};
use lynceus_diff::Ignore;
use lynceus_object::{Str, Value};

use crate::generate::{Generated, Generation};
use crate::place::{Fault, FaultKind, Place};
use crate::validate::Invalid;
use owner::Owner;

/// What a plan is made from.
pub struct Input<'a> {
    /// The ApplicationSet.
    pub set: &'a ApplicationSet,
    /// What it generates.
    pub generation: &'a Generation,
    /// Which of that cannot be.
    pub invalid: &'a [Invalid],
    /// All Applications in its namespace, whosever they are.
    pub existing: &'a [Application],
    /// What may be done at all, and how.
    pub settings: &'a Settings,
}

/// What is set for all ApplicationSets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What may be done where an ApplicationSet does not say, or may not.
    pub policy: ApplicationsSyncPolicy,
    /// Whether an ApplicationSet may say.
    pub may_choose_policy: bool,
    /// Annotations that are always left alone.
    pub preserved_annotations: Vec<Str>,
    /// Labels that are always left alone.
    pub preserved_labels: Vec<Str>,
    /// When deletions have to be confirmed.
    pub guard: Guard,
    /// The deletions that were confirmed: [`Held::token`].
    pub confirmed: Option<Str>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            policy: ApplicationsSyncPolicy::Sync,
            may_choose_policy: true,
            preserved_annotations: Vec::new(),
            preserved_labels: Vec::new(),
            guard: Guard::default(),
            confirmed: None,
        }
    }
}

/// What is to be done, in the order of the names. It can be printed.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// One step for each Application.
    pub steps: Vec<Step>,
    /// Deletions that wait for somebody to confirm them.
    pub held: Option<Held>,
    /// What is wrong with the rules of the ApplicationSet, or with an Application that it cannot have.
    pub faults: Vec<Fault>,
}

/// What is to be done with one Application.
#[derive(Clone, Debug)]
pub struct Step {
    /// The Application.
    pub name: Str,
    /// The generator and element that it comes from, if it is generated.
    pub place: Option<Place>,
    /// What is to be done.
    pub act: Act,
}

/// What can be done with an Application.
#[derive(Clone, Debug)]
pub enum Act {
    /// It is made.
    Create(Box<Application>),
    /// It is changed.
    Update {
        /// The fields that differ.
        changes: Vec<FieldChange>,
        /// A JSON merge patch that changes them and nothing else.
        patch: Value,
    },
    /// It is deleted.
    Delete {
        /// Whether its finalizer has to go first, because the cluster that its objects were on is not there any more.
        drop_finalizer: bool,
    },
    /// It is left as it is.
    Keep(Keep),
}

/// Why an Application is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is as it should be.
    Same,
    /// The policy allows no changes.
    NoUpdate,
    /// The policy allows no deletions.
    NoDelete,
    /// It belongs to something else.
    OfAnother(String),
    /// What was generated for it cannot be.
    Invalid(String),
    /// It is being deleted already.
    Deleting,
    /// Its deletion waits for somebody to confirm it.
    Held,
    /// Not all could be generated, so nothing is known for certain.
    Incomplete,
    /// It is no longer generated, but something else is wrong with what is, and nothing is deleted until it is not.
    Uncertain,
}

/// Says what has to change. Nothing does while a generation is not complete, and nothing is deleted while anything is
/// wrong with what was generated.
pub fn plan(input: &Input<'_>) -> Plan {
    let mut plan = Plan::default();
    let (ignore, errors) = live::ignore_rules(input.set);
    plan.faults.extend(errors);
    let owner = Owner::of(input.set);
    if !input.generation.is_complete() || !plan.faults.is_empty() {
        let own = input.existing.iter().filter(|app| owner.owns(app));
        plan.steps = own.map(|app| step(app, None, Act::Keep(Keep::Incomplete))).collect();
    } else {
        change(input, &owner, &ignore, &mut plan);
        delete(input, &owner, &mut plan);
    }
    plan.steps.sort_by(|one, other| one.name.cmp(&other.name));
    plan
}

fn step(app: &Application, place: Option<Place>, act: Act) -> Step {
    Step { name: app.metadata.name.clone(), place, act }
}

/// The generated Applications: made, changed or left.
fn change(input: &Input<'_>, owner: &Owner<'_>, ignore: &Ignore, plan: &mut Plan) {
    let invalid: BTreeMap<usize, &Fault> = input.invalid.iter().map(|one| (one.at, &one.fault)).collect();
    let existing: BTreeMap<&str, &Application> =
        input.existing.iter().map(|app| (app.metadata.name.as_str(), app)).collect();
    for (at, generated) in input.generation.applications.iter().enumerate() {
        let live = existing.get(generated.application.metadata.name.as_str()).copied();
        let act = match (invalid.get(&at), live) {
            (Some(fault), _) => Act::Keep(Keep::Invalid(fault.message.clone())),
            (None, None) => {
                let created = live::created(input, owner, &generated.application);
                told(created.map(|app| Act::Create(Box::new(app))), generated, &mut plan.faults)
            }
            (None, Some(live)) => against(input, owner, ignore, generated, live, &mut plan.faults),
        };
        plan.steps.push(step(&generated.application, Some(generated.place.clone()), act));
    }
}

fn against(
    input: &Input<'_>,
    owner: &Owner<'_>,
    ignore: &Ignore,
    generated: &Generated,
    live: &Application,
    faults: &mut Vec<Fault>,
) -> Act {
    if let Some(other) = owner.other_owner(live) {
        let message = format!("the Application {} belongs to {other}", live.metadata.name);
        faults.push(Fault { kind: FaultKind::Validation, place: generated.place.clone(), message });
        return Act::Keep(Keep::OfAnother(other));
    }
    if live.metadata.deletion_timestamp.is_some() {
        return Act::Keep(Keep::Deleting);
    }
    // What is not owned yet is not among the current ones, and is taken even where only new ones are made.
    let is_kept = owner.owns(live) && !allows_update(policy(input));
    match told(live::compare(input, owner, ignore, &generated.application, live), generated, faults) {
        Act::Update { .. } if is_kept => Act::Keep(Keep::NoUpdate),
        act => act,
    }
}

/// What is to be done with an Application; what cannot be told is a fault, and it is left as it is.
fn told(act: Result<Act, String>, generated: &Generated, faults: &mut Vec<Fault>) -> Act {
    act.unwrap_or_else(|message| {
        let place = generated.place.clone();
        faults.push(Fault { kind: FaultKind::Validation, place, message: message.clone() });
        Act::Keep(Keep::Invalid(message))
    })
}

/// Own Applications that are not generated any more.
fn delete(input: &Input<'_>, owner: &Owner<'_>, plan: &mut Plan) {
    let wanted: BTreeSet<&Str> =
        input.generation.applications.iter().map(|one| &one.application.metadata.name).collect();
    let own: Vec<&Application> = input.existing.iter().filter(|app| owner.owns(app)).collect();
    let leaving: Vec<&Application> =
        own.iter().copied().filter(|app| !wanted.contains(&app.metadata.name)).collect();
    let deleted = leaving.iter().filter(|app| app.metadata.deletion_timestamp.is_none());
    let names: Vec<&str> = deleted.map(|app| app.metadata.name.as_str()).collect();
    let allowed = allows_delete(policy(input));
    // What cannot be may be one of those that would go, under a name that came out wrong.
    let certain = plan.faults.is_empty() && input.invalid.is_empty();
    if allowed && certain {
        plan.held = input.settings.guard.holds(&names, own.len(), input.settings.confirmed.as_deref());
    }
    for app in leaving {
        let act = match (allowed, &plan.held) {
            _ if app.metadata.deletion_timestamp.is_some() => Act::Keep(Keep::Deleting),
            (false, _) => Act::Keep(Keep::NoDelete),
            (true, _) if !certain => Act::Keep(Keep::Uncertain),
            (true, Some(_)) => Act::Keep(Keep::Held),
            (true, None) => Act::Delete { drop_finalizer: false },
        };
        plan.steps.push(step(app, None, act));
    }
}

impl Plan {
    /// Has the finalizer of deleted Applications dropped whose cluster is not registered any more: nobody could carry
    /// it out, and they would stay for ever.
    #[must_use]
    pub fn dropping_finalizers(mut self, has_cluster: impl Fn(&str) -> bool) -> Self {
        for step in &mut self.steps {
            if let Act::Delete { drop_finalizer } = &mut step.act {
                *drop_finalizer = !has_cluster(&step.name);
            }
        }
        self
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step.act, Act::Keep(_)))
    }
}

/// What may be done to the Applications of an ApplicationSet.
fn policy(input: &Input<'_>) -> ApplicationsSyncPolicy {
    let own = input.set.spec.sync_policy.as_ref().and_then(|policy| policy.applications_sync.as_ref());
    let own = own.filter(|_| input.settings.may_choose_policy).and_then(|word| word.known());
    own.unwrap_or(input.settings.policy)
}

fn allows_update(policy: ApplicationsSyncPolicy) -> bool {
    matches!(policy, ApplicationsSyncPolicy::Sync | ApplicationsSyncPolicy::CreateUpdate)
}

fn allows_delete(policy: ApplicationsSyncPolicy) -> bool {
    matches!(policy, ApplicationsSyncPolicy::Sync | ApplicationsSyncPolicy::CreateDelete)
}
