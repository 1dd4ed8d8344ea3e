//! Creating, changing and deleting Applications.

use lynceus_api::{Application, ApplicationConditionType, Kind as _, finalizers};
use lynceus_cluster::Deletion;
use lynceus_engine::{Aim, AppKey, Freshness, application_gvk};
use lynceus_object::{Object, Propagation, Value, json, patch, value};

use super::{project_of, read};
use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Makes an Application. One that is there already is changed only where that was asked for.
pub(super) async fn create(call: &Call) -> Answered {
    let wanted = wanted(call)?;
    call.caller.need(Resource::Applications, "create", &call.application_object(&wanted))?;
    check(call, &wanted).await?;
    let home = call.server.engine.home();
    let there = home.get(&application_gvk(), wanted.namespace(), wanted.name()).await?;
    let Some(there) = there else {
        let made = home.create_record(&wanted).await?;
        return Ok(Answer::One(call.server.shown_with_health(&made)));
    };
    if is_same(&there, &wanted) {
        return Ok(Answer::One(call.server.shown_with_health(&there)));
    }
    if !call.flag("upsert") {
        let message = "existing application spec is different, use upsert flag to force update";
        return Err(Refusal::invalid(message));
    }
    call.caller.need(Resource::Applications, "update", &call.application_object(&there))?;
    write(call, &there, &wanted).await
}

/// Puts an Application in the place of the one that is there.
pub(super) async fn update(call: &Call) -> Answered {
    let wanted = wanted(call)?;
    let there = existing(call, &wanted)?;
    // Moving it to another project takes the right for both.
    call.caller.need(Resource::Applications, "update", &call.application_object(&there))?;
    call.caller.need(Resource::Applications, "update", &call.application_object(&wanted))?;
    check(call, &wanted).await?;
    write(call, &there, &wanted).await
}

/// Changes what an Application wants.
pub(super) async fn update_spec(call: &Call) -> Answered {
    let there = call.application_may("update", "name")?;
    let mut wanted = there.clone();
    wanted.set(&["spec"], call.request.at(&["spec"]).cloned().unwrap_or_default());
    call.caller.need(Resource::Applications, "update", &call.application_object(&wanted))?;
    check(call, &wanted).await?;
    let Answer::One(written) = write(call, &there, &wanted).await? else { return Err(internal()) };
    Ok(Answer::One(written.get("spec").cloned().unwrap_or_default()))
}

/// Changes an Application by a patch.
pub(super) async fn patch(call: &Call) -> Answered {
    let there = call.application_may("update", "name")?;
    let text = call.needed("patch")?;
    let change = json::parse(text.as_bytes())
        .map_err(|error| Refusal::invalid(format!("the patch is no JSON: {error}")))?;
    let changed = match call.text("patchType") {
        "" | "json" => patch::json(there.value(), &change),
        "merge" => patch::merge(there.value(), &change),
        other => return Err(Refusal::invalid(format!("Patch type '{other}' is not supported"))),
    };
    let changed = changed.map_err(|error| Refusal::invalid(error.to_string()))?;
    let wanted = Object::new(changed).map_err(|_| Refusal::invalid("the patch leaves no Application"))?;
    if (wanted.name(), wanted.namespace()) != (there.name(), there.namespace()) {
        return Err(Refusal::invalid("a patch cannot give an Application another name"));
    }
    call.caller.need(Resource::Applications, "update", &call.application_object(&wanted))?;
    check(call, &wanted).await?;
    write(call, &there, &wanted).await
}

/// Deletes an Application, with or without what it has delivered.
pub(super) async fn delete(call: &Call) -> Answered {
    let there = call.application_may("delete", "name")?;
    let cascade = call.request.bool_at(&["cascade"]).unwrap_or(true);
    let policy = call.text("propagationPolicy");
    if !cascade && !policy.is_empty() {
        return Err(Refusal::invalid("cannot set propagation policy when cascading is disabled"));
    }
    let mut wanted: Vec<&str> =
        there.finalizers().filter(|finalizer| !finalizers::deletes_resources(finalizer)).collect();
    match (cascade, policy) {
        (false, _) => {}
        (true, "" | "foreground") => wanted.push(finalizers::RESOURCES),
        (true, "background") => wanted.push(finalizers::RESOURCES_BACKGROUND),
        (true, other) => return Err(Refusal::invalid(format!("invalid propagation policy: {other}"))),
    }
    let key = AppKey::new(there.namespace(), there.name());
    // Nothing may be added to what is being deleted already.
    let may_change = !there.is_deleting() || !cascade;
    if may_change && !there.finalizers().eq(wanted.iter().copied()) {
        call.patch_application(&key, &value!({"metadata": {"finalizers": wanted}})).await?;
    }
    let deletion = Deletion { propagation: Propagation::Background, ..Deletion::default() };
    call.server.engine.home().delete(&application_gvk(), &key.namespace, &key.name, &deletion).await?;
    Ok(Answer::One(value!({})))
}

