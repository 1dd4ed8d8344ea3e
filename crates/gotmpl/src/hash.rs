//! A hash for tables that nobody outside has a say in.

use std::hash::Hasher;

/// Hashes addresses and the names of functions: nobody can choose what such a table holds, so that there is nothing to guard
/// against. The standard hash, which does, takes ten times as long.
#[derive(Default)]
pub(crate) struct OfWords(u64);

impl Hasher for OfWords {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        // Addresses end in zeros, and so does what they are multiplied to.
        self.0.rotate_left(26)
    }
}
