//! A sync that is about to delete much of what there is.

use std::collections::BTreeSet;

use lynceus_api::{GROUP, HealthStatusCode, Options, options};
use lynceus_object::ObjectKey;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1207",
    title: "A sync is about to delete much of what there is",
    explanation: "\
The application prunes by itself, and most of its objects are not in its sources any more; or it has other applications, and
several of those are no longer wanted. The next sync deletes them, child applications with everything that they have brought.

## Why
A path or a value was changed so that the sources render almost nothing; a directory was moved; a generator lost its list.

## Example
```
application apps  prune: true  5 of 6 Applications are no longer in Git
```

## What to do
Stop the pruning first, then look at what changed in Git. Let it go on only if everything that is named is really to go.
",
    check,
};

/// What is about to go, and why it is too much.
struct Danger {
    going: BTreeSet<ObjectKey>,
    total: usize,
    /// Whether the controller itself refuses, because nothing would be left.
    is_refused: bool,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        if let Some(danger) = danger(case, app) {
            findings.add(found(app, &danger));
        }
    }
}

/// Whether the next sync of an application deletes much of what there is.
pub(super) fn is_about_to(case: &Case<'_>, app: &App<'_>) -> bool {
    danger(case, app).is_some()
}

fn danger(case: &Case<'_>, app: &App<'_>) -> Option<Danger> {
    let application = app.application();
    let policy = application.spec.automated();
    let asked =
        application.operation.as_ref().and_then(|one| one.sync.as_ref()).is_some_and(|sync| sync.prune);
    if !asked && !policy.is_some_and(|policy| policy.prunes()) {
        return None;
    }
    let there = there(case, app);
    let mut going = going(app, &there);
    going.retain(|key| !is_to_stay(case, app, key));
    let everything = going.len() == there.len();
    let told = app.errors().any(|(_, text)| text.contains("auto-sync will wipe out all resources"));
    let is_refused = told || (everything && !asked && !policy.is_some_and(|policy| policy.allows_empty()));
    let is_much = going.len() >= 2 && (everything || is_share(going.len(), there.len()));
    let much = told || is_much || loses_children(&going, &there);
    (much && !is_past_refusal(told, &going)).then(|| Danger { total: there.len(), going, is_refused })
}

/// Whether an object says that it is never pruned.
pub(super) fn is_to_stay(case: &Case<'_>, app: &App<'_>, key: &ObjectKey) -> bool {
    case.live(app.server(), key)
        .is_some_and(|object| Options::sync(object).value(options::sync::PRUNE) == Some(options::sync::FALSE))
}

/// Three or more, and more than half.
fn is_share(going: usize, all: usize) -> bool {
    going >= 3 && going * 2 > all
}

/// What the controller refused to do and what is not so any more.
fn is_past_refusal(told: bool, going: &BTreeSet<ObjectKey>) -> bool {
    told && going.is_empty()
}

/// The objects of an application that are in its cluster.
fn there(case: &Case<'_>, app: &App<'_>) -> BTreeSet<ObjectKey> {
    let changes = &app.delivery.changes.changes;
    if !changes.is_empty() {
        return changes.iter().filter(|one| one.pair.live().is_some()).map(|one| one.key()).collect();
    }
    let is_missing = |one: &lynceus_api::ResourceStatus| {
        one.health.as_ref().is_some_and(|health| health.status == HealthStatusCode::Missing)
    };
    let listed = app.resources().filter(|(_, one)| !one.hook && !is_missing(one)).map(|(key, _)| key);
    listed.filter(|key| !case.is_absent(app.server(), key) || case.objects(app.server()).is_empty()).collect()
}

/// Those that are no longer in Git; all of them if the sources are empty by now.
fn going(app: &App<'_>, there: &BTreeSet<ObjectKey>) -> BTreeSet<ObjectKey> {
    let is_empty =
        app.delivery.rendered && app.wanted().is_empty() && app.delivery.changes.changes.is_empty();
    match is_empty && app.errors().next().is_none() {
        true => there.clone(),
        false => app.leftovers(),
    }
}

