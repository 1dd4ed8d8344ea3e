//! A value file that may be missing, and is missing by mistake.

use std::collections::BTreeSet;

use lynceus_api::{ApplicationSource, ApplicationSpec};
use lynceus_files::FilePath;
use lynceus_object::Str;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::near::likely;
use crate::rules::target_revision::sources;

pub(super) const RULE: Rule = Rule {
    code: "LYN1010",
    title: "A value file is passed over, and another one is called almost so",
    explanation: "\
The Application names a value file that is not there, and `ignoreMissingValueFiles` has it passed over: the chart is rendered without
those values, and nobody says so. Beside it is a file of almost the same name that no application reads.

## Why
The file was renamed, or its name is misspelt in the Application. Without `ignoreMissingValueFiles` that would be an error.

## Example
```
valueFiles: [values.yaml, values-live.yml]        the folder has values-live.yaml
```

## What to do
Correct the name. Where each environment has its files, leave `ignoreMissingValueFiles` away, so that a slip is told.
",
    check,
};

/// The value files that an application may do without, each with its source, its number in it, and the repository, revision and path
/// that it means. Globs and addresses mean none.
pub fn optional_value_files(spec: &ApplicationSpec) -> Vec<Optional> {
    let sources = spec.all_sources();
    let mut all = Vec::new();
    for (source, one) in sources.iter().enumerate() {
        let Some(helm) = one.helm.as_ref().filter(|helm| helm.ignore_missing_value_files) else { continue };
        for (number, file) in helm.value_files.iter().enumerate() {
            if file.contains(['*', '?', '[', '{']) || file.contains("://") {
                continue;
            }
            let (holder, path): (Option<&ApplicationSource>, _) =
                match file.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
                    Some((name, path)) => (sources.iter().find(|one| one.ref_ == name), FilePath::new(path)),
                    None => (Some(one), FilePath::new(&one.path).and_then(|base| base.join(file))),
                };
            if let (Some(holder), Ok(path)) = (holder.filter(|one| one.chart.is_empty()), path) {
                all.push(Optional {
                    source,
                    number,
                    file: file.clone(),
                    repository: holder.repo_url.clone(),
                    revision: holder.target_revision.clone(),
                    path: path.as_str().into(),
                });
            }
        }
    }
    all
}

