//! A value file that is not there.

use lynceus_object::{FieldPath, Value};

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
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
            findings.add(found(app, said, &file));
        }
    }
}

fn found(app: &App<'_>, said: &Said<'_>, file: &str) -> Finding {
    let place = sources(app).into_iter().find_map(|(source, path)| {
        let files = source.helm.as_ref()?.value_files.clone();
        let number = files.iter().position(|one| one == file)?;
        Some((path.field("helm"), files, number))
    });
    let seen = place.as_ref().map(|(path, _, number)| {
        Evidence::seen(format!("application {}: {path}.valueFiles[{number}]: {file}", app.name))
    });
    let correct = Fix::new("Add the file, or correct its name")
        .person(format!("Add {file}, or correct its name in spec.source.helm.valueFiles of {}.", app.name))
        .risk(Risk::Low, app.name.to_string())
        .why("the values in it are probably meant")
        .verify(format!("lynceus app diff {}", app.name));
    let leave = place.map(|(path, files, number)| leave_out(app, &path, &files, number));
    Finding::new(
        RULE.code,
        app.node(),
        format!("{} names the value file {file}, which does not exist", app.name),
    )
    .of(Some(app.name.clone()))
    .seen([said.evidence.clone()])
    .seen(seen)
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
    use crate::tests::check;

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
    fn another_file_that_is_not_there_is_another_trouble() {
        let other =
            ABSENT.replace("value file ../values/prod.yaml cannot be read: no", "open /tmp/a/pvc.yaml: no");
        assert_eq!(check("LYN1008", &other), "");
    }
}
