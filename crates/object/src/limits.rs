//! The bounds of what this crate accepts, in one place.

/// How deep an OpenAPI schema may nest before the rest of it is taken as untyped.
pub const SCHEMA_DEPTH: usize = 200;

/// How much the `copy` operations of one JSON patch may add: as much as an API server takes in a request.
pub const JSON_PATCH_COPY_BYTES: usize = 3 * 1024 * 1024;

/// How many operations a JSON patch may have before an API server refuses it.
pub const JSON_PATCH_OPERATIONS: usize = 10_000;
