//! Semantic versions.

use std::cmp::Ordering;

use super::error::EvalError;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

/// A semantic version; build metadata is kept out of every comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semver {
    numbers: [u64; 3],
    pre: Vec<String>,
}

impl Semver {
    /// Reads a version. With `lenient`, a leading `v` goes and missing numbers are zero.
    pub(super) fn parse(text: &str, lenient: bool) -> Option<Self> {
        let text = if lenient { text.strip_prefix('v').unwrap_or(text) } else { text };
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
        let mut parts: Vec<&str> = core.split('.').collect();
        if lenient {
            while parts.len() < 3 {
                parts.push("0");
            }
        }
        let [major, minor, patch] = parts.as_slice() else { return None };
        let number = |text: &str| {
            let text = if lenient { text.trim_start_matches('0') } else { text };
            let text = if text.is_empty() && lenient { "0" } else { text };
            let plain = text.len() == 1 || !text.starts_with('0');
            (plain && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| text.parse().ok())
                .flatten()
        };
        let pre: Vec<String> = match pre {
            None => Vec::new(),
            Some(pre) => pre.split('.').map(str::to_owned).collect(),
        };
        let valid = |part: &String| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if !pre.iter().all(valid) {
            return None;
        }
        Some(Semver { numbers: [number(major)?, number(minor)?, number(patch)?], pre })
    }

    fn compare(&self, other: &Semver) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.pre.iter().zip(&other.pre).map(|(a, b)| compare_part(a, b));
                pairs.fold(Ordering::Equal, Ordering::then).then(self.pre.len().cmp(&other.pre.len()))
            }
        })
    }
}

fn compare_part(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    Some(match (name, args) {
        ("semver", [Val::String(text), rest @ ..]) => Semver::parse(text, lenient(rest))
            .map(|version| Val::Semver(version.into()))
            .ok_or_else(|| EvalError::failed(format!("invalid semver: {text}"))),
        ("isSemver", [Val::String(text), rest @ ..]) => {
            Ok(Val::Bool(Semver::parse(text, lenient(rest)).is_some()))
        }
        ("isGreaterThan", [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Bool(a.compare(b).is_gt())),
        ("isLessThan", [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Bool(a.compare(b).is_lt())),
        ("compareTo", [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Int(a.compare(b) as i64)),
        ("major", [Val::Semver(version)]) => Ok(Val::Int(version.numbers[0] as i64)),
        ("minor", [Val::Semver(version)]) => Ok(Val::Int(version.numbers[1] as i64)),
        ("patch", [Val::Semver(version)]) => Ok(Val::Int(version.numbers[2] as i64)),
        _ => return None,
    })
}

fn lenient(rest: &[Val]) -> bool {
    matches!(rest.first(), Some(Val::Bool(true)))
}
