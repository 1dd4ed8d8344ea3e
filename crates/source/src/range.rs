//! Ranges of versions, with the syntax and the meaning that Argo CD's library gives them.
//!
//! `1.2.*`, `>=1.0 <2`, `~1.2`, `^1`, `1.2 - 1.4`, `a || b`. Pre-releases count only in an alternative
//! that names one itself.

use crate::limits::{MAX_RANGE_ALTERNATIVES, MAX_RANGE_TEXT};
use crate::version::{Parts, Version, valid_pre};

/// A set of versions: one of the alternatives has to hold, and all parts of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    alternatives: Vec<Vec<Condition>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    operator: Operator,
    version: Version,
    /// How many of the three numbers were given.
    given: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

/// The operators, those first that start like another.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Range {
    /// Reads a range; `None` if the text is not one, or is a plain version.
    pub fn parse(text: &str) -> Option<Self> {
        if text.trim().is_empty() || Version::parse(text).is_some() {
            return None;
        }
        Range::constraint(text)
    }

    /// Reads a range as Helm does, for which a plain version is one too: `1.2` is any 1.2, and nothing at all
    /// is any release.
    pub fn constraint(text: &str) -> Option<Self> {
        let text = if text.is_empty() { "*" } else { text };
        if text.len() > MAX_RANGE_TEXT {
            return None;
        }
        let parts: Vec<&str> = text.split("||").collect();
        if parts.len() > MAX_RANGE_ALTERNATIVES {
            return None;
        }
        let parts = parts.into_iter().enumerate();
        let alternatives =
            parts.map(|(index, part)| alternative(part, index == 0)).collect::<Option<Vec<_>>>()?;
        Some(Range { alternatives })
    }

    /// Whether a version is in the range.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|conditions| {
            let pre_releases = conditions.iter().any(|condition| !condition.version.pre.is_empty());
            (version.pre.is_empty() || pre_releases)
                && conditions.iter().all(|condition| condition.holds(version))
        })
    }

    /// The version that the range names first, for finding what is near to it.
    pub(crate) fn aim(&self) -> Option<&Version> {
        self.alternatives.first().and_then(|conditions| conditions.first()).map(|first| &first.version)
    }

    /// The name among `names` whose version is the highest in the range; the first of equals.
    pub fn highest<'a>(&self, names: impl IntoIterator<Item = (&'a str, Version)>) -> Option<&'a str> {
        let mut best: Option<(&str, Version)> = None;
        for (name, version) in names {
            if self.contains(&version) && best.as_ref().is_none_or(|(_, highest)| version > *highest) {
                best = Some((name, version));
            }
        }
        best.map(|(name, _)| name)
    }
}

/// Conditions side by side, separated by spaces or a comma.
fn alternative(text: &str, first: bool) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut rest = text.trim();
    // A range with a hyphen stands first, after a comma or after another; elsewhere the library does not
    // read it, nor right behind the bars.
    let mut fresh = first || text.starts_with(|c: char| c.is_whitespace() || c == 'v');
    while !rest.is_empty() {
        let (operator, after) = OPERATORS
            .iter()
            .find_map(|(sign, operator)| Some((Some(*operator), rest.strip_prefix(sign)?)))
            .unwrap_or((None, rest));
        let (word, after) = word(after.trim_start());
        let condition = Condition::new(operator.unwrap_or(Operator::Equal), word)?;
        let mut hyphenated = false;
        let after = match (operator, hyphen(after)) {
            // `1.2 - 1.4`
            (None, Some(end)) if fresh => {
                let (last, after) = self::word(end);
                hyphenated = true;
                conditions.push(Condition { operator: Operator::GreaterOrEqual, ..condition });
                conditions.push(Condition::new(Operator::LessOrEqual, last)?);
                after
            }
            _ => {
                conditions.push(condition);
                after
            }
        };
        rest = separator(after)?;
        fresh = hyphenated || after.trim_start().starts_with(',');
    }
    (!conditions.is_empty()).then_some(conditions)
}

/// The text up to a space or comma, and what follows it.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len()))
}

/// What follows ` - `, if that is next.
fn hyphen(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('-')?;
    (text.starts_with(char::is_whitespace) && rest.starts_with(char::is_whitespace))
        .then(|| rest.trim_start())
}

/// What follows a separator; a comma has to be followed by something.
fn separator(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    match rest.strip_prefix(',') {
        Some(rest) => Some(rest.trim_start()).filter(|rest| !rest.is_empty()),
        None => Some(rest),
    }
}

