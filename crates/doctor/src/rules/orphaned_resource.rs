//! Objects of an application that does not exist any more.

use std::collections::{BTreeMap, HashSet};

use lynceus_api::{ApplicationConditionType, GROUP, Options, TrackingId, annotations, options};
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0104",
    title: "Objects that belong to no application any more",
    explanation: "\
Objects carry the mark of an application that does not exist, or stand in the namespace of one and belong to nobody. Nothing
keeps them up to date, nothing deletes them, and they may hold names and addresses that others need.

## Why
An Application was deleted without its objects, because it had no finalizer or was deleted with `--cascade=orphan`; or somebody
made them by hand.

## Example
```
Deployment cert-manager  tracking-id: dev-cert-manager:apps/Deployment:dev/cert-manager
there is no application dev-cert-manager
```

## What to do
Delete what nobody uses. What is to stay belongs into the sources of an application, which takes it over by its name.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    of_gone_applications(case, findings);
    of_nobody(case, findings);
}

/// Objects that carry the mark of an application that is not there.
fn of_gone_applications(case: &Case<'_>, findings: &mut Findings) {
    let Some(home) = case.snapshot.clusters.first() else { return };
    let unseen = home.partial.contains(&GroupKind::new(GROUP, "Application"));
    if unseen || case.apps().next().is_none() {
        return;
    }
    let known: HashSet<&str> =
        case.of_kind(&home.server, GROUP, "Application").iter().map(|one| one.name()).collect();
    let mut gone: BTreeMap<(&str, AppName), Vec<ObjectKey>> = BTreeMap::new();
    for server in case.servers() {
        for object in case.objects(server) {
            let name = mark(case, object).filter(|name| !known.contains(name.name.as_str()));
            if let Some(name) = name.filter(|name| case.app(name).is_none()) {
                gone.entry((server, name)).or_default().push(object.key());
            }
        }
    }
    for ((server, name), objects) in gone {
        // One that is wanted will come, and then they are its own again.
        if case.parent(&name).is_none() {
            findings.add(found(server, name, &objects));
        }
    }
}

/// The application that an object says it belongs to, if it is its own mark and not there to be left behind.
fn mark(case: &Case<'_>, object: &Object) -> Option<AppName> {
    let id = TrackingId::of(object)?;
    let is_copy = (&id.object.kind, &id.object.name) != (&object.kind().into(), &object.name().into())
        || (!object.namespace().is_empty() && id.object.namespace != object.namespace());
    let other = object.annotation(annotations::INSTALLATION_ID).is_some();
    let is_application = (object.group(), object.kind()) == (GROUP, "Application");
    if is_copy || other || is_application || is_kept(object) || object.controller().is_some() {
        return None;
    }
    Some(match id.application.split_once('_') {
        Some((namespace, name)) => AppName::new(namespace, name),
        None => AppName::new(case.snapshot.home.clone(), id.application.clone()),
    })
}

/// Whether an object was meant to outlive its application.
fn is_kept(object: &Object) -> bool {
    Options::sync(object).value(options::sync::DELETE) == Some(options::sync::FALSE)
        || object.annotation(annotations::HELM_RESOURCE_POLICY) == Some("keep")
        || object.is_deleting()
}

fn found(server: &str, name: AppName, objects: &[ObjectKey]) -> Finding {
    let names = words::list(objects.iter().map(|key| format!("{} {}", key.kind, key.name)));
    let verb = if objects.len() == 1 { "carries" } else { "carry" };
    let cause = format!("{names} {verb} the mark of application {name}, which does not exist");
    let fix = Fix::new(format!("Delete what application {name} has left behind"));
    let fix = objects
        .iter()
        .fold(fix, |fix, key| fix.cluster(Action::Delete { cluster: server.to_owned(), object: key.clone() }))
        .risk(Risk::High, words::count(objects.len(), "object"))
        .why("see first that nothing uses them; what is to stay belongs into the sources of an application")
        .undo("apply them again from a copy: kubectl get -o yaml before deleting");
    Finding::new(RULE.code, Node::Application(name), cause)
        .severity(Severity::P3)
        .seen(
            objects.iter().take(crate::limits::NAMED).map(|key| Evidence::Field {
                object: key.clone(),
                path: lynceus_object::FieldPath::fields(["metadata", "annotations"])
                    .field(annotations::TRACKING_ID),
                value: "the mark of an application that does not exist".to_owned(),
            }),
        )
        .fix([fix])
}

