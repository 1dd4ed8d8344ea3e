//! One thing to do to one object.

use std::fmt;

use lynceus_api::{HookDeletePolicy, SyncPhase, hook};
use lynceus_object::{Object, ObjectKey, Str};

use crate::settings::{Settings, has_option};

/// One thing to do to one object, with its place in the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The phase that it belongs to.
    pub phase: SyncPhase,
    /// The wave in the phase.
    pub wave: i64,
    /// What is to be done.
    pub work: Work,
    /// The object as the cluster has it, if it does.
    pub live: Option<Object>,
    /// Whether the object may be left out of the dry run, because its kind is still to come.
    pub skip_dry_run: bool,
    /// Why the task cannot be carried out.
    pub fault: Option<Fault>,
}

/// What is to be done to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Make the object as desired.
    Apply {
        /// The object as desired, its namespace filled in.
        target: Object,
        /// Whether it differs from the live one, where that is known.
        modified: Option<bool>,
    },
    /// Run a hook.
    Hook {
        /// The hook as desired, with its name, namespace and finalizer.
        target: Object,
        /// When it is deleted.
        deletion: HookDeletion,
    },
    /// Delete the live object.
    Prune,
}

/// When a hook is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookDeletion {
    /// Before it is created anew.
    pub before_creation: bool,
    /// When everything that it belongs to succeeded.
    pub on_success: bool,
    /// When something failed.
    pub on_failure: bool,
}

/// Why a task cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The cluster does not know the kind, or the project does not permit the object: nothing is synced at all.
    Invalid(Str),
    /// The task could not be prepared: it counts as failed, and the sync goes its way to an end.
    Failed(Str),
}

impl HookDeletion {
    pub(crate) fn of(object: &Object) -> Self {
        let policies = hook::delete_policies(object);
        let has = |policy| policies.contains(&policy);
        HookDeletion {
            before_creation: has(HookDeletePolicy::BeforeHookCreation),
            on_success: has(HookDeletePolicy::HookSucceeded),
            on_failure: has(HookDeletePolicy::HookFailed),
        }
    }
}

impl Task {
    /// The object as desired; `None` for one that is pruned.
    pub fn target(&self) -> Option<&Object> {
        match &self.work {
            Work::Apply { target, .. } | Work::Hook { target, .. } => Some(target),
            Work::Prune => None,
        }
    }

    /// The object that the task is named after: the desired one, or the live one that is pruned.
    pub fn object(&self) -> &Object {
        static NONE: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::default);
        self.target().or(self.live.as_ref()).unwrap_or(&NONE)
    }

    /// The name under which results are recorded. A cluster-scoped object has the application's namespace in it.
    pub fn key(&self) -> ObjectKey {
        self.object().key()
    }

    /// Whether this is a hook.
    pub fn is_hook(&self) -> bool {
        matches!(self.work, Work::Hook { .. })
    }

    /// Whether this deletes something that is no longer desired.
    pub fn is_prune(&self) -> bool {
        matches!(self.work, Work::Prune)
    }

    /// When the hook is deleted; never, for what is not a hook.
    pub fn deletion(&self) -> HookDeletion {
        match self.work {
            Work::Hook { deletion, .. } => deletion,
            _ => HookDeletion::default(),
        }
    }

    /// Whether the object is known to be as desired.
    pub fn is_unmodified(&self) -> bool {
        matches!(self.work, Work::Apply { modified: Some(false), .. }) && self.live.is_some()
    }

    /// Whether the desired or the live object carries a sync option.
    pub(crate) fn either_has(&self, option: &str) -> bool {
        self.target().is_some_and(|target| has_option(target, option))
            || self.live.as_ref().is_some_and(|live| has_option(live, option))
    }

    pub(crate) fn awaits_confirmation(&self, settings: &Settings) -> bool {
        self.is_prune() && self.live.as_ref().is_some_and(|live| settings.awaits_confirmation(live))
    }

    /// Whether Argo CD would leave the order of two tasks to chance.
    pub fn ties_with(&self, other: &Task) -> bool {
        crate::order::tie(self, other)
    }

    /// `group/Kind/name`, as operation messages name an object.
    pub fn title(&self) -> String {
        let object = self.object();
        format!("{}/{}/{}", object.group(), object.kind(), object.name())
    }

    fn verb(&self) -> &'static str {
        match &self.work {
            Work::Prune => "prune",
            Work::Hook { .. } => "hook",
            Work::Apply { .. } if self.live.is_none() => "create",
            Work::Apply { modified: Some(false), .. } => "keep",
            Work::Apply { .. } => "update",
        }
    }
}

/// `create apps/Deployment/shop/web`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<6} {}", self.verb(), self.key())?;
        match &self.fault {
            Some(Fault::Invalid(why) | Fault::Failed(why)) => write!(f, " ({why})"),
            None => Ok(()),
        }
    }
}
