//! Changing an object that exists: the loop under replace, patch and apply.

use lynceus_object::Object;

use super::body::{self, Body, Validation};
use super::charge::charge;
use super::create::{check_namespace, create_object, heard};
use super::{Answer, Call, managed};
use crate::attributes::{Attributes, Operation};
use crate::auth::Decision;
use crate::core::{CommitError, Core, place, storage_error};
use crate::store::{Expect, WriteError};
use crate::{ApiError, FieldError, auth, kinds, limits, strategy};

/// Metadata that only the server changes.
const KEPT: [&str; 5] =
    ["creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "selfLink"];

/// An object after a change that has yet to be checked, with what to warn of.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) object: Object,
    /// What it was made from, if that lacks nothing; see [`Decoded`](body::Decoded).
    pub(super) complete: Option<Object>,
    pub(super) warnings: Vec<String>,
    /// Whether managers are known already (an apply works them out itself).
    pub(super) tracked: bool,
}

/// Replaces an object by what a client sent.
pub(crate) async fn replace(core: &Core, call: &Call, sent: Body) -> Result<Answer, ApiError> {
    let mut object = sent.object;
    body::check_kind(&call.resource, &mut object)?;
    let known = core.store.read(&place(&call.resource), &call.namespace, &call.name);
    let known = known.as_ref().map(|(known, _)| known);
    let decoded = body::fit_beside(&call.resource, object, known, sent.oddities, call.options.validation)
        .map_err(|misfit| misfit.into_error(&call.resource))?;
    check_name(call, &decoded.object)?;
    let create = strategy::creates_on_update(&call.resource) && call.subresource.is_empty();
    change(core, call, create, |current| {
        check_uid(call, current, &decoded.object)?;
        Ok(Proposal {
            object: decoded.object.clone(),
            complete: Some(decoded.complete.clone()),
            warnings: decoded.warnings.clone(),
            tracked: false,
        })
    })
    .await
}

/// Changes an object by a function; tried again when someone else was faster.
pub(crate) async fn update_with(
    core: &Core,
    call: &Call,
    edit: impl Fn(&mut Object) -> Result<(), ApiError> + Send + Sync,
) -> Result<Answer, ApiError> {
    change(core, call, false, |current| {
        let mut object = current.cloned().ok_or_else(|| call.not_found())?;
        edit(&mut object)?;
        Ok(Proposal { object, complete: None, warnings: Vec::new(), tracked: false })
    })
    .await
}

/// Asks `propose` for the object that should be there instead of the current one, and stores it.
pub(super) async fn change(
    core: &Core,
    call: &Call,
    create: bool,
    propose: impl Fn(Option<&Object>) -> Result<Proposal, ApiError> + Send + Sync,
) -> Result<Answer, ApiError> {
    for _ in 0..limits::UPDATE_RETRIES {
        let Some((current, revision)) = core.read(&call.resource, &call.namespace, &call.name).await? else {
            if !create {
                return Err(call.not_found());
            }
            return create_proposed(core, call, propose(None)?).await;
        };
        let proposal = propose(Some(&current))?;
        if let Some(answer) = settle(core, call, &current, revision, proposal).await? {
            return Ok(answer);
        }
    }
    Err(call.modified())
}

async fn create_proposed(core: &Core, call: &Call, proposal: Proposal) -> Result<Answer, ApiError> {
    let mut object = proposal.object;
    if !object.uid().is_empty() {
        let uid = object.uid();
        return Err(call.conflict(&format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        )));
    }
    // An object that was deleted meanwhile is not brought back by someone who knew its version.
    if !object.resource_version().is_empty() && object.resource_version() != "0" {
        return Err(call.not_found());
    }
    object.remove(&["metadata", "resourceVersion"]);
    object.remove(&["metadata", "creationTimestamp"]);
    check_may_create(core, call)?;
    if !proposal.tracked {
        managed::track(core, call, None, &mut object);
    }
    let mut answer = create_object(core, call, object, proposal.complete.as_ref()).await?;
    answer.warnings.splice(0..0, proposal.warnings);
    Ok(answer)
}

/// Whoever may only change objects does not get to create one by changing it.
fn check_may_create(core: &Core, call: &Call) -> Result<(), ApiError> {
    let attributes = Attributes {
        verb: "create".into(),
        group: call.resource.group.clone(),
        version: call.resource.version.clone(),
        resource: call.resource.plural.clone(),
        subresource: call.subresource.clone(),
        namespace: call.namespace.clone(),
        name: call.name.clone(),
        ..Attributes::default()
    };
    match auth::authorize(&core.store, &call.user, &attributes) {
        Decision::Allow => Ok(()),
        Decision::Deny(reason) => Err(auth::forbidden(&call.user, &attributes, &reason)),
    }
}

/// One try. `None` means that someone else was faster and the client does not mind.
async fn settle(
    core: &Core,
    call: &Call,
    current: &Object,
    revision: u64,
    proposal: Proposal,
) -> Result<Option<Answer>, ApiError> {
    let Proposal { mut object, complete, mut warnings, tracked } = proposal;
    check_namespace(call, &mut object)?;
    check_name(call, &object)?;
    check_identity(call, current, &mut object)?;
    if !tracked {
        managed::track(core, call, Some(current), &mut object);
    }
    warnings.extend(admit(core, call, Operation::Update, &mut object, Some(current)).await?);
    for field in KEPT {
        let path = ["metadata", field];
        match current.at(&path) {
            Some(value) if object.at(&path).is_some_and(|known| known.is_same(value)) => {}
            Some(value) => object.set(&path, value.clone()),
            None => drop(object.remove(&path)),
        }
    }
    auth::check_escalation(&core.store, &call.user, &call.resource, &object, Some(current))?;
    let written = {
        let context = core.context(call.options.dry_run);
        let complete = complete.as_ref().unwrap_or(current);
        strategy::prepare_update(
            &call.resource,
            &mut object,
            (current, complete),
            &call.subresource,
            &context,
        )
        .and_then(|()| {
            strategy::validate_update(&call.resource, &object, current, &call.subresource, &context)
        })
    };
    lynceus_object::apply::keep_times(current, &mut object);
    let written = match written {
        Ok(()) => store(core, call, current, revision, &object, &mut warnings).await,
        Err(error) => Err(error),
    };
    if !matches!(written, Ok(Some(_))) {
        core.allocations.give_back(&object);
    }
    Ok(written?.map(|object| Answer { code: 200, object, warnings }))
}

