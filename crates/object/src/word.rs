//! Names compared in place: they are short, and to call somebody for each pair costs more than to look.

use std::cmp::Ordering;

/// Whether two texts are the same.
#[inline(always)]
pub(crate) fn equals(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    // The beginning and the end of a name overlap, so that two numbers are compared whatever its length is.
    match one.len() {
        0..4 => one.iter().eq(other),
        4..=8 => one.first_chunk::<4>() == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk(),
        9..=16 => {
            one.first_chunk::<8>() == other.first_chunk() && one.last_chunk::<8>() == other.last_chunk()
        }
        // A long text is shared as a rule.
        _ => one.as_ptr() == other.as_ptr() || one == other,
    }
}

/// The order of two texts, which most often their first letters tell.
#[inline(always)]
pub(crate) fn order(one: &str, other: &str) -> Ordering {
    match (one.as_bytes(), other.as_bytes()) {
        ([first, ..], [second, ..]) if first != second => first.cmp(second),
        (one, other) => one.cmp(other),
    }
}

/// The first eight bytes of a name, as a number that is ordered as names are.
#[inline]
pub(crate) fn beginning(name: &str) -> u64 {
    let name = name.as_bytes();
    if let Some(first) = name.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
            u64::from(first) << 32 | u64::from(last) << (8 * (8 - name.len()))
        }
        _ => name.iter().enumerate().fold(0, |number, (at, byte)| number | u64::from(*byte) << (56 - 8 * at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of all lengths around the ones that are told apart, with one byte changed at each place.
    fn texts() -> Vec<String> {
        let mut texts = vec![String::new()];
        for length in 1..20 {
            texts.push("m".repeat(length));
            for at in 0..length {
                for letter in ["a", "z"] {
                    texts.push(format!("{}{letter}{}", "m".repeat(at), "m".repeat(length - at - 1)));
                }
            }
        }
        texts
    }

    #[test]
    fn texts_are_compared_as_the_library_does() {
        for one in texts() {
            for other in texts() {
                assert_eq!(equals(&one, &other), one == other, "{one} {other}");
                assert_eq!(order(&one, &other), one.cmp(&other), "{one} {other}");
            }
        }
    }

    #[test]
    fn a_beginning_has_eight_bytes() {
        for text in texts() {
            let mut bytes = [0; 8];
            let length = text.len().min(8);
            bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
            assert_eq!(beginning(&text), u64::from_be_bytes(bytes), "{text}");
        }
    }
}
