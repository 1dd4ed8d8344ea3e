//! Random numbers that a seed repeats.

/// A small generator (xorshift); nothing here has to be unpredictable.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number from the first to the second, both included.
    pub(super) fn between(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// Whether this one of `of` is chosen.
    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..5).map(|_| random.between((3, 9))).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert!(draw(0).iter().all(|number| (3..=9).contains(number)));
    }
}
