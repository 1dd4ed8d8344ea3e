//! Creating, changing and deleting Applications.

use lynceus_api::{Application, ApplicationConditionType, ApplicationSource, Kind as _, finalizers};
use lynceus_cluster::Deletion;
use lynceus_engine::{Aim, AppKey, Condition, Freshness, Look, application_gvk};
use lynceus_object::{Object, Propagation, Value, json, patch, value};

use super::{project_of, read};
use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Makes an Application. One that is there already is changed only where that was asked for.
pub(super) async fn create(call: &Call) -> Answered {
    let wanted = wanted(call)?;
    call.caller.need(Resource::Applications, "create", &call.application_object(&wanted))?;
    let home = call.server.engine.home();
    let there = home.get(&application_gvk(), wanted.namespace(), wanted.name()).await?;
    check(call, there.as_ref(), &wanted).await?;
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
    change(call, there, |there| Ok(merged(there, &wanted))).await
}

/// An Application with the labels and annotations that are there already beside its own.
fn merged(there: &Object, wanted: &Object) -> Object {
    let mut merged = wanted.clone();
    for part in ["labels", "annotations"] {
        let mut entries = there.at(&["metadata", part]).cloned().unwrap_or_else(|| value!({}));
        if let Some(Value::Map(own)) = wanted.at(&["metadata", part]) {
            own.iter().for_each(|(key, text)| entries.set(&[key.as_str()], text.clone()));
        }
        merged.set(&["metadata", part], entries);
    }
    merged
}

/// Puts an Application in the place of the one that is there.
pub(super) async fn update(call: &Call) -> Answered {
    let wanted = wanted(call)?;
    let there = existing(call, &wanted)?;
    change(call, there, |_| Ok(wanted.clone())).await
}

/// Changes what an Application wants.
pub(super) async fn update_spec(call: &Call) -> Answered {
    let there = call.application_may("update", "name")?;
    let spec = call.request.at(&["spec"]).cloned().unwrap_or_default();
    let made = |there: &Object| {
        let mut wanted = there.clone();
        wanted.set(&["spec"], spec.clone());
        Ok(wanted)
    };
    let Answer::One(written) = change(call, there, made).await? else { return Err(internal()) };
    Ok(Answer::One(written.get("spec").cloned().unwrap_or_default()))
}

/// Changes an Application by a patch.
pub(super) async fn patch(call: &Call) -> Answered {
    let there = call.application_may("update", "name")?;
    let text = call.needed("patch")?;
    let patch = json::parse(text.as_bytes())
        .map_err(|error| Refusal::invalid(format!("the patch is no JSON: {error}")))?;
    change(call, there, |there| patched(there, call.text("patchType"), &patch)).await
}

fn patched(there: &Object, kind: &str, change: &Value) -> Result<Object, Refusal> {
    let changed = match kind {
        "" | "json" => patch::json(there.value(), change),
        "merge" => patch::merge(there.value(), change),
        other => return Err(Refusal::invalid(format!("Patch type '{other}' is not supported"))),
    };
    let changed = changed.map_err(|error| Refusal::invalid(error.to_string()))?;
    let wanted = Object::new(changed).map_err(|_| Refusal::invalid("the patch leaves no Application"))?;
    match (wanted.name(), wanted.namespace()) == (there.name(), there.namespace()) {
        true => Ok(wanted),
        false => Err(Refusal::invalid("a patch cannot give an Application another name")),
    }
}

/// Changes an Application into what is made of it as it is. Where somebody else writes it meanwhile, most often the engine
/// its status, it is read again and made anew: nobody is refused for having been second, and a patch takes nothing back.
async fn change(
    call: &Call,
    mut there: Object,
    made: impl Fn(&Object) -> Result<Object, Refusal>,
) -> Answered {
    let mut checked: Option<Object> = None;
    for _ in 0..limits::CHANGES {
        let wanted = made(&there)?;
        permitted(call, &there, &wanted)?;
        if !checked.as_ref().is_some_and(|checked| is_same_spec(checked, &wanted)) {
            check(call, Some(&there), &wanted).await?;
        }
        match write(call, &there, &wanted).await {
            Err(refusal) if refusal.code == Code::Aborted => checked = Some(wanted),
            answered => return answered,
        }
        let found =
            call.server.engine.home().get(&application_gvk(), there.namespace(), there.name()).await?;
        there = found.ok_or_else(|| super::absent(there.name()))?;
    }
    Err(Refusal::new(Code::Internal, "Failed to update application. Too many conflicts"))
}

