//! Every bound and period of this crate, in one place.

use std::time::Duration;

/// How often a source may find that it needs something more from elsewhere.
pub(crate) const NEEDS: usize = 4;

/// How long the files of a source may take to become manifests if nobody says otherwise, as in Argo CD.
pub const RENDER: Duration = Duration::from_secs(60);

/// How often an application is looked at although nothing seems to have changed, as in Argo CD.
pub const RESYNC: Duration = Duration::from_secs(120);

/// By how much that is stretched at random, so that a thousand applications do not come at once.
pub const RESYNC_JITTER: Duration = Duration::from_secs(60);

/// How often a repository on this machine is looked at; reading a reference file costs nothing.
pub const LOCAL_POLL: Duration = Duration::from_secs(2);

/// How often a sync that waits is looked at although nothing seems to have changed.
pub const OPERATION_POLL: Duration = Duration::from_secs(1);

/// How often something that waits for a window whose opening nobody can tell is looked at.
pub const WINDOW_POLL: Duration = Duration::from_secs(60);

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

/// How often something that is to be pruned may change under our hands before the sync tells of it.
pub const PRUNE_ATTEMPTS: usize = 10;

/// How many objects of one application a server is asked about at the same time.
pub const PARALLEL_PREDICTIONS: usize = 10;

/// How many answers of servers are kept before they are forgotten all at once.
pub const PREDICTIONS: usize = 50_000;

/// How many objects' differences are remembered before they are forgotten all at once.
pub const FLIPS: usize = 20_000;

/// How many differences of one object are remembered.
pub const FLIPS_PER_OBJECT: usize = 100;

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

/// The most reasons that are told of one application.
pub const REASONS: usize = 40;

/// The most objects of one application that are said to differ.
pub const REASON_OBJECTS: usize = 10;

/// The most fields of one object that are said to differ.
pub const REASON_FIELDS: usize = 3;

/// The most objects that are fetched at once to find reasons, and how often that is done for one look.
pub const REASON_FETCHES: usize = 30;
/// See [`REASON_FETCHES`].
pub const REASON_ROUNDS: usize = 4;

/// How many of the things that a deletion waits for are told.
pub const WAITS: usize = 50;

/// How many bytes resources, results of the last sync and history may weigh together on an Application. The store of a
/// cluster takes 1.5 MiB for the whole object.
pub const STATUS_BYTES: usize = 1_300_000;

/// How many of them are for resources at most.
pub const RESOURCES_BYTES: usize = 850_000;

/// How many of them are for the history at most.
pub const HISTORY_BYTES: usize = 200_000;

/// How many are for results at least.
pub const RESULTS_BYTES: usize = 250_000;

/// How many conditions of one sort stand on an Application.
pub const CONDITIONS: usize = 100;

/// How many applications and kinds are looked at in parallel for a snapshot.
pub const SNAPSHOT_LOOKS: usize = 8;

/// How deep Applications that are not there yet may stand in one another.
pub const SNAPSHOT_GENERATIONS: usize = 8;

/// How many names beside a path that is not there are written down in a snapshot.
pub const SNAPSHOT_BESIDE: usize = 200;

/// For how many applications that are not well it is looked up which of their values cover others, and how many of each are tried.
pub const OVERRIDDEN: usize = 200;
/// See [`OVERRIDDEN`].
pub const OVERRIDES: usize = 8;

/// How many files of a repository are searched for an Application that is to be changed.
pub const MEND_FILES: usize = 20_000;

/// How many changes of value files are tried for a field that no place in a file is known for.
pub const MEND_TRIALS: usize = 40;

/// How many fields of one application are told that are others at each rendering.
pub const CHANCES: usize = 8;

/// How many options of a value file are tried the other way round together with a value that may not count because of them.
pub const MEND_OPTIONS: usize = 4;

/// How many things that are lacking are looked for in sources that are rendered otherwise, and how many applications are asked.
pub const LACKS: usize = 64;
/// See [`LACKS`].
pub const LACK_APPLICATIONS: usize = 32;

/// How many causes are looked into for the files that would mend them, so that those of one slip are told as one.
pub const SLIPS: usize = 32;

/// How many causes are told with where in Git they are written, and for how many fields of each.
pub const LOCATED: usize = 12;
/// See [`LOCATED`].
pub const LOCATED_FIELDS: usize = 2;

/// How deep value files are searched for them.
pub const MEND_DEPTH: usize = 12;

/// How many applications are told of at once.
pub const MESSENGERS: usize = 4;

/// How often applications are looked at for what only time makes true, as in Argo CD.
pub const NOTICES_RESYNC: Duration = Duration::from_secs(60);

/// How long somebody may take to send what they have said to send, before another does.
pub const NOTIFYING: Duration = Duration::from_secs(120);

/// The pause after the first message that was not taken; it doubles.
pub const NOTICE_RETRY_MIN: Duration = Duration::from_secs(10);

/// The longest pause.
pub const NOTICE_RETRY_MAX: Duration = Duration::from_secs(900);

/// How often an expression or a template may turn out to need something more.
pub const NOTICE_ROUNDS: usize = 20;

/// How many faults are remembered, so that none is told again and again.
pub const NOTICE_FAULTS: usize = 1_000;

/// How many namespaces' own configurations of notifications are remembered.
pub const OFFICES: usize = 1_000;

/// How long the doctor waits between two looks for root causes to tell of, for each [`EXAMINED`] applications.
pub const EXAMINE: Duration = Duration::from_secs(60);

/// How many applications one wait is for.
pub const EXAMINED: usize = 2_000;

/// How often an ApplicationSet may find that it needs something more: as often as generators stand inside each other, and
/// a host is asked in three steps.
pub(crate) const SET_ROUNDS: usize = 16;

/// How many questions of one ApplicationSet are under way at the same time.
pub(crate) const SET_QUESTIONS: usize = 8;

/// How long a failure to get what an ApplicationSet needs is taken for granted.
pub(crate) const SET_FAILURE: Duration = Duration::from_secs(30);

/// How long after a failure an ApplicationSet is generated again, as in Argo CD.
pub(crate) const SET_RETRY: Duration = Duration::from_secs(180);

/// How often hosts of repositories and plugins are asked if nobody says otherwise, as in Argo CD.
pub(crate) const SET_HOST_PERIOD: Duration = Duration::from_secs(30 * 60);

/// How often an ApplicationSet that is being deleted is looked at although nothing seems to have changed.
pub(crate) const SET_DELETION_POLL: Duration = Duration::from_secs(10);

/// How many Applications that wait for their step are looked at at once when what they wait for has changed.
pub(crate) const SET_WAITING: usize = 200;

/// How many fields are named of an Application whose change was taken back.
pub(crate) const SET_FIELDS: usize = 5;

/// How many events one round of an ApplicationSet makes.
pub(crate) const SET_EVENTS: usize = 50;

/// How long the message of an event may be; the API server takes no more.
pub(crate) const EVENT_CHARACTERS: usize = 1_000;

/// How often a progressive sync that waits is looked at although nothing seems to have changed.
pub(crate) const SET_ROLLOUT_POLL: Duration = Duration::from_secs(30);
