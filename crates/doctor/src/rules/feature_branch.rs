//! An application that follows another branch than its neighbours.

use std::collections::BTreeMap;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::rendering;
use crate::rules::source_error::{Step, told};
use crate::rules::target_revision::{is_other, sources};
use crate::snapshot::RepositoryView;

pub(super) const RULE: Rule = Rule {
    code: "LYN1003",
    title: "An application follows a feature branch",
    explanation: "\
Most applications of the repository follow its default branch, and this one follows another. What is merged does not reach it, and
what is deleted with the branch is lost to it.

## Why
A branch was tried out in the cluster and nobody set it back after it was merged.

## Example
```
alignment: spec.source.targetRevision: feature/stage2-implementation, while 14 of 15 applications of the repository follow main
```

## What to do
Set `spec.source.targetRevision` to the default branch, after what is on the branch was merged.
",
    check,
};

/// How many others have to follow the default branch before one that does not stands out.
const OTHERS: usize = 2;

fn check(case: &Case<'_>, findings: &mut Findings) {
    let broken: std::collections::BTreeSet<_> = told(case, Step::Rendering)
        .into_iter()
        .filter(|(_, said)| rendering::is_missing_file(said.text))
        .map(|(app, _)| app.name.clone())
        .collect();
    for (url, followers) in by_repository(case) {
        let default = default(case.repository(&url), &followers);
        let Some(default) = default else { continue };
        let total: usize = followers.values().map(Vec::len).sum();
        for (revision, apps) in followers.iter().filter(|(revision, _)| **revision != default) {
            // What several follow is a branch of its own right.
            if apps.len() > total / 4 && apps.len() > 1 || !is_branch(case.repository(&url), revision) {
                continue;
            }
            for (app, path) in apps {
                findings.add(found(app, path, revision, &default, broken.contains(&app.name)));
            }
        }
    }
}

type Followers<'c, 'a> = BTreeMap<String, Vec<(&'c App<'a>, lynceus_object::FieldPath)>>;

/// The applications of each repository, by the revision that they follow; the default branch under its own name if that is known.
fn by_repository<'c, 'a>(case: &'c Case<'a>) -> BTreeMap<String, Followers<'c, 'a>> {
    let mut all: BTreeMap<String, Followers<'c, 'a>> = BTreeMap::new();
    for app in case.apps() {
        for (source, path) in sources(app).into_iter().filter(|(source, _)| source.chart.is_empty()) {
            let head = case.repository(&source.repo_url).map(|view| view.head.as_str()).unwrap_or_default();
            let revision = match source.target_revision.as_str() {
                "" | "HEAD" if head.is_empty() => "HEAD",
                "" | "HEAD" => head,
                revision => revision,
            };
            all.entry(source.repo_url.to_string())
                .or_default()
                .entry(revision.to_owned())
                .or_default()
                .push((app, path));
        }
    }
    all
}

/// What most follow, if it is the default branch or nothing is known of that.
fn default(view: Option<&RepositoryView>, followers: &Followers<'_, '_>) -> Option<String> {
    let (revision, apps) = followers.iter().max_by_key(|(_, apps)| apps.len())?;
    let total: usize = followers.values().map(Vec::len).sum();
    let head = view.map(|view| view.head.as_str()).filter(|head| !head.is_empty());
    let is_most = apps.len() > OTHERS.max(total / 2);
    let is_default = head.is_none_or(|head| head == revision) && (revision == "HEAD" || !is_other(revision));
    (is_most && is_default).then(|| revision.clone())
}

/// Whether a revision is a branch: not a commit, tag or version.
fn is_branch(view: Option<&RepositoryView>, revision: &str) -> bool {
    let is_version = revision.trim_start_matches('v').starts_with(|sign: char| sign.is_ascii_digit());
    let is_tag =
        view.and_then(|view| view.tags.as_ref()).is_some_and(|tags| tags.iter().any(|tag| tag == revision));
    let is_known =
        view.and_then(|view| view.branches.as_ref()).is_none_or(|all| all.iter().any(|one| one == revision));
    !is_other(revision) && !is_version && !is_tag && is_known && !is_lasting(revision)
}

/// Whether a branch is called as those are that are there to stay: releases, and what an environment follows.
fn is_lasting(revision: &str) -> bool {
    const RELEASES: [&str; 5] = ["release", "releases", "rel", "stable", "lts"];
    const ENVIRONMENTS: [&str; 9] =
        ["dev", "develop", "development", "test", "qa", "staging", "prod", "production", "live"];
    let name = revision.to_lowercase();
    ENVIRONMENTS.contains(&name.as_str())
        || name.split(['/', '-', '_', '.']).next().is_some_and(|first| RELEASES.contains(&first))
}

fn found(
    app: &App<'_>,
    path: &lynceus_object::FieldPath,
    revision: &str,
    default: &str,
    is_broken: bool,
) -> Finding {
    let what = if is_broken { ", which lacks files that it needs" } else { "" };
    let cause = format!(
        "{} follows the branch {revision}{what}, while most others of its repository follow {default}",
        app.name
    );
    let fix = Fix::new(format!("Follow {default}"))
        .git(
            &app.name,
            Place::Application { path: path.field("targetRevision"), value: Some(default.into()) },
        )
        .risk(Risk::Medium, format!("{}: what differs between the branches is synced", app.name))
        .why("what is merged reaches it then")
        .verify(format!("lynceus app diff {}", app.name));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(if is_broken { Severity::P1 } else { Severity::P3 })
        .seen([Evidence::seen(format!("application {}: {path}.targetRevision: {revision}", app.name))])
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const BRANCH: &str = "
@app a Synced Healthy
@app b Synced Healthy
@app c Synced Healthy
@app d OutOfSync Healthy
@spec {source: {targetRevision: feature/x}}
";

    #[test]
    fn one_that_follows_another_branch_than_the_rest_is_found() {
        assert_eq!(
            check("LYN1003", BRANCH),
            "P3 LYN1003/d/Application/d: d follows the branch feature/x, while most others of its repository follow main\n  application d: spec.source.targetRevision: feature/x\n  fix: Follow main\n"
        );
    }

    #[test]
    fn it_explains_files_that_are_not_there() {
        let broken = format!(
            "{BRANCH}@condition ComparisonError rpc error: code = Unknown desc = `kustomize build` failed: accumulating resources from \
             'pvc.yaml': open /tmp/x/pvc.yaml: no such file or directory\n"
        );
        assert_eq!(roots(&broken), "P1 LYN1003/d/Application/d explains d\n");
    }

    #[test]
    fn tags_versions_and_environments_of_their_own_are_fine() {
        for revision in
            ["v1.2.3", "1.4", "0123abc0123abc", "HEAD", "release-1.0", "releases/next", "production"]
        {
            let text = BRANCH.replace("feature/x", &format!("'{revision}'"));
            assert_eq!(check("LYN1003", &text), "", "{revision}");
        }
        let apart =
            format!("{BRANCH}@app e Synced Healthy\n@spec {{source: {{targetRevision: feature/x}}}}\n");
        assert_eq!(check("LYN1003", &apart), "");
    }
}
