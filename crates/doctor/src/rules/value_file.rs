//! A value file that is not there.

use lynceus_api::ApplicationSpec;
use lynceus_files::FilePath;
use lynceus_object::{FieldPath, Str, Value};

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::near::likely;
use crate::rules::source_error::{Step, told, value_file};
use crate::rules::target_revision::sources;

pub(super) const RULE: Rule = Rule {
    code: "LYN1008",
    title: "A value file does not exist",
    explanation: "\
The Application names a value file for its chart that the revision does not have. The chart is not rendered at all.

## Why
The file was renamed or is in another directory: paths are relative to the chart, or begin with the `ref` of another source. Or it was
added on another branch.

## Example
```
value file ../values/prod.yaml cannot be read: no such file or directory
```

## What to do
Correct the name in `spec.source.helm.valueFiles`, or add the file. Files that only some environments have can be allowed to be
missing with `ignoreMissingValueFiles`.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (app, said) in told(case, Step::ValueFile) {
        if let Some(file) = value_file(app, said.text) {
            // It may be told by where it should be in the repository.
            let all = value_files(&app.application().spec);
            let named = all.iter().find(|(name, _, path)| *path == file && *name != file);
            let file = named.map_or(file.clone(), |(name, ..)| name.to_string());
            findings.add(found(case, app, said, &file));
        }
    }
}

/// The value files that an application names, each with the repository and the path that it means there. Globs and addresses mean none.
pub fn value_files(spec: &ApplicationSpec) -> Vec<(Str, Str, Str)> {
    let sources = spec.all_sources();
    let mut all = Vec::new();
    for source in &sources {
        for file in source.helm.iter().flat_map(|helm| &helm.value_files) {
            let is_plain = !file.contains(['*', '?', '[', '{']) && !file.contains("://");
            let (repo, path) = match file.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
                Some((name, path)) => (
                    sources.iter().find(|one| one.ref_ == name).map(|one| &one.repo_url),
                    FilePath::new(path),
                ),
                None => {
                    (Some(&source.repo_url), FilePath::new(&source.path).and_then(|base| base.join(file)))
                }
            };
            if let (true, Some(repo), Ok(path)) = (is_plain, repo, path) {
                all.push((file.clone(), repo.clone(), path.as_str().into()));
            }
        }
    }
    all
}

/// A file beside the one that is missing which is called almost so and is not read already, as it would be named.
fn near(case: &Case<'_>, app: &App<'_>, file: &str) -> Option<String> {
    let all = value_files(&app.application().spec);
    let (_, repo, path) = all.iter().find(|(name, ..)| name == file)?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path.as_str()));
    let view = case.repository(repo)?;
    let there = view.paths.iter().filter(|(_, there)| **there).map(|((_, path), _)| path.as_str());
    let is_read = |one: &&str| all.iter().any(|(_, other, path)| other == repo && path == one);
    let beside = there.filter(|one| !is_read(one)).filter_map(|one| {
        let (own, name) = one.rsplit_once('/').unwrap_or(("", one));
        (own == folder).then_some(name)
    });
    let near = likely(name, beside)?;
    Some(format!("{}{near}", file.strip_suffix(name)?))
}

fn found(case: &Case<'_>, app: &App<'_>, said: &Said<'_>, file: &str) -> Finding {
    let near = near(case, app, file);
    let place = sources(app).into_iter().find_map(|(source, path)| {
        let files = source.helm.as_ref()?.value_files.clone();
        let number = files.iter().position(|one| one == file)?;
        Some((path.field("helm"), files, number))
    });
    let seen = place.as_ref().map(|(path, _, number)| {
        Evidence::seen(format!("application {}: {path}.valueFiles[{number}]: {file}", app.name))
    });
    let list = place.as_ref().map_or_else(|| "spec.source.helm".to_owned(), |(path, ..)| path.to_string());
    let correct = Fix::new("Add the file, or correct its name")
        .person(format!("Add {file}, or correct its name in {list}.valueFiles of {}.", app.name))
        .risk(Risk::Low, app.name.to_string())
        .why("the values in it are probably meant")
        .verify(format!("lynceus app diff {}", app.name));
    let rename = near.as_ref().zip(place.as_ref()).map(|(near, (path, _, number))| {
        let path = path.field("valueFiles").index(*number);
        Fix::new(format!("Name {near}"))
            .git(&app.name, Place::Application { path, value: Some(near.as_str().into()) })
            .risk(Risk::Low, app.name.to_string())
            .why("it is there, and is called almost so")
            .verify(format!("lynceus app diff {}", app.name))
    });
    let hint = near.map(|near| format!("; there is {near}")).unwrap_or_default();
    let leave = place.map(|(path, files, number)| leave_out(app, &path, &files, number));
    Finding::new(
        RULE.code,
        app.node(),
        format!("{} names the value file {file}, which does not exist{hint}", app.name),
    )
    .of(Some(app.name.clone()))
    .seen([said.evidence.clone()])
    .seen(seen)
    .fix(rename)
    .fix([correct])
    .fix(leave)
}

