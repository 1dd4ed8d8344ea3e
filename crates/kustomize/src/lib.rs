//! Kustomizations built as Kustomize 5.8 builds them: a tree of files to manifests, byte for byte.
//!
//! Nothing here reads a file by itself, a clock or the network: files come through [`lynceus_files::Tree`], and what has
//! to be got from elsewhere is named in the error so that the caller can get it and ask again.

mod accumulator;
mod annotations;
mod build;
mod chart;
mod config;
mod config_file;
mod context;
mod crds;
mod defaults;
mod error;
mod fieldspec;
mod finish;
#[cfg(test)]
mod fixture;
mod flow;
mod folded;
mod generate;
mod hash;
mod iam_policy;
mod id;
mod idle;
mod images;
mod keys;
mod kustomization;
mod labels;
pub mod limits;
mod load;
mod lookup;
mod merge;
mod name_reference;
mod namespace;
mod need;
mod options;
mod origin;
mod patch;
mod plugins;
mod prefix;
mod read;
mod record;
mod replacement;
mod replicas;
mod repository;
mod resource;
mod resources;
mod scalar;
mod schema;
mod selector;
mod shared;
mod sort;
mod suffix;
mod target;
mod trace;
mod transformers;
mod value_add;
mod variables;
mod written;

pub use build::{Build, BuildError, build, build_remote, build_traced, is_remote};
pub use error::{KustomizeError, Missing};
pub use fieldspec::FieldSpec;
pub use id::{Id, Kind};
pub use idle::IdlePatch;
pub use images::split as split_image;
pub use need::{Fetched, Got, Need};
pub use options::{HelmOptions, LoadRestriction, Options, Reorder};
pub use resource::{Behavior, Former, Resource};
pub use resources::Resources;
pub use schema::{Schema, Scope};
pub use trace::{Cause, Explanation, Place, Traces};
pub use written::Written;
