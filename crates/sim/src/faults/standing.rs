//! A Fault with what is known of it: when it holds, and whom it has hit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, Value, value};

use crate::clock;
use crate::stage::{Begins, Fault, What};

/// How a fault stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its time has not come.
    Waiting,
    /// It holds.
    Active,
    /// It is over.
    Over,
}

impl Phase {
    /// The word in a status.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Waiting => "Waiting",
            Phase::Active => "Active",
            Phase::Over => "Over",
        }
    }
}

/// A stored Fault.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its uid.
    pub uid: Str,
    /// What goes wrong.
    pub fault: Fault,
    /// When it begins.
    pub begins: Timestamp,
    /// When it ends, if it does by itself.
    pub ends: Option<Timestamp>,
    /// The version of the cluster at which it was first seen to have begun.
    pub revision: u64,
    /// How many requests it has hit; shared by everybody who knows of the fault.
    pub(crate) hits: Arc<AtomicU64>,
}

impl Standing {
    /// Reads a stored Fault. `known` is what was known of it, `revision` the version at which it changed.
    pub(super) fn of(fault: &Object, known: Option<&Standing>, revision: u64) -> Option<Self> {
        let read = Fault::of_object(fault).ok()?;
        let made: Timestamp = fault.meta_str("creationTimestamp").parse().unwrap_or_default();
        let add = |time: Timestamp, by: SignedDuration| time.saturating_add(by).unwrap_or(Timestamp::MAX);
        let begins = match read.begins {
            Begins::After(time) => add(made, time),
            Begins::At(time) => time,
        };
        // A cut is over as soon as it was made, unless it says how long watches are cut.
        let moment = matches!(read.what, What::CutWatches { .. }).then_some(SignedDuration::ZERO);
        let ends = read.lasts.or(moment).map(|time| add(begins, time));
        let begun = fault.value().str_at(&["status", "phase"]).is_some_and(|phase| phase != "Waiting");
        let before = known.map(|known| known.revision).filter(|revision| *revision > 0);
        let stored = || fault.resource_version().parse().unwrap_or(revision);
        Some(Standing {
            uid: fault.uid().into(),
            fault: read,
            begins,
            ends,
            revision: if begun { before.unwrap_or_else(stored) } else { 0 },
            hits: known.map(|known| Arc::clone(&known.hits)).unwrap_or_else(|| {
                let hits = fault.value().int_at(&["status", "hits"]).unwrap_or(0);
                Arc::new(AtomicU64::new(u64::try_from(hits).unwrap_or(0)))
            }),
        })
    }

    /// How it stands at a time.
    pub fn phase(&self, now: Timestamp) -> Phase {
        match self.ends {
            _ if now < self.begins => Phase::Waiting,
            Some(ends) if now >= ends => Phase::Over,
            _ => Phase::Active,
        }
    }

    /// Its status at a time.
    pub(crate) fn status(&self, now: Timestamp) -> Value {
        let mut status = value!({
            "what": self.words(), "phase": self.phase(now).word(), "beginsAt": clock::text(self.begins),
        });
        if let Some(ends) = self.ends {
            status.set(&["endsAt"], clock::text(ends));
        }
        if self.fault.what.requests().is_some() {
            status.set(&["hits"], i64::try_from(self.hits.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
        }
        status
    }

    /// What goes wrong, in a few words.
    fn words(&self) -> &'static str {
        match &self.fault.what {
            What::Answer { code: 429, .. } => "answers 429",
            What::Answer { code: 503, .. } => "answers 503",
            What::Answer { code: 504, .. } => "answers 504",
            What::Answer { .. } => "answers 500",
            What::Slow { .. } => "answers late",
            What::CutWatches { expired: false, .. } => "watches end",
            What::CutWatches { .. } => "watches expire",
            What::NodeDown(_) => "node down",
            What::DiskFull(_) => "disk full",
            What::SealVault { .. } => "Vault sealed",
            What::ExpireTokens { .. } => "tokens expired",
        }
    }
}
