//! Making a new object.

use lynceus_object::Object;

use super::body::{self, Body};
use super::change::admit;
use super::charge::charge;
use super::{Answer, Call, lifecycle, managed};
use crate::attributes::Operation;
use crate::core::{CommitError, Core, storage_error};
use crate::store::{Expect, WriteError};
use crate::{ApiError, auth, kinds, limits, strategy};

/// What a client may not set: the server knows better.
const SYSTEM_FIELDS: [&str; 5] =
    ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid"];

/// Creates an object from what a client sent.
pub(crate) async fn create(core: &Core, call: &Call, sent: Body) -> Result<Answer, ApiError> {
    let mut object = sent.object;
    body::check_kind(&call.resource, &mut object)?;
    let decoded = body::fit(&call.resource, object, sent.oddities, call.options.validation)
        .map_err(|misfit| misfit.into_error(&call.resource))?;
    let mut object = decoded.object;
    for field in SYSTEM_FIELDS {
        object.remove(&["metadata", field]);
    }
    managed::track(core, call, None, &mut object);
    let mut answer = create_object(core, call, object, Some(&decoded.complete)).await?;
    answer.warnings.splice(0..0, decoded.warnings);
    Ok(answer)
}

/// Creates an object that is decoded, has its defaults, and whose managers are known. It may share parts with one that is
/// complete.
pub(super) async fn create_object(
    core: &Core,
    call: &Call,
    mut object: Object,
    complete: Option<&Object>,
) -> Result<Answer, ApiError> {
    let call = &named(call, &object);
    check_namespace(call, &mut object)?;
    lifecycle::check_create(core, call)?;
    let mut warnings = admit(core, call, Operation::Create, &mut object, None).await?;
    warnings.extend(kinds::warnings_as_sent(&call.resource, &object));
    auth::check_escalation(&core.store, &call.user, &call.resource, &object, None)?;
    let generate = object.name().is_empty() && !object.meta_str("generateName").is_empty();
    let tries = if generate { limits::NAME_TRIES } else { 1 };
    for _ in 0..tries {
        let mut attempt = object.clone();
        let prepared = prepare(core, call, &mut attempt, complete, generate);
        let stored = match prepared {
            Ok(()) => finish(core, call, &attempt, &mut warnings).await,
            Err(error) => heard(Err(error), &mut warnings).map(|()| attempt.clone()),
        };
        match stored {
            Ok(stored) => return Ok(Answer::created(stored, warnings)),
            Err(error) => {
                core.allocations.give_back(&attempt);
                if error.reason != "AlreadyExists" || !generate {
                    return Err(error);
                }
            }
        }
    }
    Err(cannot_generate(call, object.meta_str("generateName")))
}

/// Fills in what the server decides, as the kind wants it, and checks the result.
fn prepare(
    core: &Core,
    call: &Call,
    object: &mut Object,
    complete: Option<&Object>,
    generate: bool,
) -> Result<(), ApiError> {
    let context = core.context(call.options.dry_run);
    object.set(&["metadata", "uid"], core.random.uid());
    object.set(&["metadata", "creationTimestamp"], context.now_text());
    if generate {
        let base = object.meta_str("generateName");
        let base = &base[..base.floor_char_boundary(limits::NAME_BASE)];
        let name = format!("{base}{}", core.random.suffix(limits::NAME_SUFFIX));
        object.set(&["metadata", "name"], name);
    }
    strategy::prepare_create(&call.resource, object, complete, &context)?;
    strategy::validate(&call.resource, object, &context)?;
    if !object.resource_version().is_empty() {
        return Err(ApiError::new(500, "", "resourceVersion should not be set on objects to be created"));
    }
    Ok(())
}

async fn finish(
    core: &Core,
    call: &Call,
    object: &Object,
    warnings: &mut Vec<String>,
) -> Result<Object, ApiError> {
    let admission = named(call, object).admission(Operation::Create);
    warnings.extend(strategy::warnings(&call.resource, object, None));
    let asked = core.admission.validate(&core.store, &admission, Some(object), None).await;
    let charge = heard(asked, warnings).and_then(|()| charge(core, &admission, object, None))?;
    let exists = || ApiError::already_exists(&call.resource.group, &call.resource.plural, object.name());
    if call.options.dry_run {
        return match core.read(&call.resource, object.namespace(), object.name()).await? {
            Some(_) => Err(exists()),
            None => {
                core.allocations.give_back(object);
                Ok(object.clone())
            }
        };
    }
    let written = core.write(&call.resource, object.clone(), Expect::Absent, false).await;
    if written.is_ok() {
        charge.keep();
    }
    written.map_err(|error| match error {
        CommitError::Store(WriteError::Exists) => exists(),
        CommitError::Store(error) => storage_error(&error),
        CommitError::Api(error) => error,
    })
}

/// Adds what admission warns of to what was warned of before; a refusal takes all of it along.
pub(super) fn heard(
    asked: Result<Vec<String>, ApiError>,
    warnings: &mut Vec<String>,
) -> Result<(), ApiError> {
    match asked {
        Ok(more) => warnings.extend(more),
        Err(mut refusal) => {
            refusal.warnings.splice(0..0, std::mem::take(warnings));
            return Err(refusal);
        }
    }
    Ok(())
}

/// The namespace of the path is the object's; a different one in the object is an error.
pub(super) fn check_namespace(call: &Call, object: &mut Object) -> Result<(), ApiError> {
    let wanted = if call.resource.namespaced { call.namespace.as_str() } else { "" };
    if object.namespace().is_empty() {
        if !wanted.is_empty() {
            object.set(&["metadata", "namespace"], wanted);
        }
        return Ok(());
    }
    if object.namespace() == wanted {
        return Ok(());
    }
    if wanted.is_empty() {
        // A cluster-scoped object may say a namespace; it is dropped.
        object.remove(&["metadata", "namespace"]);
        return Ok(());
    }
    Err(ApiError::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}

/// The call with the name that the object has.
fn named(call: &Call, object: &Object) -> Call {
    let mut call = call.clone();
    if call.name.is_empty() {
        call.name = object.name().into();
    }
    if call.resource.is("", "namespaces") {
        call.namespace = call.name.clone();
    }
    call
}

fn cannot_generate(call: &Call, base: &str) -> ApiError {
    let qualified = call.resource.qualified();
    let message = format!(
        "{qualified} {base:?} already exists, the server was not able to generate a unique name for the object"
    );
    let mut error = ApiError::already_exists(&call.resource.group, &call.resource.plural, base);
    error.message = message;
    error
}
