//! What differs from kind to kind, whether the kind is built in, a definition, or defined by one.

use lynceus_object::path::FieldPath;
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Object, Str};

use crate::context::Context;
use crate::kinds::{self, Resource};
use crate::registry::Registry;
use crate::{ApiError, FieldError, crd, faults};

fn is_definition(resource: &Resource) -> bool {
    resource.is("apiextensions.k8s.io", "customresourcedefinitions")
}

/// Sets what the user left out. `known` is an object that has all of it, and may share parts with this one.
pub(crate) fn default(resource: &Resource, object: &mut Object, known: Option<&Object>) {
    match &resource.custom {
        Some(custom) => crd::default(custom, object),
        None if is_definition(resource) => crd::default_definition(object),
        None => kinds::default_beside(resource, object, known),
    }
}

/// Makes a new object ready to be stored. It may share parts with one that lacks no field that Go prints whatever is set.
pub(crate) fn prepare_create(
    resource: &Resource,
    object: &mut Object,
    complete: Option<&Object>,
    context: &Context<'_>,
) -> Result<(), ApiError> {
    match &resource.custom {
        Some(_) => crd::prepare_create(resource, object, context),
        None if is_definition(resource) => crd::prepare_definition(object, None, ""),
        None => {
            kinds::prepare_create(resource, object, context)?;
            schema::fill_zero_beside(object.value_mut(), complete.map(Object::value), schema(resource));
        }
    }
    Ok(())
}

/// Makes a changed object ready to be stored. It may share parts with one that lacks no field that Go prints whatever is
/// set, such as the stored one.
pub(crate) fn prepare_update(
    resource: &Resource,
    new: &mut Object,
    (old, complete): (&Object, &Object),
    subresource: &str,
    context: &Context<'_>,
) -> Result<(), ApiError> {
    match &resource.custom {
        Some(_) => crd::prepare_update(resource, new, old, subresource),
        None if is_definition(resource) => crd::prepare_definition(new, Some(old), subresource),
        None => {
            kinds::prepare_update(resource, new, old, subresource, context)?;
            schema::fill_zero_beside(new.value_mut(), Some(complete.value()), schema(resource));
        }
    }
    Ok(())
}

/// Refuses a new object that breaks the rules of its kind.
pub(crate) fn validate(resource: &Resource, object: &Object, context: &Context<'_>) -> Result<(), ApiError> {
    let errors = match &resource.custom {
        Some(_) => with_fault(crd::validate(resource, object), resource, object),
        None if is_definition(resource) => crd::validate_definition(object, None),
        None => kinds::validate(resource, object, context),
    };
    refuse(resource, object, &errors)
}

/// Refuses a change that breaks the rules of its kind.
pub(crate) fn validate_update(
    resource: &Resource,
    new: &Object,
    old: &Object,
    subresource: &str,
    context: &Context<'_>,
) -> Result<(), ApiError> {
    let errors = match &resource.custom {
        Some(_) => with_fault(crd::validate_update(resource, new, old, subresource), resource, new),
        None if is_definition(resource) => crd::validate_definition(new, Some(old)),
        None => kinds::validate_update(resource, new, old, subresource, context),
    };
    refuse(resource, new, &errors)
}

/// What is wrong with an instance by its definition, or else with a Fault by what it says.
fn with_fault(errors: Vec<FieldError>, resource: &Resource, object: &Object) -> Vec<FieldError> {
    if errors.is_empty() { faults::validate(resource, object).into_iter().collect() } else { errors }
}

fn refuse(resource: &Resource, object: &Object, errors: &[FieldError]) -> Result<(), ApiError> {
    if errors.is_empty() {
        return Ok(());
    }
    // A custom resource may come with any kind, and is refused by that name.
    let kind = if resource.custom.is_some() { object.kind() } else { &resource.kind };
    Err(ApiError::invalid(&resource.group, kind, object.name(), errors))
}

/// What a client should hear although the object is accepted.
pub(crate) fn warnings(resource: &Resource, new: &Object, old: Option<&Object>) -> Vec<String> {
    match &resource.custom {
        Some(_) => crd::warnings(new, old),
        None if is_definition(resource) => crd::definition_warnings(new, old),
        None => kinds::warnings(resource, new, old),
    }
}

/// A stored object as `resource` serves it, where no webhook is needed for that.
pub(crate) fn serve(object: Object, resource: &Resource) -> Object {
    match &resource.custom {
        Some(_) => crd::convert(object, resource),
        None if object.kind() == resource.kind && object.api_version() == resource.api_version() => object,
        None => kinds::convert(object, resource),
    }
}

