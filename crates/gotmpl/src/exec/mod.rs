//! The evaluator.

mod arg;
mod call;
mod dynamic;
mod eval;
mod field;
mod quick;
mod state;
mod trace;
mod walk;

pub(crate) use dynamic::Dynamic;
pub(crate) use state::State;
