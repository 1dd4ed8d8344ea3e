//! A required field that is rendered empty.

use lynceus_object::{FieldPath, Object};

use super::hollow;
use crate::case::{App, Case, Said, Voice};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::AppName;
use crate::rules::Rule;
use crate::rules::invalid_object::{empty_fields, is_empty_value};
use crate::snapshot::Override;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1007",
    title: "Values render a required field empty",
    explanation: "\
The API server refuses an object because a field that has to be there is missing or empty, and it is so in what was rendered. The
template is fine; the value that it reads is not set where it looks. Some texts are no YAML any more without a value, such as
`image: repo:`: then nothing is rendered at all. In quotes it is YAML, and the name of no image: then no pod starts.

## Why
The value stands under another name, is set in a file that this environment does not use, or a chart expects a global value that nobody
gives it.

## Example
```
BuildConfig \"web\" is invalid: spec.source.git.uri: Required value
```

## What to do
Set the value in the files of this environment. In the template use `required`, so that the next one who forgets it is told at once.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    hollow::find(case, findings);
    const EMPTY: [&str; 3] = [": Required value", ": Invalid value: 0: ", ": Invalid value: \"\": "];
    let is_empty = |text: &str| EMPTY.iter().any(|words| text.contains(words));
    for said in case.said().iter().filter(|said| said.voice == Voice::Sync && is_empty(said.text)) {
        let wanted = case.wanted(said.server, &said.about).first().copied();
        if is_empty_value(said.text, wanted.map(|(_, wanted)| &wanted.object)) {
            let file = wanted.and_then(|(app, wanted)| app.file(wanted, "what was rendered"));
            let app = wanted.map(|(app, _)| app).or_else(|| said.app.as_ref().and_then(|app| case.app(app)));
            let object = wanted.map(|(_, wanted)| &wanted.object);
            // What else the server says is empty it may fill in from what is given, so that only what is missing is asked for.
            let missing = empty_fields(said.text, object);
            let gives = |other: &Object| {
                let left = empty_fields(said.text, Some(other));
                missing.iter().any(|field| !left.contains(field))
            };
            let covered = case.override_of(said.server, &said.about, gives);
            findings.add(found(said, object, file, app.is_none_or(is_chart), covered));
        }
    }
}

/// Whether an application is rendered with values. That it has a chart shows in its source or in what it says of it.
pub(super) fn is_chart(app: &App<'_>) -> bool {
    let (spec, status) = (&app.application().spec, &app.application().status);
    let mut sources = spec.source.iter().chain(&spec.sources);
    let is_helm = |kind: &str| kind == "Helm";
    let kinds = || status.source_types.iter().map(|kind| kind.as_str()).chain([status.source_type.as_str()]);
    sources.any(|source| !source.chart.is_empty() || source.helm.is_some())
        || kinds().any(is_helm)
        || kinds().all(str::is_empty)
}