impl Condition {
    /// `x`, `X`, `*` and nothing at all stand for any number; what follows them does not count.
    fn new(operator: Operator, text: &str) -> Option<Self> {
        let parts = Parts::of(text)?;
        let mut numbers = [0; 3];
        let mut given = 0;
        let mut open = false;
        for (number, part) in numbers.iter_mut().zip(&parts.numbers) {
            if matches!(*part, "x" | "X" | "*") {
                open = true;
            } else {
                let value = part.parse().ok()?;
                if !open {
                    *number = value;
                    given += 1;
                }
            }
        }
        let [major, minor, patch] = numbers;
        let pre = parts.pre.unwrap_or_default().to_owned();
        if !valid_pre(&pre) {
            return None;
        }
        Some(Condition { operator, version: Version { major, minor, patch, pre }, given })
    }

    fn holds(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.operator {
            Operator::Equal if self.given == 3 => version == own,
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual if matches!(self.given, 1 | 2) => !self.same_series(version),
            Operator::NotEqual => version != own,
            Operator::Greater if matches!(self.given, 1 | 2) => version > own && !self.same_series(version),
            Operator::Greater => version > own,
            Operator::Less => version < own,
            Operator::GreaterOrEqual => version >= own,
            Operator::LessOrEqual => self.at_most(version),
            Operator::Caret => self.caret(version),
        }
    }

    /// Whether the numbers that were given are the version's, with the pre-release if both were named.
    fn same_series(&self, version: &Version) -> bool {
        let own = &self.version;
        let numbers = version.major == own.major && (self.given < 2 || version.minor == own.minor);
        numbers && (self.given < 2 || self.operator == Operator::Greater || version.pre == own.pre)
    }

    /// At least this version, and the same series; `~*` and `~0.0.0` are any.
    fn tilde(&self, version: &Version) -> bool {
        let own = &self.version;
        let any = (own.major, own.minor, own.patch) == (0, 0, 0) && matches!(self.given, 0 | 3);
        version >= own
            && (any || (version.major == own.major && (self.given == 1 || version.minor == own.minor)))
    }

    /// `<=1.2` includes all of 1.2; `<=*` is read as `<=0.0`.
    fn at_most(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.given {
            3 => version <= own,
            1 => version.major <= own.major,
            _ => (version.major, version.minor) <= (own.major, own.minor),
        }
    }

    /// At least this version, and no change of the first number that is not zero.
    fn caret(&self, version: &Version) -> bool {
        let own = &self.version;
        if version < own {
            return false;
        }
        if own.major > 0 || self.given == 1 {
            return version.major == own.major;
        }
        if version.major > 0 {
            return false;
        }
        if own.minor > 0 || self.given == 2 {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: &str, inside: &[&str], outside: &[&str]) {
        let parsed = Range::parse(range).unwrap_or_else(|| panic!("{range} is a range"));
        for version in inside {
            assert!(parsed.contains(&Version::parse(version).unwrap()), "{version} in {range}");
        }
        for version in outside {
            assert!(!parsed.contains(&Version::parse(version).unwrap()), "{version} not in {range}");
        }
    }

    #[test]
    fn ranges_hold_what_the_library_says() {
        check("1.2.*", &["1.2.0", "v1.2.9"], &["1.3.0", "1.2.9-rc.1"]);
        check(">=1.0.0 <2", &["1.0.0", "1.9.9"], &["2.0.0", "0.9.9"]);
        check(">=1.0.0, <2", &["1.5"], &["2.0.0"]);
        check("~1.2", &["1.2.3"], &["1.3.0", "2.2.0"]);
        check("~1", &["1.9.0"], &["2.0.0"]);
        check("^1", &["1.0.0", "1.9.0"], &["2.0.0"]);
        check("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0", "0.2.2"]);
        check("^0.0.3", &["0.0.3"], &["0.0.4"]);
        check("^0", &["0.9.0"], &["1.0.0"]);
        check("1.2 - 1.4.5", &["1.2.0", "1.4.5"], &["1.4.6", "1.1.9"]);
        check("1.x || >=3", &["1.4.0", "3.0.0"], &["2.0.0"]);
        check("!=1.5.0 >1.4.9", &["1.6.0"], &["1.5.0"]);
        check("!=1.5", &["1.6.0"], &["1.5.3"]);
        check(">1", &["2.0.0"], &["1.9.0"]);
        check(">1.2", &["1.3.0"], &["1.2.9"]);
        check("<=1.2", &["1.2.9"], &["1.3.0"]);
        check("~*", &["0.0.1", "7.0.0"], &["7.0.0-rc"]);
        check(">=1.0.0-0", &["1.0.0-rc.1", "2.0.0-alpha"], &["0.9.0"]);
        check("=> 1.1, =< v1.3", &["1.1.0", "1.3.9"], &["1.4.0"]);
    }

    #[test]
    fn other_texts_are_not_ranges() {
        for text in [
            "",
            " ",
            "main",
            "HEAD",
            "1.0.0",
            "v1.0",
            "||",
            "1.x ||",
            "1,",
            ",1.x",
            ">",
            "1^2x",
            ">= 1.2 - 1.4",
            "a.b",
        ] {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
