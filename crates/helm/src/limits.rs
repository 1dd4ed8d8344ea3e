//! How much of anything is taken in. What Helm limits is limited to the same number.

/// The most bytes that one file of a chart may have, as in Helm.
pub const MAX_FILE_BYTES: u64 = 5 * 1024 * 1024;

/// The most bytes that the files of a chart archive may have together, as in Helm.
pub const MAX_ARCHIVE_BYTES: u64 = 100 * 1024 * 1024;

/// The most bytes that the compressed form of a chart may have.
pub const MAX_COMPRESSED_BYTES: usize = 100 * 1024 * 1024;

/// The most files that a chart may have, those of its dependencies included.
pub const MAX_FILES: usize = 50_000;

/// The most bytes that the files of a chart directory may have together.
pub const MAX_DIRECTORY_BYTES: u64 = 512 * 1024 * 1024;

/// How many directories may stand inside each other in a chart; links may lead back up.
pub const MAX_DIRECTORY_DEPTH: usize = 64;

/// How many charts may stand inside each other.
pub const MAX_CHART_DEPTH: usize = 32;

/// The most bytes that the extended header of one archive member may have.
pub const MAX_HEADER_BYTES: u64 = 1024 * 1024;

/// The most bytes that one file of values may have.
pub const MAX_VALUES_BYTES: usize = 32 * 1024 * 1024;

/// The greatest index in a list that `--set` takes, as in Helm.
pub const MAX_SET_INDEX: i64 = 65_536;

/// How many names a key of `--set` may have, as in Helm.
pub const MAX_SET_LEVELS: usize = 30;

/// How many lists a key of `--set` may name inside each other; Helm has no limit.
pub const MAX_SET_LISTS: usize = 100;

/// How many empty places one text of `--set` may make in lists by naming a later one; Helm has no limit.
pub const MAX_SET_GAPS: usize = 1_000_000;

/// How often one template may be included while it is being included, as in Helm.
pub const MAX_INCLUDES: u32 = 1_000;

/// The most bytes that `values.schema.json` may have.
pub const MAX_SCHEMA_BYTES: usize = 5 * 1024 * 1024;

/// The most bytes of a value that a message tells.
pub const MAX_SHOWN_BYTES: usize = 1024 * 1024;

/// How many schemas one value may be led through, one after the other.
pub const MAX_SCHEMA_DEPTH: usize = 100;

/// How many schemas one value may have to meet.
pub const MAX_SCHEMA_STEPS: u64 = 100_000;

/// How many steps the templates of a chart may take together: some hundred times what large charts need.
pub const MAX_STEPS: u64 = 20_000_000;

/// How many bytes of text and values the templates of a chart may make together, in use or not.
pub const MAX_BYTES: u64 = 512 << 20;
