//! What would be done for a set, by the settings of this installation: nothing of it is.

use std::collections::BTreeMap;

use lynceus_api::{Application, ApplicationSet, ApplicationSource, Kind as _, annotations};
use lynceus_appset::Place;
use lynceus_appset::plan::{Act, Step};
use lynceus_engine::{AppKey, Preview};
use lynceus_object::{Object, Value, from_typed, value};

use super::change::{check_project, wanted};
use super::{find, right};
use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;
use crate::services::doctor::stage::Ground;

/// What would be done, and with `rehearse` what that would do.
pub(super) async fn preview(call: &Call) -> Answered {
    let (set, preview) = match call.request.get("applicationSet").filter(|set| !set.is_empty()) {
        Some(_) => given(call).await?,
        None => named(call).await?,
    };
    let mut report = told(call, &set, &preview);
    if call.flag("rehearse") {
        report.set(&["rehearsal"], rehearsed(call, &set, &preview).await);
    }
    Ok(Answer::One(value!({"report": report})))
}

/// One that need not be there. What its generators ask for is asked of hosts, so that it takes the right to make it.
async fn given(call: &Call) -> Result<(ApplicationSet, Preview), Refusal> {
    let (object, mut set) = wanted(call, "applicationSet")?;
    call.caller.need(Resource::ApplicationSets, "create", &right(call, &object))?;
    check_project(call, &object)?;
    let key = object.key();
    // Its Applications know the one that is there, and what was confirmed for it.
    if let Some(there) = call.server.engine.home().cache().get(&key) {
        call.caller.need(Resource::ApplicationSets, "get", &right(call, &there))?;
        set.metadata.uid = there.uid().into();
        if let Some(token) = there.annotation(lynceus_engine::CONFIRM_DELETIONS) {
            let annotations = &mut set.metadata.annotations;
            annotations.entry(lynceus_engine::CONFIRM_DELETIONS.into()).or_insert_with(|| token.into());
        }
    }
    let preview = call.server.engine.preview_set(&set).await;
    Ok((set, preview))
}

async fn named(call: &Call) -> Result<(ApplicationSet, Preview), Refusal> {
    let object = find(call, "get")?;
    let key = AppKey::new(object.namespace(), object.name());
    match call.server.engine.preview_of_set(&key).await {
        Some(preview) => preview.map_err(Refusal::invalid),
        None => Err(Refusal::not_found(format!("applicationsets.argoproj.io {:?} not found", object.name()))),
    }
}

fn told(call: &Call, set: &ApplicationSet, preview: &Preview) -> Value {
    let (namespace, name) = (set.metadata.namespace.clone(), set.metadata.name.clone());
    let existing: BTreeMap<&str, &Application> =
        preview.existing.iter().map(|app| (app.metadata.name.as_str(), app)).collect();
    let steps = preview.plan.steps.iter().map(|step| {
        let live = existing.get(step.name.as_str());
        // What is in the cluster is told to those who may see it there.
        let is_open = live.is_none_or(|app| {
            call.caller.may(Resource::Applications, "get", &call.application_object(&app.to_object()))
        });
        self::step(step, is_open)
    });
    let mut report = value!({"namespace": namespace, "name": name, "steps": steps.collect::<Value>()});
    let faults = preview.generation.faults.iter().chain(&preview.plan.faults);
    let invalid = preview.invalid.iter().map(|one| &one.fault);
    let faults: Vec<String> = faults.chain(invalid).map(ToString::to_string).collect();
    report.set(&["faults"], faults);
    if let Some((held, message)) = preview.plan.held.as_ref().zip(preview.confirmation(set)) {
        let count = i64::try_from(held.of).unwrap_or(i64::MAX);
        let names = held.names.clone();
        report.set(&["held"], value!({"token": held.token.clone(), "of": count, "message": message}));
        report.set(&["held", "names"], names);
    }
    report
}

fn step(step: &Step, is_open: bool) -> Value {
    let act = match &step.act {
        Act::Create(_) => "create",
        Act::Update { .. } => "update",
        Act::Delete { .. } => "delete",
        Act::Keep(_) => "keep",
    };
    let mut told = value!({"name": step.name.clone(), "act": act});
    if let Some(place) = step.place.as_ref().map(Place::to_string) {
        told.set(&["place"], place);
    }
    match &step.act {
        Act::Keep(why) => told.set(&["why"], why.to_string()),
        Act::Delete { drop_finalizer: true } => {
            told.set(&["why"], "its cluster is gone, so its finalizer goes first");
        }
        Act::Update { changes, .. } if is_open => {
            let change = |one: &lynceus_appset::plan::FieldChange| {
                let mut told = value!({"path": one.path.clone(), "text": one.to_string()});
                for (field, value) in [("before", &one.before), ("after", &one.after)] {
                    if let Some(value) = value {
                        told.set(&[field], value.clone());
                    }
                }
                told
            };
            told.set(&["changes"], changes.iter().map(change).collect::<Value>());
        }
        Act::Create(app) => told.set(&["application"], app.to_object().into_value()),
        _ => {}
    }
    told
}

/// What the change would do to the cluster as it is, or why that cannot be told.
async fn rehearsed(call: &Call, set: &ApplicationSet, preview: &Preview) -> Value {
    let played = async {
        call.caller.need(Resource::Applications, "get", "*/*")?;
        let (source, project) = source(preview).ok_or_else(|| {
            Refusal::new(Code::FailedPrecondition, "no Application of it comes from a Git repository")
        })?;
        let ground = Ground::bringing(&call.server.engine, &source, &project, plain(set)).await?;
        let report = ground.play(&call.server).await?;
        from_typed(&report).map_err(|error| Refusal::new(Code::Internal, error.to_string()))
    };
    match played.await {
        Ok(report) => report,
        Err(refusal) => value!({"verdict": "notRehearsed", "reason": refusal.message}),
    }
}

/// A set as somebody would apply it, without what a server has put on it.
fn plain(set: &ApplicationSet) -> Object {
    let whole = set.to_object();
    let mut object = Object::default();
    for path in [&["apiVersion"][..], &["kind"], &["metadata", "name"], &["metadata", "namespace"], &["spec"]]
    {
        object.set(path, whole.at(path).cloned().unwrap_or_default());
    }
    for field in ["labels", "annotations"] {
        if let Some(texts) = whole.at(&["metadata", field]).filter(|texts| !texts.is_empty()) {
            object.set(&["metadata", field], texts.clone());
        }
    }
    object.remove(&["metadata", "annotations", annotations::LAST_APPLIED]);
    object
}

/// The source that most of its Applications come from, those included that would be deleted, and their project.
fn source(preview: &Preview) -> Option<(ApplicationSource, String)> {
    let mut counts: BTreeMap<(String, String), (usize, ApplicationSource, String)> = BTreeMap::new();
    let leaving = preview.plan.steps.iter().filter(|step| step.place.is_none());
    let leaving = leaving
        .filter_map(|step| preview.existing.iter().find(|app| app.metadata.name == step.name).cloned());
    for app in preview.applications().into_iter().chain(leaving) {
        for source in app.spec.all_sources().iter().filter(|source| source.chart.is_empty()) {
            let key = (source.repo_url.to_string(), source.target_revision.to_string());
            let first = || (0, source.clone(), app.spec.project.to_string());
            counts.entry(key).or_insert_with(first).0 += 1;
        }
    }
    let most = counts.into_values().max_by_key(|(count, ..)| *count);
    most.map(|(_, source, project)| (source, project))
}
