//! An application that nobody is to look at.

use lynceus_api::annotations;
use lynceus_object::FieldPath;

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN1210",
    title: "Reconciling is switched off for an application",
    explanation: "\
An annotation keeps the controller from looking at the application. It is neither compared nor synced, and what its status says is
from the time before.

## Why
Somebody switched it off to work on the cluster by hand, or another system does that while it moves applications.

## Example
```
argocd.argoproj.io/skip-reconcile: \"true\"
```

## What to do
Take the annotation off when the work is done.
",
    check,
};

/// Whether the controller passes an application over.
pub(super) fn is_skipped(app: &App<'_>) -> bool {
    let said = app.application().metadata.annotations.get(annotations::SKIP_RECONCILE);
    said.is_some_and(|text| lynceus_api::parse_bool(text).unwrap_or(false))
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| is_skipped(app)) {
        let cause = format!(
            "application {} is not looked at: the annotation skip-reconcile keeps everybody off",
            app.name
        );
        findings.add(
            Finding::new(RULE.code, app.node(), cause)
                .of(Some(app.name.clone()))
                .severity(if app.is_fine() { Severity::P3 } else { Severity::P2 })
                .seen([app.status(format!("{}: true", annotations::SKIP_RECONCILE))])
                .fix([fix(case, app)]),
        );
    }
}

/// The annotation is taken off where it stands: in Git, or on the Application alone.
fn fix(case: &Case<'_>, app: &App<'_>) -> Fix {
    let fix = Fix::new("Take the annotation off")
        .risk(Risk::Medium, format!("{} is compared and, if its policy says so, synced again", app.name))
        .why("what was done by hand in the meantime may be undone: see `lynceus app diff` then")
        .verify(format!("lynceus app get {}", app.name));
    let declared = case.parent(&app.name).map(|(_, wanted)| &wanted.object);
    match declared.is_none_or(|object| object.annotation(annotations::SKIP_RECONCILE).is_some()) {
        true => {
            let path = FieldPath::fields(["metadata", "annotations"]).field(annotations::SKIP_RECONCILE);
            fix.git(&app.name, Place::Application { path, value: None })
        }
        false => fix.person(format!(
            "Git does not have it: kubectl -n {} annotate application {} {}-",
            app.name.namespace,
            app.name.name,
            annotations::SKIP_RECONCILE
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const SKIPPED: &str = "
@app shop OutOfSync Healthy
@metadata {annotations: {argocd.argoproj.io/skip-reconcile: 'true'}}
";

    #[test]
    fn an_application_that_is_passed_over_is_found() {
        assert_eq!(
            check("LYN1210", SKIPPED),
            "P2 LYN1210/shop/Application/shop: application shop is not looked at: the annotation skip-reconcile keeps \
             everybody off\n  status of shop: argocd.argoproj.io/skip-reconcile: true\n  fix: Take the annotation off\n"
        );
    }

    #[test]
    fn an_annotation_that_is_on_the_cluster_alone_is_taken_off_there() {
        let parent = |annotations: &str| {
            format!(
                "@app apps Synced Healthy\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: shop, namespace: argocd{annotations}}}\n{SKIPPED}"
            )
        };
        let fixes = crate::tests::roots_with_fixes(&parent(""));
        let command = "kubectl -n argocd annotate application shop argocd.argoproj.io/skip-reconcile-";
        assert!(fixes.contains(command), "{fixes}");
        let fixes = crate::tests::roots_with_fixes(&parent(
            ", annotations: {argocd.argoproj.io/skip-reconcile: 'true'}",
        ));
        assert!(!fixes.contains("kubectl") && fixes.contains("skip-reconcile"), "{fixes}");
    }

    #[test]
    fn one_that_says_false_is_not() {
        assert_eq!(check("LYN1210", &SKIPPED.replace("'true'", "'false'")), "");
    }
}
