//! The bounds of the embedded Kubernetes, in one place.

/// The largest request body: 3 MiB, as the real server.
pub const REQUEST_BODY: usize = 3 * 1024 * 1024;

/// Answers from this size on are compressed for clients that accept it, as the real server does.
pub const GZIP_FROM: usize = 128 * 1024;

/// How many changes of one resource a watch may lie behind before it is told to start over (410).
pub const HISTORY_EVENTS: usize = 16 * 1024;

/// The most changes handed to a watch in one go.
pub const WATCH_BATCH: usize = 512;

/// How often an update is tried again when others keep changing the object.
pub const UPDATE_RETRIES: usize = 16;

/// A log larger than this (and than twice the last snapshot) is replaced by a snapshot.
pub const LOG_BYTES: u64 = 16 * 1024 * 1024;

/// How often a generated name is tried again when it is taken.
pub const NAME_TRIES: usize = 8;

/// The length of the random end of a generated name.
pub const NAME_SUFFIX: usize = 5;

/// The most that is kept of `generateName`, so that the whole stays within 63 characters.
pub const NAME_BASE: usize = 63 - NAME_SUFFIX;

/// How often a bookmark is sent to a watch that wants them, in seconds.
pub const BOOKMARK_SECONDS: i64 = 60;

/// How long a watch lasts that does not say, in seconds.
pub const WATCH_SECONDS: i64 = 1800;

/// The most operations in a JSON patch.
pub const PATCH_OPERATIONS: usize = 10_000;

/// How long the body of a request may take to arrive, in seconds.
pub const BODY_SECONDS: u64 = 60;

/// How long a TLS handshake or a request's head may take, in seconds.
pub const HANDSHAKE_SECONDS: u64 = 10;

/// How long connections may go on after a shutdown began, in seconds.
pub const SHUTDOWN_SECONDS: u64 = 2;

/// The most bytes of a request's head.
pub const HEADER_BYTES: usize = 1024 * 1024;

/// How long a conversion webhook may take, in seconds.
pub const CONVERSION_SECONDS: i64 = 30;

/// Bytes of a webhook's answer.
pub const HOOK_ANSWER_BYTES: usize = 3 * 1024 * 1024;

/// How often controllers take turns at one point in time before they are made to wait.
pub const SETTLE_ROUNDS: usize = 10_000;

/// The most bytes of a stage or a snapshot, unpacked: 256 MiB.
pub const SNAPSHOT_BYTES: usize = 256 * 1024 * 1024;

/// The most nodes of a stage: each has an address and a range of addresses for its pods.
pub const STAGE_NODES: usize = 3000;

/// How soon an operator may ask to look at an object again though nothing changes.
pub const OPERATOR_AGAIN: jiff::SignedDuration = jiff::SignedDuration::from_secs(1);

/// How often an operator looks at an object within a second before it waits: for a second, and twice as long each time.
pub const OPERATOR_LOOKS: u32 = 100;

/// The longest that it waits then.
pub const OPERATOR_REST: jiff::SignedDuration = jiff::SignedDuration::from_secs(300);

/// How many different reasons the events of operators in Lua may have, and how long each may be.
pub const OPERATOR_REASONS: usize = 1000;

/// See [`OPERATOR_REASONS`].
pub const OPERATOR_REASON_BYTES: usize = 128;

/// Of how many images an operator remembers whether they are its own.
pub const OPERATOR_IMAGES: usize = 1000;

/// Of how many makers and kinds of objects it is remembered what the last one came to.
pub const PRECEDENTS: usize = 1000;
