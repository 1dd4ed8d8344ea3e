//! When everything of an application was last rendered anew, for those who want that from time to time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::key::AppKey;
use crate::queue::Freshness;

/// The last time for each application, on the monotonic clock. A process that begins counts anew.
#[derive(Default)]
pub(crate) struct Renewals(Mutex<HashMap<AppKey, Duration>>);

impl Renewals {
    /// How fresh a look has to be: what was asked for, or everything anew if that is due.
    pub(crate) fn freshness(
        &self,
        key: &AppKey,
        asked: Freshness,
        period: Option<Duration>,
        now: Duration,
    ) -> Freshness {
        let Some(period) = period else { return asked };
        let mut times = self.times();
        let last = *times.entry(key.clone()).or_insert(now);
        let fresh = if now.saturating_sub(last) >= period { Freshness::Anew } else { asked };
        if fresh == Freshness::Anew {
            times.insert(key.clone(), now);
        }
        fresh
    }

    /// When it is due the next time.
    pub(crate) fn due(&self, key: &AppKey, period: Duration) -> Option<Duration> {
        self.times().get(key).map(|last| *last + period)
    }

    pub(crate) fn forget(&self, key: &AppKey) {
        self.times().remove(key);
    }

    fn times(&self) -> MutexGuard<'_, HashMap<AppKey, Duration>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_rendered_anew_once_in_a_period() {
        let renewals = Renewals::default();
        let key = AppKey::new("argocd", "shop");
        let at = |second, asked| {
            renewals.freshness(&key, asked, Some(Duration::from_secs(100)), Duration::from_secs(second))
        };
        assert_eq!(at(50, Freshness::Recent), Freshness::Recent);
        assert_eq!(at(149, Freshness::Latest), Freshness::Latest);
        assert_eq!(at(150, Freshness::Recent), Freshness::Anew);
        assert_eq!(renewals.due(&key, Duration::from_secs(100)), Some(Duration::from_secs(250)));
        assert_eq!(at(200, Freshness::Anew), Freshness::Anew, "somebody asked");
        assert_eq!(at(260, Freshness::Recent), Freshness::Recent);
        assert_eq!(renewals.freshness(&key, Freshness::Recent, None, Duration::MAX), Freshness::Recent);
    }
}
