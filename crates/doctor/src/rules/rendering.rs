//! Sources that cannot be rendered.

use std::collections::BTreeMap;

use crate::case::{App, Case, Said};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::backend::{evidence, has};
use crate::rules::source_error::{Step, short, source, told};
use crate::rules::{Rule, idle_patch};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1006",
    title: "The sources cannot be rendered",
    explanation: "\
Helm, Kustomize or Jsonnet ends with an error, or a manifest is no YAML. What the application wants is not known, so that it is neither
compared nor synced.

## Why
A template fails or demands a value, values do not fit the chart's schema, a file or dependency that is named is not there, or a chart
has no such version.

## Example
```
execution error at (web/templates/deployment.yaml:12:14): image.tag is required
```

## What to do
Correct it at the file and line that are named, and try it before pushing: `lynceus render`.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut broken: BTreeMap<(String, String, String), Vec<_>> = BTreeMap::new();
    // A patch for something that is not there has a rule of its own, and so has a value that is empty.
    let others = |(app, said): &(&App<'_>, &Said<'_>)| {
        idle_patch::unmatched(said.text).is_none() && app.delivery.hollow.is_empty()
    };
    for (app, said) in told(case, Step::Rendering).into_iter().filter(others) {
        let urls: Vec<String> =
            app.application().spec.all_sources().iter().map(|one| one.repo_url.to_string()).collect();
        // The same words for the same folder have the same reason, but for the application's own name.
        let words = nameless(short(said.text), &app.name.name);
        broken.entry((urls.join(" "), folder(app, said.text), words)).or_default().push((app, said));
    }
    for (_, apps) in broken {
        if let Some(finding) = found(&apps) {
            findings.add(finding);
        }
    }
}

/// The folder in which the error is. What overlays of several folders say of something above them has one reason.
fn folder(app: &App<'_>, text: &str) -> String {
    if short(text).contains("../") {
        return String::new();
    }
    match source(app, text) {
        Some((source, _)) => format!("{}{}", source.path, source.chart),
        None => app.application().spec.all_sources().iter().map(|one| one.path.to_string()).collect(),
    }
}

/// A text without an application's name, where that stands as a word.
fn nameless(text: &str, name: &str) -> String {
    let is_end = |sign: char| !(sign.is_alphanumeric() || matches!(sign, '-' | '.' | '_'));
    text.split(is_end).filter(|word| *word != name).collect::<Vec<_>>().join(" ")
}

fn found(apps: &[(&App<'_>, &Said<'_>)]) -> Option<Finding> {
    let (first, said) = apps.first()?;
    let text = short(said.text);
    let names = words::list(apps.iter().map(|(app, _)| app.name.name.as_str()));
    let wrong = text.split_once("hint: ").map_or(text, |(wrong, _)| wrong);
    let cause = format!("{names} cannot be rendered: {}", words::quote(wrong));
    let place = place(text).map(|place| in_repository(said.text, place));
    let fix = match (asked(text), &place) {
        // A template that fails on purpose is right: what it asks for is missing.
        (Some(asked), Some(place)) => {
            Fix::new(format!("Give the chart what it asks for: {}", words::quote(asked)))
                .person(format!("{place} asks for a value that is not given; set it in {}", values(first)))
        }
        // What is wrong has been said: only what is to be done about it is not said again.
        (_, Some(place)) => Fix::new(format!("Correct the sources at {place}")).person(match hint(text) {
            Some(hint) => format!("In {place}: {}", words::quote(hint)),
            None => format!(
                "Change {place} so that it can be rendered, and try that before pushing: lynceus render"
            ),
        }),
        (_, None) => {
            Fix::new("Correct the sources").person(format!("Correct what is said: {}", words::quote(text)))
        }
    };
    let fix = fix.risk(Risk::Low, names).verify(format!("lynceus app get {}", first.name));
    let finding = Finding::new(RULE.code, first.node(), cause)
        .of(Some(first.name.clone()))
        .seen(evidence(apps.iter().map(|(_, said)| *said)))
        .affects(apps.iter().skip(1).map(|(app, _)| app.node()))
        .fix([fix]);
    // A file that is not there may be there on the branch that everybody else follows.
    Some(if is_missing_file(said.text) { finding.unless_deeper() } else { finding })
}

/// What a diagnostic says is to be done.
fn hint(text: &str) -> Option<&str> {
    text.split_once("hint: ").map(|(_, hint)| hint.trim()).filter(|hint| !hint.is_empty())
}

/// What a template asks for that fails by `required` or `fail`.
fn asked(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("execution error at (")?;
    rest.split_once("): ").map(|(_, asked)| asked)
}

/// A place in a template as a file of the repository: Helm calls templates after their chart, which stands at the path that cannot be
/// rendered.
fn in_repository(text: &str, place: &str) -> String {
    let chart = text.split_once("Helm cannot render ").and_then(|(_, rest)| rest.split(": ").next());
    match (chart, place.split_once('/')) {
        (Some(chart), Some((_, inside))) if !chart.contains(' ') && place.contains("templates/") => {
            format!("{}/{inside}", chart.trim_end_matches('/'))
        }
        _ => place.to_owned(),
    }
}

