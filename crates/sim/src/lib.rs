//! The embedded Kubernetes.
//!
//! A request goes through these modules, from the outside in:
//!
//! | module | what it is |
//! |---|---|
//! | [`http`] | hyper on TLS, and the same as a `tower` service: paths, content types, discovery, health |
//! | [`auth`] | who asks, and may they |
//! | [`verbs`] | create, get, list, watch, update, patch, apply, delete with Kubernetes' semantics |
//! | [`admission`] | webhooks and built-in admission |
//! | [`strategy`] | what differs from kind to kind; asks [`kinds`] for built-in kinds and [`crd`] for custom ones |
//! | [`store`] | objects in memory, the log on disk, the history that watches read |
//!
//! Beside them stand [`registry`] (which resources are served right now), [`table`] and [`openapi`]
//! (how they are shown and described), [`controllers`] (what makes Pods out of Deployments, through
//! [`Local`]), [`stage`] (what the cluster is like), [`faults`] (what is made to go wrong) and [`clock`], which is the only place that knows the
//! time.
//!
//! Nothing but [`clock::SystemClock`] reads the system's clock, and nothing but [`random`] draws
//! lots, so that a test or a rehearsal on a [`clock::ManualClock`] with a fixed seed always ends the
//! same way.

pub mod admission;
mod allocate;
pub mod attributes;
pub mod auth;
mod bootstrap;
pub mod cel;
mod cleanup;
pub mod clock;
pub mod context;
pub mod controllers;
mod conversion;
mod core;
pub mod crd;
mod error;
pub mod faults;
mod hash;
mod hook;
pub mod http;
mod identity;
pub mod kinds;
pub mod limits;
mod local;
mod metrics;
pub mod openapi;
pub mod operators;
pub mod random;
pub mod registry;
mod sim;
mod snapshot;
pub mod stage;
pub mod store;
mod strategy;
pub mod table;
mod verbs;
pub mod view;

pub use auth::{TokenFile, TokenFileError};
pub use error::{ApiError, FieldError, FieldErrorKind};
pub use http::server::{ServeError, Server};
pub use identity::{Identity, IdentityError, write_private};
pub use local::{DeleteOptions, Local, PatchKind, Target};
pub use sim::{Options, Sim, StartError};
pub use stage::{Stage, StageError};
