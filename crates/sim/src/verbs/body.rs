//! What a client sent, turned into an object of the right kind.

use lynceus_object::schema::{self, ProblemKind};
use lynceus_object::{Object, json};

use crate::kinds::{self, Resource};
use crate::{ApiError, crd, strategy};

/// What to do with fields that the kind does not have (`fieldValidation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Validation {
    /// Refuse the object.
    Strict,
    /// Drop them and say so.
    #[default]
    Warn,
    /// Drop them.
    Ignore,
}

/// An object as it was sent, with what was odd about the text it was sent in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) object: Object,
    /// Duplicate fields and the like, in the words of a strict decoder.
    pub(crate) oddities: Vec<String>,
}

impl From<Object> for Body {
    fn from(object: Object) -> Self {
        Body { object, oddities: Vec::new() }
    }
}

/// What decoding had to say.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) object: Object,
    /// The object without defaults: it lacks no field that Go prints whatever is set, and so does nothing that is shared
    /// with it.
    pub(crate) complete: Object,
    pub(crate) warnings: Vec<String>,
}

/// Why an object cannot be taken as one of its kind.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// A value has the wrong type; the decoder's words.
    Type(String),
    /// Fields that the kind does not have, or that are there twice; the strict decoder's words.
    Strict(Vec<String>),
}

impl Misfit {
    pub(crate) fn message(&self) -> String {
        match self {
            Misfit::Type(message) => message.clone(),
            Misfit::Strict(errors) => format!("strict decoding error: {}", errors.join(", ")),
        }
    }

    /// The answer to a create or replace.
    pub(crate) fn into_error(self, resource: &Resource) -> ApiError {
        ApiError::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {}",
            resource.kind,
            resource.version,
            resource.kind,
            self.message()
        ))
    }
}

/// Makes `object` one of its kind: wrong types are refused, unknown fields are dropped, refused or
/// warned of, and defaults are set.
pub(crate) fn fit(
    resource: &Resource,
    object: Object,
    oddities: Vec<String>,
    validation: Validation,
) -> Result<Decoded, Misfit> {
    fit_beside(resource, object, None, oddities, validation)
}

/// The same for an object that may share parts with one that fits, such as the stored one that it was made from: they
/// are not looked at again.
pub(crate) fn fit_beside(
    resource: &Resource,
    mut object: Object,
    known: Option<&Object>,
    oddities: Vec<String>,
    validation: Validation,
) -> Result<Decoded, Misfit> {
    let mut strict = oddities;
    match &resource.custom {
        Some(custom) => {
            let unknown = crd::prune(custom, &mut object).map_err(Misfit::Type)?;
            strict.extend(unknown.into_iter().map(|path| format!("unknown field {path:?}")));
        }
        None => {
            let ty = strategy::schema(resource);
            if !schema::settle(object.value_mut(), known.map(Object::value), ty) {
                for problem in schema::check(object.value(), ty) {
                    match problem.kind {
                        ProblemKind::Unknown => strict.push(problem.to_string()),
                        _ => return Err(Misfit::Type(problem.to_string())),
                    }
                }
                schema::round_trip(object.value_mut(), ty);
            }
        }
    }
    if validation == Validation::Strict && !strict.is_empty() {
        return Err(Misfit::Strict(strict));
    }
    let warnings = if validation == Validation::Warn { strict } else { Vec::new() };
    let complete = object.clone();
    strategy::default(resource, &mut object, known);
    Ok(Decoded { object, complete, warnings })
}

/// Refuses an object whose kind or version is not the resource's; fills them in if they are missing.
pub(crate) fn check_kind(resource: &Resource, object: &mut Object) -> Result<(), ApiError> {
    if object.kind().is_empty() || object.api_version().is_empty() {
        if resource.custom.is_some() && object.kind().is_empty() {
            return Err(ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}'",
                resource.kind,
                json::to_string(object.value())
            )));
        }
        if resource.custom.is_some() {
            return Err(ApiError::bad_request(format!(
                "the API version in the data () does not match the expected API version ({})",
                resource.api_version()
            )));
        }
        if object.kind().is_empty() {
            object.set(&["kind"], resource.kind.clone());
        }
        if object.api_version().is_empty() {
            object.set(&["apiVersion"], resource.api_version());
        }
    }
    let gvk = object.gvk();
    // The kind of a custom resource is for its validation to refuse.
    let is_custom = resource.custom.is_some();
    if gvk == resource.gvk() || (is_custom && gvk.group == resource.group && gvk.version == resource.version)
    {
        return Ok(());
    }
    let known = kinds::resource_of(&gvk).is_some();
    let (kind, version) = (&gvk.kind, &gvk.version);
    let why = if resource.custom.is_none() && known && gvk.group == resource.group && kind != &resource.kind {
        let package =
            if gvk.group.is_empty() { "core" } else { gvk.group.split('.').next().unwrap_or_default() };
        format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", resource.kind)
    } else if known || resource.custom.is_some() {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            gvk.api_version(),
            resource.api_version()
        )));
    } else {
        let scheme = "pkg/runtime/scheme.go:111";
        format!("no kind {kind:?} is registered for version {:?} in scheme {scheme:?}", gvk.api_version())
    };
    let kind = format!("{kind} in version {version:?} cannot be handled as a {}: {why}", resource.kind);
    Err(ApiError::bad_request(kind))
}