/// Where an application has its values.
fn values(app: &App<'_>) -> String {
    let sources = app.application().spec.all_sources();
    let files: Vec<&str> = sources
        .iter()
        .filter_map(|source| source.helm.as_ref())
        .flat_map(|helm| &helm.value_files)
        .map(|file| file.as_str())
        .collect();
    match files.as_slice() {
        [] => format!("the values of {}", app.name),
        files => format!("the values of {}: {}", app.name, words::list(files)),
    }
}

/// Whether an error is about a file that is not there.
pub(super) fn is_missing_file(text: &str) -> bool {
    has(
        text,
        &[
            "no such file or directory",
            "doesn't exist",
            "must resolve to a file",
            "unable to find one of 'kustomization.yaml'",
        ],
    )
}

/// The file and line that an error names: `web/templates/a.yaml:12:14`.
fn place(text: &str) -> Option<&str> {
    let is_end =
        |sign: char| sign.is_whitespace() || matches!(sign, '(' | ')' | '<' | '>' | '"' | '\'' | ',');
    let ends = [".yaml", ".yml", ".tpl", ".json", ".jsonnet", ".libsonnet", ".txt"];
    text.split(is_end)
        .map(|word| word.trim_end_matches([':', '.']))
        .find(|word| ends.iter().any(|end| word.ends_with(end) || word.contains(&format!("{end}:"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::check;

    const BROKEN: &str = "
@app a Unknown Healthy
@spec {source: {path: web}}
@condition ComparisonError cannot render web of https://git.example.com/all.git: Helm cannot render web: execution error at (web/templates/a.yaml:12:14): image.tag is required
@app b Unknown Healthy
@spec {source: {path: web}}
@condition ComparisonError cannot render web of https://git.example.com/all.git: Helm cannot render web: execution error at (web/templates/a.yaml:12:14): image.tag is required
";

    #[test]
    fn what_cannot_be_rendered_is_found_once_with_its_place() {
        assert_eq!(
            check("LYN1006", BROKEN),
            "P1 LYN1006/a/Application/a: a and b cannot be rendered: execution error at (web/templates/a.yaml:12:14): image.tag is required\n  status of a: ComparisonError: cannot render web of https://git.example.com/all.git: Helm cannot render web: execution error at (web/templates/a.yaml:12:14): image.tag is required\n  status of b: ComparisonError: cannot render web of https://git.example.com/all.git: Helm cannot render web: execution error at (web/templates/a.yaml:12:14): image.tag is required\n  fix: Give the chart what it asks for: image.tag is required\n"
        );
    }

    #[test]
    fn the_same_words_of_another_folder_are_another_trouble() {
        let apart = BROKEN.replacen("{path: web}", "{path: shop}", 1);
        assert_eq!(check("LYN1006", &apart).matches("LYN1006").count(), 2);
        let above = "execution error at (web/templates/a.yaml:12:14): image.tag is required";
        let shared = apart.replace(above, "accumulating resources from '../../base': no such file");
        assert_eq!(check("LYN1006", &shared).matches("LYN1006").count(), 1);
    }

    #[test]
    fn a_path_that_is_not_there_is_another_trouble() {
        assert_eq!(
            check(
                "LYN1006",
                "@app a Unknown Healthy\n@condition ComparisonError cannot render web of https://x: app path web does not exist\n"
            ),
            ""
        );
    }

    #[test]
    fn a_template_that_asks_for_a_value_is_named_as_a_file_and_is_not_what_is_wrong() {
        let found = crate::tests::told(
            "@app a Unknown Healthy\n@spec {source: {path: services/a, helm: {valueFiles: [values-prod.yaml]}}}\n@condition \
             ComparisonError cannot render services/a of https://git.example.com/all.git: Helm cannot render services/a: execution \
             error at (chart/templates/cm.yaml:5:15): currency is required\n",
        );
        assert!(found.contains("Give the chart what it asks for: currency is required"), "{found}");
        let told = found.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains(
                "services/a/templates/cm.yaml:5:15 asks for a value that is not given; set it in the values of a: values-prod.yaml"
            ),
            "{found}"
        );
    }

    #[test]
    fn what_is_wrong_is_said_once_and_then_what_to_do() {
        let text = "@app a Unknown Healthy\n@status {conditions: [{type: ComparisonError, message: \"error: document 2 is not \
                    valid YAML: odd\\n  at web/a.yaml:31:6\\n  hint: check the indentation\"}]}\n";
        assert_eq!(
            check("LYN1006", text),
            "P1 LYN1006/a/Application/a: a cannot be rendered: document 2 is not valid YAML: odd at web/a.yaml:31:6\n  status of a: ComparisonError: error: document 2 is not valid YAML: odd at web/a.yaml:31:6; check the \
             indentation\n  fix: Correct the sources at web/a.yaml:31:6\n"
        );
        let fixes = crate::tests::roots_with_fixes(text);
        assert!(fixes.ends_with("    In web/a.yaml:31:6: check the indentation\n"), "{fixes}");
        let plain = crate::tests::roots_with_fixes(&text.replace("hint: ", ""));
        assert!(
            plain.contains("    Change web/a.yaml:31:6 so that it can be rendered, and try that"),
            "{plain}"
        );
    }

    #[test]
    fn the_place_is_found_in_the_words_of_each_tool() {
        assert_eq!(
            place("parse error at (web/templates/a.yaml:12): function \"x\" not defined"),
            Some("web/templates/a.yaml:12")
        );
        assert_eq!(place("accumulating resources from 'pvc.yaml': no such file"), Some("pvc.yaml"));
        assert_eq!(place("something else"), None);
    }
}
