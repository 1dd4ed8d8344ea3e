//! Equal parts of values, held once.
//!
//! What was read from a text shares nothing with what was read before, and much of what a cluster sends is the same again
//! and again: labels, templates, conditions, who owns something. A pool remembers the small parts that it saw last, and
//! puts them in the place of equal ones. It has a fixed number of places, each for one of many, so that it costs a fixed
//! amount and needs no clearing: what it forgets too early is only not shared.

use crate::map::Map;
use crate::value::{Seq, Value};

/// How many values are looked at as one part. Larger ones are hardly ever equal, and would be held for long.
const PART: usize = 48;

/// The longest text that is held, in bytes.
const TEXT: usize = 512;

/// How long a text is that is held in place, so that there is nothing to share.
const IN_PLACE: usize = 15;

/// The parts that were seen last.
pub struct Pool {
    /// Each with the number that it was found by.
    places: Box<[(u64, Value)]>,
}

/// A value that was looked at: a number that equal ones have in common, and how many values are in it.
#[derive(Clone, Copy)]
struct Seen {
    number: u64,
    size: usize,
}

impl Pool {
    /// A pool that remembers so many parts.
    pub fn new(places: usize) -> Self {
        Pool { places: vec![(0, Value::Null); places.max(1)].into() }
    }

    /// Puts parts that were seen before in the place of equal ones. The value stays the same.
    pub fn share(&mut self, value: &mut Value) {
        self.look(value);
    }

    fn look(&mut self, value: &mut Value) -> Seen {
        let seen = match value {
            Value::Seq(items) => self.items(items),
            Value::Map(map) => self.fields(map),
            _ => number_of(value),
        };
        let is_part = match value {
            Value::Str(text) => (IN_PLACE + 1..=TEXT).contains(&text.len()),
            Value::Seq(items) => !items.is_empty() && seen.size <= PART,
            Value::Map(map) => !map.is_empty() && seen.size <= PART,
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
        };
        if is_part {
            self.exchange(seen.number, value);
        }
        seen
    }

    fn exchange(&mut self, number: u64, value: &mut Value) {
        // The upper half is mixed best.
        let at = (number >> 32) as usize % self.places.len();
        let place = &mut self.places[at];
        match place.0 == number && place.1 == *value {
            true => *value = place.1.clone(),
            false => *place = (number, value.clone()),
        }
    }

    fn items(&mut self, items: &mut Seq) -> Seen {
        // What is shared already is only looked at: to change it would copy it.
        let seen: fn(Seen, Seen) -> Seen = |all, one| all.with(one);
        match items.is_unique() {
            true => items.make_mut().iter_mut().map(|item| self.look(item)).fold(LIST, seen),
            false => items.iter().map(number_of).fold(LIST, seen),
        }
    }

    fn fields(&mut self, map: &mut Map) -> Seen {
        match map.is_unique() {
            true => {
                map.iter_mut().fold(MAP, |all, (name, value)| all.with(word(name)).with(self.look(value)))
            }
            false => number_of_map(map),
        }
    }
}

const LIST: Seen = Seen { number: 5, size: 1 };
const MAP: Seen = Seen { number: 6, size: 1 };

impl Seen {
    fn with(self, other: Seen) -> Seen {
        Seen { number: mixed(self.number, other.number), size: self.size + other.size }
    }
}

fn number_of(value: &Value) -> Seen {
    let scalar = |kind: u64, number: u64| Seen { number: mixed(kind, number), size: 1 };
    match value {
        Value::Null => scalar(0, 0),
        Value::Bool(is) => scalar(1, u64::from(*is)),
        Value::Int(number) => scalar(2, *number as u64),
        Value::Float(number) => scalar(3, number.to_bits()),
        Value::Str(text) => Seen { number: mixed(4, word(text).number), size: 1 },
        Value::Seq(items) => items.iter().map(number_of).fold(LIST, Seen::with),
        Value::Map(map) => number_of_map(map),
    }
}

fn number_of_map(map: &Map) -> Seen {
    map.iter().fold(MAP, |all, (name, value)| all.with(word(name)).with(number_of(value)))
}

/// The number of a text, which by itself counts for nothing: it is part of a value or the name of one.
fn word(text: &str) -> Seen {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let number = words.iter().fold(text.len() as u64, |all, word| mixed(all, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |all: u64, byte| all << 8 | u64::from(*byte));
    Seen { number: mixed(number, rest), size: 0 }
}

/// Two numbers as one. Whoever makes up two values with the same one gains nothing: they are compared before they are
/// shared.
fn mixed(one: u64, other: u64) -> u64 {
    (one.rotate_left(5) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, value};

    fn read(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn equal_parts_are_held_once_and_values_stay_the_same() {
        let text = |name: &str| {
            format!(
                r#"{{"metadata":{{"labels":{{"app":"web"}},"name":"{name}"}},"spec":{{"image":"registry.example.com/web:1"}}}}"#
            )
        };
        let mut pool = Pool::new(1_000);
        let (mut one, mut other) = (read(&text("one")), read(&text("other")));
        pool.share(&mut one);
        pool.share(&mut other);
        assert_eq!((json::to_string(&one), json::to_string(&other)), (text("one"), text("other")));
        let same = |path: &[&str]| one.at(path).unwrap().is_same(other.at(path).unwrap());
        assert!(same(&["metadata", "labels"]) && same(&["spec"]));
        assert!(!same(&["metadata"]));
    }

    #[test]
    fn what_differs_only_in_kind_is_not_taken_for_the_same() {
        let mut pool = Pool::new(1);
        for text in
            [r#"{"a":1}"#, r#"{"a":1.5}"#, r#"{"a":true}"#, r#"{"a":"1"}"#, r#"{"a":[1]}"#, r#"{"a":null}"#]
        {
            let mut value = read(text);
            pool.share(&mut value);
            assert_eq!(json::to_string(&value), text);
        }
        let (mut whole, mut part) = (value!({"a": 1}), value!({"a": 1.0}));
        pool.share(&mut whole);
        pool.share(&mut part);
        assert!(matches!(part.get("a"), Some(Value::Float(_))));
    }

    #[test]
    fn large_values_are_passed_through_and_what_is_shared_is_not_copied() {
        let mut pool = Pool::new(1_000);
        let long = format!(r#"["{}"]"#, vec!["x".repeat(600); 100].join(r#"",""#));
        let mut value = read(&long);
        let kept = value.clone();
        pool.share(&mut value);
        assert!(value.is_same(&kept));
        assert_eq!(json::to_string(&value), long);
        assert!(pool.places.iter().all(|(_, held)| held.is_null()));
    }
}
