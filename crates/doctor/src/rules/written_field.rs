//! A field that an operator or controller writes, and Git too.

use std::collections::HashSet;

use lynceus_diff::Origin;
use lynceus_object::{GroupKind, ObjectKey};

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::autoscaled_replicas::Scalers;
use crate::rules::difference::{self, Fields};
use crate::rules::{Rule, ownership};

pub(super) const RULE: Rule = Rule {
    code: "LYN1102",
    title: "A field is written by an operator or controller",
    explanation: "\
A field is not as Git wants it because something in the cluster writes it. Each sync puts it back, and it is written again: the
application never stays Synced, or is OutOfSync for ever.

## Why
Operators and controllers complete objects: hosts of routes, certificates of webhooks, replicas, annotations. Git says something
else, or the field comes with a default of a chart.

## Example
```
Route minio: spec.host differs, written by openshift-router
```

## What to do
Let the writer have the field: leave it out of the comparison with the smallest rule that does, or take it out of Git. Do not
ignore a whole spec, which hides what people change as well.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let scalers = Scalers::new(case);
    let shared = ownership::shared(case);
    let shared: HashSet<(&str, &ObjectKey)> = shared.iter().map(|one| (one.server, &one.key)).collect();
    for app in case.apps() {
        let mut used = HashSet::new();
        let pick = |key: &ObjectKey, field: &lynceus_diff::FieldChange| {
            let is_scaled = scalers.own(app.server(), key, &field.path);
            let is_shared = shared.contains(&(app.server(), key));
            // What two applications want each writes as the other does not want it: that is told of the two.
            difference::controller(field)
                .filter(|manager| !(is_scaled || is_shared && DELIVERERS.contains(&manager.as_str())))
        };
        for ((kind, manager), fields) in difference::fields(app, pick) {
            if let Some(subject) = subject(app, &kind, &fields, &mut used) {
                findings.add(found(app, &kind, &manager, &fields, subject));
            }
        }
    }
}

/// Those who write what applications want.
const DELIVERERS: [&str; 3] =
    [lynceus_api::FIELD_MANAGER, "argocd-controller", "argocd-application-controller"];

/// What the finding is about: the object, or the kind if there are several. Two writers of one object have one each.
pub(super) fn subject(
    app: &App<'_>,
    kind: &GroupKind,
    fields: &Fields<'_>,
    used: &mut HashSet<Node>,
) -> Option<Node> {
    let of_kind = Node::Kind { cluster: app.server().into(), kind: kind.clone() };
    let objects = fields.objects().into_iter().map(|key| Node::object(app.server(), key.clone()));
    let objects: Vec<Node> = objects.collect();
    let ranked = match objects.len() {
        1 => objects.into_iter().chain([of_kind]).collect::<Vec<_>>(),
        _ => std::iter::once(of_kind).chain(objects).collect(),
    };
    ranked.into_iter().find(|node| used.insert(node.clone()))
}

fn found(app: &App<'_>, kind: &GroupKind, manager: &str, fields: &Fields<'_>, subject: Node) -> Finding {
    let again = fields.all.iter().any(|(_, field)| field.origin == Origin::Loop);
    let how = if again { "is written again after each sync" } else { "was written" };
    let cause =
        format!("{} of {} {how} by {manager}, not as Git wants it", fields.named(), fields.objects_named());
    let ignore = fields
        .ignore(app, kind, Some(manager))
        .why("the writer needs the field, and everything else is still compared");
    Finding::new(RULE.code, subject, cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P2)
        .seen(fields.evidence())
        .affects([app.node()])
        .fix([ignore])
        .fix(leave_out(app, fields))
}

/// The fields taken out of Git, where Git has them.
pub(super) fn leave_out(app: &App<'_>, fields: &Fields<'_>) -> Option<Fix> {
    let fix = Fix::new(format!("Take {} out of Git", fields.named()))
        .risk(Risk::Medium, "whoever else uses the same source has the field no more")
        .why("right where nobody relies on the value in Git");
    let in_git = fields.all.iter().filter(|(_, field)| field.desired.is_some());
    let fix = in_git.fold(fix, |fix, (key, field)| {
        fix.git(&app.name, Place::Field { object: key.clone(), path: field.path.clone(), value: None })
    });
    fix.has_edits().then_some(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const WRITTEN: &str = "
@app web OutOfSync Healthy
@compared
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: web, namespace: shop}
spec: {host: web.example.org}
@live
apiVersion: route.openshift.io/v1
kind: Route
metadata:
  name: web
  namespace: shop
  managedFields:
  - {manager: router, operation: Update, time: '2026-01-01T00:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:host': {}}}}
spec: {host: web.apps.cluster.example.org}
";

    #[test]
    fn a_field_that_a_controller_writes_is_found_with_the_smallest_rule() {
        assert_eq!(
            check("LYN1102", WRITTEN),
            "P2 LYN1102/web/Route/web: spec.host of Route web was written by router, not as Git wants it\n  Route shop/web: \
             spec.host: web.apps.cluster.example.org in the cluster, web.example.org in Git\n  fix: Leave spec.host of Route out of the comparison\n  fix: Take \
             spec.host out of Git\n"
        );
        assert_eq!(roots(WRITTEN), "P2 LYN1102/web/Route/web explains web\n");
    }

    #[test]
    fn what_two_applications_fight_over_is_told_of_the_two() {
        let other = "@app edge OutOfSync Healthy\napiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: web, namespace: shop}\nspec: {host: web.apps.cluster.example.org}\n";
        let fight = format!("{other}{}", WRITTEN.replace("manager: router", "manager: argocd-controller"));
        assert_eq!(check("LYN1102", &fight), "");
        assert_eq!(crate::tests::roots(&fight), "P2 LYN0101/edge/Route/web explains edge web\n");
        let third = format!("{other}{WRITTEN}");
        assert!(check("LYN1102", &third).contains("was written by router"), "a third one is at it");
    }

    #[test]
    fn what_a_person_changed_is_not() {
        assert_eq!(check("LYN1102", &WRITTEN.replace("manager: router", "manager: kubectl-edit")), "");
    }

    /// The steps of the first fix that is found.
    fn steps(text: &str) -> Vec<String> {
        let snapshot = crate::tests::snapshot(text);
        let mut findings = crate::finding::Findings::default();
        super::check(&crate::case::Case::new(&snapshot), &mut findings);
        let found = findings.into_sorted();
        found[0].fixes[0].steps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_rule_names_the_field_or_the_writer_of_several() {
        assert_eq!(
            steps(WRITTEN),
            [
                "in the files of web: add to spec.ignoreDifferences of the Application: \
                 {\"group\":\"route.openshift.io\",\"jsonPointers\":[\"/spec/host\"],\"kind\":\"Route\",\"name\":\"web\"}",
                "in the files of web: add to spec.syncPolicy.syncOptions of the Application: \"RespectIgnoreDifferences=true\"",
            ]
        );
        let several = WRITTEN
            .replace("spec: {host: web.example.org}", "spec: {host: a, path: /, to: x}")
            .replace("{'f:host': {}}", "{'f:host': {}, 'f:path': {}, 'f:to': {}}")
            .replace("spec: {host: web.apps.cluster.example.org}", "spec: {host: b, path: /b, to: y}");
        assert!(steps(&several)[0].ends_with(
            "{\"group\":\"route.openshift.io\",\"kind\":\"Route\",\"managedFieldsManagers\":[\"router\"],\"name\":\"web\"}"
        ));
    }
}
