//! How often somebody may fail to log in.
//!
//! An attempt is counted before the password is looked at, so that attempts at the same time cannot see each other's count
//! before it is made. The failures of accounts stand in a Secret, so that a restart forgets none and servers count
//! together. Names that no account has are counted in memory only: nothing can be guessed there, and however many somebody
//! makes up, no account's count has to give way to them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::vault::{self, Changes, Vault};
use crate::refusal::{Code, Refusal};

/// The Secret of failures.
const SECRET: &str = "lynceus-login-failures";

/// Counts attempts.
pub(super) struct Failures {
    limits: Limits,
    /// What this server knows of accounts, for the case that the Secret cannot be written.
    accounts: tokio::sync::Mutex<HashMap<String, Attempts>>,
    strangers: Mutex<HashMap<String, Attempts>>,
    at_once: Option<Semaphore>,
}

/// How much is too much, under Argo CD's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// How many failures in a row.
    pub(super) count: u32,
    /// For how long they count; for ever if zero.
    pub(super) window: Duration,
    /// Of how many names that no account has the failures are kept.
    pub(super) names: usize,
    /// How many logins at the same time; any number if zero.
    pub(super) at_once: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Attempts {
    count: u32,
    last: i64,
}

impl Limits {
    /// Reads them from the environment.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str, least: u32, default: u32| {
            let number = variable(name).and_then(|text| text.parse::<u32>().ok());
            number.filter(|number| *number >= least).unwrap_or(default)
        };
        let room = |name: &str, least: u32, default: u32| {
            usize::try_from(number(name, least, default)).unwrap_or(usize::MAX)
        };
        Limits {
            count: number("ARGOCD_SESSION_FAILURE_MAX_FAIL_COUNT", 1, 5),
            window: Duration::from_secs(number("ARGOCD_SESSION_FAILURE_WINDOW_SECONDS", 0, 300).into()),
            names: room("ARGOCD_SESSION_MAX_CACHE_SIZE", 1, 10_000),
            at_once: room("ARGOCD_MAX_CONCURRENT_LOGIN_REQUESTS_COUNT", 0, 50),
        }
    }

    fn is_over(&self, attempts: Attempts, now: i64) -> bool {
        let window = i64::try_from(self.window.as_secs()).unwrap_or(i64::MAX);
        window > 0 && now.saturating_sub(attempts.last) > window
    }

    /// One more attempt, if there may be one.
    fn next(&self, attempts: Attempts, now: i64) -> Option<Attempts> {
        let attempts = if self.is_over(attempts, now) { Attempts::default() } else { attempts };
        (attempts.count < self.count).then(|| Attempts { count: attempts.count + 1, last: now })
    }
}

impl Failures {
    pub(super) fn new(limits: Limits) -> Self {
        let at_once = (limits.at_once > 0).then(|| Semaphore::new(limits.at_once));
        Failures { limits, accounts: Default::default(), strangers: Mutex::default(), at_once }
    }