/// An object of `resource` as it is stored, where no webhook is needed for that.
pub(crate) fn keep(object: Object, resource: &Resource, registry: &Registry) -> Object {
    if resource.gvk() == resource.storage {
        return object;
    }
    match registry.of_kind(&resource.storage) {
        _ if resource.custom.is_some() => crd::keep(object, resource),
        Some(stored) => serve(object, stored),
        None => object,
    }
}

/// The value that a field selector compares; `None` where the kind has no such field.
pub(crate) fn field(resource: &Resource, object: &Object, field: &str) -> Option<Str> {
    match field {
        "metadata.name" => Some(object.name().into()),
        "metadata.namespace" => Some(object.namespace().into()),
        _ => match &resource.custom {
            Some(custom) => crd::field(custom, object, field),
            None => kinds::field(resource, object, field),
        },
    }
}

/// The Scale of an object.
pub(crate) fn scale(resource: &Resource, object: &Object) -> Result<Object, ApiError> {
    match &resource.custom {
        Some(_) => crd::scale(resource, object),
        None => kinds::scale(resource, object),
    }
}

/// Writes a Scale's wish into the object.
pub(crate) fn set_scale(resource: &Resource, object: &mut Object, scale: &Object) -> Result<(), ApiError> {
    match &resource.custom {
        Some(_) => crd::set_scale(resource, object, scale),
        None => kinds::set_scale(resource, object, scale),
    }
}

/// Where the number of replicas stands that a Scale is about.
pub(crate) fn replicas_path(resource: &Resource) -> FieldPath {
    match &resource.custom {
        Some(custom) => crd::replicas_path(custom),
        None => FieldPath::fields(["spec", "replicas"]),
    }
}

/// The schema that merging and checking go by.
pub(crate) fn schema(resource: &Resource) -> TypeRef<'_> {
    match &resource.custom {
        Some(custom) => crd::schema(custom),
        None => resource.built_in_type().unwrap_or_else(TypeRef::untyped),
    }
}

/// Whether a replace of an object that does not exist creates it.
pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("", "endpoints" | "events" | "limitranges" | "services")
            | ("coordination.k8s.io", "leases")
            | ("events.k8s.io", "events")
            | ("node.k8s.io", "runtimeclasses")
            | ("rbac.authorization.k8s.io", _)
    )
}

/// Whether a replace has to name the resourceVersion it was made from.
pub(crate) fn needs_version(resource: &Resource) -> bool {
    resource.custom.is_some()
        || matches!(
            (resource.group.as_str(), resource.plural.as_str()),
            ("admissionregistration.k8s.io" | "apiextensions.k8s.io" | "apiregistration.k8s.io", _)
                | ("coordination.k8s.io", "leases")
                | ("node.k8s.io", "runtimeclasses")
                | ("policy", "poddisruptionbudgets")
                | (
                    "storage.k8s.io",
                    "csidrivers" | "csinodes" | "csistoragecapacities" | "volumeattachments"
                )
        )
}

/// Where the original keeps an object, as some of its messages say.
pub(crate) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    let plural = resource.plural.as_str();
    let place = match (resource.group.as_str(), plural) {
        (group, _) if resource.custom.is_some() || group == "apiextensions.k8s.io" => {
            format!("{group}/{plural}")
        }
        (group @ "apiregistration.k8s.io", _) => format!("{group}/{plural}"),
        ("", "services") => "services/specs".into(),
        ("", "endpoints") => "services/endpoints".into(),
        ("", "nodes") => "minions".into(),
        ("", "replicationcontrollers") => "controllers".into(),
        ("networking.k8s.io", "ingresses") => "ingress".into(),
        _ => plural.to_owned(),
    };
    let separator = if namespace.is_empty() { "" } else { "/" };
    format!("/registry/{place}{separator}{namespace}/{name}")
}

/// Whether a deletion answers with the object instead of a `Status`.
pub(crate) fn returns_deleted(resource: &Resource) -> bool {
    match resource.group.as_str() {
        "" => matches!(
            resource.plural.as_str(),
            "namespaces"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "pods"
                | "podtemplates"
                | "resourcequotas"
                | "serviceaccounts"
                | "services"
        ),
        "resource.k8s.io" => true,
        "storage.k8s.io" => resource.plural != "csistoragecapacities",
        _ => false,
    }
}

/// Whether dependents are orphaned when a deletion says nothing about them.
pub(crate) fn orphans_by_default(resource: &Resource) -> bool {
    resource.is("", "replicationcontrollers") || resource.is("batch", "jobs")
}

/// Whether owners of this kind may have dependents at all.
pub(crate) fn has_dependents(resource: &Resource) -> bool {
    resource.plural != "events"
}
