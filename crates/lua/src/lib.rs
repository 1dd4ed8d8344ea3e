//! The sandbox in which users' scripts run: health checks and actions in Lua, as Argo CD's users write them.
//!
//! A script sees the object as `obj`, and returns a table. It can reach no files, no network, no environment and no
//! clock but the time that it is told; instructions and memory are counted (see [`limits`]), and nothing that it does
//! can be seen by the next one. A caller that has a clock can stop it through [`World::stop`].

mod action;
mod convert;
mod discovery;
mod error;
mod library;
pub mod limits;
mod machine;
mod meter;
mod script;
mod source;
mod verdict;

pub use action::Operation;
pub use discovery::Offer;
pub use error::{ScriptError, ScriptErrorKind};
pub use machine::Libraries;
pub use meter::World;
pub use script::Script;
pub use verdict::Verdict;
