//! Kustomizations built as Kustomize 5.8 builds them: a tree of files to manifests, byte for byte.
//!
//! Nothing here reads a file by itself, a clock or the network: files come through [`lynceus_files::Tree`], and what has
//! to be got from elsewhere is named in the error so that the caller can get it and ask again.

mod crds;
mod error;
mod fieldspec;
#[cfg(test)]
mod fixture;
mod id;
pub mod limits;
mod merge;
mod patch;
mod replacement;
mod resource;
mod resources;
mod schema;
mod selector;
mod written;

pub use error::KustomizeError;
pub use fieldspec::FieldSpec;
pub use id::{Id, Kind};
pub use resource::{Behavior, Former, Resource};
pub use resources::Resources;
pub use schema::{Schema, Scope};
pub use written::Written;
