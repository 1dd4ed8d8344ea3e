//! The one source of chance: names and uids.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use lynceus_object::Str;

/// The letters of generated names: no vowels, so that no words appear, and nothing easily confused.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A generator that gives the same sequence for the same seed. Not for secrets.
#[derive(Debug)]
pub struct Random(Mutex<u64>);

impl Random {
    /// A generator whose sequence depends on `seed` only.
    pub fn seeded(seed: u64) -> Self {
        Random(Mutex::new(seed))
    }

    /// A generator that is different in every process.
    pub fn from_entropy() -> Self {
        Random::seeded(RandomState::new().hash_one(std::process::id()))
    }

    /// The next 64 bits (splitmix64).
    pub fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A suffix for a generated name, such as `x7k2b`.
    pub fn suffix(&self, length: usize) -> String {
        (0..length).map(|_| char::from(ALPHABET[self.below(ALPHABET.len())])).collect()
    }

    /// A new uid (a version 4 UUID).
    pub fn uid(&self) -> Str {
        let high = self.next() & 0xffff_ffff_ffff_0fff | 0x4000;
        let low = self.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        let mut rest = u128::from(high) << 64 | u128::from(low);
        // Every object gets one, and a format is slow.
        let mut text = *b"00000000-0000-0000-0000-000000000000";
        for place in text.iter_mut().rev().filter(|place| **place != b'-') {
            *place = b"0123456789abcdef"[(rest & 0xf) as usize];
            rest >>= 4;
        }
        std::str::from_utf8(&text).unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_names() {
        let (a, b) = (Random::seeded(7), Random::seeded(7));
        assert_eq!(a.suffix(5), b.suffix(5));
        assert_eq!(a.uid(), b.uid());
        assert_ne!(a.uid(), a.uid());
    }

    #[test]
    fn a_uid_is_a_version_4_uuid() {
        let uid = Random::seeded(1).uid();
        assert_eq!(uid, "910a2dec-8902-4cc1-beeb-8da1658eec67");
        assert_eq!(uid.len(), 36);
        assert_eq!(&uid[14..15], "4");
        assert!(matches!(&uid[19..20], "8" | "9" | "a" | "b"), "{uid}");
    }
}
