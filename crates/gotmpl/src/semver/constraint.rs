//! Constraints: alternatives (`||`) of requirements that must all hold, `- ` ranges, wildcards, `~` and `^`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use super::version::{Shape, Version, compare_prerelease};

/// The longest text that is read as a constraint.
const LONGEST: usize = 512;

/// The most alternatives in one constraint.
const MOST_ALTERNATIVES: usize = 32;

/// `1.0 - 2.0`, anywhere in a text.
static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let number = r"[0-9xX*|]+";
    let words = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*";
    let version = format!(r"v?{number}(?:\.{number}){{0,2}}(?:-{words})?(?:\+{words})?");
    let space = r"[\t\n\f\r ]";
    Regex::new(&format!("{space}*({version}){space}+-{space}+({version}){space}*")).ok()
});

/// Why a text is no constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// An alternative is not a list of requirements.
    #[error("improper constraint: {}", crate::format::quote::double(.0))]
    Improper(String),
    /// A requirement has the shape of a version and is none.
    #[error("constraint parser error")]
    Version,
    /// The text is longer than any constraint needs.
    #[error("constraint string is too long (max {LONGEST} bytes)")]
    TooLong,
    /// There are too many alternatives.
    #[error("too many constraint groups (max {MOST_ALTERNATIVES})")]
    TooManyAlternatives,
}

/// What a version must satisfy.
#[derive(Debug, Clone)]
pub struct Constraints {
    alternatives: Vec<Alternative>,
    /// Whether pre-releases satisfy requirements that do not name one.
    pub include_prerelease: bool,
}

#[derive(Debug, Clone)]
struct Alternative {
    requirements: Vec<Requirement>,
    /// One requirement that names a pre-release lets pre-releases in for the whole alternative.
    names_prerelease: bool,
}

#[derive(Debug, Clone)]
struct Requirement {
    operator: Operator,
    version: Version,
    /// How much of the version was written out.
    precision: Precision,
    written: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    Any,
    Major,
    Minor,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Constraints {
    /// Reads a constraint such as `>=1.2, <2 || ~3.1 || 4.0 - 4.5`.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        if text.len() > LONGEST {
            return Err(ConstraintError::TooLong);
        }
        let text = expand_ranges(text);
        let alternatives: Vec<&str> = text.split("||").collect();
        if alternatives.len() > MOST_ALTERNATIVES {
            return Err(ConstraintError::TooManyAlternatives);
        }
        let alternatives = alternatives.into_iter().map(Alternative::parse).collect::<Result<_, _>>()?;
        Ok(Self { alternatives, include_prerelease: false })
    }

    /// Whether a version satisfies all requirements of one alternative.
    pub fn check(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|alternative| {
            let prereleases = self.include_prerelease || alternative.names_prerelease;
            (prereleases || version.prerelease.is_empty())
                && alternative.requirements.iter().all(|requirement| requirement.holds(version))
        })
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, alternative) in self.alternatives.iter().enumerate() {
            f.write_str(if i > 0 { " || " } else { "" })?;
            for (j, requirement) in alternative.requirements.iter().enumerate() {
                f.write_str(if j > 0 { " " } else { "" })?;
                f.write_str(&requirement.written)?;
            }
        }
        Ok(())
    }
}

/// Writes `a - b` as two comparisons. The first text equal to a range is replaced, as in the original.
fn expand_ranges(text: &str) -> String {
    let mut expanded = text.to_owned();
    // The pattern takes longer to build than a chart to render, and hardly any constraint has a range.
    if !text.split(is_space).any(|word| word == "-") {
        return expanded;
    }
    for range in RANGE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (_, [low, high]) = range.extract();
        expanded = expanded.replacen(&range[0], &format!(">= {low}, <= {high} "), 1);
    }
    expanded
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ')
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, ConstraintError> {
        let improper = || ConstraintError::Improper(text.to_owned());
        let mut requirements = Vec::new();
        let mut rest = text.trim_start_matches(is_space);
        loop {
            let (requirement, after) = Requirement::parse(rest).ok_or_else(improper)?;
            requirements.push(requirement);
            let next = after.trim_start_matches(is_space);
            if next.is_empty() {
                break;
            }
            rest = match next.strip_prefix(',') {
                Some(next) => next.trim_start_matches(is_space),
                None if next.len() < after.len() => next,
                None => return Err(improper()),
            };
        }
        // Versions are looked at once the whole has the right shape.
        let requirements = requirements.into_iter().collect::<Result<Vec<_>, _>>()?;
        let names_prerelease = requirements.iter().any(|r| !r.version.prerelease.is_empty());
        Ok(Self { requirements, names_prerelease })
    }
}

