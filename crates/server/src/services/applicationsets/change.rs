//! Sets that are made, deleted, or tried out.

use lynceus_api::{Application, ApplicationSet, Kind as _};
use lynceus_appset::status::resources;
use lynceus_engine::{project_kind, set_gvk};
use lynceus_object::{Object, ObjectKey, Value, value};

use super::{find, project_of, right, shown, takes_from};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// The set that a request holds, as it would be stored.
pub(super) fn wanted(call: &Call, field: &str) -> Result<(Object, ApplicationSet), Refusal> {
    let value = call.request.at(&[field]).cloned().unwrap_or_default();
    let mut object = Object::new(value).map_err(|_| Refusal::invalid("applicationset is missing"))?;
    object.set(&["apiVersion"], set_gvk().api_version());
    object.set(&["kind"], ApplicationSet::KIND);
    object.remove(&["status"]);
    if object.namespace().is_empty() {
        object.set(&["metadata", "namespace"], call.server.namespace());
    }
    if object.name().is_empty() {
        return Err(Refusal::invalid("metadata.name is missing"));
    }
    if !takes_from(call, object.namespace()) {
        return Err(Refusal::invalid(format!("namespace '{}' is not permitted", object.namespace())));
    }
    let set = ApplicationSet::from_object(&object);
    let set = set.map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))?;
    Ok((object, set))
}

/// Whether there is the project, by which the rights go: so it must not be a template.
pub(super) fn check_project(call: &Call, object: &Object) -> Result<(), Refusal> {
    let project = project_of(object);
    if project.contains("{{") {
        return Err(Refusal::invalid(
            "the API takes no ApplicationSet whose template has a template for its project; apply it with kubectl",
        ));
    }
    let kind = project_kind();
    let name = if project.is_empty() { "default" } else { project };
    let key = ObjectKey::new(kind.group, kind.kind, call.server.namespace(), name);
    match call.server.engine.home().cache().get(&key) {
        Some(_) => Ok(()),
        None => Err(Refusal::invalid(format!("there is no project {name}"))),
    }
}

/// Makes a set, or says what it would generate.
pub(super) async fn create(call: &Call) -> Answered {
    let (object, set) = wanted(call, "applicationset")?;
    call.caller.need(Resource::ApplicationSets, "create", &right(call, &object))?;
    check_project(call, &object)?;
    if call.flag("dryRun") {
        let apps = generated(call, &set).await?;
        let listed = resources(&apps, None).map_err(|fault| Refusal::invalid(fault.to_string()))?.0;
        let mut tried = set;
        tried.status.resources = listed;
        return Ok(shown(&tried.to_object()).into());
    }
    let home = call.server.engine.home();
    let Some(there) = home.get(&set_gvk(), object.namespace(), object.name()).await? else {
        return Ok(shown(&home.create_record(&object).await?).into());
    };
    // Annotations that others have written stay, so those that are asked for decide.
    let is_annotated = object.annotations().all(|(name, text)| there.annotation(name) == Some(text));
    let is_same = is_annotated
        && there.at(&["spec"]) == object.at(&["spec"])
        && there.at(&["metadata", "labels"]) == object.at(&["metadata", "labels"])
        && there.at(&["metadata", "finalizers"]) == object.at(&["metadata", "finalizers"]);
    if is_same {
        return Ok(shown(&there).into());
    }
    if !call.flag("upsert") {
        return Err(Refusal::invalid(
            "existing ApplicationSet spec is different, use upsert flag to force update",
        ));
    }
    call.caller.need(Resource::ApplicationSets, "update", &right(call, &there))?;
    call.caller.need(Resource::ApplicationSets, "update", &right(call, &object))?;
    let mut new = there.clone();
    new.set(&["spec"], object.at(&["spec"]).cloned().unwrap_or_default());
    for field in ["labels", "annotations"] {
        let mut merged = there.at(&["metadata", field]).cloned().unwrap_or_default();
        for (key, text) in
            object.at(&["metadata", field]).and_then(Value::as_map).into_iter().flat_map(|map| map.iter())
        {
            merged.set(&[key.as_str()], text.clone());
        }
        if !merged.is_empty() {
            new.set(&["metadata", field], merged);
        }
    }
    if let Some(finalizers) = object.at(&["metadata", "finalizers"]) {
        new.set(&["metadata", "finalizers"], finalizers.clone());
    }
    Ok(shown(&home.replace_record(&new).await?).into())
}

/// Deletes a set; its Applications go with it by their owner references.
pub(super) async fn delete(call: &Call) -> Answered {
    let object = find(call, "delete")?;
    call.server.engine.home().delete_record(&object).await?;
    Ok(value!({}).into())
}

/// What a set would generate.
pub(super) async fn generate(call: &Call) -> Answered {
    let (object, set) = wanted(call, "applicationSet")?;
    call.caller.need(Resource::ApplicationSets, "create", &right(call, &object))?;
    check_project(call, &object)?;
    let apps = generated(call, &set).await?;
    let apps: Vec<Value> = apps.iter().map(|app| app.to_object().into_value()).collect();
    Ok(value!({"applications": apps}).into())
}

/// The Applications that a set would have, if all of them could be generated.
async fn generated(call: &Call, set: &ApplicationSet) -> Result<Vec<Application>, Refusal> {
    let preview = call.server.engine.preview_set(set).await;
    match preview.generation.faults.first() {
        Some(fault) => {
            Err(Refusal::invalid(format!("unable to generate Applications of ApplicationSet: {fault}")))
        }
        None => Ok(preview.generation.applications.iter().map(|one| one.application.clone()).collect()),
    }
}
