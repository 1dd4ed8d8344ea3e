//! Semantic versions as tags write them: an optional `v`, and minor and patch may be missing.

use std::cmp::Ordering;

use crate::limits::MAX_VERSION_TEXT;

/// A semantic version. Build metadata is kept out of it, because it does not count in comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// What follows the `-`: empty for a release.
    pub pre: String,
}

impl Version {
    /// Reads a version; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_VERSION_TEXT {
            return None;
        }
        let parts = Parts::of(text)?;
        let number = |part: Option<&str>| part.map_or(Some(0), |part| part.parse().ok());
        Some(Version {
            major: parts.numbers.first()?.parse().ok()?,
            minor: number(parts.numbers.get(1).copied())?,
            patch: number(parts.numbers.get(2).copied())?,
            pre: parts.pre.filter(|pre| valid_pre(pre)).or(parts.pre.is_none().then_some(""))?.to_owned(),
        })
    }
}

/// A version's text cut at its marks, with the numbers not yet read.
pub(crate) struct Parts<'a> {
    pub(crate) numbers: Vec<&'a str>,
    pub(crate) pre: Option<&'a str>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, build) = split(text, '+');
        let (core, pre) = split(text, '-');
        let words = |text: &str| {
            text.split('.').all(|word| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            })
        };
        if !pre.is_none_or(words) || !build.is_none_or(words) {
            return None;
        }
        let numbers: Vec<&str> = core.split('.').collect();
        (numbers.len() <= 3).then_some(Parts { numbers, pre })
    }
}

fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// A number in a pre-release must not start with a zero.
pub(crate) fn valid_pre(pre: &str) -> bool {
    pre.split('.').all(|word| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit());
        !(number && word.len() > 1 && word.starts_with('0'))
    })
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A release comes after its pre-releases; words are compared one by one, numbers before letters.
fn compare_pre(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let (mut left, mut right) = (left.split('.'), right.split('.'));
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ordering::Equal,
                    (None, Some(_)) => return Ordering::Less,
                    (Some(_), None) => return Ordering::Greater,
                    (Some(a), Some(b)) => match compare_word(a, b) {
                        Ordering::Equal => {}
                        unequal => return unequal,
                    },
                }
            }
        }
    }
}

fn compare_word(left: &str, right: &str) -> Ordering {
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_semver_says() {
        let texts = [
            "0.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "v1.0.0-rc.1",
            "v1",
            "1.0.1+build",
            "1.10.0",
            "2",
        ];
        let versions: Vec<Version> = texts.iter().map(|text| Version::parse(text).unwrap()).collect();
        assert!(versions.is_sorted());
        assert_eq!(Version::parse("1"), Version::parse("v1.0.0+x"));
    }

    #[test]
    fn other_texts_are_not_versions() {
        for text in [
            "",
            "v",
            "main",
            "1.2.3.4",
            "1.x",
            "1..2",
            "1.0.0-",
            "1.0.0-01",
            "release-1.0",
            "1.0.0+",
            "1.0.0-a b",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
