//! What came of one application.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{Application, IN_CLUSTER_SERVER, Kind as _, Reason, ReasonCode};
use lynceus_engine::AppKey;
use lynceus_object::{Object, ObjectKey, Str};

use super::{ApplicationReport, Step, StepKind, Telling, Verdict, Watch};
use crate::play::Mark;
use crate::survey::Surveyed;
use crate::world::{Effect, World, Written};

/// What came of all applications that are there or were.
pub(super) fn all(
    telling: &Telling<'_>,
    world: &World,
    watch: &Watch,
    mark: &Mark,
    mut steps: BTreeMap<Str, Vec<Step>>,
) -> Vec<ApplicationReport> {
    let mut reports: BTreeMap<AppKey, ApplicationReport> = BTreeMap::new();
    for object in world.stored_applications() {
        let key = AppKey::new(object.namespace(), object.name());
        let mut report = one(telling, world, watch, mark, &object);
        report.steps = steps.remove(key.to_string().as_str()).unwrap_or_default();
        reports.insert(key, report);
    }
    for key in mark.holdings.applications() {
        reports.entry(key.clone()).or_insert_with(|| gone(telling, key, &mut steps));
    }
    for key in telling.surveys.last().into_iter().flat_map(|survey| &survey.planned) {
        reports.entry(key.clone()).or_insert_with(|| uncreated(telling, world, mark, key));
    }
    reports.into_values().collect()
}

/// An application that should be there and was never created: whoever creates it did not come to it.
fn uncreated(telling: &Telling<'_>, world: &World, mark: &Mark, key: &AppKey) -> ApplicationReport {
    let why = format!("Application {} is not created", key.name);
    let is_unreachable = telling.surveyed(key).is_some_and(Surveyed::is_unreachable);
    let is_refused = telling.refused.iter().any(|one| one.is_application(key));
    let (verdict, reasons) = match is_unreachable || is_refused {
        true => (Verdict::NotRehearsed, Vec::new()),
        false => (Verdict::Stuck, vec![Reason::new(ReasonCode::NotCreated, why)]),
    };
    let stuck_for = Some(world.now().duration_since(mark.at).as_secs()).filter(|_| verdict == Verdict::Stuck);
    let (sync, health) = ("OutOfSync".to_owned(), "Missing".to_owned());
    ApplicationReport { sync, health, stuck_for, reasons, ..nothing(telling, key, verdict) }
}

fn one(
    telling: &Telling<'_>,
    world: &World,
    watch: &Watch,
    mark: &Mark,
    object: &Object,
) -> ApplicationReport {
    let key = AppKey::new(object.namespace(), object.name());
    let surveyed = telling.surveyed(&key);
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default().to_owned();
    let is_unreachable = surveyed.is_some_and(Surveyed::is_unreachable);
    let since = watch.since(&key);
    let is_fine = since.is_some_and(|(is_fine, _)| is_fine);
    let verdict = match is_fine {
        _ if is_unreachable => Verdict::NotRehearsed,
        true => Verdict::Finishes,
        false => Verdict::Stuck,
    };
    let is_stuck = verdict == Verdict::Stuck;
    let from_mark = |at: jiff::Timestamp| at.duration_since(mark.at).as_secs().max(0);
    ApplicationReport {
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
        place: surveyed.and_then(|one| one.place.clone()),
        verdict,
        sync: text(&["status", "sync", "status"]),
        health: text(&["status", "health", "status"]),
        operation: text(&["status", "operationState", "phase"]),
        by_hand: world.was_asked(&key),
        done_after: since.filter(|_| verdict == Verdict::Finishes).map(|(_, at)| from_mark(at)),
        stuck_for: since.filter(|_| is_stuck).map(|(_, at)| world.now().duration_since(at).as_secs()),
        reasons: if is_stuck { reasons(object, world) } else { Vec::new() },
        steps: Vec::new(),
        wanted: wanted(object),
    }
}

