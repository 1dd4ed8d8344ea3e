//! Go's `text/template` as a library.
//!
//! A template is parsed once, can be shared between threads, and is executed on a [`Value`] that
//! belongs to one thread. What it prints, and how it fails, is Go's to the byte.

mod builtin;
mod callable;
mod complex;
mod context;
mod error;
mod exec;
mod failure;
pub mod format;
mod function;
mod hash;
pub mod json;
pub mod limits;
mod list;
mod map;
mod memory;
mod nesting;
pub mod number;
mod object;
mod parse;
pub mod semver;
pub mod sprig;
mod stack;
mod templates;
mod text;
mod trace;
pub mod types;
mod unicode;
mod value;

pub use callable::{Callable, fit};
pub use context::{Context, Environment, MissingKey, Options, Text};
pub use error::{Call, Error, ErrorKind, Location};
pub use failure::Failure;
pub use function::{Body, Function, Functions, Signature};
pub use limits::Limits;
pub use list::List;
pub use map::Map;
pub use object::{Json, Method, Object};
pub use parse::Tree;
pub use templates::{Parsed, Templates};
pub use text::{Str, bytes_of, held_byte};
pub use trace::{Made, Path, Segment, Trace};
pub use types::{Int, Kind, Shape, Type, TypeInfo};
pub use value::Value;
