//! Queue, reconcile, execute, status: what makes a cluster as Git says, and keeps it so.
//!
//! [`Engine::reconcile`] is the whole path for one application: its deletion, its operation, a [`Look`] at Git and the
//! cluster, its status, and whether it should sync by itself. The rest of this crate is one file for each of these steps,
//! and what makes them happen: [`Engine::run`] works a queue that changes in the cluster and new commits fill.
//!
//! The engine is given a cluster and a clock. It never knows whether they are real.

mod act;
mod assess;
mod auto;
mod bootstrap;
mod clock;
mod condition;
mod desire;
mod engine;
mod finalize;
mod key;
mod ledger;
pub mod limits;
mod look;
mod operate;
pub mod project;
mod queue;
mod rendering;
mod report;
mod settings;
mod trigger;
mod wait_mark;
mod words;

pub use assess::{Assessment, health_of};
pub use bootstrap::bootstrap;
pub use clock::{Clock, SystemClock};
pub use condition::Condition;
pub use desire::Desired;
pub use engine::{Engine, EngineError, Options};
pub use key::{AppKey, application_gvk, application_kind, project_kind};
pub use look::{Aim, Look, Looker, destination};
pub use queue::Freshness;
pub use rendering::{Renderer, RenderingError, Sourced};
pub use settings::Settings;
pub use wait_mark::{WAITING, WaitMark};
pub use words::words;
