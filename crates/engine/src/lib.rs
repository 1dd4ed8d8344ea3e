//! Queue, reconcile, execute, status: what makes a cluster as Git says, and keeps it so.
//!
//! [`Engine::reconcile`] is the whole path for one application: its deletion, its operation, a [`Look`] at Git and the
//! cluster, its status, and whether it should sync by itself. The rest of this crate is one file for each of these steps,
//! and what makes them happen: [`Engine::run`] works a queue that changes in the cluster and new commits fill.
//!
//! The engine is given a home cluster and a clock, and finds other clusters by the Secrets there. It never knows whether
//! they are real. Several engines share the clusters out between them by Leases.

mod act;
mod ambience;
mod assess;
mod auto;
mod bases;
mod belongings;
mod bootstrap;
mod claims;
mod comparing;
mod condition;
mod deadline;
mod desire;
mod diagnose;
mod engine;
mod finalize;
mod flips;
mod gate;
mod grace;
mod guise;
mod holds;
mod key;
mod ledger;
pub mod limits;
mod look;
mod memory;
mod mend;
mod notices;
mod observe;
mod oddities;
mod operate;
mod options;
mod pace;
mod predictions;
pub mod project;
mod queue;
mod quiet;
mod reason;
mod registry;
mod rendering;
mod rendezvous;
mod renewal;
mod report;
mod resource_action;
mod rhythm;
mod sets;
pub mod settings;
mod shards;
mod snapshot;
mod spec;
mod store;
mod tell;
mod trace;
mod trigger;
mod trust;
mod vigil;
mod vitals;
mod wait_mark;
mod weight;
pub mod window;
mod words;

pub use ambience::Ambience;
pub use assess::{Assessment, Checks, health_of};
pub use bases::{Ways, get_base};
pub use belongings::{Belonging, Belongings};
pub use bootstrap::{bootstrap, ensure_default_project};
pub use condition::Condition;
pub use desire::Desired;
pub use engine::{Engine, EngineError};
pub use key::{AppKey, application_gvk, application_kind, project_kind};
pub use look::{Aim, Look, Looker};
pub use lynceus_appset::Cluster as RegisteredCluster;
pub use lynceus_cluster::{Clock, SystemClock};
pub use lynceus_post::Options as PostOptions;
pub use mend::{FileChange, MendError, patch_of};
pub use observe::{Disagreement, Observation};
pub use options::Options;
pub use pace::Pace;
pub use queue::Freshness;
pub use rendering::{Renderer, RenderingError, Request, Sourced};
pub use resource_action::{Call, NotPermitted, ResourceActionError};
pub use rhythm::Rhythm;
pub use sets::{
    CONFIRM_DELETIONS, Foreseen, Outlook, Preview, foresee, registered_cluster, set_gvk, set_kind,
};
pub use settings::{MetricWishes, Settings};
pub use vitals::Ailment;
pub use wait_mark::{WAITING, WaitMark};
pub use words::words;
