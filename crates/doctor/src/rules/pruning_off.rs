//! Objects that are no longer in Git and stay because nothing prunes them.

use std::collections::BTreeSet;

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, ObjectKey, Value};

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Action, Fix, Place, Risk};
use crate::rules::{Rule, mass_deletion, skipped};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1206",
    title: "Objects are no longer in Git, and pruning is off",
    explanation: "\
Objects of the application are not in its sources any more and still in the cluster. Its syncs do not delete them, so that it stays
OutOfSync.

## Why
`automated` without `prune: true` never deletes anything; nor does a sync by hand without `--prune`.

## Example
```
Deployment old-worker: ignored (requires pruning)
```

## What to do
Delete them if nothing uses them, and let the application prune if that is how it is meant.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let is_quiet = |app: &&App<'_>| app.is_out_of_sync() && !app.is_operating() && !skipped::is_skipped(app);
    for app in case.apps().filter(is_quiet) {
        let left = left(case, app);
        if !left.is_empty() {
            findings.add(found(app, &left));
        }
    }
}

/// What is no longer in Git and stays: because of the policy, because the last sync by hand left it, or because it says so itself.
/// Applications that are left over are a trouble of their own.
fn left(case: &Case<'_>, app: &App<'_>) -> BTreeSet<ObjectKey> {
    let all_stay = match app.application().spec.automated() {
        Some(policy) => !policy.prunes(),
        None => app.is_synced_to_head(),
    };
    let is_application = |key: &ObjectKey| (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application");
    let stays = |key: &ObjectKey| all_stay || mass_deletion::is_to_stay(case, app, key);
    app.leftovers().into_iter().filter(|key| !is_application(key) && stays(key)).collect()
}

fn found(app: &App<'_>, left: &BTreeSet<ObjectKey>) -> Finding {
    let names = words::list(left.iter().map(|key| format!("{} {}", key.kind, key.name)));
    let verb = if left.len() == 1 { "is" } else { "are" };
    let cause = format!("{names} of {} {verb} no longer in Git and stay: nothing prunes them", app.name);
    let cause = if left.len() == 1 {
        cause.replace("stay: nothing prunes them", "stays: nothing prunes it")
    } else {
        cause
    };
    let delete = Fix::new("Delete what is no longer in Git");
    let delete = left
        .iter()
        .fold(delete, |fix, key| {
            fix.cluster(Action::Delete { cluster: app.server().to_owned(), object: key.clone() })
        })
        .risk(Risk::High, words::count(left.len(), "object"))
        .why("once, after a look at each; nothing else changes")
        .verify(format!("lynceus app get {}", app.name))
        .undo("git revert what removed them, and sync");
    let prune = Fix::new(format!("Let {} prune", app.name))
        .git(&app.name, {
            let path = FieldPath::fields(["spec", "syncPolicy", "automated", "prune"]);
            Place::Application { path, value: Some(Value::Bool(true)) }
        })
        .risk(Risk::High, "everything that leaves Git is deleted from then on")
        .why("right if the cluster is to be as Git says in this as well");
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P2)
        .seen([app.status(format!("to be pruned: {names}"))])
        .fix([delete, prune])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const LEFT: &str = "
@app shop OutOfSync Healthy
@status {resources: [{kind: ConfigMap, namespace: shop, name: old, status: OutOfSync, requiresPruning: true}, {kind: ConfigMap, namespace: shop, name: new, status: Synced}]}
";

    #[test]
    fn what_is_left_over_is_found() {
        assert_eq!(
            check("LYN1206", LEFT),
            "P2 LYN1206/shop/Application/shop: ConfigMap old of shop is no longer in Git and stays: nothing prunes it\n  \
             status of shop: to be pruned: ConfigMap old\n  fix: Delete what is no longer in Git\n  fix: Let shop prune\n"
        );
    }

    #[test]
    fn an_application_that_prunes_or_has_nothing_left_over_is_not() {
        assert_eq!(
            check("LYN1206", &format!("{LEFT}@spec {{syncPolicy: {{automated: {{prune: true}}}}}}\n")),
            ""
        );
        assert_eq!(check("LYN1206", &LEFT.replace(", requiresPruning: true", "")), "");
    }
}