async fn store(
    core: &Core,
    call: &Call,
    current: &Object,
    revision: u64,
    object: &Object,
    warnings: &mut Vec<String>,
) -> Result<Option<Object>, ApiError> {
    let admission = call.admission(Operation::Update);
    warnings.extend(strategy::warnings(&call.resource, object, Some(current)));
    let asked = core.admission.validate(&core.store, &admission, Some(object), Some(current)).await;
    let charge = heard(asked, warnings).and_then(|()| charge(core, &admission, object, Some(current)))?;
    if object == current || call.options.dry_run {
        return Ok(Some(object.clone()));
    }
    let delete = is_finished(call, object);
    match core.write(&call.resource, object.clone(), Expect::Revision(revision), delete).await {
        Ok(stored) => {
            charge.keep();
            Ok(Some(stored))
        }
        Err(CommitError::Store(WriteError::Changed | WriteError::Gone)) => Ok(None),
        Err(CommitError::Store(error)) => Err(storage_error(&error)),
        Err(CommitError::Api(error)) => Err(error),
    }
}

/// Whether nothing holds a deleted object back any more.
pub(super) fn is_finished(call: &Call, object: &Object) -> bool {
    let grace = object.value().int_at(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
    let held = object.finalizers().next().is_some()
        || call.resource.is("", "namespaces") && !object.value().items_at(&["spec", "finalizers"]).is_empty();
    object.is_deleting() && grace == 0 && !held
}

/// A replace that names another object than the one that is there is refused by the original's store.
fn check_uid(call: &Call, current: Option<&Object>, object: &Object) -> Result<(), ApiError> {
    let Some(current) = current.filter(|current| !object.uid().is_empty() && object.uid() != current.uid())
    else {
        return Ok(());
    };
    let key = strategy::key(&call.resource, &call.namespace, &call.name);
    Err(call.conflict(&format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {}, UID in object meta: {}",
        object.uid(),
        current.uid()
    )))
}

/// Checks uid and resourceVersion of a proposal against the object that is there.
fn check_identity(call: &Call, current: &Object, object: &mut Object) -> Result<(), ApiError> {
    let (uid, version) = (object.uid(), object.resource_version());
    if !uid.is_empty() && uid != current.uid() {
        let error = FieldError::invalid("metadata.uid", format!("{uid:?}"), "field is immutable");
        return Err(ApiError::invalid(&call.resource.group, &call.resource.kind, &call.name, &[error]));
    }
    if version.is_empty() || version == "0" {
        if strategy::needs_version(&call.resource) {
            let error =
                FieldError::invalid("metadata.resourceVersion", "0", "must be specified for an update");
            // Refused by the store, which knows resources and not kinds.
            return Err(ApiError::invalid(&call.resource.group, &call.resource.plural, &call.name, &[error]));
        }
    } else if version != current.resource_version() {
        if version.parse::<u64>().is_err() {
            return Err(ApiError::new(
                500,
                "",
                format!("strconv.ParseUint: parsing {version:?}: invalid syntax"),
            ));
        }
        return Err(call.modified());
    }
    for field in ["uid", "resourceVersion"] {
        // To set what is set would take the metadata apart from the stored object's.
        if object.meta_str(field) != current.meta_str(field) {
            object.set(&["metadata", field], current.meta_str(field));
        }
    }
    Ok(())
}

fn check_name(call: &Call, object: &Object) -> Result<(), ApiError> {
    if object.name() == call.name {
        return Ok(());
    }
    if object.name().is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.name
        )));
    }
    Err(ApiError::bad_request(format!(
        "the name of the object ({}) does not match the name on the URL ({})",
        object.name(),
        call.name
    )))
}

/// Lets admission change an object, and makes sure that it is still one of its kind.
pub(super) async fn admit(
    core: &Core,
    call: &Call,
    operation: Operation,
    object: &mut Object,
    old: Option<&Object>,
) -> Result<Vec<String>, ApiError> {
    let before = object.clone();
    if call.resource.custom.is_none() && call.subresource.is_empty() {
        let context = core.context(call.options.dry_run);
        match (operation, old) {
            (Operation::Create, _) => {
                kinds::admit_create(&call.resource, object, &call.user, &context, core.additions)?;
            }
            (Operation::Update, Some(old)) => {
                kinds::admit_update(&call.resource, object, old, core.additions);
            }
            _ => {}
        }
    }
    let ty = strategy::schema(&call.resource);
    let warnings = core.admission.mutate(&core.store, &call.admission(operation), ty, object, old).await?;
    if *object != before {
        let changed = std::mem::take(object);
        let fitted = body::fit_beside(&call.resource, changed, Some(&before), Vec::new(), Validation::Ignore)
            .map_err(|misfit| ApiError::internal(misfit.message()))?;
        *object = fitted.object;
    }
    Ok(warnings)
}
