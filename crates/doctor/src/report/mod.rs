//! What was found, for people and for programs.

mod chain;
mod json;
mod lines;
mod markdown;
mod text;

pub use json::json;
pub use markdown::markdown;
pub use text::text;
