//! A single version.

use std::cmp::Ordering;
use std::fmt;

/// The longest text that is read as a version.
const LONGEST: usize = 256;

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The text has not the shape of a version.
    #[error("invalid semantic version")]
    Shape,
    /// The text is empty, which only strict reading tells apart.
    #[error("version string empty")]
    Empty,
    /// The text is longer than any version needs.
    #[error("version string is too long (max {LONGEST} bytes)")]
    TooLong,
    /// A number has other characters than digits.
    #[error("invalid characters in version")]
    Characters,
    /// A number has a leading zero.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// The part after `-` is malformed.
    #[error("invalid prerelease string")]
    Prerelease,
    /// The part after `+` is malformed.
    #[error("invalid metadata string")]
    Metadata,
    /// A number does not fit into 64 bits.
    #[error("error parsing version segment: strconv.ParseUint: parsing {0:?}: value out of range")]
    Segment(String),
    /// The same, where the text was read strictly.
    #[error("strconv.ParseUint: parsing {text:?}: {why}")]
    StrictSegment {
        /// The number as it was written.
        text: String,
        /// What Go says about it.
        why: &'static str,
    },
}

/// A version: three numbers, an optional pre-release and optional build metadata, and the text it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number, 0 when left out.
    pub minor: u64,
    /// The third number, 0 when left out.
    pub patch: u64,
    /// What follows `-`, or nothing.
    pub prerelease: String,
    /// What follows `+`, or nothing.
    pub metadata: String,
    original: String,
}

