//! Kustomizations built as Kustomize 5.8 builds them: a tree of files to manifests, byte for byte.
//!
//! Nothing here reads a file by itself, a clock or the network: files come through [`lynceus_files::Tree`], and what has
//! to be got from elsewhere is named in the error so that the caller can get it and ask again.

// What is only called from inside is called once the whole is put together.
#![allow(dead_code)]

mod annotations;
mod config;
mod config_file;
mod defaults;
mod error;
mod fieldspec;
mod id;
mod images;
mod labels;
pub mod limits;
mod lookup;
mod name_reference;
mod namespace;
mod prefix;
mod replicas;
mod resource;
mod resources;
mod scalar;
mod sort;
mod suffix;
mod value_add;
mod variables;

pub use error::KustomizeError;
pub use fieldspec::FieldSpec;
pub use id::{Id, Kind};
pub use resource::{Behavior, Former, Resource};
pub use resources::Resources;
