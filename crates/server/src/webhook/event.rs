//! What has happened, whoever tells it.

use std::collections::BTreeSet;

use lynceus_object::Value;

use crate::limits;

/// Something was pushed to a repository, or became of one of its pull requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Where the repository is, in all the ways that its host writes it.
    pub(super) urls: Vec<String>,
    /// The branch or tag in full: `refs/heads/main`. Of a registry, the tag alone.
    pub(super) reference: String,
    /// Whether it is the branch that those follow who name none, or may be.
    pub(super) is_default: bool,
    /// The files that were touched; none if that is not told.
    pub(super) files: Option<BTreeSet<String>>,
    /// Whether it is about a pull request, so that no branch need have moved.
    pub(super) is_pull: bool,
    /// The number that the host knows the repository by, where it may be asked for by that.
    pub(super) id: String,
}

impl Event {
    /// A push of a host that tells the default branch and the files of each commit, as GitHub, GitLab and Gogs do.
    pub(super) fn pushed(urls: Vec<String>, body: &Value, default: &str) -> Option<Event> {
        let reference = body.str_at(&["ref"])?.to_owned();
        if urls.is_empty() || reference.is_empty() {
            return None;
        }
        let branch = reference.strip_prefix("refs/heads/");
        let is_default = branch.is_some_and(|branch| default.is_empty() || branch == default);
        Some(Event { urls, is_default, reference, files: files(body), ..Event::default() })
    }

    /// A pull request of a repository that was opened, changed or closed; none if it is not told of which.
    pub(super) fn pulled(urls: Vec<String>) -> Option<Vec<Event>> {
        (!urls.is_empty()).then(|| vec![Event { urls, is_pull: true, ..Event::default() }])
    }

    /// The branch or tag by its short name.
    pub(super) fn name(&self) -> &str {
        let reference = self.reference.as_str();
        reference
            .strip_prefix("refs/heads/")
            .or_else(|| reference.strip_prefix("refs/tags/"))
            .unwrap_or(reference)
    }

    /// Whether it is a tag.
    pub(super) fn is_tag(&self) -> bool {
        !self.reference.starts_with("refs/heads/")
    }
}

/// The files that the commits of a push touch. What is told in part is not told: a commit that is left out, or history that
/// was replaced, may have touched anything.
fn files(body: &Value) -> Option<BTreeSet<String>> {
    let commits = body.items_at(&["commits"]);
    let told = body.int_at(&["total_commits_count"]).or_else(|| body.int_at(&["total_commits"]));
    let is_part = told.is_some_and(|told| usize::try_from(told) != Ok(commits.len()));
    if commits.is_empty() || is_part || body.bool_at(&["forced"]) == Some(true) {
        return None;
    }
    let mut files = BTreeSet::new();
    for commit in commits {
        let lists = ["added", "modified", "removed"].map(|list| commit.at(&[list]).and_then(Value::as_seq));
        if lists.iter().all(Option::is_none) {
            return None;
        }
        let names = lists.into_iter().flatten().flatten().filter_map(Value::as_str);
        files.extend(names.map(|name| name.trim_start_matches('/').to_owned()));
        if files.len() > limits::CHANGED_FILES {
            return None;
        }
    }
    Some(files)
}

/// The texts at some paths, as far as there are texts there.
pub(super) fn texts(body: &Value, paths: &[&[&str]]) -> Vec<String> {
    let found = paths.iter().filter_map(|path| body.str_at(path)).filter(|text| !text.is_empty());
    found.map(str::to_owned).collect()
}
