//! Every bound of this crate, in one place.

use std::time::Duration;

/// How many objects one page of a list asks for.
pub(crate) const PAGE: usize = 500;

/// The largest answer that is read, but for lists, which come in pages: 64 MiB.
pub(crate) const ANSWER_BYTES: usize = 64 << 20;

/// The largest single watch event: an object is at most 3 MiB in etcd, and an event wraps one.
pub(crate) const EVENT_BYTES: usize = 16 << 20;

/// How long a request other than a watch may take.
pub(crate) const REQUEST: Duration = Duration::from_secs(60);

/// How long the server is asked to keep a watch open; a little less than proxies cut connections after.
pub(crate) const WATCH: Duration = Duration::from_secs(290);

/// The first wait after a kind could not be listed or watched; it doubles up to [`RETRY_MAX`].
pub(crate) const RETRY_MIN: Duration = Duration::from_millis(250);

/// The longest wait between two tries of a kind that fails.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(30);

/// How many kinds are listed at the same time when a cluster is first read.
pub(crate) const PARALLEL_LISTS: usize = 16;

/// How many changes a slow listener may lag behind before it is told to look at everything again.
pub(crate) const CHANGES: usize = 4096;

/// How often an apply is tried again when another writer was faster.
pub(crate) const CONFLICT_TRIES: usize = 5;

/// How many deletions are remembered before they are forgotten all at once.
pub(crate) const DELETED: usize = 20_000;

/// How often a destination is asked whether it is there.
pub(crate) const PROBE: Duration = Duration::from_secs(10);

/// How long it may take to answer that.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// How often in a row it has to fail before it counts as away.
pub(crate) const MISSES: u32 = 2;

/// The first wait before a destination is connected again; it doubles up to [`RECONNECT_MAX`].
pub(crate) const RECONNECT_MIN: Duration = Duration::from_secs(1);

/// The longest wait between two tries of a destination.
pub(crate) const RECONNECT_MAX: Duration = Duration::from_secs(60);
