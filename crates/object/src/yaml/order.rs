//! The order in which go-yaml prints keys: letters after everything else, numbers by their value.

use std::cmp::Ordering;

use crate::map::Map;
use crate::value::{Str, Value};

/// The fields of a map in the order in which they are printed.
pub(super) fn fields(map: &Map) -> Fields<'_> {
    let is_natural = map.keys().zip(map.keys().skip(1)).all(|(a, b)| compare(a, b).is_lt());
    if is_natural { Fields::AsStored(map) } else { Fields::Sorted(sort(map.iter().collect())) }
}

/// The fields of a map, sorted anew only where the stored order is not the printed one.
pub(super) enum Fields<'a> {
    AsStored(&'a Map),
    Sorted(Vec<(&'a Str, &'a Value)>),
}

impl<'a> Fields<'a> {
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, &'a Str, &'a Value)) {
        match self {
            Fields::AsStored(map) => {
                map.iter().enumerate().for_each(|(at, (key, value))| each(at, key, value));
            }
            Fields::Sorted(fields) => {
                fields.iter().enumerate().for_each(|(at, (key, value))| each(at, key, value));
            }
        }
    }
}

/// Merges halves. The order is Go's and not total for every odd key, which the sort of the standard
/// library may answer with a panic.
fn sort<'a>(mut fields: Vec<(&'a Str, &'a Value)>) -> Vec<(&'a Str, &'a Value)> {
    if fields.len() < 2 {
        return fields;
    }
    let right = sort(fields.split_off(fields.len() / 2));
    let mut left = sort(fields).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    let mut out = Vec::with_capacity(left.len() + right.len());
    while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
        let next = if compare(b, a).is_lt() { right.next() } else { left.next() };
        out.extend(next);
    }
    out.extend(left);
    out.extend(right);
    out
}

/// Compares two keys: `a2` before `a10`, `a-b` before `ab`.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // The first difference may lie inside a character.
    let same = (0..=same).rev().find(|at| a.is_char_boundary(*at)).unwrap_or(0);
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    let (Some(char_a), Some(char_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (char_a.is_alphabetic(), char_b.is_alphabetic()) {
        (true, true) => return char_a.cmp(&char_b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero counts for less than nothing unless it goes on with a number that has begun.
    let goes_on = a[..same].bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let start = i64::from((char_a == '0' || char_b == '0') && goes_on);
    let ((number_a, len_a), (number_b, len_b)) = (number(rest_a, start), number(rest_b, start));
    number_a.cmp(&number_b).then(len_a.cmp(&len_b)).then(char_a.cmp(&char_b))
}

/// The number at the start of `text`, and how many digits it has. Overflow wraps, as in Go.
fn number(text: &str, start: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((start, 0), |(number, len), digit| {
        (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), len + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::compare;

    fn sorted(keys: &str) -> String {
        let mut keys: Vec<&str> = keys.split_whitespace().collect();
        keys.sort_by(|a, b| compare(a, b));
        keys.join(" ")
    }

    #[test]
    fn numbers_sort_by_value() {
        assert_eq!(sorted("a10 a2 a1"), "a1 a2 a10");
        assert_eq!(sorted("v1.10 v1.9 v1"), "v1 v1.9 v1.10");
        assert_eq!(sorted("a100 a10 a1000"), "a10 a100 a1000");
    }

    #[test]
    fn letters_come_after_signs_and_digits() {
        assert_eq!(sorted("ab a-b a_b a.b a1 aB"), "a-b a.b a_b a1 aB ab");
        assert_eq!(sorted("name _name Name 1name"), "_name 1name Name name");
    }

    #[test]
    fn a_prefix_comes_first() {
        assert_eq!(sorted("spec spe specs"), "spe spec specs");
    }
}