/// What an application wants, as its status has it. What is only left over is not wanted.
fn wanted(object: &Object) -> BTreeSet<ObjectKey> {
    let Ok(application) = Application::from_object(object) else { return BTreeSet::new() };
    let resources = application.status.resources.into_iter().filter(|one| !one.hook && !one.requires_pruning);
    resources.map(|one| ObjectKey::new(one.group, one.kind, one.namespace, one.name)).collect()
}

/// Why an application is stuck; at the least what its conditions say.
fn reasons(object: &Object, world: &World) -> Vec<Reason> {
    let Ok(application) = Application::from_object(object) else {
        return vec![Reason::new(ReasonCode::InvalidSpec, "the Application cannot be read")];
    };
    let reasons = Reason::of(&application.metadata);
    if !reasons.is_empty() {
        return reasons;
    }
    let conditions = application.status.conditions.iter();
    let told: Vec<Reason> =
        conditions.map(|condition| Reason::new(ReasonCode::Failed, condition.message.as_str())).collect();
    let message = application.status.operation_state.as_ref().map(|state| state.message.clone());
    match message.filter(|message| !message.is_empty()) {
        _ if !told.is_empty() => told,
        Some(message) => vec![Reason::new(ReasonCode::Failed, message.as_str())],
        None if object.namespace() != world.namespace() => {
            let words = format!(
                "nobody looks at Applications in namespace {}; the installation is in {}",
                object.namespace(),
                world.namespace()
            );
            vec![Reason::new(ReasonCode::Skipped, words)]
        }
        None => vec![Reason::new(ReasonCode::Failed, "nothing is known about it")],
    }
}

fn gone(telling: &Telling<'_>, key: &AppKey, steps: &mut BTreeMap<Str, Vec<Step>>) -> ApplicationReport {
    let steps = steps.remove(key.to_string().as_str()).unwrap_or_default();
    ApplicationReport { steps, ..nothing(telling, key, Verdict::Gone) }
}

/// What is told of an application that is not there.
fn nothing(telling: &Telling<'_>, key: &AppKey, verdict: Verdict) -> ApplicationReport {
    let place = telling.surveyed(key).and_then(|one| one.place.clone());
    ApplicationReport { place, ..ApplicationReport::nothing(&key.namespace, &key.name, verdict) }
}

impl ApplicationReport {
    pub(crate) fn nothing(namespace: &str, name: &str, verdict: Verdict) -> Self {
        ApplicationReport {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            place: None,
            verdict,
            sync: String::new(),
            health: String::new(),
            operation: String::new(),
            by_hand: false,
            done_after: None,
            stuck_for: None,
            reasons: Vec::new(),
            steps: Vec::new(),
            wanted: BTreeSet::new(),
        }
    }
}

/// What was done on behalf of each application, in order; the same again is counted.
pub(super) fn steps(mark: &Mark, written: &[Written]) -> BTreeMap<Str, Vec<Step>> {
    let mut all: BTreeMap<Str, Vec<Step>> = BTreeMap::new();
    for write in written {
        let step = step(mark, write);
        let steps = all.entry(write.application.clone()).or_default();
        let same =
            |known: &&mut Step| Step { after: step.after, times: step.times, ..(**known).clone() } == step;
        match steps.iter_mut().rev().take(50).find(same).filter(|known| known.did == StepKind::Refused) {
            Some(known) => known.times += 1,
            None => steps.push(step),
        }
    }
    all
}

fn step(mark: &Mark, write: &Written) -> Step {
    let (did, fields, message) = match &write.effect {
        Effect::Created => (StepKind::Created, Vec::new(), String::new()),
        Effect::Changed(fields) => (StepKind::Changed, fields.clone(), String::new()),
        Effect::Deleted => (StepKind::Deleted, Vec::new(), String::new()),
        Effect::Refused(message) => (StepKind::Refused, Vec::new(), message.clone()),
    };
    let is_home = write.server == IN_CLUSTER_SERVER;
    Step {
        after: write.at.duration_since(mark.at).as_secs(),
        did,
        group: write.key.group.to_string(),
        kind: write.key.kind.to_string(),
        namespace: write.key.namespace.to_string(),
        name: write.key.name.to_string(),
        cluster: if is_home { String::new() } else { write.server.to_string() },
        fields,
        message,
        times: 1,
    }
}
