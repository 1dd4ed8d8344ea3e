//! Actions that are more than setting a field.

use jiff::Timestamp;
use lynceus_lua::Operation;
use lynceus_object::{Map, Object, Str, Value, value};

use super::table::Action;
use super::{ActionError, Outcome, Parameters, written};

/// What an action is called where that depends on the object.
pub(super) fn title(action: &Action, object: &Object) -> Option<Str> {
    (action.name == "toggle-auto-sync").then(|| match syncs_itself(object) {
        true => "Disable Auto-Sync".into(),
        false => "Enable Auto-Sync".into(),
    })
}

/// Runs an action by the name of its function.
pub(super) fn run(what: &str, mut object: Object, parameters: &Parameters<'_>, now: Timestamp) -> Outcome {
    match what {
        "scale" => object.set(&["spec", "replicas"], whole(parameters)?),
        "pause-replicas" => {
            let replicas = whole(parameters)?.to_string();
            object.set_annotation("autoscaling.keda.sh/paused-replicas", replicas);
        }
        "toggle-auto-sync" => {
            let enabled = !syncs_itself(&object);
            object.set(&["spec", "syncPolicy", "automated", "enabled"], enabled);
        }
        "resume-rollout" => resume(&mut object),
        "skip-step" => skip_step(&mut object),
        "promote-rollout" => promote_rollout(&mut object),
        "terminate-job" => terminate(&mut object, now),
        "promote-instance" => promote_instance(&mut object, parameters, now)?,
        "create-job" => return Ok(vec![(Operation::Create, job(&object, now))]),
        "create-cron-workflow" => return Ok(vec![(Operation::Create, cron_workflow(&object, now))]),
        "create-template-workflow" => return Ok(vec![(Operation::Create, template_workflow(&object, now))]),
        other => return Err(ActionError::State(format!("there is no function {other:?}"))),
    }
    Ok(vec![(Operation::Patch, object)])
}

fn text(parameters: &Parameters<'_>, name: &'static str) -> Result<String, ActionError> {
    match parameters.iter().find(|(given, _)| *given == name) {
        Some((_, value)) if !value.is_null() => Ok(crate::rules::plain(value)),
        _ => Err(ActionError::Parameter { name, reason: "is required".to_owned() }),
    }
}

/// A number of replicas.
fn whole(parameters: &Parameters<'_>) -> Result<i64, ActionError> {
    let text = text(parameters, "replicas")?;
    let number = text.trim().parse::<i64>().ok().filter(|number| (0..=i64::from(i32::MAX)).contains(number));
    number
        .ok_or_else(|| ActionError::Parameter { name: "replicas", reason: format!("invalid number: {text}") })
}

fn syncs_itself(object: &Object) -> bool {
    let automated = object.at(&["spec", "syncPolicy", "automated"]).filter(|value| !value.is_null());
    automated.is_some_and(|automated| automated.bool_at(&["enabled"]).unwrap_or(true))
}

fn resume(object: &mut Object) {
    if !object.value().items_at(&["status", "pauseConditions"]).is_empty() {
        object.remove(&["status", "pauseConditions"]);
    }
    if object.value().bool_at(&["spec", "paused"]) == Some(true) {
        object.set(&["spec", "paused"], false);
    }
}

fn steps(object: &Object) -> i64 {
    object.value().items_at(&["spec", "strategy", "canary", "steps"]).len().try_into().unwrap_or(i64::MAX)
}

fn skip_step(object: &mut Object) {
    let step = object.value().int_at(&["status", "currentStepIndex"]).unwrap_or_default();
    if step >= steps(object) {
        return;
    }
    if !object.value().items_at(&["status", "pauseConditions"]).is_empty() {
        object.remove(&["status", "pauseConditions"]);
    }
    object.set(&["status", "currentStepIndex"], step + 1);
}

/// Rollouts of old versions have a hash where the observed generation is now, and know no full promotion.
fn promote_rollout(object: &mut Object) {
    let observed = match object.at(&["status", "observedGeneration"]) {
        Some(Value::Str(text)) => text.parse::<f64>().ok(),
        other => other.and_then(Value::as_float),
    };
    if observed.is_some_and(|observed| observed <= object.generation() as f64) {
        return object.set(&["status", "promoteFull"], true);
    }
    object.remove(&["status", "abort"]);
    let steps = steps(object);
    if steps > 0 {
        object.set(&["status", "currentStepIndex"], steps);
    }
}

