//! Maps that are asked several times with every write.
//!
//! The library's own hash guards a server against clients that choose keys to make it slow. Whoever writes to an
//! embedded cluster only slows down himself, and names are short: here a few multiplications do.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by names.
pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// A set of names.
pub(crate) type QuickSet<K> = HashSet<K, BuildHasherDefault<Quick>>;

/// An odd number whose bits are as mixed as those of pi.
const MIX: u128 = 0x517c_c1b7_2722_0a95;
/// What comes before the first word, so that a word of zeros counts too.
const START: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quick(u64);

impl Quick {
    fn mix(&mut self, word: u64) {
        // A product carries upwards only; its upper half is laid over the lower one, where a map looks first.
        let product = u128::from((self.0 ^ START).rotate_left(5) ^ word) * MIX;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if let (false, Some(last)) = (rest.is_empty(), bytes.last_chunk::<8>()) {
            // The end of a long name is read whole, though it was read in part.
            self.mix(u64::from_le_bytes(*last));
        } else if !rest.is_empty() {
            self.mix(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(byte.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_count_up_are_told_apart() {
        for name in ["web-", "deployment-of-a-long-name-"] {
            let mut places = HashSet::new();
            for number in 0..10_000 {
                let mut hasher = Quick::default();
                hasher.write(format!("{name}{number}").as_bytes());
                places.insert(hasher.finish() % 65_536);
            }
            // Ten thousand lots among 65,536 would fall on about 9,270 of them.
            assert!(places.len() > 8_500, "{name}: {}", places.len());
        }
    }
}
