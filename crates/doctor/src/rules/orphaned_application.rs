//! An Application that its parent no longer wants.

use std::collections::{BTreeSet, HashMap, HashSet};

use lynceus_api::{GROUP, TrackingId, annotations, finalizers, labels};
use lynceus_object::{Object, ObjectKey};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Risk};
use crate::node::{AppName, Node};
use crate::rules::{Rule, mass_deletion};

pub(super) const RULE: Rule = Rule {
    code: "LYN0103",
    title: "An application that its parent no longer wants",
    explanation: "\
An Application carries the mark of a parent that does not have it in Git any more. Nobody keeps it up to date, and what it
delivers may get in the way of what took its place.

## Why
Its file was removed from Git, and the parent does not prune, or the object may not be pruned, or the parent itself is gone.

## Example
```
Application dev-cert-manager  tracking-id: environments:argoproj.io/Application:argocd/dev-cert-manager
application environments      wants dev-vault and dev-grafana, and no dev-cert-manager
```

## What to do
Delete the Application, with its objects if nothing else uses them. If it was removed by mistake, put its file back.
",
    check,
};

/// Who lost an application, and how that was seen.
struct Lost {
    /// `apps, which no longer wants it`.
    by: String,
    /// The parent, which is not as Git wants it either.
    parent: Option<Node>,
    evidence: Evidence,
}

/// What is known of parents, looked up once.
struct Parents<'c, 'a> {
    case: &'c Case<'a>,
    /// Those that want some Application.
    wanting: HashSet<AppName>,
    /// What each has that is no longer in Git.
    leftovers: HashMap<AppName, BTreeSet<ObjectKey>>,
    /// Those that are about to delete so much that this is a trouble of its own.
    deleting: HashSet<AppName>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let parents = Parents::new(case);
    let sets = Sets::new(case);
    for app in case.apps() {
        if app.application().metadata.deletion_timestamp.is_some() {
            continue;
        }
        if let Some(lost) = parents.lost(app).or_else(|| sets.lost(app)) {
            findings.add(found(case, app, lost));
        }
    }
}

/// The applications that nobody wants any more: what others share with one of these is its doing.
pub(super) fn left_over(case: &Case<'_>) -> HashSet<AppName> {
    let parents = Parents::new(case);
    let sets = Sets::new(case);
    let is_lost = |app: &&App<'_>| parents.lost(app).or_else(|| sets.lost(app)).is_some();
    case.apps().filter(is_lost).map(|app| app.name.clone()).collect()
}

impl<'c, 'a> Parents<'c, 'a> {
    fn new(case: &'c Case<'a>) -> Self {
        let is_application = |object: &Object| (object.group(), object.kind()) == (GROUP, "Application");
        let mut parents =
            Parents { case, wanting: HashSet::new(), leftovers: HashMap::new(), deleting: HashSet::new() };
        for app in case.apps() {
            let leftovers = app.leftovers();
            if !leftovers.is_empty() {
                parents.leftovers.insert(app.name.clone(), leftovers);
            }
            if app.wanted().iter().any(|one| is_application(&one.object)) {
                parents.wanting.insert(app.name.clone());
            }
            if mass_deletion::is_about_to(case, app) {
                parents.deleting.insert(app.name.clone());
            }
        }
        parents
    }

    /// The parent that lost an application, and how that was seen.
    fn lost(&self, app: &App<'_>) -> Option<Lost> {
        if self.case.parent(&app.name).is_some() {
            return None;
        }
        let (name, mark) = self.mark(app)?;
        let evidence = Evidence::seen(mark.clone());
        let Some(parent) = self.case.app(&name) else {
            let is_gone = mark.starts_with(annotations::TRACKING_ID) && self.sees_all_applications();
            let by = format!("{name}, which is gone");
            return is_gone.then_some(Lost { by, parent: None, evidence });
        };
        let is_left = self.leftovers.get(&name).is_some_and(|all| all.contains(&key_of(&app.name)));
        let is_read = parent.delivery.rendered && parent.errors().next().is_none();
        let is_unwanted = is_read && self.wanting.contains(&name);
        let by = format!("{name}, which no longer wants it");
        ((is_left || is_unwanted) && !self.deleting.contains(&name)).then(|| Lost {
            by,
            parent: Some(parent.node()).filter(|_| parent.is_out_of_sync()),
            evidence,
        })
    }

