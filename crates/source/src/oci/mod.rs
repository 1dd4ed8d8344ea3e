//! OCI registries: charts and other artifacts behind the distribution protocol.

mod artifact;
mod challenge;
mod conversation;
mod layer;
mod manifest;
mod place;
mod registry;

pub use artifact::Artifact;
pub use layer::unpacked;
pub(crate) use place::{Place, is_registry};
pub(crate) use registry::Registry;
