//! The references of a repository, and what a user's text names among them.

use std::collections::BTreeMap;

use gix::ObjectId;

use crate::error::{RevisionKind, SourceError};
use crate::limits::{MAX_SUGGESTIONS, MAX_TEXT};
use crate::range::Range;
use crate::revision::{CommitId, Origin, Revision, Target, full_commit, is_short_commit};
use crate::version::Version;

/// The references of a repository at one moment, each with the commit that it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    refs: BTreeMap<String, ObjectId>,
    /// The full name of the default branch.
    head: Option<String>,
    /// The tags that are objects of their own, by their full names.
    tags: BTreeMap<String, ObjectId>,
}

/// The branches and tags of a repository by their short names, in byte order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The branches.
    pub branches: Vec<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The branch that `HEAD` stands for, if there is a commit on it.
    pub default_branch: Option<String>,
}

/// What a text names, as far as the references can tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This commit.
    Found(Revision),
    /// Perhaps a commit that starts like this; only the objects can tell.
    Prefix(String),
    /// Nothing here.
    Missing(RevisionKind),
}

impl Listing {
    pub(crate) fn insert(&mut self, name: impl Into<String>, commit: ObjectId) {
        self.refs.insert(name.into(), commit);
    }

    /// Takes the object of a tag, which leads to the commit that it was inserted with.
    pub(crate) fn insert_tag(&mut self, name: impl Into<String>, tag: ObjectId) {
        self.tags.insert(name.into(), tag);
    }

    /// The object of a tag, by its short name; none for one that is only a name.
    pub(crate) fn tag_object(&self, name: &str) -> Option<ObjectId> {
        self.tags.get(&format!("refs/tags/{name}")).copied()
    }

    pub(crate) fn set_head(&mut self, branch: impl Into<String>) {
        self.head = Some(branch.into());
    }

    /// Takes over the references of another listing.
    pub(crate) fn merge(&mut self, other: Listing) {
        self.refs.extend(other.refs);
        self.tags.extend(other.tags);
        self.head = other.head.or(self.head.take());
    }

    /// Everything that was listed, by its full name.
    pub(crate) fn commits(&self) -> Vec<(String, CommitId)> {
        self.refs.iter().map(|(name, commit)| (name.clone(), CommitId(*commit))).collect()
    }

    /// The commits that branches, tags and HEAD lead to, each once.
    pub(crate) fn tips(&self) -> Vec<ObjectId> {
        let mut tips: Vec<ObjectId> = self.refs.values().copied().collect();
        tips.sort();
        tips.dedup();
        tips
    }

    pub(crate) fn references(&self) -> References {
        let names = |kind: &str| {
            self.refs.keys().filter_map(|name| name.strip_prefix(kind)).map(str::to_owned).collect()
        };
        References {
            branches: names("refs/heads/"),
            tags: names("refs/tags/"),
            default_branch: self.default_branch().map(|(name, _)| name),
        }
    }

    /// The short names of the tags that lead to a commit, in order.
    pub(crate) fn tags_at(&self, commit: ObjectId) -> Vec<String> {
        self.tags().filter(|(_, target)| *target == commit).map(|(name, _)| name.to_owned()).collect()
    }

    /// The default branch by its short name, and its commit.
    pub(crate) fn default_branch(&self) -> Option<(String, CommitId)> {
        let commit = self.head_commit()?;
        let name = self.head.as_deref().and_then(|name| name.strip_prefix("refs/heads/")).unwrap_or("HEAD");
        Some((name.to_owned(), CommitId(commit)))
    }

    fn head_commit(&self) -> Option<ObjectId> {
        let target = self.head.as_ref().and_then(|name| self.refs.get(name));
        self.refs.get("HEAD").or(target).copied()
    }

    fn tags(&self) -> impl Iterator<Item = (&str, ObjectId)> {
        self.refs.iter().filter_map(|(name, commit)| Some((name.strip_prefix("refs/tags/")?, *commit)))
    }

    /// Finds what a text names: a full commit id; a tag by range; a reference by its full or short name;
    /// at last, perhaps, the start of a commit id.
    pub(crate) fn resolve(&self, target: Target<'_>) -> Answer {
        let asked = target.revision;
        if asked.len() > MAX_TEXT {
            return Answer::Missing(RevisionKind::Name);
        }
        if let Some(commit) = full_commit(asked) {
            return self.found(asked, commit.0, Origin::Commit);
        }
        let range = Range::parse(asked);
        if let Some((tag, commit)) = range.as_ref().and_then(|range| self.highest(range, target.tag_prefix)) {
            return self.found(asked, commit, Origin::Range(tag.to_owned()));
        }
        // A tag with a prefix is asked for by its version; Argo CD takes no branch then.
        let name = if Version::parse(asked).is_some() {
            format!("{}{asked}", target.tag_prefix)
        } else {
            asked.to_owned()
        };
        if let Some((commit, origin)) = self.named(&name) {
            return self.found(asked, commit, origin);
        }
        match () {
            () if is_short_commit(asked) => Answer::Prefix(asked.to_ascii_lowercase()),
            () if matches!(asked, "" | "HEAD") => Answer::Missing(RevisionKind::Head),
            () if asked.starts_with("refs/") => Answer::Missing(RevisionKind::Reference),
            () if range.is_some() => Answer::Missing(RevisionKind::Range),
            () => Answer::Missing(RevisionKind::Name),
        }
    }

