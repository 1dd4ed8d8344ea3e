//! Every bound of this crate, in one place.

use std::time::Duration;

/// How many objects one page of a list asks for.
pub(crate) const PAGE: usize = 500;

/// The largest answer that is read, but for lists, which come in pages: 64 MiB.
pub(crate) const ANSWER_BYTES: usize = 64 << 20;

/// The largest list that is read in one piece, when its pages expired before they were read: 1 GiB.
pub(crate) const LIST_BYTES: usize = 1 << 30;

/// The largest single watch event: an object is at most 3 MiB in etcd, and an event wraps one.
pub(crate) const EVENT_BYTES: usize = 16 << 20;

/// How long a request other than a watch may take.
pub(crate) const REQUEST: Duration = Duration::from_secs(60);

/// How long the server is at least asked to keep a watch open; as much again is added at random.
pub(crate) const WATCH: Duration = Duration::from_secs(290);

/// How long a watch may say nothing before it is opened anew. Servers send a bookmark about every minute.
pub(crate) const SILENCE: Duration = Duration::from_secs(150);

/// How long the objects of a streaming list may keep us waiting for the next one.
pub(crate) const STREAM: Duration = Duration::from_secs(20);

/// The first wait after a kind could not be listed or watched; it doubles up to [`RETRY_MAX`].
pub(crate) const RETRY_MIN: Duration = Duration::from_millis(250);

/// The longest wait between two tries of a kind that fails, before it is stretched at random.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(30);

/// The longest pause that a server is granted when it asks for one.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// How often a request is sent again because the server asked for a pause.
pub(crate) const RETRY_AFTER_TRIES: usize = 10;

/// How often a watch that fails is resumed before the kind is listed anew.
pub(crate) const RESUME_TRIES: u32 = 5;

/// How long we wait before we try again to read a kind that we may not read.
pub(crate) const FORBIDDEN: Duration = Duration::from_secs(300);

/// For how long a server has to be away until it is more than a restart.
pub(crate) const OUTAGE: Duration = Duration::from_secs(10);

/// How long a server is given to answer when it is looked whether it is there.
pub(crate) const LOOK: Duration = Duration::from_secs(5);

/// The longest wait between two looks whether a server is back.
pub(crate) const OUTAGE_RETRY_MAX: Duration = Duration::from_secs(8);

/// How often it is looked at least whether a server is still there and the same; up to twice that at random.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(20);

/// How often it is looked at most whether a server was set back to an older state.
pub(crate) const VERSION_CHECK: Duration = Duration::from_secs(10);

/// How long the start waits for the next kind to be read before it goes on without the rest.
pub(crate) const FILL: Duration = Duration::from_secs(10);

/// How long it waits for the kinds that our own settings are of.
pub(crate) const FILL_HOME: Duration = Duration::from_secs(300);

/// How many kinds are listed at the same time when a cluster is first read.
pub(crate) const PARALLEL_LISTS: usize = 16;

/// How many changes a slow listener may lag behind before it is told to look at everything again.
pub(crate) const CHANGES: usize = 4096;

/// How often an apply is tried again when another writer was faster.
pub(crate) const CONFLICT_TRIES: usize = 5;

/// How many parts of objects are remembered so that equal ones can share them; each is small.
pub(crate) const SHARED: usize = 1 << 15;

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

/// How many objects are kept whole because somebody asked for them by name.
pub(crate) const WANTED: usize = 200_000;

/// How many objects are fetched at the same time because less of them is kept than should be.
pub(crate) const PARALLEL_FETCHES: usize = 8;

/// How long after a change of definitions it is asked a second time what the cluster serves.
pub(crate) const DEFINED: Duration = Duration::from_secs(1);

/// How long it is not asked what the cluster serves after it was asked because of a definition.
pub(crate) const BURST: Duration = Duration::from_millis(100);
