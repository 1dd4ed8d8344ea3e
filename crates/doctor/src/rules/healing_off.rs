//! Drift that is not mended because self-healing is off.

use lynceus_object::{FieldPath, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Place, Risk};
use crate::rules::difference::Known;
use crate::rules::{Rule, skipped};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1205",
    title: "Drift is not mended: self-healing is off",
    explanation: "\
The application was synced to what Git has now, and somebody has changed the cluster since. Its policy syncs new commits only,
so that the change stays.

## Why
`automated` without `selfHeal: true` tries every commit once.

## Example
```
Deployment web: spec.template.spec.containers[0].image was changed by kubectl-edit
```

## What to do
Sync it, and set selfHeal if nobody is meant to change the cluster by hand. If the change is wanted, put it into Git.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let unhealed: Vec<&App<'_>> = case.apps().filter(|app| is_unhealed(app)).collect();
    if unhealed.is_empty() {
        return;
    }
    let known = Known::new(case);
    for app in unhealed {
        let keys = known.mendable(case, app).unwrap_or_default();
        if !keys.is_empty() {
            let names = words::list(keys.iter().map(|key| format!("{} {}", key.kind, key.name)));
            findings.add(found(app, &names));
        }
    }
}

/// Whether it was synced to what Git has now, has changed since, and does not heal.
fn is_unhealed(app: &App<'_>) -> bool {
    let policy = app.application().spec.automated();
    app.is_out_of_sync()
        && policy.is_some_and(|policy| !policy.heals())
        && app.is_synced_to_head()
        && !app.is_operating()
        && !skipped::is_skipped(app)
}

fn found(app: &App<'_>, names: &str) -> Finding {
    let cause = format!(
        "{names} of {} changed after the last sync, and the application does not heal by itself",
        app.name
    );
    let heal = Fix::new(format!("Let {} heal by itself", app.name))
        .git(&app.name, {
            let path = FieldPath::fields(["spec", "syncPolicy", "automated", "selfHeal"]);
            Place::Application { path, value: Some(Value::Bool(true)) }
        })
        .risk(Risk::Medium, "changes by hand are undone from then on")
        .why("Git is what holds then, and nobody has to look");
    let sync = Fix::new(format!("Sync {} once", app.name))
        .cluster(Action::Sync { application: app.name.clone() })
        .risk(Risk::Medium, names.to_owned())
        .why("undoes this change, and not the next")
        .verify(format!("lynceus app get {}", app.name));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P2)
        .seen(writers(app))
        .fix([heal, sync])
}

/// Who changed what, where that can be told.
fn writers(app: &App<'_>) -> Vec<Evidence> {
    let fields = app.updates().flat_map(|(key, _, update)| {
        update.fields.iter().map(move |field| (key.clone(), field)).collect::<Vec<_>>()
    });
    let written = fields.filter_map(|(key, field)| {
        let writer = field.writer.as_ref()?;
        let value = format!("changed by {}", writer.manager);
        Some(Evidence::Field { object: key, path: field.path.clone(), value })
    });
    written.take(crate::limits::NAMED).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::autoscaled_replicas::tests::SCALED;
    use crate::tests::check;

    const DRIFTED: &str = "
@app shop OutOfSync Healthy
@status {sync: {status: OutOfSync, revision: abc}, resources: [{kind: ConfigMap, namespace: shop, name: a, status: OutOfSync}], operationState: {phase: Succeeded, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: abc}}}
";

    #[test]
    fn drift_after_the_last_sync_is_found() {
        assert_eq!(
            check("LYN1205", DRIFTED),
            "P2 LYN1205/shop/Application/shop: ConfigMap a of shop changed after the last sync, and the application does not \
             heal by itself\n  fix: Let shop heal by itself\n  fix: Sync shop once\n"
        );
    }

    #[test]
    fn copies_that_an_autoscaler_has_set_are_told_as_that_alone() {
        let status = DRIFTED.trim().replace(
            "{kind: ConfigMap, namespace: shop, name: a,",
            "{group: apps, kind: Deployment, namespace: shop, name: web,",
        );
        let text = &SCALED.replace("@app web OutOfSync Healthy", &status);
        assert_eq!(crate::tests::roots(text), "P2 LYN1107/shop/Deployment/web explains shop\n");
        let same = text.replace("replicas: 7", "replicas: 2");
        assert!(
            check("LYN1205", &same).contains("Deployment web of shop changed"),
            "the copies are no reason"
        );
    }

    #[test]
    fn a_newer_commit_and_an_application_that_heals_are_not() {
        assert_eq!(
            check("LYN1205", &DRIFTED.replace("syncResult: {revision: abc}", "syncResult: {revision: old}")),
            ""
        );
        let healing = format!("{DRIFTED}@spec {{syncPolicy: {{automated: {{selfHeal: true}}}}}}\n");
        assert_eq!(check("LYN1205", &healing), "");
    }
}
