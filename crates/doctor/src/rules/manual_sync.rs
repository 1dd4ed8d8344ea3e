//! An application that differs, does not sync by itself, and that nobody has synced.

use std::collections::BTreeSet;

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, ObjectKey, Value, value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Place, Risk};
use crate::rules::difference::Known;
use crate::rules::{Rule, sets, skipped};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1201",
    title: "Automated sync is off, and nobody has synced",
    explanation: "\
The application is not as Git wants it, its policy does not sync by itself, and nobody has asked for a sync. It stays so until
somebody does.

## Why
Automation was left out on purpose, as for production, or switched off while somebody was looking for something and never
switched on again.

## Example
```
application shop-prod  OutOfSync  spec.syncPolicy has no automated
```

## What to do
Sync it. Switch automation on if nobody is meant to decide about each change.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let is_alone = |app: &&App<'_>| is_left_alone(app) && !sets::waits_for_step(case, &app.name);
    let alone: Vec<&App<'_>> = case.apps().filter(is_alone).collect();
    if alone.is_empty() {
        return;
    }
    let known = Known::new(case);
    for app in alone {
        let left = left(app);
        match known.mendable(case, app) {
            Some(keys) if !keys.is_empty() => findings.add(found(app).seen([listed(app, &keys)])),
            None if !left.is_empty() => findings.add(found(app).seen([listed(app, &left)])),
            None if app.leftovers().is_empty() => {
                findings.add(found(app).seen([app.status("OutOfSync")]).unless_deeper());
            }
            _ => {}
        }
    }
}

/// What is no longer in Git, if no sync has passed it over yet. Applications that are left over are a trouble of their own.
fn left(app: &App<'_>) -> BTreeSet<ObjectKey> {
    let is_application = |key: &ObjectKey| (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application");
    match app.is_synced_to_head() {
        true => BTreeSet::new(),
        false => app.leftovers().into_iter().filter(|key| !is_application(key)).collect(),
    }
}

fn listed(app: &App<'_>, keys: &BTreeSet<ObjectKey>) -> Evidence {
    let names = words::list(keys.iter().map(|key| format!("{} {}", key.kind, key.name)));
    app.status(format!("OutOfSync: {names}"))
}

/// Whether it differs, does not sync by itself, and nobody has tried.
fn is_left_alone(app: &App<'_>) -> bool {
    let tried = app.failed_sync().is_some_and(|state| app.is_of_head(state) != Some(false));
    app.is_out_of_sync()
        && app.application().spec.automated().is_none()
        && !app.is_operating()
        && !tried
        && !skipped::is_skipped(app)
}

fn found(app: &App<'_>) -> Finding {
    let cause = format!(
        "application {} differs from Git, does not sync by itself, and nobody has synced it",
        app.name
    );
    let sync = Fix::new(format!("Sync {}", app.name))
        .cluster(Action::Sync { application: app.name.clone() })
        .risk(Risk::Medium, format!("everything in which {} differs from Git", app.name))
        .why("does once what a person is meant to decide about; see `lynceus app diff` first")
        .verify(format!("lynceus app get {}", app.name));
    let automate = Fix::new(format!("Let {} sync by itself", app.name))
        .git(&app.name, automated(app))
        .risk(Risk::Medium, "every change in Git is applied from then on")
        .why("right if nobody is meant to decide about each change");
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P2)
        .fix([sync, automate])
}

/// A policy that is switched off is switched on as it is, with what it says of pruning.
fn automated(app: &App<'_>) -> Place {
    let path = FieldPath::fields(["spec", "syncPolicy", "automated"]);
    let policy = app.application().spec.sync_policy.as_ref().and_then(|policy| policy.automated.as_ref());
    let (path, value): (_, Value) = match policy {
        Some(_) => (path.field("enabled"), value!(true)),
        None => (path, value!({"selfHeal": true})),
    };
    Place::Application { path, value: Some(value) }
}

#[cfg(test)]
mod tests {
    use crate::examination::examine;
    use crate::tests::{check, snapshot};

    #[test]
    fn a_policy_that_is_switched_off_is_switched_on_as_it_is() {
        let off =
            MANUAL.replace("syncPolicy: null", "syncPolicy: {automated: {enabled: false, prune: true}}");
        let examination = examine(&snapshot(&off));
        let fixes = examination.findings().flat_map(|(_, finding)| &finding.fixes);
        let edits: Vec<String> = fixes
            .flat_map(|fix| &fix.steps)
            .filter(|step| matches!(step, crate::fix::Step::Git(_)))
            .map(|step| format!("{step:?}"))
            .collect();
        assert!(matches!(edits.as_slice(), [edit] if edit.contains("enabled")), "{edits:?}");
    }

    const MANUAL: &str = "
@app shop OutOfSync Missing
@spec {syncPolicy: null}
@status {resources: [{kind: ConfigMap, namespace: shop, name: a, status: OutOfSync, health: {status: Missing}}]}
";

    #[test]
    fn an_application_that_nobody_synced_is_found() {
        assert_eq!(
            check("LYN1201", MANUAL),
            "P2 LYN1201/shop/Application/shop: application shop differs from Git, does not sync by itself, and nobody has \
             synced it\n  status of shop: OutOfSync: ConfigMap a\n  fix: Sync shop\n  fix: Let shop sync by itself\n"
        );
    }

    #[test]
    fn one_that_syncs_by_itself_or_was_tried_or_differs_only_in_what_others_own_is_not() {
        assert_eq!(check("LYN1201", &MANUAL.replace("syncPolicy: null", "syncPolicy: {automated: {}}")), "");
        let tried = format!(
            "{MANUAL}@status {{operationState: {{phase: Failed, operation: {{}}, startedAt: '2026-01-01T10:00:00Z'}}}}\n"
        );
        assert_eq!(check("LYN1201", &tried), "");
        let shared = format!(
            "{MANUAL}@unrendered\n@app other Synced Healthy\n@unrendered\n@status {{resources: [{{kind: ConfigMap, namespace: shop, name: a, status: Synced}}]}}\n"
        );
        assert_eq!(check("LYN1201", &shared), "");
    }
}
