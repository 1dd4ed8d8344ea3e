//! An ApplicationSet that cannot be generated.

use lynceus_object::Object;

use crate::case::Case;
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::sets::{self, Complaint, Sort};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1401",
    title: "An ApplicationSet cannot be generated",
    explanation: "\
A generator of an ApplicationSet fails, or its template does for one of the elements. Until that is mended none of its Applications is
created, changed or deleted: those that there are stay as they were.

## Why
A file of parameters is no YAML or lacks a key that the template uses, a repository or branch is not there, a generator is misspelled,
or a host does not answer.

## Example
```
ApplicationSet shops  ErrorOccurred=True
  spec.generators[0].git, element 3 (file envs/eu.yaml), spec.source.targetRevision: map has no entry for key \"tag\"
```

## What to do
Correct what the message names: the generator and element come first, then the field of the template. `lynceus appset preview` tells what a
corrected one would do before it is applied.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for Complaint { set, message, .. } in sets::complaints(case, Sort::Other) {
        findings.add(found(case, set, message));
    }
}

fn found(case: &Case<'_>, set: &Object, message: &str) -> Finding {
    let cause = format!(
        "ApplicationSet {} cannot be generated, and nothing of it changes: {}",
        set.name(),
        words::quote(message)
    );
    let fix = Fix::new("Correct what the message names")
        .person(format!(
            "the generators and the template of ApplicationSet {}/{}, or the files that they read",
            set.namespace(),
            set.name()
        ))
        .risk(Risk::Low, format!("the Applications of {}, which are generated again", set.name()))
        .why("nothing is created, changed or deleted before")
        .verify(format!("lynceus appset preview {}/{}", set.namespace(), set.name()));
    sets::finding(case, RULE.code, set, cause, "ErrorOccurred").severity(Severity::P1).fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const BROKEN: &str = "@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
status:
  conditions:
  - {type: ErrorOccurred, status: 'True', reason: RenderTemplateParamsError, message: 'spec.generators[0].git, element 3 (file envs/eu.yaml): map has no entry for key \"tag\"'}
";

    #[test]
    fn a_set_that_cannot_be_generated_is_found_with_the_place() {
        assert_eq!(
            check("LYN1401", BROKEN),
            "P1 LYN1401/argocd/ApplicationSet/shops: ApplicationSet shops cannot be generated, and nothing of it changes: \
             spec.generators[0].git, element 3 (file envs/eu.yaml): map has no entry for key \"tag\"\n  ApplicationSet argocd/shops: \
             status.conditions.ErrorOccurred: spec.generators[0].git, element 3 (file envs/eu.yaml): map has no entry for key \"tag\"\n  fix: \
             Correct what the message names\n"
        );
    }

    #[test]
    fn it_explains_the_application_that_brings_it() {
        let text = format!(
            "@app apps Synced Degraded\n@status {{resources: [{{group: argoproj.io, version: v1alpha1, kind: ApplicationSet, namespace: argocd, name: \
             shops, status: Synced, health: {{status: Degraded}}}}]}}\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: \
             shops, namespace: argocd}}\n{BROKEN}"
        );
        assert_eq!(roots(&text), "P1 LYN1401/apps/ApplicationSet/shops explains apps\n");
    }

    #[test]
    fn one_that_is_well_or_being_deleted_is_not() {
        assert_eq!(check("LYN1401", &BROKEN.replace("status: 'True'", "status: 'False'")), "");
        let leaving = BROKEN
            .replace("namespace: argocd}", "namespace: argocd, deletionTimestamp: '2026-01-01T00:00:00Z'}");
        assert_eq!(check("LYN1401", &leaving), "");
    }
}