fn leave_out(app: &App<'_>, path: &FieldPath, files: &[lynceus_object::Str], number: usize) -> Fix {
    let rest = files
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != number)
        .map(|(_, file)| Value::from(file.as_str()));
    let value = Some(Value::Seq(rest.collect()));
    Fix::new("Leave it out")
        .git(&app.name, Place::Application { path: path.field("valueFiles"), value })
        .risk(Risk::Medium, format!("{} is rendered without what should stand there", app.name))
        .why("only if the file is not needed any more")
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_of_several_sources_is_named_as_it_stands_there() {
        let told = crate::tests::roots_with_fixes(
            "
@app shop Unknown Healthy
@spec {source: null, sources: [{path: shop, helm: {valueFiles: [values/prod.yaml]}}]}
@condition ComparisonError cannot render shop of https://git.example.com/all.git: value file values/prod.yaml cannot be read: no such file or directory
",
        );
        assert!(told.contains("correct its name in spec.sources[0].helm.valueFiles of shop."), "{told}");
    }

    use crate::snapshot::RepositoryView;
    use crate::tests::{check, check_snapshot, snapshot};

    const ABSENT: &str = "
@app shop Unknown Healthy
@spec {source: {helm: {valueFiles: [values.yaml, ../values/prod.yaml]}}}
@condition ComparisonError cannot render shop of https://git.example.com/all.git: value file ../values/prod.yaml cannot be read: no such file or directory
";

    #[test]
    fn a_value_file_that_is_not_there_is_found() {
        assert_eq!(
            check("LYN1008", ABSENT),
            "P1 LYN1008/shop/Application/shop: shop names the value file ../values/prod.yaml, which does not exist\n  status of shop: ComparisonError: cannot render shop of https://git.example.com/all.git: value file ../values/prod.yaml cannot be read: no such file or directory\n  application shop: spec.source.helm.valueFiles[1]: ../values/prod.yaml\n  fix: Add the file, or correct its name\n  fix: Leave it out\n"
        );
    }

    #[test]
    fn a_file_beside_it_that_is_called_almost_so_is_named() {
        let found = |there: &str| {
            let mut snapshot =
                snapshot(&ABSENT.replace("{source: {helm", "{source: {path: charts/shop, helm"));
            snapshot.repositories.push(RepositoryView {
                url: "https://git.example.com/all.git".into(),
                paths: [
                    (("main".into(), there.into()), true),
                    (("main".into(), "charts/prod.yaml".into()), true),
                ]
                .into(),
                ..RepositoryView::default()
            });
            check_snapshot("LYN1008", &snapshot)
        };
        let near = found("charts/values/production.yaml");
        assert!(near.contains("which does not exist; there is ../values/production.yaml\n"), "{near}");
        assert!(near.contains("fix: Name ../values/production.yaml\n"), "{near}");
        assert!(found("charts/values/dev.yaml").contains("which does not exist\n"));
    }

    #[test]
    fn another_file_that_is_not_there_is_another_trouble() {
        let other =
            ABSENT.replace("value file ../values/prod.yaml cannot be read: no", "open /tmp/a/pvc.yaml: no");
        assert_eq!(check("LYN1008", &other), "");
    }
}
