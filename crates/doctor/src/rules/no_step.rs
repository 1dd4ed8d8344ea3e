//! An application that no step of its ApplicationSet selects.

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::sets;
use lynceus_object::FieldPath;

pub(super) const RULE: Rule = Rule {
    code: "LYN1407",
    title: "No step of its ApplicationSet selects an application",
    explanation: "\
An ApplicationSet syncs its Applications step by step, and this one is in none of the steps. Its automation is switched off because steps
decide, and so it is never synced.

## Why
The `matchExpressions` of the steps go by labels of the Applications, and this one lacks the label or has a value that no step names: a new
environment, a label that the template writes otherwise.

## Example
```
steps:            env In [dev], env In [prod]
application shop  labels: {env: staging}
```

## What to do
Add the value to a step, or a last step without `matchExpressions`, which selects all that is left. Or give the Application the label.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| app.is_out_of_sync()) {
        let Some(set) = sets::maker(case, &app.name) else { continue };
        if !matches!(sets::step(set, &app.name.name), Some((None, "Waiting"))) {
            continue;
        }
        let cause = format!(
            "application {} is in no step of ApplicationSet {}, and is never synced",
            app.name,
            set.name()
        );
        let labels = &app.application().metadata.labels;
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let steps = FieldPath::fields(["spec", "strategy", "rollingSync", "steps"]);
        let value = set
            .at(&["spec", "strategy", "rollingSync", "steps"])
            .map(crate::words::shown)
            .unwrap_or_default();
        let fix = Fix::new("Have a step select it")
            .person(format!(
                "spec.strategy.rollingSync.steps of ApplicationSet {}/{}",
                set.namespace(),
                set.name()
            ))
            .risk(Risk::Medium, format!("{} is synced when its step comes", app.name))
            .verify(format!("lynceus appset get {}/{}", set.namespace(), set.name()));
        findings.add(
            Finding::new(RULE.code, app.node(), cause)
                .of(Some(app.name.clone()))
                .severity(Severity::P1)
                .seen([
                    Evidence::Field { object: set.key(), path: steps, value },
                    app.status(format!("its labels are {}", labels.join(", "))),
                ])
                .fix([fix]),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    fn text(step: &str, status: &str) -> String {
        format!(
            "@app shop OutOfSync Healthy\n@metadata {{labels: {{env: staging}}, ownerReferences: [{{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: \
             shops, uid: u, controller: true}}]}}\n@spec {{syncPolicy: {{automated: {{enabled: false}}}}}}\n@status {{resources: [{{kind: ConfigMap, \
             namespace: shop, name: a, status: OutOfSync}}]}}\n@app first Synced Degraded\n@condition ComparisonError Failed to load target state: unable to resolve 'feature/x' to a commit SHA\n@live\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: shops, namespace: \
             argocd, uid: u}}\nspec: {{strategy: {{type: RollingSync, rollingSync: {{steps: [{{matchExpressions: [{{key: env, operator: In, values: \
             [dev]}}]}}]}}}}}}\nstatus:\n  applicationStatus: [{{application: shop, step: '{step}', status: {status}}}, {{application: first, step: '1', status: Progressing}}]\n"
        )
    }

    #[test]
    fn an_application_in_no_step_is_found() {
        let told = check("LYN1407", &text("-1", "Waiting"));
        assert!(
            told.starts_with("P1 LYN1407/shop/Application/shop: application shop is in no step of ApplicationSet shops, and is never synced\n")
                && told.contains("status of shop: its labels are env=staging\n"),
            "{told}"
        );
    }

    #[test]
    fn one_that_waits_for_an_earlier_step_is_explained_by_it_and_not_by_its_policy() {
        assert_eq!(check("LYN1407", &text("2", "Waiting")), "");
        assert_eq!(roots(&text("2", "Waiting")), "P0 LYN1001/first/Application/first explains first shop\n");
    }
}
