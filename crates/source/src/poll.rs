//! When to ask a repository again.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

/// How often repositories are asked whether they have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The time between two questions.
    pub interval: Duration,
    /// The most that is added to it, so that not all repositories are asked at once.
    pub jitter: Duration,
}

impl Default for Schedule {
    /// As in Argo CD: every two minutes, and up to one more.
    fn default() -> Self {
        Schedule { interval: Duration::from_secs(120), jitter: Duration::from_secs(60) }
    }
}

impl Schedule {
    /// How long to wait after question number `round` about `key` before the next one.
    ///
    /// The same arguments give the same answer: the jitter comes from a hash, not from a random number.
    pub fn pause(&self, key: &str, round: u64) -> Duration {
        let mut digest = Sha256::new();
        digest.update(round.to_le_bytes());
        digest.update(key);
        let hash: [u8; 32] = digest.finalize().into();
        let [a, b, c, d, ..] = hash;
        // A number from 0 up to, but not including, 1.
        let part = f64::from(u32::from_le_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0);
        self.interval + self.jitter.mul_f64(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_over_the_jitter_and_can_be_told_in_advance() {
        let schedule = Schedule::default();
        let pauses: Vec<Duration> = (0..200).map(|round| schedule.pause("https://h/x", round)).collect();
        assert!(pauses.iter().all(|pause| (120..180).contains(&pause.as_secs())));
        assert!(pauses.iter().any(|pause| pause.as_secs() < 130));
        assert!(pauses.iter().any(|pause| pause.as_secs() > 170));
        assert_eq!(pauses[7], schedule.pause("https://h/x", 7));
        assert_ne!(pauses[7], schedule.pause("https://h/y", 7));
    }

    #[test]
    fn without_jitter_the_pause_is_the_interval() {
        let schedule = Schedule { interval: Duration::from_secs(5), jitter: Duration::ZERO };
        assert_eq!(schedule.pause("x", 1), Duration::from_secs(5));
    }
}
