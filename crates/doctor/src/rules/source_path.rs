//! A path that the revision does not have.

use lynceus_api::ApplicationSource;
use lynceus_object::{FieldPath, Str};

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::near::nearest;
use crate::rules::sets;
use crate::rules::source_error::{Step, source, told};
use crate::snapshot::RepositoryView;

pub(super) const RULE: Rule = Rule {
    code: "LYN1002",
    title: "The path is not in the revision",
    explanation: "\
The repository and the revision are there, but the revision has no such directory. The application cannot be compared.

## Why
The directory was renamed or moved, or it was added on another branch than the one that the application follows.

## Example
```
serving/vllm: app path does not exist
```

## What to do
If the default branch has the path, follow that. Otherwise correct `spec.source.path`.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (app, said) in told(case, Step::Path) {
        // Of one that its ApplicationSet is about to delete, the path is gone on purpose.
        if let Some((source, path)) = source(app, said.text).filter(|_| !sets::is_leaving(case, &app.name)) {
            findings.add(found(case, app, said, &source, &path));
        }
    }
}

fn found(
    case: &Case<'_>,
    app: &App<'_>,
    said: &Said<'_>,
    source: &ApplicationSource,
    place: &FieldPath,
) -> Finding {
    let revision = if source.target_revision.is_empty() { "HEAD" } else { source.target_revision.as_str() };
    let view = case.repository(&source.repo_url);
    let elsewhere = view.and_then(|view| branch_with(view, &source.path, revision));
    let similar = view.and_then(|view| similar(view, &source.path));
    let hint = match (&elsewhere, &similar) {
        (Some(branch), _) => format!("; {branch} has it"),
        (None, Some(path)) => format!("; there is {path}"),
        (None, None) => String::new(),
    };
    let cause = format!(
        "revision {revision:?} of {} has no path {}, which {} is made of{hint}",
        source.repo_url, source.path, app.name
    );
    let seen = Evidence::seen(format!("application {}: {place}.path: {}", app.name, source.path));
    let verify = format!("lynceus app diff {}", app.name);
    let set = |title: String, field: &str, value: &str| {
        let place = Place::Application { path: place.field(field), value: Some(value.into()) };
        Fix::new(title)
            .git(&app.name, place)
            .risk(Risk::Medium, format!("{}: what stands there is synced", app.name))
            .verify(verify.clone())
    };
    let mut fixes: Vec<Fix> = Vec::new();
    fixes.extend(
        elsewhere
            .map(|branch| set(format!("Follow {branch}, which has the path"), "targetRevision", &branch)),
    );
    fixes.extend(similar.map(|path| set(format!("Use the path {path}"), "path", &path)));
    if fixes.is_empty() {
        fixes.push(
            Fix::new("Correct the path or the revision")
                .person(format!("Set {place}.path to where the manifests are now, or {place}.targetRevision to a branch that has it."))
                .risk(Risk::Medium, format!("{}: what stands there is synced", app.name))
                .verify(verify),
        );
    }
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .seen([said.evidence.clone(), seen])
        .fix(fixes)
}

/// A branch that has a path, the default one before others.
fn branch_with(view: &RepositoryView, path: &Str, not: &str) -> Option<String> {
    let has = |revision: &str| view.paths.get(&(revision.into(), path.clone())) == Some(&true);
    let head = view.head.as_str();
    if has(head) || has("HEAD") {
        return Some(if head.is_empty() { "HEAD".to_owned() } else { head.to_owned() })
            .filter(|one| one != not);
    }
    let others =
        view.paths.iter().filter(|((revision, one), there)| one == path && **there && revision != not);
    others.map(|((revision, _), _)| revision.to_string()).next()
}

/// A path that is there and looks like the one that is not.
fn similar(view: &RepositoryView, path: &str) -> Option<String> {
    let there = view.paths.iter().filter(|(_, there)| **there).map(|((_, path), _)| path.as_str());
    let all: Vec<&str> = there.filter(|one| *one != path).collect();
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let moved = all.iter().find(|one| last(one) == last(path));
    let found = nearest(path, all.iter().copied()).or(moved.copied());
    found.or_else(|| related(path, &all)).map(ToOwned::to_owned)
}

/// The only one of the same folder that begins alike: `price` and `pricing`.
fn related<'a>(path: &str, all: &[&'a str]) -> Option<&'a str> {
    let split = |path: &'a str| path.rsplit_once('/').unwrap_or(("", path));
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let begins_alike = |other: &str| {
        let shared = name.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        shared >= 3 && shared * 3 >= name.len().min(other.len()) * 2
    };
    let mut near = all.iter().copied().filter(|one| split(one).0 == folder && begins_alike(split(one).1));
    near.next().filter(|_| near.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use crate::finding::Findings;
    use crate::snapshot::RepositoryView;
    use crate::tests::{check, snapshot};

    const ABSENT: &str = "
@app serving Unknown Healthy
@spec {source: {path: serving/vllm, targetRevision: stage1-complete}}
@condition ComparisonError Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = serving/vllm: app path does not exist
";

    #[test]
    fn a_path_that_the_revision_does_not_have_is_found() {
        assert_eq!(
            check("LYN1002", ABSENT),
            "P1 LYN1002/serving/Application/serving: revision \"stage1-complete\" of https://git.example.com/all.git has no path serving/vllm, which serving is made of\n  status of serving: ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = serving/vllm: app path does not exist\n  application serving: spec.source.path: serving/vllm\n  fix: Correct the path or the revision\n"
        );
    }

    #[test]
    fn a_branch_that_has_the_path_is_to_be_followed() {
        let mut snapshot = snapshot(ABSENT);
        snapshot.repositories.push(RepositoryView {
            url: "https://git.example.com/all.git".into(),
            head: "main".into(),
            paths: [(("main".into(), "serving/vllm".into()), true)].into(),
            ..Default::default()
        });
        let mut findings = Findings::default();
        super::check(&Case::new(&snapshot), &mut findings);
        let found = findings.into_sorted();
        assert!(found[0].cause.ends_with("; main has it"));
        assert_eq!(found[0].fixes[0].title, "Follow main, which has the path");
        assert_eq!(
            found[0].fixes[0].steps[0].to_string(),
            "in the files of serving: set spec.source.targetRevision of the Application to \"main\""
        );
    }

    #[test]
    fn a_revision_that_is_gone_is_another_trouble() {
        let gone = ABSENT.replace(
            "serving/vllm: app path does not exist",
            "unable to resolve 'stage1-complete' to a commit SHA",
        );
        assert_eq!(check("LYN1002", &gone), "");
    }
}
