//! What is below an object: scale, binding, eviction, tokens, logs.

use lynceus_object::schema;
use lynceus_object::{Object, value};

use super::body::{self, Body};
use super::change::{Proposal, change, update_with};
use super::eviction::evict;
use super::patch::{Patch, PatchKind, patched};
use super::{Answer, Call, get, managed};
use crate::core::Core;
use crate::kinds::Resource;
use crate::{ApiError, FieldError, clock, strategy};

/// Reads a subresource.
pub(crate) async fn read_subresource(core: &Core, call: &Call) -> Result<Object, ApiError> {
    let object = get(core, call).await?;
    match call.subresource.as_str() {
        "scale" => strategy::scale(&call.resource, &object),
        _ => Ok(object),
    }
}

/// Replaces the Scale of an object.
pub(crate) async fn replace_scale(core: &Core, call: &Call, sent: Body) -> Result<Answer, ApiError> {
    let decoded = body::fit(&scale_resource(), sent.object, sent.oddities, call.options.validation)
        .map_err(|misfit| misfit.into_error(&scale_resource()))?;
    change_scale(core, call, |_| Ok(decoded.object.clone())).await
}

/// Changes the Scale of an object by a patch.
pub(super) async fn patch_scale(core: &Core, call: &Call, patch: &Patch) -> Result<Answer, ApiError> {
    change_scale(core, call, |scale| {
        let resource = scale_resource();
        let kind = if patch.kind == PatchKind::Apply { PatchKind::Merge } else { patch.kind };
        let patch = Patch { kind, ..patch.clone() };
        let value = patched(&patch, scale.value(), strategy::schema(&resource))?;
        Object::new(value).map_err(|_| ApiError::bad_request("the patched Scale is not a map"))
    })
    .await
}

async fn change_scale(
    core: &Core,
    call: &Call,
    edit: impl Fn(&Object) -> Result<Object, ApiError> + Send + Sync,
) -> Result<Answer, ApiError> {
    let mut answer = change(core, call, false, |current| {
        let mut object = current.cloned().ok_or_else(|| call.not_found())?;
        let before = strategy::scale(&call.resource, &object)?;
        let mut wanted = edit(&before)?;
        check_scale(call, &wanted)?;
        managed::track_scale(core, call, &before, &mut wanted, &mut object);
        // The Scale's version is the object's: a stale one is refused further on.
        object.set(&["metadata", "resourceVersion"], wanted.resource_version());
        strategy::set_scale(&call.resource, &mut object, &wanted)?;
        Ok(Proposal { object, complete: None, warnings: Vec::new(), tracked: true })
    })
    .await?;
    answer.object = strategy::scale(&call.resource, &answer.object)?;
    Ok(answer)
}

fn check_scale(call: &Call, scale: &Object) -> Result<(), ApiError> {
    if !scale.name().is_empty() && scale.name() != call.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            scale.name(),
            call.name
        )));
    }
    let replicas = scale.value().int_at(&["spec", "replicas"]).unwrap_or(0);
    // A custom resource is refused by its own rules.
    if replicas < 0 && call.resource.custom.is_none() {
        let error =
            FieldError::invalid("spec.replicas", replicas.to_string(), "must be greater than or equal to 0");
        return Err(ApiError::invalid("autoscaling", "Scale", &call.name, &[error]));
    }
    Ok(())
}

/// What decoding a Scale goes by.
fn scale_resource() -> Resource {
    Resource {
        group: "autoscaling".into(),
        version: "v1".into(),
        kind: "Scale".into(),
        list_kind: "".into(),
        plural: "scales".into(),
        singular: "scale".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: &[],
        subresources: Vec::new(),
        storage: lynceus_object::Gvk::new("autoscaling", "v1", "Scale"),
        custom: None,
        deprecation: None,
        ty: std::sync::OnceLock::new(),
    }
}

/// Creates something below an object.
pub(crate) async fn create_subresource(core: &Core, call: &Call, sent: Body) -> Result<Answer, ApiError> {
    let mut object = sent.object;
    if let Some(subresource) = call.resource.subresource(&call.subresource)
        && let Some(ty) = schema::builtin().of(&subresource.gvk)
    {
        schema::round_trip(object.value_mut(), ty);
        object.set(&["kind"], subresource.gvk.kind.clone());
        object.set(&["apiVersion"], subresource.gvk.api_version());
    }
    match call.subresource.as_str() {
        "binding" => bind(core, call, &object).await,
        "eviction" => evict(core, call, &object).await,
        "token" => issue_token(core, call, object).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// Puts a pod on a node.
async fn bind(core: &Core, call: &Call, binding: &Object) -> Result<Answer, ApiError> {
    let node = binding.value().str_at(&["target", "name"]).unwrap_or_default().to_owned();
    let kind = binding.value().str_at(&["target", "kind"]).unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(kind, "" | "Node") {
        errors.push(
            FieldError::not_supported("target.kind", format!("{kind:?}"), &["Node", "<empty>"]).to_string(),
        );
    }
    if node.is_empty() {
        errors.push(FieldError::required("target.name", "").to_string());
    }
    match errors.as_slice() {
        [] => {}
        [error] => return Err(ApiError::new(500, "", error.clone())),
        errors => return Err(ApiError::new(500, "", format!("[{}]", errors.join(", ")))),
    }
    let now = clock::text(core.now());
    let refused = |why: &str| ApiError::conflict("", "pods/binding", &call.name, why);
    update_with(core, call, |pod| {
        if pod.is_deleting() {
            return Err(refused(&format!("pod {} is being deleted, cannot be assigned to a host", call.name)));
        }
        if let Some(taken) = pod.value().str_at(&["spec", "nodeName"]).filter(|taken| !taken.is_empty()) {
            let why = format!("pod {} is already assigned to node {taken:?}", call.name);
            return Err(refused(&why));
        }
        pod.set(&["spec", "nodeName"], node.as_str());
        pod.remove(&["status", "nominatedNodeName"]);
        for (key, value) in binding.annotations() {
            pod.set_annotation(key, value);
        }
        let condition =
            value!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now.as_str()});
        let mut conditions: Vec<_> = pod.value().items_at(&["status", "conditions"]).to_vec();
        conditions.retain(|condition| condition.str_at(&["type"]) != Some("PodScheduled"));
        conditions.push(condition);
        pod.set(&["status", "conditions"], conditions);
        Ok(())
    })
    .await?;
    Ok(Answer::success(201, None))
}

async fn issue_token(core: &Core, call: &Call, request: Object) -> Result<Answer, ApiError> {
    let mut parent = call.clone();
    parent.subresource = "".into();
    let account = get(core, &parent).await?;
    let issued = core.authenticator.issue(&core.store, &account, request, core.now())?;
    Ok(Answer::created(issued, Vec::new()))
}

/// Answers a review: a question that is put by creating an object, which is not kept.
pub(crate) fn review(core: &Core, call: &Call, sent: Body) -> Result<Answer, ApiError> {
    let mut object = sent.object;
    body::check_kind(&call.resource, &mut object)?;
    let decoded = body::fit(&call.resource, object, sent.oddities, call.options.validation)
        .map_err(|misfit| misfit.into_error(&call.resource))?;
    let (user, namespace) = (&call.user, &call.namespace);
    let reviewed = core.authenticator.review(
        &core.store,
        user,
        &call.resource,
        namespace,
        decoded.object,
        core.now(),
    )?;
    Ok(Answer::created(reviewed, decoded.warnings))
}