impl Version {
    /// Reads a version leniently: a leading `v`, missing numbers and leading zeros are fine.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > LONGEST {
            return Err(VersionError::TooLong);
        }
        let shape = Shape::read(text, |b| b.is_ascii_digit()).ok_or(VersionError::Shape)?;
        if !shape.rest.is_empty() {
            return Err(VersionError::Shape);
        }
        let number = |digits: Option<&str>| match digits {
            None => Ok(0),
            Some(digits) => digits.parse().map_err(|_| VersionError::Segment(digits.to_owned())),
        };
        let version = Self {
            major: number(Some(shape.major))?,
            minor: number(shape.minor)?,
            patch: number(shape.patch)?,
            prerelease: shape.prerelease.unwrap_or_default().to_owned(),
            metadata: shape.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        check_prerelease(shape.prerelease)?;
        Ok(version)
    }

    /// Reads a version as semver.org has it: three numbers without leading zeros, no `v`.
    pub fn strict(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        if text.len() > LONGEST {
            return Err(VersionError::TooLong);
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(VersionError::Shape);
        };
        let (rest, metadata) = cut(rest, '+');
        check_metadata(metadata)?;
        let (patch, prerelease) = cut(rest, '-');
        check_prerelease(prerelease)?;
        for number in [major, minor, patch] {
            if !number.bytes().all(|b| b.is_ascii_digit()) {
                return Err(VersionError::Characters);
            }
            if number.len() > 1 && number.starts_with('0') {
                return Err(VersionError::LeadingZero);
            }
        }
        let number = |text: &str| {
            let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
            text.parse().map_err(|_| VersionError::StrictSegment { text: text.to_owned(), why })
        };
        Ok(Self {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// The text this version was read from, or its canonical form where it was computed.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Which of two versions comes first. Build metadata has no say, so versions that differ can be equal here.
    pub fn compare(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_prerelease(&self.prerelease, &other.prerelease))
    }

    /// The next patch version; of a pre-release, the version it leads to. None if the number would overflow.
    pub fn next_patch(&self) -> Option<Self> {
        let step = u64::from(self.prerelease.is_empty());
        Some(self.derive(self.major, self.minor, self.patch.checked_add(step)?))
    }

    /// The next minor version. None if the number would overflow.
    pub fn next_minor(&self) -> Option<Self> {
        Some(self.derive(self.major, self.minor.checked_add(1)?, 0))
    }

    /// The next major version. None if the number would overflow.
    pub fn next_major(&self) -> Option<Self> {
        Some(self.derive(self.major.checked_add(1)?, 0, 0))
    }

    /// This version with another pre-release.
    pub fn with_prerelease(&self, prerelease: &str) -> Result<Self, VersionError> {
        check_prerelease(Some(prerelease).filter(|text| !text.is_empty()))?;
        let mut next = Self { prerelease: prerelease.to_owned(), ..self.clone() };
        next.original = next.canonical_like(self);
        Ok(next)
    }

    /// This version with other build metadata.
    pub fn with_metadata(&self, metadata: &str) -> Result<Self, VersionError> {
        check_metadata(Some(metadata).filter(|text| !text.is_empty()))?;
        let mut next = Self { metadata: metadata.to_owned(), ..self.clone() };
        next.original = next.canonical_like(self);
        Ok(next)
    }

    fn derive(&self, major: u64, minor: u64, patch: u64) -> Self {
        let (prerelease, metadata, original) = Default::default();
        let mut next = Self { major, minor, patch, prerelease, metadata, original };
        next.original = next.canonical_like(self);
        next
    }

    /// The canonical text, with a `v` in front if the other version was written with one.
    fn canonical_like(&self, other: &Self) -> String {
        let prefix = if other.original.starts_with('v') { "v" } else { "" };
        format!("{prefix}{self}")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// The parts of a version at the start of a text, unchecked, and what follows them.
pub(super) struct Shape<'a> {
    pub(super) major: &'a str,
    pub(super) minor: Option<&'a str>,
    pub(super) patch: Option<&'a str>,
    pub(super) prerelease: Option<&'a str>,
    pub(super) metadata: Option<&'a str>,
    pub(super) rest: &'a str,
}

impl<'a> Shape<'a> {
    /// Reads as much as has the shape of a version; `number` says which bytes numbers are made of.
    pub(super) fn read(text: &'a str, number: fn(u8) -> bool) -> Option<Self> {
        let (major, mut rest) = span(text.strip_prefix('v').unwrap_or(text), number)?;
        let minor = after(&mut rest, '.', |text| span(text, number));
        let patch = minor.and_then(|_| after(&mut rest, '.', |text| span(text, number)));
        let prerelease = after(&mut rest, '-', identifiers);
        let metadata = after(&mut rest, '+', identifiers);
        Some(Self { major, minor, patch, prerelease, metadata, rest })
    }
}

/// Splits off a non-empty run of bytes, all of them ASCII.
fn span(text: &str, member: fn(u8) -> bool) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| !member(b)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Splits off identifiers with dots between them.
fn identifiers(text: &str) -> Option<(&str, &str)> {
    let member = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    let (_, mut rest) = span(text, member)?;
    while after(&mut rest, '.', |text| span(text, member)).is_some() {}
    Some(text.split_at(text.len() - rest.len()))
}

/// Takes what `read` finds behind a separator; leaves everything in place if it finds nothing.
fn after<'a>(
    rest: &mut &'a str,
    separator: char,
    read: impl Fn(&'a str) -> Option<(&'a str, &'a str)>,
) -> Option<&'a str> {
    let (found, remaining) = read(rest.strip_prefix(separator)?)?;
    *rest = remaining;
    Some(found)
}

fn cut(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(head, tail)| (head, Some(tail)))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn check_prerelease(text: Option<&str>) -> Result<(), VersionError> {
    for part in text.into_iter().flat_map(|text| text.split('.')) {
        if !is_identifier(part) {
            return Err(VersionError::Prerelease);
        }
        if part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit()) {
            return Err(VersionError::LeadingZero);
        }
    }
    Ok(())
}

fn check_metadata(text: Option<&str>) -> Result<(), VersionError> {
    match text.is_none_or(|text| text.split('.').all(is_identifier)) {
        true => Ok(()),
        false => Err(VersionError::Metadata),
    }
}

pub(super) fn compare_prerelease(one: &str, other: &str) -> Ordering {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => return Ordering::Equal,
        // A release comes after all of its pre-releases.
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut ours, mut theirs) = (one.split('.'), other.split('.'));
    loop {
        let order = match (ours.next(), theirs.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => compare_identifiers(a, b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Numbers come before words; numbers too large for 64 bits count as words.
fn compare_identifiers(one: &str, other: &str) -> Ordering {
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    match (number(one), number(other)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}
