//! A name of an Application that two elements or two ApplicationSets want.

use crate::case::Case;
use crate::finding::{Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::sets::{self, Complaint, Sort};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1402",
    title: "Two claim one Application of an ApplicationSet",
    explanation: "\
Two elements of an ApplicationSet come to the same name, or an Application that it generates belongs to another ApplicationSet. Only one
can have it: of two elements the first, of two sets the one that had it first. Nothing is deleted as long as it lasts.

## Why
A name that is made of too little: of the environment alone where each has several clusters, of a folder's last part where two folders are
called alike. Or a set was copied and the old one is still there.

## Example
```
spec.generators[0].git, element 4 (directory eu/web): there is already an Application named web, from element 1 (directory us/web)
```

## What to do
Make the name of more parameters, such as `{{.path.segments}}` or the cluster, or exclude one of the two. Of two sets, delete the one that
is not wanted any more: without its Applications, `kubectl delete applicationset NAME --cascade=orphan`.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for Complaint { set, message, .. } in sets::complaints(case, Sort::Claimed) {
        let cause =
            format!("ApplicationSet {} wants a name that is taken: {}", set.name(), words::quote(message));
        let template =
            format!("spec.template.metadata.name of ApplicationSet {}/{}", set.namespace(), set.name());
        let rename = Fix::new("Make the name of what tells the two apart")
            .person(template)
            .risk(
                Risk::Medium,
                format!("Applications of {} that are called otherwise are made anew", set.name()),
            )
            .why("Applications that are renamed are deleted and created; see the preview first")
            .verify(format!("lynceus appset preview {}/{}", set.namespace(), set.name()));
        let finding = sets::finding(case, RULE.code, set, cause, "ErrorOccurred");
        findings.add(finding.severity(Severity::P1).fix([rename]));
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const TWICE: &str = "@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
status:
  conditions:
  - {type: ErrorOccurred, status: 'True', reason: ApplicationValidationError, message: 'spec.generators[0].list, element 1: there is already an Application named a, from spec.generators[0].list, element 0'}
";

    #[test]
    fn two_that_want_one_name_are_found() {
        let told = check("LYN1402", TWICE);
        assert!(
            told.starts_with("P1 LYN1402/argocd/ApplicationSet/shops: ApplicationSet shops wants a name that is taken: spec.generators[0].list, element 1: there is already"),
            "{told}"
        );
        let of_another = TWICE.replace(
            "there is already an Application named a, from spec.generators[0].list, element 0",
            "the Application a belongs to ApplicationSet old",
        );
        assert!(check("LYN1402", &of_another).contains("belongs to ApplicationSet old"));
    }

    #[test]
    fn other_errors_are_not() {
        assert_eq!(
            check("LYN1402", &TWICE.replace("there is already an Application named a", "it is not YAML")),
            ""
        );
    }
}
