//! A target revision that is not there.

use std::collections::BTreeMap;

use lynceus_api::ApplicationSource;
use lynceus_object::FieldPath;

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::rules::Rule;
use crate::rules::near::nearest;
use crate::rules::source_error::{Step, source, told};
use crate::snapshot::{Reach, RepositoryView};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1001",
    title: "The target revision is gone",
    explanation: "\
The application follows a branch, tag or commit that its repository does not have. It cannot be compared, and nothing of it is synced
any more; what runs stays as it was.

## Why
A branch was merged and deleted, a tag was never pushed or was moved, history was rewritten, or the name is misspelt.

## Example
```
unable to resolve 'feature/checkout' to a commit SHA
```

## What to do
Set `spec.source.targetRevision` to a revision that there is: the branch that it was merged into, mostly the default one.
",
    check,
};

/// An application that follows a revision that is not there.
struct Follower<'c, 'a> {
    app: &'c App<'a>,
    source: ApplicationSource,
    path: FieldPath,
    said: Option<&'c Said<'a>>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut gone: BTreeMap<(String, String), Vec<Follower<'_, '_>>> = BTreeMap::new();
    for (app, said) in told(case, Step::Revision) {
        let Some((source, path)) = source(app, said.text) else { continue };
        let name = (source.repo_url.to_string(), source.target_revision.to_string());
        gone.entry(name).or_default().push(Follower { app, source, path, said: Some(said) });
    }
    for app in case.apps().filter(|app| !app.is_fine()) {
        for (source, path) in sources(app) {
            let view = case.repository(&source.repo_url);
            if source.chart.is_empty() && view.is_some_and(|view| is_gone(view, &source.target_revision)) {
                let name = (source.repo_url.to_string(), source.target_revision.to_string());
                let all = gone.entry(name).or_default();
                if !all.iter().any(|one| one.app.name == app.name) {
                    all.push(Follower { app, source, path, said: None });
                }
            }
        }
    }
    for ((url, revision), followers) in gone {
        findings.add(found(case, &url, &revision, &followers));
    }
}

/// The sources of an application, with the fields that they stand in.
pub(super) fn sources(app: &App<'_>) -> Vec<(ApplicationSource, FieldPath)> {
    let spec = &app.application().spec;
    let place = |index| match spec.has_multiple_sources() {
        true => FieldPath::fields(["spec", "sources"]).index(index),
        false => FieldPath::fields(["spec", "source"]),
    };
    spec.all_sources().into_iter().enumerate().map(|(index, source)| (source, place(index))).collect()
}

/// Whether it is certain that a repository has no branch or tag of this name.
fn is_gone(view: &RepositoryView, revision: &str) -> bool {
    let (Some(branches), Some(tags)) = (&view.branches, &view.tags) else { return false };
    view.reach == Reach::Up
        && !is_other(revision)
        && !branches.iter().any(|one| one == revision)
        && !tags.iter().any(|one| one == revision)
}

/// Whether a revision is none of a branch's or tag's name: the default, a commit, a range, a whole reference.
pub(super) fn is_other(revision: &str) -> bool {
    let is_commit = revision.len() >= 7 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_range = revision.contains(['*', '^', '~', '<', '>', '|', ' ']);
    revision.is_empty() || revision == "HEAD" || is_commit || is_range || revision.starts_with("refs/")
}

fn found(case: &Case<'_>, url: &str, revision: &str, followers: &[Follower<'_, '_>]) -> Finding {
    let names = words::list(followers.iter().map(|one| one.app.name.name.as_str()));
    let cause = format!(
        "{url} has no revision {revision:?} any more, which {names} follow{}",
        if followers.len() == 1 { "s" } else { "" }
    );
    let view = case.repository(url);
    let series = view.and_then(|view| series(view, revision));
    let cause = cause + &series.map(|one| format!("; there is {one}")).unwrap_or_default();
    let follow = |other: &str, why: &str| {
        let fix = followers.iter().fold(Fix::new(format!("Follow {other} instead")), |fix, one| {
            let path = one.path.field("targetRevision");
            fix.git(&one.app.name, Place::Application { path, value: Some(other.into()) })
        });
        fix.risk(Risk::Medium, format!("{names}: what differs between the revisions is synced"))
            .why(why)
            .verify(format!(
                "lynceus app diff {}",
                followers.first().map(|one| one.app.name.to_string()).unwrap_or_default()
            ))
    };
    let better = better(view, revision);
    let fixes = series
        .map(|one| follow(one, "it is of the same series"))
        .into_iter()
        .chain([follow(&better, "the branch was probably merged there")]);
    let fixes: Vec<Fix> = fixes.collect();
    let seen = followers.iter().filter_map(|one| one.said).map(|said| said.evidence.clone());
    let spec = followers.iter().map(|one| {
        let text = format!(
            "application {}: {}.targetRevision: {}",
            one.app.name, one.path, one.source.target_revision
        );
        Evidence::seen(text)
    });
    let first = followers.first().map(|one| one.app);
    let subject = first.map_or(crate::node::Node::Repository(url.into()), App::node);
    Finding::new(RULE.code, subject, cause)
        .of(first.map(|app| app.name.clone()))
        .seen(seen.chain(spec).take(limits::EVIDENCE))
        .affects(followers.iter().skip(1).map(|one| one.app.node()))
        .fix(fixes)
}

