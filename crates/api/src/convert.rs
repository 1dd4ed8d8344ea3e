//! Objects to wire types and back.

use lynceus_object::{Object, TypedError, from_typed, to_typed};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{AppProject, Application, ApplicationSet, GROUP, VERSION};

/// An object that cannot be read as the kind that it says it is.
#[derive(Debug, thiserror::Error)]
#[error("{kind} {name:?} has a field of the wrong type")]
pub struct ReadError {
    /// The kind that was wanted.
    pub kind: &'static str,
    /// The object's name.
    pub name: String,
    /// The field and what is wrong with it.
    pub source: TypedError,
}

/// A kind of Argo CD's own.
pub trait Kind: Serialize + DeserializeOwned {
    /// The kind, as in a manifest.
    const KIND: &'static str;
    /// The plural name, as in a URL.
    const PLURAL: &'static str;

    /// Reads an object.
    fn from_object(object: &Object) -> Result<Self, ReadError> {
        to_typed(object.value()).map_err(|source| ReadError {
            kind: Self::KIND,
            name: object.name().to_owned(),
            source,
        })
    }

    /// Writes an object, with its `apiVersion` and `kind`.
    fn to_object(&self) -> Object {
        // Writing into memory fails only for maps whose keys are no strings, which these are not.
        let value = from_typed(self).unwrap_or_default();
        let mut object = Object::new(value).unwrap_or_default();
        object.set(&["apiVersion"], format!("{GROUP}/{VERSION}"));
        object.set(&["kind"], Self::KIND);
        object
    }
}

impl Kind for Application {
    const KIND: &'static str = "Application";
    const PLURAL: &'static str = "applications";
}

impl Kind for AppProject {
    const KIND: &'static str = "AppProject";
    const PLURAL: &'static str = "appprojects";
}

impl Kind for ApplicationSet {
    const KIND: &'static str = "ApplicationSet";
    const PLURAL: &'static str = "applicationsets";
}
