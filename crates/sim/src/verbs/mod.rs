//! Create, read, replace, patch, delete and watch, with Kubernetes' semantics.
//!
//! A [`Call`] says who wants to do what to which resource; every door (HTTP, [`Local`](crate::Local))
//! makes calls and nothing else. The verbs know nothing of HTTP.

mod body;
mod change;
pub(crate) mod charge;
mod create;
mod delete;
mod eviction;
mod lifecycle;
mod list;
pub(crate) mod managed;
mod patch;
mod selection;
mod subresource;
mod watch;

use std::sync::Arc;

use lynceus_object::{Object, Str, Value, value};

pub(crate) use body::{Body, Validation};
pub(crate) use change::{replace, update_with};
pub(crate) use create::create;
pub use delete::DeleteOptions;
pub(crate) use delete::{delete, delete_collection};
pub(crate) use list::{ListOptions, Page, list};
pub use patch::PatchKind;
pub(crate) use patch::{Patch, patch};
pub(crate) use selection::Selection;
pub(crate) use subresource::{create_subresource, read_subresource, replace_scale, review};
pub(crate) use watch::{Frame, WatchOptions, Watcher, watch};

use crate::ApiError;
use crate::attributes::{Admission, Operation, User};
use crate::core::Core;
use crate::kinds::Resource;

/// Who wants to do something to which resource.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) user: Arc<User>,
    pub(crate) resource: Arc<Resource>,
    pub(crate) namespace: Str,
    /// Empty for a whole collection.
    pub(crate) name: Str,
    /// Empty for the object itself.
    pub(crate) subresource: Str,
    pub(crate) options: WriteOptions,
}

/// How a write is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    /// The field manager: the one asked for, or the client's name.
    pub(crate) manager: Str,
    pub(crate) validation: Validation,
    /// Whether an apply takes fields away from others.
    pub(crate) force: bool,
}

/// What a write answers.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The HTTP status code.
    pub(crate) code: u16,
    pub(crate) object: Object,
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn ok(object: Object) -> Self {
        Answer { code: 200, object, warnings: Vec::new() }
    }

    pub(crate) fn created(object: Object, warnings: Vec<String>) -> Self {
        Answer { code: 201, object, warnings }
    }

    /// A `Status` that says that something went well.
    pub(crate) fn success(code: u16, details: Option<Value>) -> Self {
        let mut status = value!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
        if let Some(details) = details {
            status.set(&["details"], details);
        }
        if code != 200 {
            status.set(&["code"], u32::from(code));
        }
        Answer { code, object: Object::new(status).unwrap_or_default(), warnings: Vec::new() }
    }
}

impl Call {
    pub(crate) fn not_found(&self) -> ApiError {
        ApiError::not_found(&self.resource.group, &self.resource.plural, &self.name)
    }

    pub(crate) fn conflict(&self, why: &str) -> ApiError {
        ApiError::conflict(&self.resource.group, &self.resource.plural, &self.name, why)
    }

    pub(crate) fn modified(&self) -> ApiError {
        ApiError::modified(&self.resource.group, &self.resource.plural, &self.name)
    }

    /// What admission is told of this call.
    pub(crate) fn admission(&self, operation: Operation) -> Admission {
        let kind = match self.resource.subresource(&self.subresource) {
            Some(subresource) => subresource.gvk.clone(),
            None => self.resource.gvk(),
        };
        Admission {
            user: Arc::clone(&self.user),
            operation,
            kind,
            resource: self.resource.gvr(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            dry_run: self.options.dry_run,
            manager: self.options.manager.clone(),
        }
    }
}

/// Reads one object.
pub(crate) async fn get(core: &Core, call: &Call) -> Result<Object, ApiError> {
    if let Some(measured) = core.measured(&call.resource, &call.namespace) {
        return measured.into_iter().find(|one| one.name() == call.name).ok_or_else(|| call.not_found());
    }
    let found = core.read(&call.resource, &call.namespace, &call.name).await?;
    found.map(|(object, _)| object).ok_or_else(|| call.not_found())
}