impl Requirement {
    /// Reads one requirement, whose version may be wrong, and gives what follows it; nothing if there is none.
    fn parse(text: &str) -> Option<(Result<Self, ConstraintError>, &str)> {
        let version = text.trim_start_matches(['=', '!', '>', '<', '~', '^']);
        let sign = &text[..text.len() - version.len()];
        let operator = Operator::parse(sign)?;
        let version = version.trim_start_matches(is_space);
        let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'x' | b'X' | b'*' | b'|');
        let shape = Shape::read(version, is_number)?;
        let written = &version[..version.len() - shape.rest.len()];
        let (precision, complete) = complete(&shape, written);
        let written = format!("{sign}{written}");
        let requirement = Version::parse(&complete)
            .map(|version| Self { operator, version, precision, written })
            .map_err(|_| ConstraintError::Version);
        Some((requirement, shape.rest))
    }

    fn holds(&self, version: &Version) -> bool {
        let bound = &self.version;
        let order = version.compare(bound);
        match self.operator {
            Operator::Equal if self.precision == Precision::Full => order == Ordering::Equal,
            Operator::Equal | Operator::Tilde => order != Ordering::Less && self.is_near(version),
            Operator::NotEqual => self.differs(version),
            Operator::Greater => match self.precision {
                Precision::Full => order == Ordering::Greater,
                // `>1` wants 2 or later, `>1.2` wants 1.3 or later.
                Precision::Major => version.major > bound.major,
                Precision::Minor => (version.major, version.minor) > (bound.major, bound.minor),
                Precision::Any => version.major > bound.major || order == Ordering::Greater,
            },
            Operator::GreaterOrEqual => order != Ordering::Less,
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => match self.precision {
                Precision::Full => order != Ordering::Greater,
                Precision::Major => version.major <= bound.major,
                Precision::Minor | Precision::Any => {
                    (version.major, version.minor) <= (bound.major, bound.minor)
                }
            },
            Operator::Caret => order != Ordering::Less && self.is_compatible(version),
        }
    }

    /// The upper end of `~` and of wildcards: the same minor version, or the same major one if no more is written.
    fn is_near(&self, version: &Version) -> bool {
        let bound = &self.version;
        let unbounded = matches!(self.precision, Precision::Any | Precision::Full)
            && (bound.major, bound.minor, bound.patch) == (0, 0, 0);
        unbounded
            || version.major == bound.major
                && (version.minor == bound.minor || self.precision == Precision::Major)
    }

    /// The upper end of `^`: nothing left of the first non-zero number changes.
    fn is_compatible(&self, version: &Version) -> bool {
        let bound = &self.version;
        if version.major != bound.major {
            return false;
        }
        if bound.major > 0 || self.precision == Precision::Major {
            return true;
        }
        if version.minor != bound.minor {
            return false;
        }
        bound.minor > 0 || self.precision == Precision::Minor || version.patch == bound.patch
    }

    fn differs(&self, version: &Version) -> bool {
        let bound = &self.version;
        match self.precision {
            Precision::Full => version.compare(bound) != Ordering::Equal,
            _ if version.major != bound.major => true,
            Precision::Major => false,
            _ if version.minor != bound.minor => true,
            Precision::Minor => compare_prerelease(&version.prerelease, &bound.prerelease) != Ordering::Equal,
            Precision::Any => version.patch != bound.patch || version.compare(bound) != Ordering::Equal,
        }
    }
}

/// How precise a version is, and its text with zeros for what is left out or a wildcard.
fn complete(shape: &Shape<'_>, written: &str) -> (Precision, String) {
    let wild = |part: Option<&str>| part.is_none_or(|part| matches!(part, "x" | "X" | "*"));
    let tail = shape.prerelease.map(|text| format!("-{text}")).unwrap_or_default();
    let (major, minor) = (shape.major, shape.minor.unwrap_or_default());
    if wild(Some(major)) {
        (Precision::Any, format!("0.0.0{tail}"))
    } else if wild(shape.minor) {
        (Precision::Major, format!("{major}.0.0{tail}"))
    } else if wild(shape.patch) {
        (Precision::Minor, format!("{major}.{minor}.0{tail}"))
    } else {
        (Precision::Full, written.to_owned())
    }
}

impl Operator {
    fn parse(sign: &str) -> Option<Self> {
        Some(match sign {
            "" | "=" => Self::Equal,
            "!=" => Self::NotEqual,
            ">" => Self::Greater,
            "<" => Self::Less,
            ">=" | "=>" => Self::GreaterOrEqual,
            "<=" | "=<" => Self::LessOrEqual,
            "~" | "~>" => Self::Tilde,
            "^" => Self::Caret,
            _ => return None,
        })
    }
}