/// A value file that an application may do without.
pub struct Optional {
    /// The number of the source that names it.
    pub source: usize,
    /// Its number among the value files of the source.
    pub number: usize,
    /// As the source names it.
    pub file: Str,
    /// The repository, as Applications name it.
    pub repository: Str,
    /// The revision of it, as the source has it.
    pub revision: Str,
    /// The file in it.
    pub path: Str,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let wanting: Vec<(&App<'_>, Optional)> = case
        .apps()
        .flat_map(|app| optional_value_files(&app.application().spec).into_iter().map(move |one| (app, one)))
        .filter(|(_, one)| is_missing(case, one))
        .collect();
    if wanting.is_empty() {
        return;
    }
    // What somebody reads is not misspelt.
    let read: BTreeSet<(Str, Str)> = case
        .apps()
        .flat_map(|app| super::value_files(&app.application().spec))
        .map(|(_, repository, path)| (repository, path))
        .collect();
    for (app, one) in &wanting {
        if let Some(near) = near(case, one, &read) {
            findings.add(found(app, one, &near));
        }
    }
}

/// Whether it was looked for and is not there. Another revision than that of the default branch was not looked at.
fn is_missing(case: &Case<'_>, one: &Optional) -> bool {
    let Some(view) = case.repository(&one.repository) else { return false };
    let is_head = matches!(one.revision.as_str(), "" | "HEAD") || one.revision == view.head;
    is_head && view.paths.get(&(view.head.clone(), one.path.clone())) == Some(&false)
}

/// A file beside it that is called almost so and that nobody reads, as it would be named.
fn near(case: &Case<'_>, one: &Optional, read: &BTreeSet<(Str, Str)>) -> Option<String> {
    let view = case.repository(&one.repository)?;
    let (folder, name) = one.path.rsplit_once('/').unwrap_or(("", one.path.as_str()));
    let there = view.paths.iter().filter(|(_, there)| **there).map(|((_, path), _)| path);
    let free = there.filter(|path| !read.contains(&(one.repository.clone(), (*path).clone())));
    let beside = free.filter_map(|path| {
        let (own, name) = path.rsplit_once('/').unwrap_or(("", path.as_str()));
        (own == folder).then_some(name)
    });
    let is_values = |name: &&str| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    // What every chart has is read without being named.
    let beside = beside.filter(is_values).filter(|name| !["values.yaml", "Chart.yaml"].contains(name));
    let near = likely(name, beside)?;
    Some(format!("{}{near}", one.file.strip_suffix(name)?))
}

fn found(app: &App<'_>, one: &Optional, near: &str) -> Finding {
    let file = &one.file;
    let cause = format!(
        "{} names the value file {file}, which is not there and is passed over; there is {near}, which nobody reads",
        app.name
    );
    let way = sources(app).into_iter().nth(one.source).map(|(_, path)| path.field("helm"));
    let seen = way.as_ref().map(|way| {
        Evidence::seen(format!("application {}: {way}.valueFiles[{}]: {file}", app.name, one.number))
    });
    let missing = Evidence::seen(format!(
        "{} is not in {}, and ignoreMissingValueFiles is true",
        one.path, one.repository
    ));
    let rename = way.map(|way| {
        let path = way.field("valueFiles").index(one.number);
        Fix::new(format!("Name {near}"))
            .git(&app.name, Place::Application { path, value: Some(near.into()) })
            .risk(Risk::Medium, format!("{} is rendered with what stands there", app.name))
            .why("it is there, is called almost so, and nobody reads it")
            .verify(format!("lynceus app diff {}", app.name))
    });
    let correct = Fix::new("Rename the file, or take its name out")
        .person(format!(
            "Rename {near} to {file}, or take {file} out of the value files if it is not needed."
        ))
        .risk(Risk::Low, app.name.to_string())
        .verify(format!("lynceus app diff {}", app.name));
    let status = &app.application().status;
    let is_well = !app.is_out_of_sync() && status.health.status == lynceus_api::HealthStatusCode::Healthy;
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(if is_well { Severity::P3 } else { Severity::P2 })
        .seen(seen)
        .seen([missing])
        .fix(rename)
        .fix([correct])
}

#[cfg(test)]
mod tests {
    use crate::snapshot::RepositoryView;
    use crate::tests::{check_snapshot, snapshot};

    const PASSED_OVER: &str = "
@app shop Synced Healthy
@spec {source: {path: shop, helm: {valueFiles: [values-live.yml], ignoreMissingValueFiles: true}}}
";

    fn found(text: &str, beside: &str) -> String {
        let mut snapshot = snapshot(text);
        snapshot.repositories.push(RepositoryView {
            url: "https://git.example.com/all.git".into(),
            head: "main".into(),
            paths: [
                (("main".into(), "shop/values-live.yml".into()), false),
                (("main".into(), beside.into()), true),
                (("main".into(), "shop/values.yaml".into()), true),
            ]
            .into(),
            ..RepositoryView::default()
        });
        check_snapshot("LYN1010", &snapshot)
    }

    #[test]
    fn a_file_that_is_passed_over_because_of_its_name_is_found() {
        assert_eq!(
            found(PASSED_OVER, "shop/values-live.yaml"),
            "P3 LYN1010/shop/Application/shop: shop names the value file values-live.yml, which is not there and is passed over; \
             there is values-live.yaml, which nobody reads\n  application shop: spec.source.helm.valueFiles[0]: \
             values-live.yml\n  shop/values-live.yml is not in https://git.example.com/all.git, and ignoreMissingValueFiles is \
             true\n  fix: Name values-live.yaml\n  fix: Rename the file, or take its name out\n"
        );
    }

    #[test]
    fn what_others_read_and_what_is_called_otherwise_is_not_meant() {
        assert_eq!(found(PASSED_OVER, "shop/values-test.yaml"), "");
        let other = "@app other Synced Healthy\n@spec {source: {path: shop, helm: {valueFiles: [values-live.yaml]}}}\n";
        assert_eq!(found(&format!("{PASSED_OVER}{other}"), "shop/values-live.yaml"), "");
    }

    #[test]
    fn a_revision_that_was_not_looked_at_says_nothing() {
        let text = PASSED_OVER.replace("{path: shop,", "{path: shop, targetRevision: v1,");
        assert_eq!(found(&text, "shop/values-live.yaml"), "");
    }
}
