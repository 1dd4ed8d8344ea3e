//! A required field that is rendered empty.

use lynceus_object::{FieldPath, Object};

use crate::case::{Case, Said, Voice};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::invalid_object::{empty_fields, is_empty_value};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1007",
    title: "Values render a required field empty",
    explanation: "\
The API server refuses an object because a field that has to be there is missing or empty, and it is so in what was rendered. The
template is fine; the value that it reads is not set where it looks.

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
    let is_empty = |text: &str| text.contains(": Required value") || text.contains(": Invalid value: 0: ");
    for said in case.said().iter().filter(|said| said.voice == Voice::Sync && is_empty(said.text)) {
        let wanted = case.wanted(said.server, &said.about).first().copied();
        if is_empty_value(said.text, wanted.map(|(_, wanted)| &wanted.object)) {
            let file = wanted.and_then(|(app, wanted)| app.file(wanted, "what was rendered"));
            findings.add(found(said, wanted.map(|(_, wanted)| &wanted.object), file));
        }
    }
}

fn found(said: &Said<'_>, wanted: Option<&Object>, file: Option<Evidence>) -> Finding {
    let key = &said.about;
    let names = words::list(empty_fields(said.text, wanted));
    let cause = format!("{} {} is rendered without {names}, which it has to have", key.kind, key.name);
    let app = said.app.as_ref().map(|app| app.name.as_str()).unwrap_or_default();
    let fix = Fix::new(format!("Set the value that {names} comes from"))
        .person(format!(
            "Set the value that {names} of {} {} comes from, in the value files of {app}.",
            key.kind, key.name
        ))
        .risk(Risk::Low, format!("{} {}", key.kind, key.name))
        .why("what it should be cannot be told from here");
    Finding::new(RULE.code, said.node.clone(), cause)
        .of(said.app.clone())
        .seen([said.evidence.clone()])
        .seen(file)
        .about(said.app.iter().flat_map(|app| {
            let paths = empty_fields(said.text, wanted).into_iter();
            let paths = paths.filter_map(|field| FieldPath::parse(field).ok());
            paths.map(|path| (app.clone(), key.clone(), path))
        }))
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

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
            found.contains("Service web is rendered without spec.ports[0].port and spec.ports[0].targetPort, which it has to have"),
            "{found}"
        );
        assert_eq!(check("LYN0808", text), "", "one trouble has one name");
        let given = text.replace("port: null", "port: 0, targetPort: 0");
        assert_eq!(check("LYN1007", &given), "", "somebody has written it");
        assert!(check("LYN0808", &given).contains("Invalid value: 0"));
    }

    #[test]
    fn a_field_that_is_there_was_refused_for_something_else() {
        assert_eq!(check("LYN1007", &EMPTY.replace("uri: ''", "uri: http://git")), "");
    }
}
