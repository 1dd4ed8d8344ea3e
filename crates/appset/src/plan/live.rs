//! A generated Application beside the one in the cluster.

use lynceus_api::{
    Application, ApplicationSet, Kind, Operation, ResourceIgnoreDifferences, annotations, finalizers,
};
use lynceus_diff::Ignore;
use lynceus_object::patch::create::merge_two_way;
use lynceus_object::{Object, Str, Value};

use super::change::changes;
use super::owner::Owner;
use super::{Act, Input, Keep};
use crate::place::{Fault, FaultKind, Place};

/// Annotations that others write on every Application.
const PRESERVED_ANNOTATIONS: [&str; 3] =
    ["notified.notifications.argoproj.io", annotations::REFRESH, annotations::HYDRATE];

/// What the annotations begin with that we write on Applications ourselves: reasons, marks of waits. To take them away would
/// only have them written again.
const OWN_ANNOTATIONS: &str = "lynceus.dev/";

/// Finalizers that Argo CD adds by itself, and their stages.
const PRESERVED_FINALIZERS: [&str; 2] = [finalizers::PRE_DELETE, finalizers::POST_DELETE];

/// The rules by which fields are left alone, and what cannot be read of them.
pub fn ignore_rules(set: &ApplicationSet) -> (Ignore, Vec<Fault>) {
    let rules: Vec<ResourceIgnoreDifferences> = set
        .spec
        .ignore_application_differences
        .iter()
        .map(|rule| ResourceIgnoreDifferences {
            group: lynceus_api::GROUP.into(),
            kind: Application::KIND.into(),
            name: rule.name.clone(),
            json_pointers: rule.json_pointers.clone(),
            jq_path_expressions: rule.jq_path_expressions.clone(),
            ..ResourceIgnoreDifferences::default()
        })
        .collect();
    let (ignore, errors) = Ignore::new(&rules);
    let faults = errors.into_iter().map(|error| Fault {
        kind: FaultKind::Validation,
        place: Place::of("spec.ignoreApplicationDifferences"),
        message: error.to_string(),
    });
    (ignore, faults.collect())
}

/// An Application as it is made.
pub(super) fn created(
    input: &Input<'_>,
    owner: &Owner<'_>,
    generated: &Application,
) -> Result<Application, String> {
    let mut app = generated.clone();
    let spec = normal_spec(&app)?;
    app.spec =
        lynceus_object::to_typed(&spec).map_err(|error| format!("its spec cannot be read: {error}"))?;
    app.metadata.namespace = input.set.metadata.namespace.clone();
    owner.put_on(&mut app);
    Ok(app)
}

/// What has to change in the cluster's Application for it to be as generated.
pub(super) fn compare(
    input: &Input<'_>,
    owner: &Owner<'_>,
    ignore: &Ignore,
    generated: &Application,
    live: &Application,
) -> Result<Act, String> {
    let mut desired = desired(input, owner, generated, live);
    // What has been asked for already is not asked for again: to begin it and to end it are changes that a set looks at.
    let was_asked = |asked: &Operation| {
        let state = live.status.operation_state.as_ref();
        live.operation.is_none() && state.is_some_and(|state| state.operation == *asked)
    };
    let again =
        if desired.operation.as_ref().is_some_and(was_asked) { desired.operation.take() } else { None };
    // Nine of ten are just as they should be, and to tell the others apart takes a hundred times as long.
    if desired == *live {
        return Ok(Act::Keep(Keep::Same));
    }
    let (before, after) = (stripped(ignore, live)?, stripped(ignore, &desired)?);
    let mut changes = changes(&before, &after);
    if changes.is_empty() {
        return Ok(Act::Keep(Keep::Same));
    }
    // With another change it is asked for once more.
    let mut after = after;
    if again.is_some() {
        desired.operation = again;
        after = stripped(ignore, &desired)?;
        changes = self::changes(&before, &after);
    }
    let patch = patch(&before, &after)?;
    Ok(Act::Update { changes, patch })
}

/// The patch from one to the other. No patch at all would pass for a change that was made.
fn patch(before: &Value, after: &Value) -> Result<Value, String> {
    merge_two_way(before, after).map_err(|error| format!("no patch can be made of its changes: {error}"))
}

/// Whether the specs of two Applications mean the same, but for what is left alone.
pub(crate) fn same_spec(ignore: &Ignore, live: &Application, desired: &Application) -> Result<bool, String> {
    let (live, desired) = (stripped(ignore, live)?, stripped(ignore, desired)?);
    Ok(live.get("spec") == desired.get("spec"))
}

