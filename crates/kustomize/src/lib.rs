//! Kustomizations built as Kustomize 5.8 builds them: a tree of files to manifests, byte for byte.
//!
//! Nothing here reads a file by itself, a clock or the network: files come through [`lynceus_files::Tree`], and what has
//! to be got from elsewhere is named in the error so that the caller can get it and ask again.

mod accumulator;
mod build;
mod chart;
mod context;
mod error;
mod fieldspec;
mod finish;
mod generate;
mod hash;
mod iam_policy;
mod id;
mod kustomization;
pub mod limits;
mod load;
mod need;
mod options;
mod origin;
mod plugins;
mod read;
mod record;
mod repository;
mod resource;
mod resources;
mod target;
mod transformers;

pub use build::{Build, BuildError, build};
pub use error::KustomizeError;
pub use fieldspec::FieldSpec;
pub use id::{Id, Kind};
pub use need::{Fetched, Got, Need};
pub use options::{HelmOptions, LoadRestriction, Options, Reorder};
pub use resource::{Behavior, Former, Resource};
pub use resources::Resources;
