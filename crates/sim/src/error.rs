//! What the API server answers when it refuses: Kubernetes' `Status`, as a typed value.

use std::fmt;

use lynceus_object::{Value, value};

/// One thing that is wrong with a field, in Kubernetes' words.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What sort of wrong.
    pub kind: FieldErrorKind,
    /// The field, as `spec.containers[0].image`.
    pub field: String,
    /// The value found there, already written as Go's library prints it; empty where none is shown.
    pub value: String,
    /// What is wrong with it.
    pub detail: String,
}

/// The sorts of field error, with the words that Kubernetes has for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// `Required value`
    Required,
    /// `Invalid value`
    Invalid,
    /// `Unsupported value`
    NotSupported,
    /// `Forbidden`
    Forbidden,
    /// `Duplicate value`
    Duplicate,
    /// `Not found`
    NotFound,
    /// `Too long`
    TooLong,
    /// `Too many`
    TooMany,
    /// `Internal error`
    Internal,
    /// `Invalid value`, with the reason `FieldValueTypeInvalid`
    TypeInvalid,
}

impl FieldErrorKind {
    /// The words at the start of a message.
    pub fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::NotFound => "Not found",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }

    /// The `reason` of a cause in `Status`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotFound => "FieldValueNotFound",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

impl FieldError {
    /// A field that has to be there.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        FieldError {
            kind: FieldErrorKind::Required,
            field: field.into(),
            value: String::new(),
            detail: detail.into(),
        }
    }

    /// A value that may not stand there. `value` is written as Go prints it (strings quoted).
    pub fn invalid(field: impl Into<String>, value: impl Into<String>, detail: impl Into<String>) -> Self {
        FieldError {
            kind: FieldErrorKind::Invalid,
            field: field.into(),
            value: value.into(),
            detail: detail.into(),
        }
    }

    /// A change or value that is not allowed at all.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        FieldError {
            kind: FieldErrorKind::Forbidden,
            field: field.into(),
            value: String::new(),
            detail: detail.into(),
        }
    }

    /// A value that stands there already.
    pub fn duplicate(field: impl Into<String>, value: impl Into<String>) -> Self {
        FieldError {
            kind: FieldErrorKind::Duplicate,
            field: field.into(),
            value: value.into(),
            detail: String::new(),
        }
    }

    /// A value that is not one of the `supported` ones.
    pub fn not_supported(field: impl Into<String>, value: impl Into<String>, supported: &[&str]) -> Self {
        let list: Vec<String> = supported.iter().map(|word| format!("{word:?}")).collect();
        FieldError {
            kind: FieldErrorKind::NotSupported,
            field: field.into(),
            value: value.into(),
            detail: if list.is_empty() {
                String::new()
            } else {
                format!("supported values: {}", list.join(", "))
            },
        }
    }

    /// The message without the field: `Invalid value: "x": must be …`.
    pub fn body(&self) -> String {
        let mut out = self.kind.words().to_owned();
        if !self.value.is_empty() {
            out.push_str(": ");
            out.push_str(&self.value);
        }
        if !self.detail.is_empty() {
            out.push_str(": ");
            out.push_str(&self.detail);
        }
        out
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// A refusal: status code, reason, message and details, as they stand in `Status`.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`; empty where Kubernetes gives none.
    pub reason: &'static str,
    /// The message for people.
    pub message: String,
    /// `details`, if there are any.
    pub details: Option<Value>,
    /// What the client should hear besides, in `Warning` headers.
    pub warnings: Vec<String>,
}

impl ApiError {
    /// Any refusal, by its parts.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        ApiError { code, reason, message: message.into(), details: None, warnings: Vec::new() }
    }

    /// The same, with details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// 404 for an object. `resource` is plural, with its group: `deployments.apps`.
    pub fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let qualified = qualified(group, resource);
        ApiError::new(404, "NotFound", format!("{qualified} {name:?} not found"))
            .with_details(named_details(group, resource, name))
    }

    /// 409 for a name that is taken.
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let qualified = qualified(group, resource);
        ApiError::new(409, "AlreadyExists", format!("{qualified} {name:?} already exists"))
            .with_details(named_details(group, resource, name))
    }

    /// 409 for a change that lost a race or broke a precondition.
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let qualified = qualified(group, resource);
        let message = format!("Operation cannot be fulfilled on {qualified} {name:?}: {why}");
        ApiError::new(409, "Conflict", message).with_details(named_details(group, resource, name))
    }

    /// 409 for a replace that was made from an old version.
    pub fn modified(group: &str, resource: &str, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        ApiError::conflict(group, resource, name, why)
    }

    /// 403. `why` is what the authorizer or an admission plugin says.
    pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let qualified = qualified(group, resource);
        let message = if name.is_empty() {
            format!("{qualified} is forbidden: {why}")
        } else {
            format!("{qualified} {name:?} is forbidden: {why}")
        };
        ApiError::new(403, "Forbidden", message).with_details(named_details(group, resource, name))
    }

    /// 404 for a resource that is not served.
    pub fn no_such_resource() -> Self {
        ApiError::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(value!({}))
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        ApiError::new(400, "BadRequest", message)
    }

    /// 422 with one cause per field.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut list: Vec<String> = Vec::new();
        for text in errors.iter().map(ToString::to_string) {
            // Only causes are told twice.
            if !list.contains(&text) {
                list.push(text);
            }
        }
        let what = match list.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let causes: Vec<Value> = errors
            .iter()
            .map(|error| value!({"reason": error.kind.reason(), "message": error.body(), "field": error.field}))
            .collect();
        let mut details = named_details(group, kind, name);
        details.set(&["causes"], causes);
        ApiError::new(422, "Invalid", format!("{} {name:?} is invalid: {what}", qualified(group, kind)))
            .with_details(details)
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        ApiError::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details(value!({}))
    }

    /// 500.
    pub fn internal(message: impl fmt::Display) -> Self {
        let message = message.to_string();
        ApiError::new(500, "InternalError", format!("Internal error occurred: {message}"))
            .with_details(value!({"causes": [{"message": message}]}))
    }

    /// 410: a resourceVersion that the watch cache no longer has.
    pub fn expired(message: impl Into<String>) -> Self {
        ApiError::new(410, "Expired", message)
    }

    /// The `Status` object that is sent.
    pub fn to_status(&self) -> Value {
        let mut status = value!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status.set(&["reason"], self.reason);
        }
        if let Some(details) = &self.details {
            status.set(&["details"], details.clone());
        }
        status
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

fn qualified(group: &str, resource: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}

fn named_details(group: &str, kind: &str, name: &str) -> Value {
    let mut details = value!({});
    for (field, text) in [("name", name), ("group", group), ("kind", kind)] {
        if !text.is_empty() {
            details.set(&[field], text);
        }
    }
    details
}
