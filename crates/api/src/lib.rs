//! Argo CD's wire types, and the words that every crate shares.
//!
//! Words: [`annotations`], [`labels`], [`finalizers`], the status codes and phases, [`hook`]s,
//! [`wave`](fn@wave)s, [`Options`], [`TrackingId`]s, [`Wait`], which says what a sync is waiting for, and [`Reason`], which
//! says why.
//!
//! Wire types: one struct per Go struct, with the same JSON. A field that stands as a closed list of words
//! is an [`Open`] one, and every struct keeps the fields that it does not know, so that reading and writing
//! an object of a newer Argo CD loses nothing. [`crds`] makes the definitions from the same structs.

pub mod annotations;
mod application;
mod applicationset;
mod cluster;
mod codes;
mod convert;
mod crds;
mod duration;
pub mod finalizers;
mod glob;
pub mod hook;
mod known_options;
pub mod labels;
mod metadata;
pub mod operator;
pub mod options;
mod project;
mod reason;
mod repository;
mod revision;
mod scalar;
mod settings;
mod tracking;
mod tree;
mod truth;
mod wait;
mod wave;
mod wire;
mod word;

pub use application::*;
pub use applicationset::*;
pub use cluster::*;
pub use codes::*;
pub use convert::{Kind, ReadError};
pub use crds::crds;
pub use duration::{DurationError, parse_duration};
pub use glob::{Glob, GlobError, fits_any};
pub use hook::{HookDeletePolicy, HookType};
pub use known_options::{OptionFault, OptionPlace, check_option};
pub use metadata::*;
pub use options::Options;
pub use project::*;
pub use reason::{Reason, ReasonCode};
pub use repository::*;
pub use revision::*;
pub use scalar::{Bytes, IntOrString, Json, RawObject, Secret, SecretBytes, Time};
pub use settings::*;
pub use tracking::{Tracking, TrackingId, TrackingIdError};
pub use tree::*;
pub use truth::parse_bool;
pub use wait::{Wait, WaitFor};
pub use wave::wave;
pub use word::{Open, Word};

/// The API group of Argo CD's own kinds.
pub const GROUP: &str = "argoproj.io";
/// The version of Argo CD's own kinds.
pub const VERSION: &str = "v1alpha1";
/// The field manager that server-side applies are made under.
pub const FIELD_MANAGER: &str = "argocd-controller";
