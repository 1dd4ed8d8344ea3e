//! The numbers that bound a sync.

use jiff::SignedDuration;

/// How long controllers get to react between two waves, so that health is not read from a stale object.
pub(crate) const WAVE_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// How far the cluster's clock may run behind ours when a hook's age is compared with the operation's.
pub(crate) const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(5);

/// How many characters of a revision go into the name of a hook that has none.
pub(crate) const REVISION_IN_NAME: usize = 7;

/// How often an automated sync is tried again where the application does not say.
pub(crate) const AUTOMATED_RETRIES: i64 = 5;

/// The first pause between two attempts to heal drift of the same commit.
pub(crate) const HEAL_BACKOFF: SignedDuration = SignedDuration::from_secs(2);

/// By how much that pause grows each time.
pub(crate) const HEAL_FACTOR: i64 = 3;

/// The longest such pause.
pub(crate) const HEAL_BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(300);

/// How many days ahead the next time of a schedule is looked for: five years, as Argo CD does.
pub(crate) const SCHEDULE_DAYS: usize = 5 * 366;

/// How many openings and closings of sync windows are followed to tell when a sync may begin.
pub(crate) const WINDOW_TURNS: usize = 100;

/// How long a hook around a deletion that has failed stays before it is made anew.
pub(crate) const DELETE_HOOK_RETRY: SignedDuration = SignedDuration::from_secs(30);
