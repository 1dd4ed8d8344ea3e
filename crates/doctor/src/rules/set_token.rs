//! An ApplicationSet whose token a host does not take.

use lynceus_object::{FieldPath, Object, Value};

use crate::case::Case;
use crate::finding::{Evidence, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::sets::{self, Complaint, Sort};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1406",
    title: "A host does not take the token of an ApplicationSet",
    explanation: "\
A generator asks a host for repositories or pull requests, a repository for its files or a plugin for parameters, and is answered 401 or 403.
What it would generate is not known, so nothing is created, changed or deleted until it is let in again.

## Why
Tokens expire. Or the token was made for another organisation, lacks a scope, or was revoked with the account of whoever made it.

## Example
```
spec.generators[0].scmProvider: the repositories of the organisation cannot be had: api.github.com answers 401 to /orgs/acme/repos
```

## What to do
Make a new token that may read repositories and pull requests, and put it into the Secret that the generator names. A token of an app or of
a machine account does not leave with a person. Nothing has to be restarted: it is asked again within minutes.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for Complaint { set, message, .. } in sets::complaints(case, Sort::Token) {
        let cause = format!("ApplicationSet {} is not let in: {}", set.name(), words::quote(message));
        let references = references(set);
        let names: Vec<String> =
            references.iter().map(|(_, secret, key)| format!("{key} of Secret {secret}")).collect();
        let what = match names.is_empty() {
            true => format!("what lets ApplicationSet {}/{} in", set.namespace(), set.name()),
            false => words::list(names),
        };
        let renew = Fix::new("Renew the token")
            .person(format!("{what}, in namespace {}", set.namespace()))
            .risk(Risk::Low, format!("ApplicationSet {}, which is generated again", set.name()))
            .why("nothing is deleted as long as the host refuses")
            .verify(format!(
                "kubectl -n {} annotate applicationset {} argocd.argoproj.io/application-set-refresh=true",
                set.namespace(),
                set.name()
            ));
        let seen = references.into_iter().map(|(path, secret, key)| Evidence::Field {
            object: set.key(),
            path,
            value: format!("{key} of Secret {secret}"),
        });
        let finding = sets::finding(case, RULE.code, set, cause, "ErrorOccurred");
        findings.add(finding.severity(Severity::P1).seen(seen).fix([renew]));
    }
}

/// The Secrets that generators name: where, which, and what of it. Never what is in it.
fn references(set: &Object) -> Vec<(FieldPath, String, String)> {
    let mut found = Vec::new();
    let generators = set.at(&["spec", "generators"]);
    if let Some(generators) = generators {
        collect(generators, FieldPath::fields(["spec", "generators"]), &mut found);
    }
    found
}

fn collect(value: &Value, path: FieldPath, found: &mut Vec<(FieldPath, String, String)>) {
    match value {
        Value::Map(map) => {
            let text = |field: &str| map.get(field).and_then(Value::as_str);
            if let (Some(secret), Some(key)) = (text("secretName"), text("key")) {
                found.push((path, secret.to_owned(), key.to_owned()));
                return;
            }
            for (key, inner) in map.iter() {
                collect(inner, path.clone().field(key.as_str()), found);
            }
        }
        Value::Seq(items) => {
            for (at, inner) in items.iter().enumerate() {
                collect(inner, path.clone().index(at), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const REFUSED: &str = "@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: repos, namespace: argocd}
spec: {generators: [{scmProvider: {github: {organization: acme, tokenRef: {secretName: git, key: token}}}}]}
status:
  conditions:
  - {type: ErrorOccurred, status: 'True', reason: ApplicationGenerationFromParamsError, message: 'spec.generators[0].scmProvider: the repositories of the organisation cannot be had: api.github.com answers 401 to /orgs/acme/repos; check that the token is valid and may read this'}
";

    #[test]
    fn a_token_that_is_refused_is_found_with_its_secret() {
        let told = check("LYN1406", REFUSED);
        assert!(
            told.starts_with("P1 LYN1406/argocd/ApplicationSet/repos: ApplicationSet repos is not let in: spec.generators[0].scmProvider:")
                && told.contains("spec.generators[0].scmProvider.github.tokenRef: token of Secret git")
                && told.ends_with("  fix: Renew the token\n"),
            "{told}"
        );
    }

    #[test]
    fn a_host_that_was_asked_too_often_or_does_not_answer_is_not() {
        for message in [
            "lets us ask no more until 2026-01-01T00:00:00Z",
            "answers 500 to /orgs/acme/repos",
            "cannot be reached",
        ] {
            let other = REFUSED.replace(
                "answers 401 to /orgs/acme/repos; check that the token is valid and may read this",
                message,
            );
            assert_eq!(check("LYN1406", &other), "", "{message}");
        }
    }
}