    /// The application whose mark another carries, and the mark.
    fn mark(&self, app: &App<'_>) -> Option<(AppName, String)> {
        let metadata = &app.application().metadata;
        let home = &self.case.snapshot.home;
        if let Some(text) = metadata.annotations.get(annotations::TRACKING_ID) {
            let id: TrackingId = text.parse().ok()?;
            let is_own = (id.object.kind.as_str(), &id.object.name) == ("Application", &app.name.name);
            let name = match id.application.split_once('_') {
                Some((namespace, name)) => AppName::new(namespace, name),
                None => AppName::new(home.clone(), id.application.clone()),
            };
            return (is_own && name != app.name)
                .then(|| (name, format!("{}: {text}", annotations::TRACKING_ID)));
        }
        let label = metadata.labels.get(labels::INSTANCE)?;
        let name = AppName::new(home.clone(), label.clone());
        // Charts write that label for themselves as well.
        let is_parent = self.wanting.contains(&name) || self.leftovers.contains_key(&name);
        (is_parent && name != app.name).then(|| (name, format!("{}: {label}", labels::INSTANCE)))
    }

    fn sees_all_applications(&self) -> bool {
        let home = self.case.snapshot.clusters.first();
        home.is_some_and(|view| !view.partial.contains(&lynceus_object::GroupKind::new(GROUP, "Application")))
    }
}

/// The applications that each ApplicationSet lists. One that lists none has not been looked at.
struct Sets<'a>(HashMap<(&'a str, &'a str), HashSet<&'a str>>);

impl<'a> Sets<'a> {
    fn new(case: &Case<'a>) -> Self {
        let home = case.servers().next().unwrap_or_default();
        let sets = case.of_kind(home, GROUP, "ApplicationSet").iter().filter(|set| !set.is_deleting());
        let listed = |set: &'a Object| -> HashSet<&'a str> {
            let items = set.value().items_at(&["status", "resources"]).iter();
            items.filter_map(|one| one.str_at(&["name"])).collect()
        };
        Sets(sets.map(|set| ((set.namespace(), set.name()), listed(set))).collect())
    }

    /// The set that made an application and does not list it any more.
    fn lost(&self, app: &App<'_>) -> Option<Lost> {
        let owners = &app.application().metadata.owner_references;
        let owner = owners.iter().find(|owner| owner.kind == "ApplicationSet")?;
        let listed = self.0.get(&(app.name.namespace.as_str(), owner.name.as_str()))?;
        let lost = !listed.is_empty() && !listed.contains(app.name.name.as_str());
        lost.then(|| Lost {
            by: format!("ApplicationSet {}, which no longer makes it", owner.name),
            parent: None,
            evidence: Evidence::seen(format!(
                "status.resources of ApplicationSet {} does not name it",
                owner.name
            )),
        })
    }
}

fn key_of(name: &AppName) -> ObjectKey {
    ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone())
}

fn found(case: &Case<'_>, app: &App<'_>, Lost { by, parent, evidence }: Lost) -> Finding {
    let cause = format!("application {} is left over: it belongs to {by}", app.name);
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        // What one parent has lost, it has lost together.
        .alike(Some(by))
        .severity(if app.is_fine() { Severity::P3 } else { Severity::P2 })
        .seen([evidence])
        .affects(parent)
        .fix([remove(case.servers().next().unwrap_or_default(), app)])
}

