//! An ApplicationSet to Applications.
//!
//! [`generate`] asks the generators for their parameters and renders the template with each set of them. What lies
//! outside, clusters, repositories, pull requests, is asked for as [`Need`]s: whoever calls gets them and calls again.
//! [`validate()`] says which of the Applications cannot be, [`plan()`] what has to change in the cluster and what is left
//! alone, [`rollout`] whose turn it is in a progressive sync, and [`status`] what is written down about all of it.

mod flatten;
mod functions;
mod generate;
mod generator;
mod glob;
pub mod limits;
mod merge;
mod name;
mod need;
mod param;
mod place;
pub mod plan;
mod render;
mod replace;
pub mod rollout;
mod slug;
pub mod status;
mod template;
mod validate;

pub use generate::{Generated, Generation, Outcome, generate};
pub use name::normalize;
pub use need::{
    Answer, Answers, Cluster, IN_CLUSTER_NAME, IN_CLUSTER_SERVER, Need, PullRequest, Repository, RepositoryId,
};
pub use param::{Param, Params};
pub use place::{Fault, FaultKind, Place};
pub use plan::{Plan, plan};
pub use slug::slugify;
pub use validate::{Destinations, Invalid, validate};