fn terminate(object: &mut Object, now: Timestamp) {
    let done = crate::conditions(object).any(|condition| {
        matches!(condition.kind, "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet")
            && condition.status == "True"
    });
    if done || !crate::present(object, &["status"]) {
        return;
    }
    let mut conditions = object.value().items_at(&["status", "conditions"]).to_vec();
    conditions.push(value!({
        "lastTransitionTime": format!("{}Z", written(now)),
        "message": "Job was terminated explicitly through Argo CD",
        "reason": "ManuallyTerminated",
        "status": "True",
        "type": "FailureTarget",
    }));
    object.set(&["status", "conditions"], conditions);
}

/// Makes another healthy instance the primary: the one named, by name or number, or the one after the current primary.
fn promote_instance(
    object: &mut Object,
    parameters: &Parameters<'_>,
    now: Timestamp,
) -> Result<(), ActionError> {
    let wanted = text(parameters, "instance")?;
    let healthy: Vec<String> = object
        .value()
        .items_at(&["status", "instancesStatus", "healthy"])
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let primary = object.value().str_at(&["status", "currentPrimary"]).unwrap_or_default();
    let selected = match wanted.as_str() {
        "any" => {
            let next = healthy.iter().position(|name| name == primary).map_or(0, |at| at + 1);
            healthy.iter().cycle().nth(next).cloned()
        }
        name => {
            let numbered = format!("{}-{name}", object.name());
            healthy.iter().find(|one| *one == name || **one == numbered).cloned()
        }
    };
    let Some(selected) = selected else {
        let message = format!("Could not find a healthy instance matching the criteria: {wanted}");
        return Err(ActionError::State(message));
    };
    object.set(&["status", "targetPrimary"], selected.as_str());
    object.set(&["status", "targetPrimaryTimestamp"], format!("{}Z", written(now)));
    object.set(&["status", "phase"], "Switchover in progress");
    object.set(&["status", "phaseReason"], format!("Switching over to {selected}"));
    Ok(())
}

/// The owner of what an object makes.
fn owner(object: &Object) -> Value {
    value!({
        "apiVersion": object.api_version(), "kind": object.kind(), "name": object.name(), "uid": object.uid(),
    })
}

/// A new object that is named after its maker and the time.
fn made(object: &Object, api_version: &str, kind: &str, time: &str) -> Object {
    let mut made = Object::default();
    made.set(&["apiVersion"], api_version);
    made.set(&["kind"], kind);
    made.set(&["metadata", "name"], format!("{}-{time}", object.name()));
    if !object.namespace().is_empty() {
        made.set(&["metadata", "namespace"], object.namespace());
    }
    made
}

/// The digits of the time to the minute.
fn digits(now: Timestamp) -> String {
    written(now).chars().filter(char::is_ascii_digit).take(12).collect()
}

fn job(object: &Object, now: Timestamp) -> Object {
    let mut job = made(object, "batch/v1", "Job", &digits(now)[2..]);
    let template = object.at(&["spec", "jobTemplate", "metadata"]).and_then(Value::as_map);
    for (field, value) in template.into_iter().flat_map(Map::iter) {
        if field != "name" && field != "namespace" {
            job.set(&["metadata", field], value.clone());
        }
    }
    job.set_annotation("cronjob.kubernetes.io/instantiate", "manual");
    let mut owner = owner(object);
    owner.set(&["blockOwnerDeletion"], true);
    owner.set(&["controller"], true);
    job.set(&["metadata", "ownerReferences"], vec![owner]);
    if let Some(spec) = object.at(&["spec", "jobTemplate", "spec"]) {
        job.set(&["spec"], spec.clone());
    }
    job
}

fn cron_workflow(object: &Object, now: Timestamp) -> Object {
    const INSTANCE: &str = "workflows.argoproj.io/controller-instanceid";
    let mut workflow = made(object, "argoproj.io/v1alpha1", "Workflow", &digits(now));
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(given) = object.at(&["spec", "workflowMetadata", field]) {
            workflow.set(&["metadata", field], given.clone());
        }
    }
    workflow.set_label("workflows.argoproj.io/cron-workflow", object.name());
    if let Some(instance) = object.label(INSTANCE) {
        workflow.set_label(INSTANCE, instance);
    }
    workflow.set_annotation("workflows.argoproj.io/scheduled-time", format!("{}Z", written(now)));
    workflow.set(&["metadata", "ownerReferences"], vec![owner(object)]);
    if let Some(spec) = object.at(&["spec", "workflowSpec"]) {
        workflow.set(&["spec"], spec.clone());
    }
    workflow
}

fn template_workflow(object: &Object, now: Timestamp) -> Object {
    let mut workflow = made(object, "argoproj.io/v1alpha1", "Workflow", &digits(now));
    workflow.set_label("workflows.argoproj.io/workflow-template", object.name());
    workflow.set(&["metadata", "ownerReferences"], vec![owner(object)]);
    workflow.set(&["spec", "workflowTemplateRef", "name"], object.name());
    workflow
}
