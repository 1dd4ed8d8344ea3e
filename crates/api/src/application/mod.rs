//! An application: what is delivered, where to, and how it is doing.

mod helm;
mod hydrator;
mod kustomize;
mod operation;
mod policy;
mod rules;
mod source;
mod spec;
mod status;

pub use helm::*;
pub use hydrator::*;
pub use kustomize::*;
pub use operation::*;
pub use policy::*;
pub use rules::*;
pub use source::*;
pub use spec::*;
pub use status::*;

use lynceus_object::Str;

use crate::metadata::{ListMeta, ObjectMeta};
use crate::wire::wire;

wire! {
    /// One delivery: sources, a destination, and the state of both.
    pub struct Application {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `Application`.
        optional kind: Str = "kind",
        /// Name, labels, annotations and finalizers.
        required metadata: ObjectMeta = "metadata",
        /// What is wanted.
        required spec: ApplicationSpec = "spec",
        /// What was found.
        always status: ApplicationStatus = "status",
        /// A sync that is asked for, or under way.
        optional operation: Option<Operation> = "operation",
    }
}

wire! {
    /// Several applications.
    pub struct ApplicationList {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `ApplicationList`.
        optional kind: Str = "kind",
        /// The version of the list.
        required metadata: ListMeta = "metadata",
        /// The applications.
        required items: Vec<Application> = "items",
    }
}

wire! {
    /// A change of one application.
    pub struct ApplicationWatchEvent {
        /// What happened: `ADDED`, `MODIFIED`, `DELETED`.
        required type_: Str = "type",
        /// The application after it happened.
        required application: Application = "application",
    }
}