/// The cluster's Application with everything that the template decides.
fn desired(input: &Input<'_>, owner: &Owner<'_>, generated: &Application, live: &Application) -> Application {
    let mut desired = live.clone();
    desired.spec = generated.spec.clone();
    if generated.operation.is_some() {
        desired.operation = generated.operation.clone();
    }
    let kept = input.set.spec.preserved_fields.clone().unwrap_or_default();
    let kept_annotations =
        kept.annotations.iter().chain(&input.settings.preserved_annotations).map(Str::as_str);
    let mut new = generated.metadata.annotations.clone();
    for key in kept_annotations.chain(PRESERVED_ANNOTATIONS) {
        new.extend(
            live.metadata.annotations.get_key_value(key).map(|(key, text)| (key.clone(), text.clone())),
        );
    }
    let is_own = |key: &Str| key.starts_with(OWN_ANNOTATIONS) && key != annotations::SYNC_TIMEOUT;
    for (key, text) in live.metadata.annotations.iter().filter(|(key, _)| is_own(key)) {
        new.entry(key.clone()).or_insert_with(|| text.clone());
    }
    desired.metadata.annotations = new;
    let mut new = generated.metadata.labels.clone();
    for key in kept.labels.iter().chain(&input.settings.preserved_labels) {
        new.extend(live.metadata.labels.get_key_value(key).map(|(key, text)| (key.clone(), text.clone())));
    }
    desired.metadata.labels = new;
    let kept = |name: &&Str| PRESERVED_FINALIZERS.iter().any(|prefix| name.starts_with(prefix));
    desired.metadata.finalizers = generated.metadata.finalizers.clone();
    for name in live.metadata.finalizers.iter().filter(kept) {
        if !desired.metadata.finalizers.contains(name) {
            desired.metadata.finalizers.push(name.clone());
        }
    }
    owner.put_on(&mut desired);
    desired
}

/// An Application without what the cluster adds, what means nothing, and what is left alone.
fn stripped(ignore: &Ignore, app: &Application) -> Result<Value, String> {
    let mut object = app.to_object();
    object.set(&["spec"], normal_spec(app)?);
    ignore.strip(&mut object);
    let mut value = normal(&object);
    value.remove(&["status"]);
    Ok(value)
}

/// A rule may leave an empty structure behind, which means as little as before.
fn normal(object: &Object) -> Value {
    let mut value = object.value().clone();
    if let Some(spec) = value.at_mut(&["spec"]) {
        collapse(spec);
    }
    value
}

fn normal_spec(app: &Application) -> Result<Value, String> {
    let mut spec = written(&app.spec)?;
    if app.spec.project.is_empty() {
        spec.set(&["project"], "default");
    }
    collapse(&mut spec);
    Ok(spec)
}

/// A spec as a value. One that cannot be written down must not count as an empty one.
fn written(spec: &impl serde::Serialize) -> Result<Value, String> {
    lynceus_object::from_typed(spec).map_err(|error| format!("its spec cannot be written down: {error}"))
}

/// Drops parts of a spec that are there but say nothing.
fn collapse(spec: &mut Value) {
    if let Some(source) = spec.at_mut(&["source"]) {
        collapse_source(source);
    }
    if let Some(Value::Seq(sources)) = spec.at_mut(&["sources"]) {
        sources.make_mut().iter_mut().for_each(collapse_source);
    }
    if spec.get("syncPolicy").is_some_and(Value::is_empty) {
        spec.remove(&["syncPolicy"]);
    }
}

fn collapse_source(source: &mut Value) {
    for tool in ["kustomize", "helm", "directory"] {
        if spec_is_zero(source.get(tool)) {
            source.remove(&[tool]);
        }
    }
}

fn spec_is_zero(value: Option<&Value>) -> bool {
    match value {
        None => false,
        Some(Value::Map(map)) => map.values().all(|value| match value {
            Value::Map(_) => spec_is_zero(Some(value)),
            value => value.is_empty() || value.as_bool() == Some(false),
        }),
        Some(value) => value.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_cannot_be_written_down_or_patched_is_told() {
        let unwritable = BTreeMap::from([(vec![1], 1)]);
        let told = written(&unwritable).expect_err("its keys are no texts");
        assert!(told.starts_with("its spec cannot be written down: "), "{told}");
        let told = patch(&Value::from("text"), &Value::default()).expect_err("a text has no fields");
        assert!(told.starts_with("no patch can be made of its changes: "), "{told}");
    }
}