    fn found(&self, asked: &str, commit: ObjectId, origin: Origin) -> Answer {
        Answer::Found(Revision { commit: CommitId(commit), asked: asked.to_owned(), origin })
    }

    fn highest(&self, range: &Range, prefix: &str) -> Option<(&str, ObjectId)> {
        let versions = self.tags().filter_map(|(tag, _)| {
            let version = Version::parse(tag.strip_prefix(prefix)?)?;
            Some((tag, version))
        });
        let tag = range.highest(versions)?;
        Some((tag, *self.refs.get(&format!("refs/tags/{tag}"))?))
    }

    /// Looks a name up where git looks: as it is, then tags, then branches, then the rest.
    fn named(&self, name: &str) -> Option<(ObjectId, Origin)> {
        if matches!(name, "" | "HEAD") {
            let branch = self.head.as_deref().and_then(|head| head.strip_prefix("refs/heads/"));
            return Some((self.head_commit()?, Origin::Head(branch.map(str::to_owned))));
        }
        candidates(name).into_iter().find_map(|full| {
            let commit = *self.refs.get(&full)?;
            let origin = if let Some(tag) = full.strip_prefix("refs/tags/") {
                Origin::Tag(tag.to_owned())
            } else if let Some(branch) = full.strip_prefix("refs/heads/") {
                Origin::Branch(branch.to_owned())
            } else {
                Origin::Reference(full)
            };
            Some((commit, origin))
        })
    }

    /// The error for a text that names nothing, with the names that look most like it.
    pub(crate) fn missing(&self, url: &str, asked: &str, kind: RevisionKind) -> SourceError {
        SourceError::RevisionNotFound {
            url: url.to_owned(),
            revision: if asked.is_empty() { "HEAD".to_owned() } else { asked.chars().take(200).collect() },
            kind,
            similar: self.similar(asked, kind),
        }
    }

    fn similar(&self, asked: &str, kind: RevisionKind) -> Vec<String> {
        let branches = || self.refs.keys().filter_map(|name| name.strip_prefix("refs/heads/"));
        if matches!(kind, RevisionKind::Range) {
            return self.newest_tags();
        }
        let mut names = similar(asked, branches().chain(self.tags().map(|(tag, _)| tag)));
        // `master` where there is only `main`, and the like.
        let default = matches!(asked, "master" | "main" | "trunk").then(|| self.default_branch()).flatten();
        if let Some((branch, _)) = default.filter(|(branch, _)| !names.contains(branch)) {
            names.insert(0, branch);
            names.truncate(MAX_SUGGESTIONS);
        }
        names
    }

    fn newest_tags(&self) -> Vec<String> {
        let mut tags: Vec<(Version, &str)> =
            self.tags().filter_map(|(tag, _)| Some((Version::parse(tag)?, tag))).collect();
        tags.sort_unstable_by(|left, right| right.cmp(left));
        tags.into_iter().take(MAX_SUGGESTIONS).map(|(_, tag)| tag.to_owned()).collect()
    }
}

/// The full names that a short one may stand for, best first.
pub(crate) fn candidates(name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    if !name.starts_with("refs/") {
        names.extend(
            ["refs/tags/", "refs/heads/", "refs/remotes/", "refs/"].map(|dir| format!("{dir}{name}")),
        );
    }
    names
}