fn remove(home: &str, app: &App<'_>) -> Fix {
    let metadata = &app.application().metadata;
    let cascades = metadata.finalizers.iter().any(|one| one.starts_with(finalizers::RESOURCES));
    let blast = match cascades {
        true => format!("everything that {} has brought is deleted with it", app.name),
        false => format!("{} itself; what it has brought stays", app.name),
    };
    Fix::new(format!("Delete application {}", app.name))
        .cluster(Action::Delete { cluster: home.to_owned(), object: key_of(&app.name) })
        .risk(if cascades { Risk::High } else { Risk::Medium }, blast)
        .why("nobody has it in Git, so that nothing brings it back")
        .undo("put its file back into Git and sync its parent")
        .verify("lynceus app list")
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const LEFT: &str = "
@app apps Synced Healthy
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: vault, namespace: argocd}
@app vault Synced Healthy
@metadata {annotations: {argocd.argoproj.io/tracking-id: 'apps:argoproj.io/Application:argocd/vault'}}
@app issuer OutOfSync Healthy
@metadata {annotations: {argocd.argoproj.io/tracking-id: 'apps:argoproj.io/Application:argocd/issuer'}}
";

    #[test]
    fn an_application_whose_parent_wants_its_siblings_only_is_found() {
        assert_eq!(
            check("LYN0103", LEFT),
            "P2 LYN0103/issuer/Application/issuer: application issuer is left over: it belongs to apps, which no longer \
             wants it\n  argocd.argoproj.io/tracking-id: apps:argoproj.io/Application:argocd/issuer\n  fix: Delete \
             application issuer\n"
        );
    }

    #[test]
    fn what_the_status_of_a_parent_calls_left_over_is_found() {
        let text = "
@app apps OutOfSync Healthy
@unrendered
@status {resources: [{group: argoproj.io, kind: Application, namespace: argocd, name: issuer, status: OutOfSync, requiresPruning: true}, {group: argoproj.io, kind: Application, namespace: argocd, name: vault, status: Synced}]}
@app issuer Synced Healthy
@metadata {labels: {app.kubernetes.io/instance: apps}}
@app vault Synced Healthy
@metadata {labels: {app.kubernetes.io/instance: apps}}
";
        assert!(check("LYN0103", text).starts_with("P3 LYN0103/issuer/Application/issuer: "));
        assert!(!check("LYN0103", text).contains("vault"));
    }

    #[test]
    fn an_application_without_a_parent_or_whose_parent_was_not_read_is_not() {
        let unread = LEFT.replace("@app apps Synced Healthy", "@app apps Unknown Healthy\n@unrendered");
        assert_eq!(
            check(
                "LYN0103",
                &unread.replace(
                    "kind: Application\nmetadata: {name: vault",
                    "kind: Application\nmetadata: {name: issuer"
                )
            ),
            ""
        );
        assert_eq!(check("LYN0103", "@app alone OutOfSync Healthy\n"), "");
    }

    const SET: &str = "
@app shop Synced Healthy
@metadata {ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: all, uid: u1}]}
@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd, uid: u1}
status: {resources: [{kind: Application, name: web}]}
";

    #[test]
    fn what_a_set_no_longer_makes_is_found() {
        assert!(
            check("LYN0103", SET).contains("it belongs to ApplicationSet all, which no longer makes it\n")
        );
        assert_eq!(check("LYN0103", &SET.replace("name: web", "name: shop")), "");
    }

    /// A folder of applications was renamed: what they hold is in the new ones, too.
    #[test]
    fn what_is_left_over_is_the_cause_of_what_it_shares_with_what_replaced_it() {
        let application = |name: &str| {
            format!(
                "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n"
            )
        };
        let marked = |name: &str| {
            format!(
                "@metadata {{annotations: {{argocd.argoproj.io/tracking-id: 'apps:argoproj.io/Application:argocd/{name}'}}}}\n"
            )
        };
        let maps = |of: &str, count: usize| -> String {
            let map = |number| {
                format!(
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {of}{number}, namespace: shop}}\n"
                )
            };
            (0..count).map(map).collect()
        };
        let mut text =
            format!("@app apps OutOfSync Healthy\n{}{}", application("new-web"), application("new-db"));
        for (name, of, count) in
            [("new-web", "web", 1), ("old-web", "web", 1), ("new-db", "db", 6), ("old-db", "db", 6)]
        {
            text += &format!("@app {name} OutOfSync Healthy\n{}{}", marked(name), maps(of, count));
        }
        assert_eq!(
            roots(&text),
            "P2 LYN0103/old-db/Application/old-db explains apps new-db new-web old-db old-web\n"
        );
    }
}