/// Whether several child applications go, and not merely one of many.
fn loses_children(going: &BTreeSet<ObjectKey>, there: &BTreeSet<ObjectKey>) -> bool {
    let children = |keys: &BTreeSet<ObjectKey>| {
        keys.iter().filter(|key| (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application")).count()
    };
    let (lost, all) = (children(going), children(there));
    lost >= 2 && lost * 3 >= all
}

fn found(app: &App<'_>, danger: &Danger) -> Finding {
    let names = words::list(danger.going.iter().map(|key| format!("{} {}", key.kind, key.name)));
    let share = match danger.going.len() {
        count if count == danger.total => format!("all {count} objects"),
        count => format!("{count} of {} objects", danger.total),
    };
    let cause = match danger.is_refused {
        true => format!(
            "{share} of {} are no longer in Git; only that nothing would be left keeps it from deleting them",
            app.name
        ),
        false => format!("the next sync of {} deletes {share}: {names}", app.name),
    };
    let children = danger
        .going
        .iter()
        .filter(|key| key.kind == "Application" && key.group == GROUP)
        .map(|key| Node::Application(crate::node::AppName::new(key.namespace.clone(), key.name.clone())));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(if danger.is_refused { Severity::P1 } else { Severity::P0 })
        .seen([Evidence::seen(format!("no longer in Git: {names}"))])
        .seen(refusal(app))
        .affects(children)
        .fix([stop(app), restore(app)])
}

fn refusal(app: &App<'_>) -> Option<Evidence> {
    let (kind, text) =
        app.errors().find(|(_, text)| text.contains("auto-sync will wipe out all resources"))?;
    Some(app.status(format!("{kind}: {text}")))
}

fn stop(app: &App<'_>) -> Fix {
    let path = lynceus_object::FieldPath::fields(["spec", "syncPolicy", "automated", "prune"]);
    Fix::new(format!("Stop {} from pruning", app.name))
        .git(&app.name, Place::Application { path, value: Some(lynceus_object::Value::Bool(false)) })
        .risk(Risk::Low, "nothing is deleted until it is switched on again")
        .why("first of all: what is deleted does not come back by itself")
        .verify(format!("lynceus app diff {}", app.name))
}

fn restore(app: &App<'_>) -> Fix {
    Fix::new("Put what was removed back into Git")
        .person(format!(
            "look with git log at what changed in the sources of {}, and revert it if it was not meant",
            app.name
        ))
        .risk(Risk::Low, "Git is again what the cluster is")
        .why("after the pruning is stopped")
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    fn apps(going: usize, staying: usize, policy: &str) -> String {
        let one = |number: usize, left: bool| {
            format!(
                "{{group: argoproj.io, kind: Application, namespace: argocd, name: a{number}, status: {}, requiresPruning: {left}}}",
                if left { "OutOfSync" } else { "Synced" }
            )
        };
        let all: Vec<String> = (0..going + staying).map(|number| one(number, number < going)).collect();
        let children: String =
            (0..going + staying).map(|number| format!("@app a{number} Synced Healthy\n")).collect();
        format!(
            "@app apps OutOfSync Healthy\n@unrendered\n@spec {{syncPolicy: {{automated: {policy}}}}}\n@status {{resources: \
             [{}]}}\n{children}",
            all.join(", ")
        )
    }

    #[test]
    fn a_parent_that_is_about_to_delete_its_children_is_found() {
        assert_eq!(
            check("LYN1207", &apps(2, 3, "{prune: true}")),
            "P0 LYN1207/apps/Application/apps: the next sync of apps deletes 2 of 5 objects: Application a0 and Application \
             a1\n  no longer in Git: Application a0 and Application a1\n  fix: Stop apps from pruning\n  fix: Put what was \
             removed back into Git\n"
        );
        assert_eq!(check("LYN0103", &apps(2, 3, "{prune: true}")), "");
    }

    #[test]
    fn everything_is_kept_by_the_controller_and_told_of() {
        let found = check("LYN1207", &apps(3, 0, "{prune: true}"));
        assert!(
            found.starts_with("P1 LYN1207/apps/Application/apps: all 3 objects of apps are no longer in Git"),
            "{found}"
        );
        let found = check("LYN1207", &apps(3, 0, "{prune: true, allowEmpty: true}"));
        assert!(found.starts_with("P0 "), "{found}");
    }

    #[test]
    fn one_of_many_and_an_application_that_does_not_prune_are_not() {
        assert_eq!(check("LYN1207", &apps(1, 4, "{prune: true}")), "");
        assert_eq!(check("LYN1207", &apps(3, 1, "{prune: false}")), "");
    }
}
