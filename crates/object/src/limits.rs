//! The bounds of what this crate accepts, in one place.

/// How deep an OpenAPI schema may nest before the rest of it is taken as untyped.
pub const SCHEMA_DEPTH: usize = 200;

/// How much the `copy` operations of one JSON patch may add: as much as an API server takes in a request.
pub const JSON_PATCH_COPY_BYTES: usize = 3 * 1024 * 1024;

/// How many operations a JSON patch may have before an API server refuses it.
pub const JSON_PATCH_OPERATIONS: usize = 10_000;

/// How many filters and unions of a JSONPath template may stand inside each other, and how many ranges.
pub const JSONPATH_DEPTH: usize = 64;

/// How many values one evaluation of a JSONPath template may go through.
///
/// `['a','a']` doubles what has been found, so that a short template could fill any memory.
pub const JSONPATH_VALUES: usize = 8_000_000;

/// How many maps and lists may stand inside each other, in YAML and in JSON.
///
/// Everything that walks a value recurses, and the stack of a worker thread has room for this many
/// levels even in an unoptimised build. Real manifests stay below 100.
pub const MAX_DEPTH: usize = 512;

/// How many bytes one document may have unless the caller says otherwise.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// How far before its `:` a YAML key may begin, in characters; the number is the specification's.
pub(crate) const MAX_KEY_CHARS: usize = 1024;
/// How deep protobuf messages may nest.
pub const PROTOBUF_DEPTH: usize = 200;

/// How many bytes of a YAML document may come from repeating what has an anchor.
///
/// go-yaml bounds only the number of nodes, so that one long string could be repeated without end.
pub(crate) const MAX_ALIAS_BYTES: u64 = 16 << 20;

/// How many duplicate keys are told of one document; Kubernetes stops there too.
pub(crate) const MAX_DUPLICATES: usize = 100;

/// How many problems are told of one file, and how many of them with the column.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;
