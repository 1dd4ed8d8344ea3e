//! Making an object ready to be stored: what clients may not set is put back, what only the server can
//! set is set.

mod pod;
mod service;

use jiff::Timestamp;
use lynceus_object::schema::{self, Field, Shape, TypeRef};
use lynceus_object::{Object, Value, value};

use super::edit::{each, fill_text, has, part_or_new};
use super::resources::Resource;
use super::{default, default_beside};
use crate::ApiError;
use crate::context::Context;
pub(super) use pod::{APP_ARMOR, old_app_armor};

/// Makes an object ready to be stored for the first time: status cleared, addresses allocated, …
///
/// Name, uid and creation time have to be set already.
pub fn prepare_create(
    resource: &Resource,
    object: &mut Object,
    context: &Context<'_>,
) -> Result<(), ApiError> {
    if resource.kind == "Service" {
        service::allocate_new(object, context)?;
    }
    let kind = resource.kind.as_str();
    if starts_without_status(resource) {
        object.remove(&["status"]);
    }
    let value = object.value_mut();
    match kind {
        "Pod" => pod::create(value),
        "Namespace" => namespace_finalizer(value),
        "Job" => job_selector(value),
        "DaemonSet" => {
            let annotations = part_or_new(part_or_new(value, "metadata"), "annotations");
            let counted =
                annotations.str_at(&[TEMPLATE_GENERATION]).and_then(|text| text.parse::<i64>().ok());
            if counted.is_none_or(|counted| counted < 1) {
                annotations.set(&[TEMPLATE_GENERATION], "1");
            }
        }
        "PersistentVolume" => {
            value.set(&["status"], value!({"phase": "Pending", "lastPhaseTransitionTime": time(context.now)}))
        }
        "PersistentVolumeClaim" => data_source(value),
        "HorizontalPodAutoscaler" if resource.version == "v1" => {
            const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
            let other = value.at(&["metadata", "annotations", METRICS]).is_some();
            if !other && !has_part(value, &["spec", "targetCPUUtilizationPercentage"]) {
                value.set(&["spec", "targetCPUUtilizationPercentage"], 80);
            }
        }
        "StatefulSet" => {
            // Not yet a feature that a stock server has switched on.
            value.remove(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
        }
        "ServiceAccount" => secret_names_only(value),
        "CustomResourceDefinition" => add_stored_version(value),
        "APIService" if !has_part(value, &["spec", "service"]) => {
            value.set(&["status", "conditions"], vec![local_service(context.now)]);
        }
        _ => {}
    }
    match generation(resource) {
        Generation::None | Generation::WithoutStart => {}
        _ => value.set(&["metadata", "generation"], 1),
    }
    // What was cleared may have a default of its own.
    default(resource, object);
    null_lists(resource, object, None);
    Ok(())
}

/// Makes a changed object ready to be stored: what may not be written through this subresource is
/// put back, the generation is raised when the spec changed, …
pub fn prepare_update(
    resource: &Resource,
    new: &mut Object,
    old: &Object,
    subresource: &str,
    context: &Context<'_>,
) -> Result<(), ApiError> {
    keep(new, old, &["metadata", "generation"]);
    match (resource.kind.as_str(), subresource) {
        (_, "status") => only_status(resource, new, old, context.now),
        ("Namespace", "finalize") => keep(new, old, &["status"]),
        ("Pod", "ephemeralcontainers") => pod::only(new, old, &["spec", "ephemeralContainers"]),
        ("Pod", "resize") => pod::only_resources(new, old),
        ("CertificateSigningRequest", "approval") => approval(new, old, context.now),
        (_, "") => whole(resource, new, old, context)?,
        _ => {}
    }
    // A Deployment's controller writes the revision into its annotations together with the status.
    if subresource != "status" {
        raise_generation(resource, new, old);
    }
    default_beside(resource, new, Some(old));
    null_lists(resource, new, Some(old));
    Ok(())
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn whole(resource: &Resource, new: &mut Object, old: &Object, context: &Context<'_>) -> Result<(), ApiError> {
    if resource.kind == "Service" {
        service::allocate_change(new, old, context)?;
    }
    if resource.subresource("status").is_some() {
        keep(new, old, &["status"]);
    }
    match resource.kind.as_str() {
        "Service" => service::drop_what_the_type_lacks(new, old),
        "Namespace" => keep(new, old, &["spec", "finalizers"]),
        "Secret" if new.value().str_at(&["type"]).unwrap_or_default().is_empty() => keep(new, old, &["type"]),
        "CertificateSigningRequest" => keep(new, old, &["spec"]),
        "ServiceAccount" => secret_names_only(new.value_mut()),
        "PersistentVolumeClaim" => data_source(new.value_mut()),
        "CustomResourceDefinition" => add_stored_version(new.value_mut()),
        "DaemonSet" => template_generation(new, old),
        _ => {}
    }
    Ok(())
}

fn only_status(resource: &Resource, new: &mut Object, old: &Object, now: Timestamp) {
    keep(new, old, &["spec"]);
    match resource.kind.as_str() {
        "Pod" => pod::status(new, old),
        "Deployment" => keep(new, old, &["metadata", "labels"]),
        "PersistentVolume" => phase_time(new, old, now),
        "CertificateSigningRequest" => {
            keep_decisions(new, old);
            condition_times(new, old, now);
        }
        "FlowSchema" | "PriorityLevelConfiguration" => {
            let managed = new.at(&["metadata", "managedFields"]).cloned();
            keep(new, old, &["metadata"]);
            put(new, &["metadata", "managedFields"], managed);
        }
        "CustomResourceDefinition" | "APIService" | "ServiceCIDR" | "ValidatingAdmissionPolicy" => {
            for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
                keep(new, old, &["metadata", field]);
            }
        }
        _ => {}
    }
}

/// Puts the old value of a field back, or removes the field if there was none.
fn keep(new: &mut Object, old: &Object, path: &[&str]) {
    put(new, path, old.at(path).cloned());
}

fn put(object: &mut Object, path: &[&str], value: Option<Value>) {
    match value {
        // What is as it should be stays shared with the object that it is from.
        Some(value) if object.at(path).is_some_and(|known| known.is_same(&value)) => {}
        Some(value) => object.set(path, value),
        None => {
            object.remove(path);
        }
    }
}

fn has_part(value: &Value, path: &[&str]) -> bool {
    value.at(path).is_some_and(|value| !value.is_null())
}

/// Nodes report themselves with their status; everything else with a status starts without one.
fn starts_without_status(resource: &Resource) -> bool {
    resource.kind != "Node" && resource.subresource("status").is_some()
}

/// How `metadata.generation` counts the changes of a kind.
enum Generation {
    /// Not at all.
    None,
    /// Changes of one field; new objects have 1.
    Field(&'static str),
    /// The same, but new objects have none.
    WithoutStart,
    /// Changes of the spec or of annotations.
    SpecOrAnnotations,
    /// Changes of anything but the metadata, or of the labels.
    Everything,
    /// Never raised after the start.
    Fixed,
}

fn generation(resource: &Resource) -> Generation {
    match resource.kind.as_str() {
        "Deployment" => Generation::SpecOrAnnotations,
        "Pod"
        | "ReplicationController"
        | "DaemonSet"
        | "ReplicaSet"
        | "StatefulSet"
        | "CronJob"
        | "Job"
        | "Ingress"
        | "IngressClass"
        | "NetworkPolicy"
        | "PodDisruptionBudget"
        | "FlowSchema"
        | "PriorityLevelConfiguration"
        | "MutatingAdmissionPolicy"
        | "MutatingAdmissionPolicyBinding"
        | "ValidatingAdmissionPolicy"
        | "ValidatingAdmissionPolicyBinding"
        | "ResourceSlice"
        | "DeviceClass"
        | "CustomResourceDefinition" => Generation::Field("spec"),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => Generation::Field("webhooks"),
        "PodTemplate" => Generation::Field("template"),
        "CSIDriver" => Generation::WithoutStart,
        "EndpointSlice" => Generation::Everything,
        "PriorityClass" => Generation::Fixed,
        _ => Generation::None,
    }
}

fn raise_generation(resource: &Resource, new: &mut Object, old: &Object) {
    let differs = |path: &[&str]| {
        let is = new.at(path).filter(|value| !value.is_empty());
        let was = old.at(path).filter(|value| !value.is_empty());
        is != was
    };
    let changed = match generation(resource) {
        Generation::None | Generation::Fixed => false,
        Generation::Field(field) => differs(&[field]),
        Generation::WithoutStart => differs(&["spec"]),
        Generation::SpecOrAnnotations => differs(&["spec"]) || differs(&["metadata", "annotations"]),
        Generation::Everything => {
            let fields = new.map().keys().chain(old.map().keys());
            fields.into_iter().any(|field| field != "metadata" && differs(&[field]))
                || differs(&["metadata", "labels"])
        }
    };
    if changed {
        new.set(&["metadata", "generation"], old.generation() + 1);
    }
}

/// A namespace goes only after its contents have gone.
fn namespace_finalizer(value: &mut Value) {
    value.set(&["status"], value!({"phase": "Active"}));
    let finalizers = part_or_new(value, "spec").as_map_or_insert().entry("finalizers").as_seq_or_insert();
    if !finalizers.iter().any(|name| name.as_str() == Some("kubernetes")) {
        finalizers.push("kubernetes".into());
    }
}

/// Pods of a job are told from all others by the job's uid.
fn job_selector(value: &mut Value) {
    if value.bool_at(&["spec", "manualSelector"]).unwrap_or(false) {
        return;
    }
    let name = value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let uid = value.str_at(&["metadata", "uid"]).unwrap_or_default().to_owned();
    // Labels that were taken from the template stay the same as the template's.
    let own = value.at(&["metadata", "labels"]).filter(|labels| !labels.is_empty()).cloned();
    let shared = own.is_some() && own.as_ref() == value.at(&["spec", "template", "metadata", "labels"]);
    let spec = part_or_new(value, "spec");
    let labels = part_or_new(part_or_new(part_or_new(spec, "template"), "metadata"), "labels");
    for (label, text) in [
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
    ] {
        if labels.get(label).is_none() {
            labels.set(&[label], text.as_str());
        }
    }
    let labels = labels.clone();
    let selector = part_or_new(part_or_new(spec, "selector"), "matchLabels");
    if selector.get("batch.kubernetes.io/controller-uid").is_none() {
        selector.set(&["batch.kubernetes.io/controller-uid"], uid);
    }
    if shared {
        value.set(&["metadata", "labels"], labels);
    }
}

/// The old counter of template changes lives on in an annotation.
fn template_generation(new: &mut Object, old: &Object) {
    let was: i64 = old.annotation(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0);
    let changed = new.at(&["spec", "template"]) != old.at(&["spec", "template"]);
    new.set_annotation(TEMPLATE_GENERATION, (was + i64::from(changed)).to_string());
}

/// `dataSource` and `dataSourceRef` are two names for one wish; each is filled from the other.
fn data_source(value: &mut Value) {
    let Some(spec) = super::edit::part(value, &["spec"]) else { return };
    match (has(spec, "dataSource"), has(spec, "dataSourceRef")) {
        (true, false) => {
            let source = spec.get("dataSource").cloned().unwrap_or_default();
            let known = matches!(
                (source.str_at(&["apiGroup"]).unwrap_or_default(), source.str_at(&["kind"])),
                ("", Some("PersistentVolumeClaim")) | ("snapshot.storage.k8s.io", Some("VolumeSnapshot"))
            );
            if known {
                spec.set(&["dataSourceRef"], source);
            } else {
                // Unknown sources were dropped silently before there was a field that refuses them.
                spec.remove(&["dataSource"]);
            }
        }
        (false, true) if !has_part(spec, &["dataSourceRef", "namespace"]) => {
            let source = spec.get("dataSourceRef").cloned().unwrap_or_default();
            spec.set(&["dataSource"], source);
        }
        _ => {}
    }
}

/// Of the secrets of a service account only their names are kept.
fn secret_names_only(value: &mut Value) {
    for secret in each(value, &["secrets"]) {
        let name = secret.str_at(&["name"]).unwrap_or_default().to_owned();
        *secret = if name.is_empty() { value!({}) } else { value!({"name": name}) };
    }
}

fn add_stored_version(value: &mut Value) {
    let stored = value
        .items_at(&["spec", "versions"])
        .iter()
        .find(|version| version.bool_at(&["storage"]).unwrap_or(false))
        .and_then(|version| version.get("name").cloned());
    let Some(stored) = stored else { return };
    let status = part_or_new(value, "status");
    if !status.items_at(&["storedVersions"]).contains(&stored) {
        status.as_map_or_insert().entry("storedVersions").as_seq_or_insert().push(stored);
    }
}

/// An API that this server itself answers is available from the start.
fn local_service(now: Timestamp) -> Value {
    value!({
        "type": "Available", "status": "True", "lastTransitionTime": time(now),
        "reason": "Local", "message": "Local APIServices are always available",
    })
}

fn phase_time(new: &mut Object, old: &Object, now: Timestamp) {
    const TIME: [&str; 2] = ["status", "lastPhaseTransitionTime"];
    let same_phase = new.at(&["status", "phase"]) == old.at(&["status", "phase"]);
    let unset = !has_part(new.value(), &TIME);
    if same_phase && unset {
        keep(new, old, &TIME);
    } else if !same_phase && (unset || new.at(&TIME) == old.at(&TIME)) {
        new.set(&TIME, time(now));
    }
}

/// Through `approval` only the conditions are written.
fn approval(new: &mut Object, old: &Object, now: Timestamp) {
    condition_times(new, old, now);
    let conditions = new.at(&["status", "conditions"]).cloned();
    keep(new, old, &["spec"]);
    keep(new, old, &["status"]);
    put(new, &["status", "conditions"], conditions);
}

/// Approval and denial are decided through `approval` alone.
fn keep_decisions(new: &mut Object, old: &Object) {
    let decision = |condition: &Value| matches!(condition.str_at(&["type"]), Some("Approved" | "Denied"));
    let conditions = |object: &Object| object.value().items_at(&["status", "conditions"]).to_vec();
    let mut kept = conditions(old);
    kept.retain(|condition| decision(condition));
    let mut rest = conditions(new);
    rest.retain(|condition| !decision(condition));
    rest.extend(kept);
    if !rest.is_empty() {
        new.set(&["status", "conditions"], rest);
    }
}

fn condition_times(new: &mut Object, old: &Object, now: Timestamp) {
    let old = old.value().items_at(&["status", "conditions"]).to_vec();
    for condition in each(new.value_mut(), &["status", "conditions"]) {
        fill_text(condition, "lastUpdateTime", &time(now));
        if !condition.str_at(&["lastTransitionTime"]).unwrap_or_default().is_empty() {
            continue;
        }
        let same = |was: &&Value| {
            was.get("type") == condition.get("type") && was.get("status") == condition.get("status")
        };
        let since = old.iter().find(same).and_then(|was| was.str_at(&["lastTransitionTime"]));
        let since = since.map_or_else(|| time(now), ToOwned::to_owned);
        condition.set(&["lastTransitionTime"], since);
    }
}

/// Lists and maps that are always printed are `null` when they are empty: the form in which the
/// original keeps objects does not tell one from the other.
fn null_lists(resource: &Resource, object: &mut Object, known: Option<&Object>) {
    if let Some(ty) = resource.built_in_type()
        && has_empty(object.value(), known.map(Object::value), ty)
    {
        null_empty(object.value_mut(), ty);
    }
}

/// Whether a field is such a list or map, with nothing in it.
fn is_empty_collection(field: Option<Field<'_>>, value: &Value) -> bool {
    let printed = |field: Field<'_>| {
        let collection = matches!(field.ty().shape(), Shape::List(..) | Shape::Map(_));
        collection && !field.omits_empty() && !field.is_pointer()
    };
    matches!(value, Value::Seq(_) | Value::Map(_)) && value.is_empty() && field.is_some_and(printed)
}

/// Whether there is one. Looking first keeps a shared object shared; what is shared with an object in which there is
/// none is not looked at.
fn has_empty(value: &Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    match value {
        Value::Map(map) if matches!(ty.shape(), Shape::Struct | Shape::Map(_)) => {
            map.beside(known.and_then(Value::as_map)).any(|(name, value, known)| {
                matches!(value, Value::Seq(_) | Value::Map(_))
                    && !known.is_some_and(|known| value.is_same(known))
                    && (value.is_empty() && is_empty_collection(ty.field(name), value)
                        || ty.child(name).is_some_and(|child| has_empty(value, known, child)))
            })
        }
        Value::Seq(items) => {
            let known = known.and_then(Value::as_seq).unwrap_or(&[]);
            let is_known = |at: usize, value: &Value| known.get(at).is_some_and(|known| value.is_same(known));
            ty.item().is_some_and(|item| {
                let mut items = items.iter().enumerate();
                items.any(|(at, value)| !is_known(at, value) && has_empty(value, known.get(at), item))
            })
        }
        _ => false,
    }
}

fn null_empty(value: &mut Value, ty: TypeRef<'_>) {
    match value {
        Value::Map(map) if matches!(ty.shape(), Shape::Struct | Shape::Map(_)) => {
            for (name, value) in map.iter_mut() {
                if is_empty_collection(ty.field(name), value) {
                    *value = Value::Null;
                } else if let Some(child) = ty.child(name) {
                    null_empty(value, child);
                }
            }
        }
        Value::Seq(items) => {
            if let Some(item) = ty.item() {
                items.make_mut().iter_mut().for_each(|value| null_empty(value, item));
            }
        }
        _ => {}
    }
}

/// A time as objects carry it: whole seconds, UTC.
pub(crate) fn time(now: Timestamp) -> String {
    schema::print_time(now).into()
}
