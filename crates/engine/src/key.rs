//! Names of applications.

use std::fmt;

use lynceus_api::{Application, GROUP, VERSION};
use lynceus_object::{GroupKind, Gvk, ObjectKey, Str};

/// An application by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppKey {
    /// The namespace that the Application is in.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
}

impl AppKey {
    /// Names an application.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        AppKey { namespace: namespace.into(), name: name.into() }
    }

    /// The name of an Application.
    pub fn of(application: &Application) -> Self {
        AppKey::new(application.metadata.namespace.clone(), application.metadata.name.clone())
    }

    /// What stands in tracking ids: the name, with the namespace before it where it is not the installation's own.
    pub fn tracked_as(&self, home: &str) -> Str {
        if self.namespace == home {
            self.name.clone()
        } else {
            format!("{}_{}", self.namespace, self.name).into()
        }
    }

    /// The other way round.
    pub fn from_tracked(tracked: &str, home: &str) -> Self {
        match tracked.split_once('_') {
            Some((namespace, name)) => AppKey::new(namespace, name),
            None => AppKey::new(home, tracked),
        }
    }

    /// The Application as an object.
    pub fn object_key(&self) -> ObjectKey {
        ObjectKey::new(GROUP, "Application", self.namespace.clone(), self.name.clone())
    }
}

impl fmt::Display for AppKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The kind of Applications.
pub fn application_kind() -> GroupKind {
    GroupKind::new(GROUP, "Application")
}

/// The kind of Applications, in the version that we write.
pub fn application_gvk() -> Gvk {
    Gvk::new(GROUP, VERSION, "Application")
}

/// The kind of projects.
pub fn project_kind() -> GroupKind {
    GroupKind::new(GROUP, "AppProject")
}
