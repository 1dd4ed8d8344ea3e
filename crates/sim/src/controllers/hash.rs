//! Short names for templates, so that two that differ have two names.

use lynceus_object::Value;

/// The letters that stand for the digits of a hash: no vowels and nothing easily confused.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The short name of a template: the same for the same content, whatever order its fields were written in.
///
/// `collisions` is counted up when another object has taken the name already.
pub(crate) fn template(template: &Value, collisions: Option<i64>) -> String {
    let mut hash = Fnv::new();
    feed(&mut hash, &essence(template));
    if let Some(collisions) = collisions {
        hash.write(&collisions.to_le_bytes());
    }
    let digits = hash.0.to_string();
    digits.bytes().map(|digit| char::from(LETTERS[usize::from(digit) % LETTERS.len()])).collect()
}

/// A value without what is empty: `null`, maps and lists with nothing in them mean the same as being absent.
pub(crate) fn essence(value: &Value) -> Value {
    match value {
        Value::Seq(items) => items.iter().map(essence).collect(),
        Value::Map(map) => {
            let kept = map.iter().map(|(key, value)| (key.clone(), essence(value)));
            let says_nothing = |value: &Value| {
                value.is_null() || matches!(value, Value::Map(_) | Value::Seq(_)) && value.is_empty()
            };
            Value::Map(kept.filter(|(_, value)| !says_nothing(value)).collect())
        }
        scalar => scalar.clone(),
    }
}

/// FNV-1a in 32 bits: small, stable, and good enough to tell templates apart.
struct Fnv(u32);

impl Fnv {
    fn new() -> Self {
        Fnv(0x811c_9dc5)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}

fn feed(hash: &mut Fnv, value: &Value) {
    match value {
        Value::Null => hash.write(b"n"),
        Value::Bool(b) => hash.write(&[b'b', u8::from(*b)]),
        Value::Int(i) => {
            hash.write(b"i");
            hash.write(&i.to_le_bytes());
        }
        Value::Float(f) => {
            hash.write(b"f");
            hash.write(&f.to_le_bytes());
        }
        Value::Str(s) => {
            hash.write(b"s");
            hash.write(s.as_bytes());
            hash.write(&[0]);
        }
        Value::Seq(items) => {
            hash.write(b"[");
            items.iter().for_each(|item| feed(hash, item));
            hash.write(b"]");
        }
        Value::Map(map) => {
            hash.write(b"{");
            for (key, value) in map.iter() {
                hash.write(key.as_bytes());
                hash.write(&[0]);
                feed(hash, value);
            }
            hash.write(b"}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn the_name_follows_the_content() {
        let (a, b) = (value!({"a": 1, "b": ["x"]}), value!({"b": ["x"], "a": 1}));
        assert_eq!(template(&a, None), template(&b, None));
        assert_ne!(template(&a, None), template(&value!({"a": 1, "b": ["y"]}), None));
        assert_ne!(template(&a, None), template(&a, Some(1)));
    }
}
