//! A required field that is rendered empty.

use crate::case::{Case, Said, Voice};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::invalid_object::{fields, is_empty_value};
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
    for said in
        case.said().iter().filter(|said| said.voice == Voice::Sync && said.text.contains(": Required value"))
    {
        let wanted = case.wanted(said.server, &said.about).first().copied();
        if is_empty_value(said.text, wanted.map(|(_, wanted)| &wanted.object)) {
            let file = wanted.and_then(|(app, wanted)| app.file(wanted, "what was rendered"));
            findings.add(found(said, file));
        }
    }
}

fn found(said: &Said<'_>, file: Option<Evidence>) -> Finding {
    let key = &said.about;
    let named =
        fields(said.text).into_iter().filter(|(_, sort)| *sort == ": Required value").map(|(field, _)| field);
    let names = words::list(named.collect::<Vec<_>>());
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
    fn a_field_that_is_there_was_refused_for_something_else() {
        assert_eq!(check("LYN1007", &EMPTY.replace("uri: ''", "uri: http://git")), "");
    }
}
