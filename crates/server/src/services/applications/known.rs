//! Which applications the other side of a stream has heard of.
//!
//! Thousands of streams may be open, each to somebody who sees thousands of applications, and most of those see the same.
//! So streams share one list of what they began with, and each keeps only how it differs from that since.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use lynceus_engine::AppKey;

use super::roster::order;
use crate::limits;

/// The lists that streams share, by what is in them.
#[derive(Default)]
pub(crate) struct Rolls(Mutex<HashMap<u64, Vec<Weak<[AppKey]>>>>);

impl Rolls {
    /// A list with these in it, which come in order: the one that somebody has already, if there is one.
    fn shared<'k>(&self, keys: impl ExactSizeIterator<Item = &'k AppKey> + Clone) -> Arc<[AppKey]> {
        let mut hasher = DefaultHasher::new();
        keys.clone().for_each(|key| key.hash(&mut hasher));
        let mut rolls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rolls.retain(|_, alike| {
            alike.retain(|roll| roll.strong_count() > 0);
            !alike.is_empty()
        });
        let alike = rolls.entry(hasher.finish()).or_default();
        if let Some(same) = alike.iter().filter_map(Weak::upgrade).find(|roll| roll.iter().eq(keys.clone())) {
            return same;
        }
        let roll: Arc<[AppKey]> = keys.cloned().collect();
        alike.push(Arc::downgrade(&roll));
        roll
    }
}

/// What one stream has told.
pub(super) struct Known {
    roll: Arc<[AppKey]>,
    /// What is otherwise than in the list: in it, or no longer in it.
    since: BTreeMap<AppKey, bool>,
}

impl Known {
    /// A stream that has told of these, which come in order, or whose other side knows them already.
    pub(super) fn new<'k>(rolls: &Rolls, keys: impl ExactSizeIterator<Item = &'k AppKey> + Clone) -> Self {
        Known { roll: rolls.shared(keys), since: BTreeMap::new() }
    }

    /// Notes that one was told of; says whether it was not known before.
    pub(super) fn insert(&mut self, rolls: &Rolls, key: &AppKey) -> bool {
        !self.has(key) && self.note(rolls, key, true)
    }

    /// Notes that one is gone; says whether it was known before.
    pub(super) fn remove(&mut self, rolls: &Rolls, key: &AppKey) -> bool {
        self.has(key) && self.note(rolls, key, false)
    }

    /// All of them, in order.
    pub(super) fn keys(&self) -> Vec<AppKey> {
        let kept = self.roll.iter().filter(|key| !self.since.contains_key(key));
        let added = self.since.iter().filter(|(_, is_known)| **is_known).map(|(key, _)| key);
        let mut keys: Vec<AppKey> = kept.chain(added).cloned().collect();
        keys.sort_unstable_by(order);
        keys
    }

    fn has(&self, key: &AppKey) -> bool {
        self.since.get(key).copied().unwrap_or_else(|| self.is_in_roll(key))
    }

    fn is_in_roll(&self, key: &AppKey) -> bool {
        self.roll.binary_search_by(|probe| order(probe, key)).is_ok()
    }

    fn note(&mut self, rolls: &Rolls, key: &AppKey, is_known: bool) -> bool {
        match self.is_in_roll(key) == is_known {
            true => drop(self.since.remove(key)),
            false => drop(self.since.insert(key.clone(), is_known)),
        }
        if self.since.len() > limits::UNSHARED {
            *self = Known::new(rolls, self.keys().iter());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: usize) -> AppKey {
        AppKey::new("argocd", format!("app-{name}"))
    }

    #[test]
    fn streams_that_know_the_same_share_one_list_and_go_their_own_ways() {
        let rolls = Rolls::default();
        let mut one = Known::new(&rolls, [key(1), key(2)].iter());
        let mut other = Known::new(&rolls, [key(1), key(2)].iter());
        assert!(Arc::ptr_eq(&one.roll, &other.roll));
        assert!(one.insert(&rolls, &key(3)) && !one.insert(&rolls, &key(3)));
        assert!(other.remove(&rolls, &key(1)) && !other.remove(&rolls, &key(1)));
        assert_eq!(one.keys(), [key(1), key(2), key(3)]);
        assert_eq!(other.keys(), [key(2)]);
        assert!(other.insert(&rolls, &key(1)) && other.since.is_empty());
    }

    #[test]
    fn what_many_streams_have_come_to_know_is_shared_again() {
        let rolls = Rolls::default();
        let (mut one, mut other) = (Known::new(&rolls, [].iter()), Known::new(&rolls, [].iter()));
        for number in 0..=limits::UNSHARED {
            assert!(one.insert(&rolls, &key(number)) && other.insert(&rolls, &key(number)));
        }
        assert!(one.since.is_empty() && Arc::ptr_eq(&one.roll, &other.roll));
        assert_eq!(one.keys().len(), limits::UNSHARED + 1);
    }

    #[test]
    fn a_list_that_nobody_has_any_more_is_forgotten() {
        let rolls = Rolls::default();
        drop(Known::new(&rolls, [key(1)].iter()));
        let kept = Known::new(&rolls, [key(2)].iter());
        assert_eq!(rolls.0.lock().map(|rolls| rolls.len()).ok(), Some(1));
        drop(kept);
    }
}
