//! From a change set to a plan, and from a plan to steps.
//!
//! [`plan`] says what a sync will do; [`Run`] does it one [`Step`] at a time, without touching a cluster or a clock
//! itself.

mod action;
pub mod auto;
mod cron;
pub mod deletion;
mod draft;
mod limits;
mod order;
mod plan;
mod run;
mod settings;
mod task;
pub mod windows;

pub use action::{Action, ActionId, Deed, Done, Failure, Method, Report, Write};
pub use cron::{CronError, Schedule};
pub use draft::{Admission, Input, NamespaceMetadata, OwnNamespace, plan};
pub use plan::{Phase, Plan, Wave};
pub use run::{Health, Ledger, Observed, Outcome, Record, Run, Step, images};
pub use settings::{CLIENT_SIDE_MANAGER, Settings};
pub use task::{Fault, HookDeletion, Task, Work};