/// The names that look most like what was asked for, best first.
pub fn similar<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut near: Vec<(usize, &str)> =
        names.into_iter().filter_map(|name| Some((distance(asked, name)?, name))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// How unlike two names are; `None` if they have nothing to do with each other.
fn distance(asked: &str, name: &str) -> Option<usize> {
    let (left, right) = (asked.to_lowercase(), name.to_lowercase());
    if left == right {
        return Some(0);
    }
    let version = |text: &str| text.strip_prefix('v').unwrap_or(text).to_owned();
    if version(&left) == version(&right) {
        return Some(1);
    }
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    if last(&left) == last(&right) {
        return Some(2);
    }
    if left.len() > 64 || right.len() > 64 {
        return None;
    }
    let edits = edit_distance(left.as_bytes(), right.as_bytes());
    (edits * 2 <= left.len().max(right.len())).then_some(2 + edits)
}

fn edit_distance(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = i;
        let mut previous = i + 1;
        for (b, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            previous = replaced.min(previous + 1).min(diagonal + 1);
            *cell = previous;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> ObjectId {
        ObjectId::from_hex(digit.to_string().repeat(40).as_bytes()).unwrap()
    }

    fn listing(refs: &[(&str, char)]) -> Listing {
        let mut listing = Listing::default();
        for (name, digit) in refs {
            listing.insert(*name, id(*digit));
        }
        listing.set_head("refs/heads/main");
        listing
    }

    fn sample() -> Listing {
        listing(&[
            ("refs/heads/main", '1'),
            ("refs/heads/feature/login", '2'),
            ("refs/heads/both", '3'),
            ("refs/tags/both", '4'),
            ("refs/tags/v1.0.0", '5'),
            ("refs/tags/v1.2.9", '6'),
            ("refs/tags/v1.2.10", '7'),
            ("refs/tags/v2.0.0-rc.1", '8'),
            ("refs/tags/web-1.5.0", '9'),
            ("refs/pull/7/head", 'a'),
        ])
    }

    fn check(target: Target<'_>) -> String {
        let listing = sample();
        match listing.resolve(target) {
            Answer::Found(revision) => format!("{} {:?}", &revision.commit.to_string()[..1], revision.origin),
            Answer::Prefix(prefix) => format!("prefix {prefix}"),
            Answer::Missing(kind) => listing.missing("url", target.revision, kind).to_string(),
        }
    }

    #[test]
    fn names_are_found_where_git_finds_them() {
        assert_eq!(check("".into()), "1 Head(Some(\"main\"))");
        assert_eq!(check("HEAD".into()), "1 Head(Some(\"main\"))");
        assert_eq!(check("main".into()), "1 Branch(\"main\")");
        assert_eq!(check("feature/login".into()), "2 Branch(\"feature/login\")");
        assert_eq!(check("refs/heads/both".into()), "3 Branch(\"both\")");
        assert_eq!(check("both".into()), "4 Tag(\"both\")");
        assert_eq!(check("v1.0.0".into()), "5 Tag(\"v1.0.0\")");
        assert_eq!(check("refs/pull/7/head".into()), "a Reference(\"refs/pull/7/head\")");
        assert_eq!(check("pull/7/head".into()), "a Reference(\"refs/pull/7/head\")");
    }

    #[test]
    fn a_range_is_the_highest_tag_in_it() {
        assert_eq!(check("1.2.*".into()), "7 Range(\"v1.2.10\")");
        assert_eq!(check(">=1.0.0 <1.2.10".into()), "6 Range(\"v1.2.9\")");
        assert_eq!(check("*".into()), "7 Range(\"v1.2.10\")");
        assert_eq!(check(">=2.0.0-0".into()), "8 Range(\"v2.0.0-rc.1\")");
        assert_eq!(check(Target { revision: "1.x", tag_prefix: "web-" }), "9 Range(\"web-1.5.0\")");
        assert_eq!(check(Target { revision: "1.5.0", tag_prefix: "web-" }), "9 Tag(\"web-1.5.0\")");
        assert_eq!(check("^3".into()), "url has no tag in the range \"^3\"");
    }

    #[test]
    fn commits_are_taken_as_they_are() {
        let full = "b".repeat(40);
        assert_eq!(check(full.as_str().into()), "b Commit");
        assert_eq!(check("ABCDEF0".into()), "prefix abcdef0");
        assert_eq!(check("abcdef".into()), "url has no branch or tag \"abcdef\"");
    }

    #[test]
    fn a_missing_name_comes_with_those_that_look_like_it() {
        let similar = |asked: &str, kind| match sample().missing("url", asked, kind) {
            SourceError::RevisionNotFound { similar, .. } => similar,
            other => panic!("{other}"),
        };
        assert_eq!(similar("master", RevisionKind::Name), ["main"]);
        assert_eq!(similar("Main", RevisionKind::Name), ["main"]);
        assert_eq!(similar("login", RevisionKind::Name), ["feature/login"]);
        assert_eq!(similar("1.0.0", RevisionKind::Name)[0], "v1.0.0");
        assert_eq!(similar("^3", RevisionKind::Range), ["v2.0.0-rc.1", "v1.2.10", "v1.2.9"]);
        assert!(similar("entirely-else", RevisionKind::Name).is_empty());
    }

    #[test]
    fn an_empty_repository_has_no_head() {
        let empty = Listing::default();
        assert_eq!(empty.resolve("HEAD".into()), Answer::Missing(RevisionKind::Head));
        assert_eq!(empty.missing("url", "", RevisionKind::Head).to_string(), "url has no commit at \"HEAD\"");
    }
}
