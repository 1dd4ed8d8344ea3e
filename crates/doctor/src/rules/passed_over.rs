//! A value file that may be missing, and is missing by mistake.

use std::collections::BTreeSet;

use lynceus_api::{ApplicationSource, ApplicationSpec};
use lynceus_files::FilePath;
use lynceus_object::Str;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk, Step};
use crate::node::AppName;
use crate::rules::Rule;
use crate::rules::near::likely;
use crate::rules::target_revision::sources;
use crate::snapshot::Snapshot;

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

/// A value file that is passed over, and the one that must be meant.
pub struct Misnamed {
    /// The application.
    pub application: AppName,
    /// The number of the source that names it.
    pub source: usize,
    /// Its number among the value files of the source.
    pub number: usize,
    /// What it would have to be called there.
    pub near: String,
}

/// The value files of a snapshot that are passed over because of their names.
pub fn misnamed_value_files(snapshot: &Snapshot) -> Vec<Misnamed> {
    let named = |(app, one, near): (&App<'_>, Optional, String)| Misnamed {
        application: app.name.clone(),
        source: one.source,
        number: one.number,
        near,
    };
    misnamed(&Case::new(snapshot)).into_iter().map(named).collect()
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (app, one, near) in misnamed(case) {
        findings.add(found(app, &one, &near));
    }
}

fn misnamed<'c, 'a>(case: &'c Case<'a>) -> Vec<(&'c App<'a>, Optional, String)> {
    let wanting: Vec<(&App<'_>, Optional)> = case
        .apps()
        .flat_map(|app| optional_value_files(&app.application().spec).into_iter().map(move |one| (app, one)))
        .filter(|(_, one)| is_missing(case, one))
        .collect();
    if wanting.is_empty() {
        return Vec::new();
    }
    // What somebody reads is not misspelt.
    let read: BTreeSet<(Str, Str)> = case
        .apps()
        .flat_map(|app| super::value_files(&app.application().spec))
        .map(|(_, repository, path)| (repository, path))
        .collect();
    let near = |(app, one)| {
        let near = near(case, &one, &read)?;
        Some((app, one, near))
    };
    wanting.into_iter().filter_map(near).collect()
}

/// What is wrong with fields that the file beside would have put right comes of its name: it is told once, as that.
pub(crate) fn explain(case: &Case<'_>, findings: &mut [Finding]) {
    for app in case.apps().filter(|app| !app.delivery.passed_over.is_empty()) {
        let is_own = |finding: &Finding| finding.application.as_ref() == Some(&app.name);
        let is_cause = |finding: &Finding| finding.code == RULE.code && is_own(finding);
        let Some(cause) = findings.iter().position(is_cause) else { continue };
        let mut worst = findings[cause].severity;
        let mut after = Vec::new();
        for finding in findings.iter_mut().filter(|one| one.code != RULE.code && is_own(one)) {
            if is_of_another_file(case, app, finding) {
                worst = worst.min(finding.severity);
                finding.because.push(app.node());
                finding.is_final = false;
                after.extend(done_after(finding));
            }
        }
        findings[cause].severity = worst;
        if let Some(fix) = findings[cause].fixes.iter_mut().find(|fix| fix.has_edits()) {
            after.retain(|step| !fix.steps.contains(step));
            fix.steps.extend(after);
        }
    }
}

/// What has to be done to a cluster after the fields of a finding are changed in Git, wherever that is done.
fn done_after(finding: &Finding) -> Vec<Step> {
    let fix = finding.fixes.iter().find(|fix| fix.has_edits());
    let steps = fix.into_iter().flat_map(|fix| &fix.steps);
    steps.filter(|step| matches!(step, Step::Cluster(_))).cloned().collect()
}

/// Whether everything that a finding is about would be otherwise with a file that is passed over.
fn is_of_another_file(case: &Case<'_>, app: &App<'_>, finding: &Finding) -> bool {
    let about = if finding.fields.is_empty() { finding.shown_fields() } else { finding.fields.clone() };
    let mut about = about
        .into_iter()
        .filter(|(name, key, _)| *name != app.name || case.wanted_by(app, key).is_some())
        .peekable();
    about.peek().is_some()
        && about.all(|(name, key, path)| {
            name == app.name && app.delivery.passed_over.iter().any(|one| one.changes(&key, &path))
        })
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
    use lynceus_object::{FieldPath, ObjectKey};

    use crate::snapshot::{PassedOver, RepositoryView};
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

    /// Two claims of a class that is not there; the file that is passed over has another one for the first.
    #[test]
    fn what_the_other_file_would_have_put_right_is_told_once_and_other_things_for_themselves() {
        let claim = |name: &str| {
            format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{storageClassName: gp2}}\n---\n"
            )
        };
        let text = PASSED_OVER.replace("Synced Healthy", "Synced Progressing");
        let live = claim("data").replace("---", "status: {phase: Pending}\n---");
        let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp3}\n";
        let mut snapshot = snapshot(&format!("{text}{}@live\n{live}{class}", claim("data")));
        snapshot.repositories.push(RepositoryView {
            url: "https://git.example.com/all.git".into(),
            head: "main".into(),
            paths: [
                (("main".into(), "shop/values-live.yml".into()), false),
                (("main".into(), "shop/values-live.yaml".into()), true),
            ]
            .into(),
            ..RepositoryView::default()
        });
        let roots = |changes: Vec<(ObjectKey, FieldPath)>| {
            let mut snapshot = snapshot.clone();
            snapshot.applications[0].passed_over = vec![PassedOver { source: 0, number: 0, changes }];
            let roots = crate::examine(&snapshot).roots;
            roots.iter().map(|root| format!("{} {}\n", root.severity, root.id)).collect::<String>()
        };
        let field = |name: &str| {
            let key = ObjectKey::new("", "PersistentVolumeClaim", "", name);
            (key, FieldPath::fields(["spec", "storageClassName"]))
        };
        assert_eq!(roots(vec![field("data")]), "P1 LYN1010/shop/Application/shop\n");
        let apart = "P1 LYN0602/shop/StorageClass/gp2\nP2 LYN1010/shop/Application/shop\n";
        assert_eq!(roots(vec![field("other")]), apart, "it would change something else");
        assert_eq!(roots(Vec::new()), apart);
    }
}
