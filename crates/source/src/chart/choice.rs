//! Which version is meant.

use std::cmp::Reverse;

use crate::limits::MAX_SUGGESTIONS;
use crate::range::Range;
use crate::version::Version;

/// The version that is meant, as Helm chooses it: the one that is written exactly so, else the highest in the
/// range; nothing at all means the highest release.
pub(crate) fn choose<'a, T>(versions: &'a [T], wanted: &str, text: impl Fn(&T) -> &str) -> Option<&'a T> {
    let exact = versions.iter().find(|version| text(version) == wanted);
    if exact.is_some() {
        return exact;
    }
    let range = Range::constraint(wanted)?;
    let mut best: Option<(Version, &T)> = None;
    for candidate in versions {
        let Some(version) = Version::parse(text(candidate)) else { continue };
        if range.contains(&version) && best.as_ref().is_none_or(|(highest, _)| version > *highest) {
            best = Some((version, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The same versions, newest first; those that are equal keep their order.
pub(crate) fn sorted<T>(versions: Vec<T>, text: impl Fn(&T) -> &str) -> Vec<T> {
    let mut versions: Vec<(Option<Version>, T)> =
        versions.into_iter().map(|version| (Version::parse(text(&version)), version)).collect();
    versions.sort_by(|left, right| right.0.cmp(&left.0));
    versions.into_iter().map(|(_, version)| version).collect()
}

/// The versions that come nearest to one that does not exist: those that share most of its numbers, then the
/// newest.
pub(crate) fn nearest<'a>(versions: impl IntoIterator<Item = &'a str>, wanted: &str) -> Vec<String> {
    let aim = Version::parse(wanted).or_else(|| Range::constraint(wanted)?.aim().cloned());
    let mut near: Vec<(_, Reverse<Version>, &str)> = versions
        .into_iter()
        .filter_map(|text| {
            let version = Version::parse(text)?;
            let distance = aim.as_ref().map(|aim| {
                let numbers = |version: &Version| [version.major, version.minor, version.patch];
                let apart =
                    numbers(&version).into_iter().zip(numbers(aim)).map(|(own, aim)| own.abs_diff(aim));
                // Behind the first number that differs, the others say nothing.
                let first = apart.enumerate().find(|(_, apart)| *apart > 0).unwrap_or((3, 0));
                (Reverse(first.0), first.1, version.pre != aim.pre)
            });
            Some((distance, Reverse(version), text))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, _, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: [&str; 9] =
        ["1.0.0", "1.2.0", "1.2.5", "2.0.0-rc.1", "v2.0.0", "0.9.0", "2.1.0-alpha", "1.2.5+build", "latest"];

    fn check(wanted: &str) -> &'static str {
        choose(&VERSIONS, wanted, |text| text).copied().unwrap_or("none")
    }

    #[test]
    fn the_highest_in_the_range_is_chosen_unless_one_is_written_exactly_so() {
        assert_eq!(check(""), "v2.0.0");
        assert_eq!(check("*"), "v2.0.0");
        assert_eq!(check("1.2.0"), "1.2.0");
        assert_eq!(check("v1.2.0"), "1.2.0");
        assert_eq!(check("2.0.0"), "v2.0.0");
        assert_eq!(check("1.2.5+build"), "1.2.5+build");
        assert_eq!(check("1.2"), "1.2.5", "the first of equals");
        assert_eq!(check("^1"), "1.2.5");
        assert_eq!(check(">=1 <2"), "1.2.5");
        assert_eq!(check("~0.9 || ~1.0.0"), "1.0.0");
        assert_eq!(check("0.1 - 1.1"), "1.0.0");
        assert_eq!(check("latest"), "latest");
    }

    #[test]
    fn a_pre_release_is_chosen_only_if_the_range_has_one() {
        assert_eq!(check(">2.0.0"), "none");
        assert_eq!(check(">2.0.0-0"), "2.1.0-alpha");
        assert_eq!(check("2.0.0-rc.1"), "2.0.0-rc.1");
        assert_eq!(check("~2.1.0-0"), "2.1.0-alpha");
    }

    #[test]
    fn versions_are_sorted_newest_first() {
        let texts = sorted(vec!["1.0.0", "nonsense", "2.0.0", "1.0.0+b", "10.0.0"], |text| text);
        assert_eq!(texts, ["10.0.0", "2.0.0", "1.0.0", "1.0.0+b", "nonsense"]);
    }

    #[test]
    fn the_nearest_share_most_numbers() {
        assert_eq!(nearest(VERSIONS, "1.2.4"), ["1.2.5", "1.2.5+build", "1.2.0"]);
        assert_eq!(nearest(VERSIONS, "~0.8"), ["0.9.0", "1.2.5", "1.2.5+build"]);
        assert_eq!(nearest(VERSIONS, "nonsense"), ["2.1.0-alpha", "v2.0.0", "2.0.0-rc.1"]);
    }
}
