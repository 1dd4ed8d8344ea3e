//! Deletions of an ApplicationSet that wait for somebody.

use crate::case::Case;
use crate::finding::{Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::sets;

pub(super) const RULE: Rule = Rule {
    code: "LYN1404",
    title: "An ApplicationSet is about to delete many Applications",
    explanation: "\
What an ApplicationSet generates has become so much less that its deletions wait for somebody to confirm them. With the Applications would
go what they have delivered, unless they have no finalizer.

## Why
A folder, a file of parameters or a label of clusters was removed or renamed. More often than not that was a mistake: a pattern that fits
nothing any more, a branch without the files, a cluster that was taken off the list.

## Example
```
ApplicationSet shops  ResourcesUpToDate=False  DeletionsHeld
  4 of 5 Applications would be deleted (a, b, c, d), and more than 25 % have to be confirmed: 4-1a2b3c4d
```

## What to do
Put back what was removed by mistake. If it was meant, confirm these deletions, and no others, with the annotation that the condition names.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for set in sets::sets(case) {
        let Some(message) = sets::held(set) else { continue };
        let (what, how) = message.split_once(". Confirm with: ").unwrap_or((message, ""));
        let cause = format!("ApplicationSet {} is held back: {what}", set.name());
        let back = Fix::new("Put back what was removed")
            .person(format!(
                "the files, clusters or elements that ApplicationSet {} no longer finds",
                set.name()
            ))
            .why("right unless all of these Applications are meant to go")
            .verify(format!("lynceus appset preview {}/{}", set.namespace(), set.name()));
        let confirm = Fix::new("Confirm the deletions")
            .person(how)
            .risk(Risk::High, "the Applications and what they have delivered are deleted")
            .why("right if they are meant to go");
        let finding = sets::finding(case, RULE.code, set, cause, "ResourcesUpToDate");
        let fixes = if how.is_empty() { vec![back] } else { vec![back, confirm] };
        let leaving = case.apps().filter(|app| sets::is_leaving(case, &app.name)).map(|app| app.node());
        findings.add(finding.severity(Severity::P1).affects(leaving).fix(fixes));
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots_with_fixes};

    const HELD: &str = "@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
status:
  conditions:
  - {type: ResourcesUpToDate, status: 'False', reason: DeletionsHeld, message: '4 of 5 Applications would be deleted (a, b, c, d), and more than 25 % have to be confirmed: 4-1a. Confirm with: kubectl annotate applicationset -n argocd shops --overwrite lynceus.dev/confirm-deletions=4-1a'}
";

    #[test]
    fn deletions_that_wait_are_found_with_what_confirms_them() {
        let told = check("LYN1404", HELD);
        assert!(
            told.starts_with("P1 LYN1404/argocd/ApplicationSet/shops: ApplicationSet shops is held back: 4 of 5 Applications would be deleted (a, b, c, d), and more than 25 % have to be confirmed: 4-1a\n"),
            "{told}"
        );
        let fixes = roots_with_fixes(HELD);
        assert!(fixes.contains("lynceus.dev/confirm-deletions=4-1a"), "{fixes}");
    }

    #[test]
    fn it_explains_those_whose_files_are_gone() {
        let app = "@app a Unknown Healthy\n@metadata {ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: shops, uid: u, \
                   controller: true}]}\n@condition ComparisonError Failed to load target state: a: app path does not exist\n";
        assert_eq!(
            crate::tests::roots(&format!("{app}{HELD}")),
            "P1 LYN1404/argocd/ApplicationSet/shops explains a\n"
        );
    }

    #[test]
    fn a_set_that_is_up_to_date_or_failed_is_not_held() {
        assert_eq!(check("LYN1404", &HELD.replace("DeletionsHeld", "ErrorOccurred")), "");
    }
}