/// The Application of a request, with what only others may write taken away.
fn wanted(call: &Call) -> Result<Object, Refusal> {
    let given = call.request.at(&["application"]).cloned().unwrap_or_default();
    let mut object = Object::new(given).map_err(|_| Refusal::invalid("the application is missing"))?;
    if object.name().is_empty() {
        return Err(Refusal::invalid("the application has no name"));
    }
    let namespace = if object.namespace().is_empty() {
        call.server.namespace().to_owned()
    } else {
        object.namespace().to_owned()
    };
    if !call.takes_applications_from(&namespace) {
        return Err(Refusal::new(
            Code::PermissionDenied,
            format!("namespace '{namespace}' is not permitted"),
        ));
    }
    object.set(&["metadata", "namespace"], namespace);
    object.set(&["apiVersion"], application_gvk().api_version());
    object.set(&["kind"], "Application");
    for path in [
        &["status"][..],
        &["metadata", "managedFields"],
        &["metadata", "uid"],
        &["metadata", "creationTimestamp"],
    ] {
        object.remove(path);
    }
    // A sync is asked for by its own method, which has a right of its own.
    object.remove(&["operation"]);
    if project_of(&object) == "default" {
        object.set(&["spec", "project"], "default");
    }
    // What cannot be read is not written: an unknown field is told of by the cluster.
    read(&object)?;
    Ok(object)
}

/// The Application that is to be changed, as far as the caller may know of it.
fn existing(call: &Call, wanted: &Object) -> Result<Object, Refusal> {
    let key = AppKey::new(wanted.namespace(), wanted.name());
    let there = call.server.engine.home().cache().get(&key.object_key());
    there.ok_or_else(|| {
        match call.caller.may(Resource::Applications, "get", &call.application_object(wanted)) {
            true => super::absent(wanted.name()),
            false => Refusal::denied(),
        }
    })
}

fn is_same(there: &Object, wanted: &Object) -> bool {
    let part = |object: &Object, path: &[&str]| object.at(path).cloned().unwrap_or_default();
    part(there, &["spec"]) == part(wanted, &["spec"])
        && wanted.labels().all(|(key, text)| there.label(key) == Some(text))
        && wanted.annotations().all(|(key, text)| there.annotation(key) == Some(text))
}

/// Refuses a spec that cannot work, unless the caller wants it all the same. What the project does not permit is refused
/// in any case.
async fn check(call: &Call, wanted: &Object) -> Result<(), Refusal> {
    let application = read(wanted)?;
    let engine = &call.server.engine;
    engine.project(&application).map_err(|condition| Refusal::invalid(condition.message))?;
    if call.request.bool_at(&["validate"]) == Some(false) {
        return Ok(());
    }
    let look = engine.look(&application, &Aim { freshness: Freshness::Latest, ..Aim::default() }).await;
    let wrong: Vec<String> = look
        .errors()
        .filter(|condition| condition.kind == ApplicationConditionType::InvalidSpecError)
        .map(|condition| condition.message.clone())
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => {
            let name = &application.metadata.name;
            Err(Refusal::invalid(format!(
                "application spec for {name} is invalid: InvalidSpecError: {}",
                wrong.join("; ")
            )))
        }
    }
}

/// Writes spec, labels, annotations and finalizers over what is there, if nobody else has meanwhile.
async fn write(call: &Call, there: &Object, wanted: &Object) -> Answered {
    let mut after = there.clone();
    after.set(&["spec"], wanted.at(&["spec"]).cloned().unwrap_or_default());
    for part in ["labels", "annotations", "finalizers"] {
        match wanted.at(&["metadata", part]) {
            Some(value) => after.set(&["metadata", part], value.clone()),
            None => drop(after.remove(&["metadata", part])),
        }
    }
    let asked: &str = wanted.resource_version();
    if !asked.is_empty() && asked != there.resource_version() {
        let message = format!("the application {} has changed since it was read", there.name());
        return Err(Refusal::new(Code::Aborted, message));
    }
    Application::from_object(&after).map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))?;
    let written = call.server.engine.home().replace_record(&after).await?;
    Ok(Answer::One(call.server.shown_with_health(&written)))
}

fn internal() -> Refusal {
    Refusal::new(Code::Internal, "a change was not answered with what was changed")
}

/// What is left of an answer for those who only want to know that it was done.
pub(super) fn done() -> Value {
    value!({})
}