/// The last branch or tag of the series that a revision is of: `release-1.8` where there is no `release-1.9`.
fn series<'a>(view: &'a RepositoryView, revision: &str) -> Option<&'a str> {
    let letters = |name: &str| name.chars().filter(|sign| !sign.is_ascii_digit()).collect::<String>();
    let numbers = |name: &str| -> Vec<u64> {
        name.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let own = letters(revision);
    if numbers(revision).is_empty() {
        return None;
    }
    let names = view.branches.iter().chain(view.tags.iter()).flatten().map(lynceus_object::Str::as_str);
    names.filter(|name| letters(name) == own).max_by_key(|name| numbers(name))
}

/// A branch or tag that looks like the one that is gone, or the default branch.
fn better(view: Option<&RepositoryView>, revision: &str) -> String {
    let names = view.into_iter().flat_map(|view| view.branches.iter().chain(view.tags.iter()).flatten());
    let near = nearest(revision, names.map(lynceus_object::Str::as_str));
    let head = view.map(|view| view.head.as_str()).filter(|head| !head.is_empty());
    near.or(head).unwrap_or("HEAD").to_owned()
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, snapshot};

    const GONE: &str = "
@app a Unknown Healthy
@spec {source: {targetRevision: feature/checkout}}
@condition ComparisonError rpc error: code = Unknown desc = unable to resolve 'feature/checkout' to a commit SHA
@app b Unknown Healthy
@spec {source: {targetRevision: feature/checkout}}
@condition ComparisonError cannot read https://git.example.com/all.git: https://git.example.com/all.git has no branch or tag \"feature/checkout\"
";

    #[test]
    fn a_revision_that_is_gone_is_found_once_for_all_that_follow_it() {
        assert_eq!(
            check("LYN1001", GONE),
            "P1 LYN1001/a/Application/a: https://git.example.com/all.git has no revision \"feature/checkout\" any more, which a and b follow\n  status of a: ComparisonError: rpc error: code = Unknown desc = unable to resolve 'feature/checkout' to a commit SHA\n  status of b: ComparisonError: cannot read https://git.example.com/all.git: https://git.example.com/all.git has no branch or tag \"feature/checkout\"\n  application a: spec.source.targetRevision: feature/checkout\n  application b: spec.source.targetRevision: feature/checkout\n  fix: Follow HEAD instead\n"
        );
    }

    #[test]
    fn the_last_of_the_same_series_is_followed_first() {
        let mut snapshot =
            snapshot("@app a Unknown Unknown\n@spec {source: {targetRevision: release-1.10}}\n");
        snapshot.repositories.push(crate::snapshot::RepositoryView {
            url: "https://git.example.com/all.git".into(),
            branches: Some(["main".into(), "release-1.8".into(), "release-1.9".into()].into()),
            tags: Some([].into()),
            head: "main".into(),
            ..Default::default()
        });
        let found = crate::tests::check_snapshot("LYN1001", &snapshot);
        assert!(found.contains("which a follows; there is release-1.9\n"), "{found}");
        assert!(
            found.ends_with("  fix: Follow release-1.9 instead\n  fix: Follow main instead\n"),
            "{found}"
        );
    }

    #[test]
    fn a_branch_that_is_not_in_the_repository_is_found_without_a_word() {
        let mut snapshot = snapshot("@app a Unknown Unknown\n@spec {source: {targetRevision: mian}}\n");
        snapshot.repositories.push(crate::snapshot::RepositoryView {
            url: "https://git.example.com/all.git".into(),
            branches: Some(["main".into(), "dev".into()].into()),
            tags: Some([].into()),
            head: "dev".into(),
            ..Default::default()
        });
        let mut findings = crate::finding::Findings::default();
        super::check(&crate::case::Case::new(&snapshot), &mut findings);
        assert_eq!(findings.into_sorted()[0].fixes[0].title, "Follow main instead");
    }

    #[test]
    fn a_repository_that_does_not_answer_is_another_trouble() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError cannot read https://git.example.com/all.git: cannot reach git.example.com:443: timed out\n";
        assert_eq!(check("LYN1001", text), "");
    }
}
