//! Argo CD's wire types, and the words that every crate shares.
//!
//! Words: [`annotations`], [`labels`], [`finalizers`], the status codes and phases, [`hook`]s,
//! [`wave`](fn@wave)s, [`Options`], [`TrackingId`]s, and [`Wait`], which says what a sync is waiting for.

pub mod annotations;
mod codes;
pub mod finalizers;
pub mod hook;
pub mod labels;
pub mod options;
mod tracking;
mod wait;
mod wave;
mod word;

pub use codes::*;
pub use hook::{HookDeletePolicy, HookType};
pub use options::Options;
pub use tracking::{Tracking, TrackingId, TrackingIdError};
pub use wait::{Wait, WaitFor};
pub use wave::wave;
pub use word::{Open, Word};

/// The API group of Argo CD's own kinds.
pub const GROUP: &str = "argoproj.io";
/// The version of Argo CD's own kinds.
pub const VERSION: &str = "v1alpha1";
