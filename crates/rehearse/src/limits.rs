//! Every bound and period of this crate, in one place.

use std::time::Duration;

use jiff::SignedDuration;

/// How long a rehearsal may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long everything has to be Synced and Healthy before it counts as finished, on the rehearsal's clock.
    pub rest: SignedDuration,
    /// How long nothing new may happen before what is not finished counts as stuck, on the rehearsal's clock.
    pub stuck: SignedDuration,
    /// The longest time that is played, on the rehearsal's clock.
    pub played: SignedDuration,
    /// The longest time that it may take, on the machine's clock.
    pub wall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rest: REST, stuck: STUCK, played: PLAYED, wall: WALL }
    }
}

/// See [`Limits::rest`]. A container that ends soon after its start has ended by then.
pub const REST: SignedDuration = SignedDuration::from_secs(90);

/// See [`Limits::stuck`]. Deployments give up after ten minutes, and pauses between retries are shorter.
pub const STUCK: SignedDuration = SignedDuration::from_mins(30);

/// See [`Limits::played`].
pub const PLAYED: SignedDuration = SignedDuration::from_hours(12);

/// See [`Limits::wall`].
pub const WALL: Duration = Duration::from_secs(300);

/// The smallest step of the clock: what happens within it counts as happening at once.
pub(crate) const STEP: SignedDuration = SignedDuration::from_secs(1);

/// The largest step of the clock.
pub(crate) const STRIDE: SignedDuration = SignedDuration::from_mins(5);

/// How often in a row nothing has to happen before everybody is idle.
pub(crate) const QUIET: usize = 2;

/// How often other tasks of this thread get their turn before that counts as nothing.
pub(crate) const TURNS: usize = 40;

/// How often a sync that has waited for long is looked at.
pub(crate) const WAITING_LONG: Duration = Duration::from_secs(120);

/// How often an application is looked at although nothing seems to have changed.
pub(crate) const RESYNC: Duration = Duration::from_mins(10);

/// How many applications are rendered at the same time to see what there is.
pub(crate) const RENDERED_AT_ONCE: usize = 8;

/// How deep applications that create applications are followed.
pub(crate) const GENERATIONS: usize = 12;

/// The largest file in which manifests are looked for.
pub(crate) const MANIFEST_BYTES: u64 = 8 << 20;

/// How many files of a repository are looked into.
pub(crate) const FILES: usize = 200_000;

/// The part of an application's objects whose deletion is a mass deletion, in percent.
pub const MASS_OF_APPLICATION: usize = 50;

/// The part of all objects whose deletion is a mass deletion, in percent.
pub const MASS_OF_ALL: usize = 20;

/// Fewer deletions than this are no mass.
pub const MASS_LEAST: usize = 3;

/// How many changed fields of one object are told.
pub(crate) const FIELDS: usize = 8;

/// How many names stand behind an assumption.
pub(crate) const NAMED: usize = 5;

/// How much of a revision is laid out to be rehearsed, in bytes.
pub(crate) const CHECKOUT_BYTES: u64 = 1 << 30;