/// Namespaces in which applications are told of objects that belong to nobody.
fn of_nobody(case: &Case<'_>, findings: &mut Findings) {
    let mut told: BTreeMap<(&str, Str), Vec<(AppName, Evidence)>> = BTreeMap::new();
    for app in case.apps() {
        let Some(message) = app.told(ApplicationConditionType::OrphanedResourceWarning).next() else {
            continue;
        };
        let namespace = app.application().spec.destination.namespace.clone();
        let evidence = app.status(format!("OrphanedResourceWarning: {message}"));
        told.entry((app.server(), namespace)).or_default().push((app.name.clone(), evidence));
    }
    for ((server, namespace), told) in told {
        let names = words::list(told.iter().map(|(name, _)| name.name.as_str()));
        let cause = format!("namespace {namespace} of {names} has objects that belong to no application");
        let fix = Fix::new("Delete them, take them into an application, or have the project pass them over")
            .person(format!(
                "list them (lynceus app resources {} --orphaned), then delete them, add them to the sources of an \
                 application, or name their kinds in spec.orphanedResources.ignore of the project",
                told[0].0
            ));
        let key = ObjectKey::new("", "Namespace", "", namespace);
        findings.add(
            Finding::new(RULE.code, Node::object(server, key), cause)
                .severity(Severity::P3)
                .seen(told.into_iter().map(|(_, evidence)| evidence).take(crate::limits::EVIDENCE))
                .fix([fix]),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const LEFT: &str = "
@app shop Synced Healthy
@live
apiVersion: v1
kind: ConfigMap
metadata: {name: old, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: 'gone:/ConfigMap:shop/old'}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: 'shop:/ConfigMap:shop/mine'}}
";

    #[test]
    fn objects_of_an_application_that_is_gone_are_found() {
        assert_eq!(
            check("LYN0104", LEFT),
            "P3 LYN0104/-/Application/gone: ConfigMap old carries the mark of application gone, which does not exist\n  \
             ConfigMap shop/old: metadata.annotations.argocd.argoproj.io/tracking-id: the mark of an application that does \
             not exist\n  fix: Delete what application gone has left behind\n"
        );
    }

    #[test]
    fn copies_of_a_mark_and_what_is_meant_to_stay_are_not() {
        let copied = LEFT.replace("'gone:/ConfigMap:shop/old'", "'gone:/Secret:shop/old'");
        assert_eq!(check("LYN0104", &copied), "");
        let kept = LEFT.replace(
            "{argocd.argoproj.io/tracking-id: 'gone",
            "{argocd.argoproj.io/sync-options: Delete=false, argocd.argoproj.io/tracking-id: 'gone",
        );
        assert_eq!(check("LYN0104", &kept), "");
    }

    #[test]
    fn what_a_project_warns_of_is_told_once_for_a_namespace() {
        let text = "
@app a Synced Healthy
@condition OrphanedResourceWarning Application has 3 orphaned resources
@app b Synced Healthy
@condition OrphanedResourceWarning Application has 3 orphaned resources
";
        let found = check("LYN0104", text);
        assert!(found.starts_with("P3 LYN0104/-/Namespace/default: namespace default of a and b has objects that belong to no application\n"), "{found}");
        assert_eq!(found.matches("LYN0104").count(), 1);
    }
}