    /// A place among those who log in at the same time.
    pub(super) fn place(&self) -> Result<Option<SemaphorePermit<'_>>, Refusal> {
        let place = self.at_once.as_ref().map(Semaphore::try_acquire).transpose();
        place
            .map_err(|_| Refusal::new(Code::ResourceExhausted, "too many logins at the same time; try again"))
    }

    /// Counts an attempt before it is made. No if there were too many.
    pub(super) async fn count(&self, vault: &Vault, name: &str, is_account: bool, now: i64) -> bool {
        if !is_account {
            return self.count_stranger(name, now);
        }
        let mut accounts = self.accounts.lock().await;
        let known = accounts.get(name).copied().unwrap_or_default();
        let counted = vault
            .amend(SECRET, |secret| {
                let stored = Attempts::read(&vault::text(secret, name));
                let before = if stored.last >= known.last { stored } else { known };
                let next = self.limits.next(before, now);
                let changes = next.map(|next| (name.to_owned(), Some(next.to_string().into_bytes())));
                let mut changes: Changes = changes.into_iter().collect();
                if next.is_some() {
                    changes.extend(self.outdated(secret, name, now));
                }
                Ok((changes, next))
            })
            .await;
        // Without the Secret this server still counts its own.
        let next = counted.unwrap_or_else(|_| self.limits.next(known, now));
        if let Some(next) = next {
            accounts.insert(name.to_owned(), next);
        }
        next.is_some()
    }

    /// What nobody has to know any more.
    fn outdated(&self, secret: &lynceus_object::Object, but: &str, now: i64) -> Changes {
        let data = secret.at(&["data"]).and_then(lynceus_object::Value::as_map);
        let names = data.into_iter().flat_map(|data| data.iter().map(|(name, _)| name.as_str()));
        names
            .filter(|name| *name != but)
            .filter(|name| self.limits.is_over(Attempts::read(&vault::text(secret, name)), now))
            .map(|name| (name.to_owned(), None))
            .collect()
    }

    fn count_stranger(&self, name: &str, now: i64) -> bool {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() >= self.limits.names && !strangers.contains_key(name) {
            strangers.retain(|_, attempts| !self.limits.is_over(*attempts, now));
            let oldest =
                strangers.iter().min_by_key(|(_, attempts)| attempts.last).map(|(name, _)| name.clone());
            if let Some(oldest) = oldest.filter(|_| strangers.len() >= self.limits.names) {
                strangers.remove(&oldest);
            }
        }
        let next = self.limits.next(strangers.get(name).copied().unwrap_or_default(), now);
        if let Some(next) = next {
            strangers.insert(name.to_owned(), next);
        }
        next.is_some()
    }

    /// Forgets the failures of an account whose password somebody knew.
    pub(super) async fn forget(&self, vault: &Vault, name: &str) {
        let mut accounts = self.accounts.lock().await;
        accounts.remove(name);
        let forgotten = vault.amend(SECRET, |secret| {
            let is_there = vault::bytes(secret, name).is_some();
            Ok((is_there.then(|| (name.to_owned(), None)).into_iter().collect(), ()))
        });
        if forgotten.await.is_err() {
            tracing::warn!(account = name, "the failures of an account could not be forgotten");
        }
    }
}

impl Attempts {
    fn read(text: &str) -> Self {
        let (count, last) = text.split_once(' ').unwrap_or_default();
        Attempts { count: count.parse().unwrap_or_default(), last: last.parse().unwrap_or_default() }
    }
}

impl std::fmt::Display for Attempts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.count, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_under_argo_cds_names_and_nonsense_is_passed_over() {
        let limits = Limits::read(|name| match name {
            "ARGOCD_SESSION_FAILURE_MAX_FAIL_COUNT" => Some("0".to_owned()),
            "ARGOCD_SESSION_FAILURE_WINDOW_SECONDS" => Some("7".to_owned()),
            "ARGOCD_SESSION_MAX_CACHE_SIZE" => Some("many".to_owned()),
            _ => None,
        });
        assert_eq!((limits.count, limits.window.as_secs(), limits.names, limits.at_once), (5, 7, 10_000, 50));
    }

    #[test]
    fn failures_count_for_a_while() {
        let limits = Limits::read(|_| None);
        let full = Attempts { count: 5, last: 100 };
        assert_eq!(limits.next(full, 400), None);
        assert_eq!(limits.next(full, 401), Some(Attempts { count: 1, last: 401 }));
        let forever = Limits { window: Duration::ZERO, ..limits };
        assert_eq!(forever.next(full, 1_000_000), None);
    }

    #[test]
    fn made_up_names_push_each_other_out_and_nobody_else() {
        let failures = Failures::new(Limits { names: 10, ..Limits::read(|_| None) });
        for at in 0..1_000 {
            failures.count_stranger(&format!("stranger-{at}"), at);
        }
        assert_eq!(failures.strangers.lock().unwrap().len(), 10);
    }
}