/// Where the field comes from: the files that were read, or the values where there are some.
fn found(
    said: &Said<'_>,
    wanted: Option<&Object>,
    file: Option<Evidence>,
    is_chart: bool,
    covered: Option<(AppName, &Override)>,
) -> Finding {
    let key = &said.about;
    let names = words::list(empty_fields(said.text, wanted));
    let made = if is_chart { "rendered" } else { "written" };
    let why = Override::ending(covered.as_ref());
    let what = words::named(&key.kind, &key.name);
    let cause = format!("{what} is {made} without {names}, which it has to have{why}");
    let app = said.app.as_ref().map(|app| app.name.as_str()).unwrap_or_default();
    let fix = match is_chart {
        true => Fix::new(format!("Set the value that {names} comes from"))
            .person(format!("Set the value that {names} of {what} comes from, in the value files of {app}.")),
        false => Fix::new(format!("Set {names}"))
            .person(format!("Set {names} of {what} in the manifests of {app}.")),
    };
    let place = match &file {
        Some(Evidence::File { span, .. }) => span.file.to_string(),
        _ => String::new(),
    };
    let fix = fix.risk(Risk::Low, what.clone()).why("what it should be cannot be told from here");
    Finding::new(RULE.code, said.node.clone(), cause)
        .of(said.app.clone())
        // Several objects of one file that lack the same were written by one hand.
        .alike(Some(format!("{app} {place} {} {names}", key.kind)))
        .seen([said.evidence.clone()])
        .seen(file)
        .seen(covered.iter().flat_map(|(app, covered)| covered.evidence(app)))
        .about(said.app.iter().filter(|_| covered.is_none()).flat_map(|app| {
            let paths = empty_fields(said.text, wanted).into_iter();
            let paths = paths.filter_map(|field| FieldPath::parse(field).ok());
            paths.map(|path| (app.clone(), key.clone(), path))
        }))
        .fix(covered.map(|(app, covered)| covered.fix(&app, key).risk(Risk::Low, what)))
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const EMPTY: &str = "
@app ci OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: build.openshift.io, version: v1, kind: BuildConfig, namespace: ci, name: web, status: SyncFailed, message: 'BuildConfig.build.openshift.io \"web\" is invalid: spec.source.git.uri: Required value'}]}}}
apiVersion: build.openshift.io/v1
kind: BuildConfig
metadata: {name: web, namespace: ci}
spec: {source: {git: {uri: ''}}}
";

    #[test]
    fn a_required_field_that_is_rendered_empty_is_found() {
        assert_eq!(
            check("LYN1007", EMPTY),
            "P1 LYN1007/ci/BuildConfig/web: BuildConfig web is rendered without spec.source.git.uri, which it has to have\n  status of ci: BuildConfig web: BuildConfig.build.openshift.io \"web\" is invalid: spec.source.git.uri: Required value\n  ci.yaml:1: what was rendered\n  fix: Set the value that spec.source.git.uri comes from\n"
        );
    }

    #[test]
    fn an_empty_value_that_covers_one_is_named() {
        let covers = "@covers live.yaml:4 git.uri \"\" values.yaml BuildConfig web spec.source.git.uri https://git/web\n";
        let found = check("LYN1007", &format!("{EMPTY}{covers}"));
        assert!(found.contains("; `git.uri: \"\"` in live.yaml covers what values.yaml has\n"), "{found}");
        assert!(found.contains("\n  live.yaml:4: git.uri: \"\" covers what values.yaml has\n"), "{found}");
        assert!(
            found.contains("\n  fix: Take `git.uri: \"\"` out of live.yaml\n  fix: Set the value"),
            "{found}"
        );
        let other = check("LYN1007", &format!("{EMPTY}{}", covers.replace("git.uri https", "git.ref https")));
        assert!(!other.contains("live.yaml"), "{other}");
    }

    #[test]
    fn manifests_have_no_values_and_what_several_lack_is_one_slip() {
        let plain = EMPTY.replace("@status {", "@status {sourceType: Directory, ");
        let found = check("LYN1007", &plain);
        assert!(found.contains("BuildConfig web is written without spec.source.git.uri"), "{found}");
        assert!(found.contains("fix: Set spec.source.git.uri\n"), "{found}");
        let failed = |name: &str| {
            format!(
                "{{group: build.openshift.io, version: v1, kind: BuildConfig, namespace: ci, name: {name}, status: SyncFailed, message: \
                 'BuildConfig.build.openshift.io \"{name}\" is invalid: spec.source.git.uri: Required value'}}"
            )
        };
        let two = format!(
            "@app ci OutOfSync Missing\n@status {{operationState: {{phase: Failed, operation: {{}}, startedAt: null, syncResult: \
             {{revision: a, resources: [{}, {}]}}}}}}\n",
            failed("a"),
            failed("b")
        );
        assert_eq!(roots(&two), "P1 LYN1007/ci/BuildConfig/a explains ci\n");
    }

    #[test]
    fn a_number_that_was_left_out_is_a_field_that_is_rendered_empty() {
        let text = "
@app shop OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: '', version: v1, kind: Service, namespace: shop, name: web, status: SyncFailed, message: 'Service \"web\" is invalid: [spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive]'}]}}}
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: null}]}
";
        let found = check("LYN1007", text);
        assert!(
            found.contains("Service web is rendered without spec.ports[0].port, which it has to have"),
            "{found}"
        );
        // The server takes the one port for the other where that is all that is said.
        let covers = "@covers live.yaml:2 service.port null values.yaml Service web spec.ports [{name: http, port: 80}]\n";
        let found = check("LYN1007", &format!("{text}{covers}"));
        assert!(found.contains("\n  fix: Take `service.port: null` out of live.yaml\n"), "{found}");
        assert_eq!(check("LYN0808", text), "", "one trouble has one name");
        let given = text.replace("port: null", "port: 0, targetPort: 0");
        assert_eq!(check("LYN1007", &given), "", "somebody has written it");
        assert!(check("LYN0808", &given).contains("Invalid value: 0"));
    }

    #[test]
    fn a_field_that_is_there_was_refused_for_something_else() {
        assert_eq!(check("LYN1007", &EMPTY.replace("uri: ''", "uri: http://git")), "");
    }

    #[test]
    fn what_has_not_even_a_name_is_told_as_such() {
        let text = "@app a OutOfSync Missing\n@spec {source: {path: a, directory: {}}}\n@status {sourceType: Directory, operationState: \
                    {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: '', version: v1, kind: \
                    Service, namespace: shop, name: '', status: SyncFailed, message: 'Service \"\" is invalid: metadata.name: Required \
                    value: name or generateName is required'}]}}}\n";
        let found = check("LYN1007", text);
        assert!(found.contains("the nameless Service is written without metadata.name, which"), "{found}");
        assert!(found.contains("status of a: the nameless Service: Service"), "{found}");
    }
}
