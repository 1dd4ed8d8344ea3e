//! What a run asks to have done, and what comes back.

use lynceus_object::{Object, Propagation, Str};

use crate::order::{is_definition, is_namespace};
use crate::settings::{Settings, has_option};
use crate::task::Task;
use lynceus_api::FIELD_MANAGER;
use lynceus_api::options::sync;

/// One request to the cluster. Those that are handed out together may be carried out at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What its [`Report`] is to be addressed to.
    pub id: ActionId,
    /// The object that it is about.
    pub object: Object,
    /// What to do with it.
    pub deed: Deed,
}

/// Tells the actions of one step apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub usize);

/// What to do with an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Write it.
    Write(Write),
    /// Delete it.
    Delete(Propagation),
    /// Delete it, unless another application has taken it over since it was looked at: then it stays, and the report says so.
    Prune(Propagation),
    /// Take the hook finalizer off it. An object that is gone, or has no such finalizer, is no error.
    RemoveHookFinalizer,
    /// Read it from the server itself, because the cache does not show it.
    Read,
}

/// How an object is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// By which request.
    pub method: Method,
    /// Check it on our side and write nothing.
    pub dry_run: bool,
    /// Have it validated against its schema.
    pub validate: bool,
    /// Wait a moment for the definition to be established.
    pub await_established: bool,
}

/// By which request an object is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Three-way apply from our side; with `force` an object that cannot be updated is made anew.
    Apply {
        /// Delete and create again if need be.
        force: bool,
    },
    /// Server-side apply, taking conflicting fields over.
    ServerSideApply {
        /// The manager to apply as.
        manager: Str,
        /// The manager whose client-side applied fields have to be taken over first.
        migrate_from: Option<Str>,
        /// Asked for as well, which is refused.
        force: bool,
    },
    /// Create it.
    Create,
    /// Put it in place of the live one.
    Replace {
        /// Delete and create again.
        force: bool,
    },
    /// Put it in place of the live one, which must still be at this version; for objects whose deletion would take
    /// others with them.
    Update {
        /// The version of the live object.
        resource_version: Str,
    },
}

/// What came of an [`Action`].
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which one.
    pub id: ActionId,
    /// What came of it.
    pub outcome: Result<Done, Failure>,
}

/// An action that was carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// What to tell the user, such as `configmap/a created`.
    pub message: Str,
    /// The object as it was read, for [`Deed::Read`].
    pub object: Option<Object>,
    /// Whether it was left as it is, because it is another application's by now, for [`Deed::Prune`].
    pub kept: bool,
}

/// An action that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Whether the object was not there.
    pub not_found: bool,
    /// The server's words.
    pub message: Str,
}

impl Method {
    /// Chooses the request for a task.
    pub(crate) fn of(task: &Task, target: &Object, dry_run: bool, settings: &Settings) -> Self {
        let force = settings.force || task.either_has(sync::FORCE);
        if settings.replace || task.either_has(sync::REPLACE) {
            return match &task.live {
                None => Method::Create,
                Some(live) if is_definition(target) || is_namespace(target) => {
                    Method::Update { resource_version: live.resource_version().into() }
                }
                Some(_) => Method::Replace { force },
            };
        }
        // A dry run only checks the manifest, and on the server's side it would fail for want of the namespace.
        if dry_run || !applies_on_server(target, settings) {
            return Method::Apply { force };
        }
        let migrate_from = settings
            .migrate_from
            .clone()
            .filter(|manager| task.live.as_ref().is_some_and(|live| wrote_fields(live, manager)));
        Method::ServerSideApply { manager: FIELD_MANAGER.into(), migrate_from, force }
    }
}

fn applies_on_server(target: &Object, settings: &Settings) -> bool {
    !has_option(target, sync::DISABLE_SERVER_SIDE_APPLY)
        && (settings.server_side_apply || has_option(target, sync::SERVER_SIDE_APPLY))
}

/// Whether a manager has fields that it wrote by plain updates; those that it applied need no migration.
fn wrote_fields(live: &Object, manager: &str) -> bool {
    let entries = live.value().items_at(&["metadata", "managedFields"]);
    entries.iter().any(|entry| {
        entry.str_at(&["manager"]) == Some(manager) && entry.str_at(&["operation"]) == Some("Update")
    })
}

impl Write {
    pub(crate) fn of(task: &Task, target: &Object, dry_run: bool, settings: &Settings) -> Self {
        Write {
            method: Method::of(task, target, dry_run, settings),
            dry_run,
            validate: settings.validate && !has_option(target, sync::DISABLE_VALIDATION),
            await_established: is_definition(target) && !dry_run,
        }
    }
}
