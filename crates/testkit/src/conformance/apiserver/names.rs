//! Names that a server makes up: random ones, and hashes that every release computes in its own way.

use lynceus_object::Value;

use super::compare;

/// The letters that servers make names of: no vowels, and nothing easily confused.
const LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";
const MASK: &str = "<made up>";

/// A text with every made-up part of a name replaced: `web-5846c56886-x2k9p`, `web.18a1b2c3d4e5f607`.
pub(super) fn mask(text: &str) -> String {
    if is_hash(text) {
        return MASK.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let made_up = match before {
            Some('-') => is_random(word) || is_hash(word),
            Some('.') => word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit()),
            _ => false,
        };
        out.push_str(if made_up { MASK } else { word });
        out.push_str(&part[word.len()..]);
        before = part.chars().next_back();
    }
    out
}

/// Whether something in a name was made up.
pub(super) fn is_masked(name: &str) -> bool {
    name.contains(MASK)
}

/// What two answers call the same thing, where a name was made up.
pub(super) fn pairs(theirs: &Value, ours: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    walk(theirs, ours, &mut out);
    out
}

fn walk(theirs: &Value, ours: &Value, out: &mut Vec<(String, String)>) {
    match (theirs, ours) {
        (Value::Map(a), Value::Map(b)) => {
            for (key, a) in a.iter().filter(|(key, _)| **key != "items") {
                b.get(key).into_iter().for_each(|b| walk(a, b, out));
            }
            compare::twins(theirs, ours).for_each(|(a, b)| walk(a, b, out));
        }
        (Value::Seq(a), Value::Seq(b)) => a.iter().zip(b).for_each(|(a, b)| walk(a, b, out)),
        (Value::Str(a), Value::Str(b)) if a != b && mask(a) == mask(b) => {
            let words = |text: &str| -> Vec<String> {
                let in_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
                text.split(|c| !in_name(c)).map(|word| word.trim_matches('.').to_owned()).collect()
            };
            out.extend(words(a).into_iter().zip(words(b)).filter(|(a, b)| a != b));
        }
        _ => {}
    }
}

fn is_random(word: &str) -> bool {
    word.len() == 5 && word.chars().all(|c| LETTERS.contains(c))
}

fn is_hash(word: &str) -> bool {
    (8..=10).contains(&word.len()) && word.chars().all(|c| LETTERS.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_made_up_parts_are_masked() {
        for (text, masked) in [
            ("web-5846c56886-x2k9p", "web-<made up>-<made up>"),
            ("Scaled up \"web-5846c56886\" to 1", "Scaled up \"web-<made up>\" to 1"),
            ("5846c56886", "<made up>"),
            ("web.18a1b2c3d4e5f607", "web.<made up>"),
            ("my-nginx", "my-nginx"),
            ("registry.k8s.io/nginx:1.25", "registry.k8s.io/nginx:1.25"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }
}
