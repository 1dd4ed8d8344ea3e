//! The bounds of what this crate accepts, in one place.

/// How deep an OpenAPI schema may nest before the rest of it is taken as untyped.
pub const SCHEMA_DEPTH: usize = 200;
