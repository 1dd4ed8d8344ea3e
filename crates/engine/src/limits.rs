//! Every bound and period of this crate, in one place.

use std::time::Duration;

/// How often a source may find that it needs something more from elsewhere.
pub(crate) const NEEDS: usize = 4;

/// How long the files of a source may take to become manifests.
pub const RENDER: Duration = Duration::from_secs(120);

/// How often an application is looked at although nothing seems to have changed, as in Argo CD.
pub const RESYNC: Duration = Duration::from_secs(120);

/// By how much that is stretched at random, so that a thousand applications do not come at once.
pub const RESYNC_JITTER: Duration = Duration::from_secs(60);

/// How often a repository on this machine is looked at; reading a reference file costs nothing.
pub const LOCAL_POLL: Duration = Duration::from_secs(2);

/// How often a sync that waits is looked at although nothing seems to have changed.
pub const OPERATION_POLL: Duration = Duration::from_secs(1);

/// How many applications are worked on at the same time.
pub const WORKERS: usize = 20;

/// Changes of one application that arrive within this time are one reason to look at it.
pub const SETTLE: Duration = Duration::from_millis(50);

/// The first wait after a reconcile failed for a reason that may pass; it doubles up to [`RETRY_MAX`].
pub const RETRY_MIN: Duration = Duration::from_millis(500);

/// The longest wait between two tries of a reconcile.
pub const RETRY_MAX: Duration = Duration::from_secs(60);

/// How many requests one sync has under way at the same time.
pub const PARALLEL_ACTIONS: usize = 10;

/// How many bytes of loaded charts are kept.
pub const CHART_BYTES: usize = 256 << 20;

/// How long a definition is given to be established.
pub const ESTABLISHED: Duration = Duration::from_secs(10);

/// The longest condition or operation message that is stored, in characters.
pub const MESSAGE: usize = 4_000;

/// How often something that waits for a cluster to come back is looked at although its coming back is told.
pub const CLUSTER_POLL: Duration = Duration::from_secs(30);

/// How often a write is tried again when others write the same Application.
pub const OVERTAKEN: usize = 5;

/// How long reconciles under way may take to come to an end when the engine is stopped.
pub const STOP: Duration = Duration::from_secs(25);

/// How long work may be due while nothing is done before the engine counts as stuck.
pub const STANDSTILL: Duration = Duration::from_secs(300);

/// How long the Leases may go unattended before the engine counts as stuck.
pub const LEASE_SILENCE: Duration = Duration::from_secs(60);