/// Refuses a change that the caller may not make. Moving it to another project is making it there.
fn permitted(call: &Call, there: &Object, wanted: &Object) -> Result<(), Refusal> {
    let need = |action: &str, object: &str| call.caller.need(Resource::Applications, action, object);
    need("update", &call.application_object(there))?;
    let object = call.application_object(wanted);
    need("update", &object)?;
    if project_of(there) == project_of(wanted) { Ok(()) } else { need("create", &object) }
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
    is_same_spec(there, wanted)
        && wanted.labels().all(|(key, text)| there.label(key) == Some(text))
        && wanted.annotations().all(|(key, text)| there.annotation(key) == Some(text))
}

fn is_same_spec(one: &Object, other: &Object) -> bool {
    let spec = |object: &Object| object.at(&["spec"]).cloned().unwrap_or_default();
    spec(one) == spec(other)
}

/// Refuses a spec that cannot work, unless the caller wants it all the same. What the project does not permit is refused
/// in any case. Of one that stays as it is nothing has to be found out again.
async fn check(call: &Call, there: Option<&Object>, wanted: &Object) -> Result<(), Refusal> {
    let application = read(wanted)?;
    let engine = &call.server.engine;
    engine.project(&application).map_err(|condition| Refusal::invalid(condition.message))?;
    let wrong = match call.request.bool_at(&["validate"]) {
        Some(false) => engine.objections(&application).await,
        _ if there.is_some_and(|there| is_same_spec(there, wanted)) => Vec::new(),
        _ => tried(call, &application).await?,
    };
    if wrong.is_empty() {
        return Ok(());
    }
    let shown = wrong.iter().map(|condition| format!("{}: {}", condition.kind, condition.message));
    Err(Refusal::invalid(format!(
        "application spec for {} is invalid: {}",
        application.metadata.name,
        shown.collect::<Vec<String>>().join("; ")
    )))
}

/// What is wrong with an application's spec when it is followed: its repositories are read, and its manifests rendered. What
/// only shows beside the cluster, such as an object without a namespace, is told by its status.
async fn tried(call: &Call, application: &Application) -> Result<Vec<Condition>, Refusal> {
    let aim = Aim { sources: sources(application), freshness: Freshness::Latest, ..Aim::default() };
    let work = call.server.engine.look(application, &aim);
    let look = tokio::time::timeout(limits::READING, work).await.map_err(|_| {
        let what = format!("the sources were not rendered within {} s", limits::READING.as_secs());
        Refusal::new(Code::DeadlineExceeded, what)
    })?;
    // A cluster that is away says nothing about the spec. Nor does a repository that is only away from here, where somebody
    // asks who has the cluster: the engine in it may well read it.
    if look.away || look.unfetched && call.caller.is_owner() {
        return Ok(Vec::new());
    }
    let unrendered = |condition: &Condition| match condition.kind {
        ApplicationConditionType::ComparisonError => {
            Condition::invalid_spec(in_its_words(application, &look, &condition.message))
        }
        _ => condition.clone(),
    };
    let is_unread = |condition: &&Condition| condition.kind == ApplicationConditionType::ComparisonError;
    Ok(match look.compared {
        // Single documents that cannot be read stop no comparison.
        true => look.desired.conditions.iter().filter(is_unread).map(unrendered).collect(),
        false => look.errors().map(unrendered).collect(),
    })
}

/// What is rendered: of an application that is hydrated what it is hydrated from, because the rest is not there yet.
fn sources(application: &Application) -> Option<Vec<ApplicationSource>> {
    let dry = &application.spec.source_hydrator.as_ref()?.dry_source;
    Some(vec![ApplicationSource {
        repo_url: dry.repo_url.clone(),
        path: dry.path.clone(),
        target_revision: dry.target_revision.clone(),
        ..ApplicationSource::default()
    }])
}

/// What Argo CD says where sources cannot be rendered.
fn in_its_words(application: &Application, look: &Look, message: &str) -> String {
    let sources = sources(application).unwrap_or_else(|| application.spec.all_sources());
    match sources.as_slice() {
        _ if look.unfetched => format!("repository not accessible: {message}"),
        [one] if look.pathless => {
            format!("Unable to generate manifests in {0}: {0}: app path does not exist: {message}", one.path)
        }
        [one] if one.chart.is_empty() => format!("Unable to generate manifests in {}: {message}", one.path),
        _ => format!("Unable to generate manifests: {message}"),
    }
}

/// Writes spec, labels, annotations and finalizers over what is there, if nobody else has meanwhile. Which version the caller
/// has read does not matter, as with Argo CD: the status makes a new one every few seconds.
async fn write(call: &Call, there: &Object, wanted: &Object) -> Answered {
    let mut after = there.clone();
    after.set(&["spec"], wanted.at(&["spec"]).cloned().unwrap_or_default());
    for part in ["labels", "annotations", "finalizers"] {
        match wanted.at(&["metadata", part]) {
            Some(value) => after.set(&["metadata", part], value.clone()),
            None => drop(after.remove(&["metadata", part])),
        }
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
