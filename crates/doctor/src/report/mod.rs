//! What was found, for people and for programs.

mod text;

pub use text::text;
