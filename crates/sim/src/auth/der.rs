//! As much of DER as certificates need: a cursor to read with, and values to write.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A cursor over a sequence of DER values.
#[derive(Clone, Copy)]
pub(super) struct Der<'a> {
    rest: &'a [u8],
}

impl<'a> Der<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Der { rest: bytes }
    }

    pub(super) fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.rest.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let (bytes, rest) = rest.split_at_checked(count)?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some((tag, value))
    }

    /// The next value, which has to have this tag.
    pub(super) fn read(&mut self, tag: u8) -> Option<&'a [u8]> {
        match self.next()? {
            (found, value) if found == tag => Some(value),
            _ => None,
        }
    }

    /// The next value with its tag and length, which has to have this tag.
    pub(super) fn whole(&mut self, tag: u8) -> Option<&'a [u8]> {
        let before = self.rest;
        self.read(tag)?;
        before.get(..before.len() - self.rest.len())
    }

    pub(super) fn skip_if(&mut self, tag: u8) {
        if self.rest.first() == Some(&tag) {
            self.next();
        }
    }
}

/// A value: its tag, its length, and its parts one after the other.
pub(super) fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = vec![tag];
    if length < 0x80 {
        bytes.extend(u8::try_from(length));
    } else {
        let digits = length.to_be_bytes();
        let digits = &digits[digits.iter().take_while(|digit| **digit == 0).count()..];
        bytes.extend(u8::try_from(digits.len()).map(|count| 0x80 | count));
        bytes.extend(digits);
    }
    parts.iter().for_each(|part| bytes.extend(*part));
    bytes
}

/// Whole bytes as a string of bits.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let bytes = vec![7; length];
            let written = value(SEQUENCE, &[&value(OCTET_STRING, &[&bytes]), &bits(&bytes)]);
            let mut inner = Der::new(Der::new(&written).read(SEQUENCE).unwrap_or_default());
            assert_eq!(inner.read(OCTET_STRING), Some(bytes.as_slice()), "{length}");
            assert_eq!(inner.whole(BIT_STRING), Some(bits(&bytes).as_slice()), "{length}");
            assert_eq!(inner.next(), None);
        }
    }

    #[test]
    fn a_value_that_is_cut_off_is_none() {
        assert_eq!(Der::new(b"\x30\x82\xff").next(), None);
        assert_eq!(Der::new(b"\x30\x05\x00").next(), None);
    }
}
