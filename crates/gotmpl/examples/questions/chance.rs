//! Numbers that look random and are the same for the same seed.

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must lead to places far apart in the one series there is.
        Self(seed.wrapping_mul(0xD1B5_4A32_D192_ED03).rotate_left(29))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ mixed >> 31) % bound.max(1) as u64).unwrap_or_default()
    }

    /// A number between two, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Whether something happens that does so this often in a hundred.
    pub(crate) fn often(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Some of the pieces, one after the other.
    pub(crate) fn some(&mut self, pieces: &[&str], least: i64, most: i64) -> String {
        let count = self.between(least, most);
        (0..count).map(|_| self.pick(pieces)).collect()
    }
}

/// A text as a template writes it.
pub(crate) fn quoted(text: &str) -> String {
    lynceus_gotmpl::format::quote::double(text)
}
