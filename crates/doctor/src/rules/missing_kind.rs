//! A kind that is not served and that nobody brings.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, GroupKind, ObjectKey, Str, Value};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::links::kind::{self, DEFINITION, DEFINITIONS, Providers, User};
use crate::node::{AppName, Node};
use crate::rules::parenthood::Places;
use crate::rules::{Rule, lacking, near, unserved_version};
use crate::snapshot::{Hindrance, Lacking, Withheld};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0201",
    title: "A kind is not served, and nobody brings its definition",
    explanation: "\
An application has objects of a kind that its cluster does not know, and no application has the CustomResourceDefinition. The
sync fails before anything of the wave is applied.

## Why
The operator that owns the kind was never installed, or is installed by something outside of Git, or the chart that should bring
the definitions was told not to, by `skipCrds` or an option of its own, or the application that has them follows a revision that is
not there. Where the sources are at hand, they were rendered without what keeps them, and it is said what that is.

## Example
```
The Kubernetes API could not find networking.istio.io/VirtualService for requested resource kubeflow/dashboard.
Make sure the \"VirtualService\" CRD is installed on the destination cluster.
```

## What to do
Where a kind of the group differs by one letter, that was meant. Otherwise
install what brings the definition, in an earlier wave than its users. Or remove the objects, or switch off the option of the
chart that makes them.
",
    check,
};

/// Kinds that stand for an operator which brings its definitions itself.
const PACKAGES: [(&str, &str); 4] = [
    ("operators.coreos.com", "Subscription"),
    ("operators.coreos.com", "ClusterServiceVersion"),
    ("pkg.crossplane.io", "Provider"),
    ("pkg.crossplane.io", "Configuration"),
];

/// What is missing of one group: its kinds with their users.
type Missing<'c, 'a> = BTreeMap<GroupKind, Vec<User<'c, 'a>>>;

fn check(case: &Case<'_>, findings: &mut Findings) {
    let providers = Providers::new(case);
    let mut groups: BTreeMap<(&str, Str), Missing<'_, '_>> = BTreeMap::new();
    for ((server, kind), users) in kind::unserved(case) {
        if !providers.of(server, &kind).is_empty() || unserved_version::is_removed(&kind) {
            continue;
        }
        match meant(case, server, &kind) {
            Some(other) => findings.add(misspelt(case, server, &kind, other, &users)),
            None => drop(groups.entry((server, kind.group.clone())).or_default().insert(kind, users)),
        }
    }
    if groups.is_empty() {
        return;
    }
    let places = Places::new(case);
    for ((server, _), missing) in groups {
        found(case, &places, server, &missing).into_iter().for_each(|one| findings.add(one));
    }
}

/// The kind of the same group that differs by a letter, and that the cluster serves or somebody brings.
fn meant<'a>(case: &Case<'a>, server: &str, kind: &GroupKind) -> Option<&'a str> {
    let served = case.cluster(server).into_iter().flat_map(|view| view.kinds.keys());
    let served = served.filter(|one| one.group == kind.group).map(|one| one.kind.as_str());
    let wanted = case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    let brought = wanted.filter_map(|wanted| {
        let value = wanted.object.value();
        let is_here = wanted.object.kind() == DEFINITION
            && value.str_at(&["spec", "group"]) == Some(kind.group.as_str());
        value.str_at(&["spec", "names", "kind"]).filter(|_| is_here)
    });
    near::one_off(&kind.kind, served.chain(brought))
}

/// A kind that is no kind but a slip of the hand.
fn misspelt<'a>(
    case: &Case<'a>,
    server: &str,
    kind: &GroupKind,
    other: &str,
    users: &[User<'_, 'a>],
) -> Finding {
    let users: Vec<&User<'_, 'a>> = users.iter().collect();
    let apps: BTreeSet<Node> = users.iter().map(|user| user.app.node()).collect();
    let objects: BTreeSet<(&AppName, &ObjectKey)> =
        users.iter().filter_map(|user| Some((&user.app.name, user.object.as_ref()?))).collect();
    let path = FieldPath::fields(["kind"]);
    let fix = objects.iter().fold(Fix::new(format!("Write {other}")), |fix, (app, key)| {
        let (object, value) = ((*key).clone(), Some(Value::from(other)));
        fix.git(app, Place::Field { object, path: path.clone(), value })
    });
    let fix = fix
        .risk(Risk::Low, "what is not made now")
        .why("the kind is there, and differs by a letter")
        .verify(format!("kubectl explain {}", other.to_lowercase()));
    let names = words::list(users.iter().map(|user| user.app.name.name.as_str()).collect::<BTreeSet<_>>());
    let cause =
        format!("{} has no kind {}, which {names} wants; there is {other}", group_text(kind), kind.kind);
    let node = Node::Kind { cluster: server.into(), kind: kind.clone() };
    Finding::new(RULE.code, node, cause)
        .of(users.first().map(|user| user.app.name.clone()))
        .seen(evidence(case, &users))
        .affects(apps)
        .affects(objects.iter().map(|(_, key)| case.node(server, key)))
        .about(objects.iter().map(|(app, key)| ((*app).clone(), (*key).clone(), path.clone())))
        .fix(fix.has_edits().then_some(fix))
}

fn found<'a>(case: &Case<'a>, places: &Places, server: &str, missing: &Missing<'_, 'a>) -> Option<Finding> {
    let first = missing.keys().next()?;
    let node = |kind: &GroupKind| Node::Kind { cluster: server.into(), kind: kind.clone() };
    let users: Vec<&User<'_, 'a>> = missing.values().flatten().collect();
    let names = words::list(missing.keys().map(|kind| kind.kind.as_str()));
    let (noun, verb) = if missing.len() == 1 { ("kind", "is") } else { ("kinds", "are") };
    let stuck = missing.keys().find_map(|kind| unestablished(case, server, kind));
    let mut kinds = missing.keys().map(|kind| Lacking::Definition(kind.clone()));
    let held = kinds.find_map(|kind| lacking::withheld(case, server, &kind)).filter(|_| stuck.is_none());
    let why = match (&stuck, held) {
        (Some(_), _) => ", and its definition is there and was not accepted".to_owned(),
        (None, Some(held)) => withheld(held),
        (None, None) => ", and no application brings the definition".to_owned(),
    };
    let cause = format!("{noun} {names} of {} {verb} not served{why}", group_text(first));
    let apps: BTreeSet<Node> = users.iter().map(|user| user.app.node()).collect();
    let objects = users.iter().filter_map(|user| Some(case.node(server, user.object.as_ref()?)));
    let finding = Finding::new(RULE.code, node(first), cause)
        .of(users.first().map(|user| user.app.name.clone()))
        .seen(stuck)
        .seen(held.map(|held| lacking::evidence(case, held)))
        .seen(evidence(case, &users))
        .affects(apps)
        .affects(objects)
        .affects(missing.keys().skip(1).map(node))
        .fix(held.map(|held| unhindered(held, &names, &users)))
        .fix(fixes(&names, &users, held.is_some()));
    let mut suspects = suspects(case, places, &users);
    suspects.extend(held.and_then(|held| gone(places, held, &users)));
    Some(if suspects.is_empty() { finding } else { finding.because(suspects) })
}

/// Who would bring the definition, and what keeps it from that.
fn withheld(held: &Withheld) -> String {
    let name = &held.application;
    match &held.by {
        Hindrance::Option { .. } => {
            format!(": application {name} would bring the definition, but {}", held.why())
        }
        Hindrance::Revision(revision) => format!(
            ": application {name} would bring the definition, but its revision {revision} is not there"
        ),
    }
}

/// The application whose revision is gone, unless it comes only after those who need it: then their order is wrong as well.
fn gone(places: &Places, held: &Withheld, users: &[&User<'_, '_>]) -> Option<Node> {
    let is_late = users.iter().any(|user| places.is_before(&user.app.name, &held.application));
    let is_gone = matches!(held.by, Hindrance::Revision(_));
    (is_gone && !is_late).then(|| Node::Application(held.application.clone()))
}

/// Has the one bring the definition that would.
fn unhindered(held: &Withheld, names: &str, users: &[&User<'_, '_>]) -> Fix {
    let name = &held.application;
    let fix = Fix::new(format!("Have {name} bring the definition of {names}"));
    let others: BTreeSet<&str> = users.iter().map(|user| user.app.name.name.as_str()).collect();
    let others = words::list(others.into_iter().filter(|other| *other != name.name));
    let fix = match &held.by {
        Hindrance::Option { place, .. } => fix.git(name, (**place).clone()),
        Hindrance::Revision(_) if others.is_empty() => {
            fix.person(format!("have {name} follow a revision that is there"))
        }
        Hindrance::Revision(_) => fix.person(format!(
            "have {name} follow a revision that is there, and see that it comes in an earlier wave than {others}"
        )),
    };
    fix.risk(Risk::Low, "new kinds; nothing that is there changes")
        .why("it has the definition that belongs to the objects")
        .verify(format!("kubectl get crd | grep -i {}", first_word(names).to_lowercase()))
}

fn group_text(kind: &GroupKind) -> &str {
    if kind.group.is_empty() { "the core group" } else { &kind.group }
}

/// What the users are told, and which objects are of the kind.
fn evidence<'a>(case: &Case<'a>, users: &[&User<'_, 'a>]) -> Vec<Evidence> {
    let told = users.iter().filter_map(|user| Some(user.app.status(user.told?)));
    let files = users.iter().filter(|user| user.told.is_none()).filter_map(|user| {
        let key = user.object.as_ref()?;
        let wanted = case.wanted_by(user.app, key)?;
        user.app.file(wanted, format!("{} wants {} {}", user.app.name, key.kind, key.name))
    });
    told.chain(files).take(limits::NAMED).collect()
}

/// A definition that is there and not in force says why.
fn unestablished(case: &Case<'_>, server: &str, kind: &GroupKind) -> Option<Evidence> {
    let definitions = case.of_kind(server, DEFINITIONS, DEFINITION).iter();
    let definition = definitions.copied().find(|one| kind::defined(one).as_ref() == Some(kind))?;
    let conditions = definition.value().items_at(&["status", "conditions"]).iter();
    let bad = conditions.filter(|one| one.str_at(&["status"]) == Some("False"));
    let said = bad.filter_map(|one| one.str_at(&["message"])).next().unwrap_or("it is not established");
    Some(Evidence::Field {
        object: definition.key(),
        path: lynceus_object::FieldPath::fields(["status", "conditions"]),
        value: words::quote(said),
    })
}

/// What may bring the definition, though that cannot be seen: subscriptions to operators, and applications of earlier waves whose
/// sources could not be read.
fn suspects(case: &Case<'_>, places: &Places, users: &[&User<'_, '_>]) -> Vec<Node> {
    let Some(user) = users.first() else { return Vec::new() };
    let server = user.app.server();
    let packages = PACKAGES.iter().flat_map(|(group, kind)| case.of_kind(server, group, kind));
    let unwell = packages.filter(|one| case.is_unwell(one)).map(|one| case.node(server, &one.key()));
    let unread = case.apps().filter(|app| {
        let unknown = !app.delivery.rendered && app.resources().next().is_none();
        unknown && app.server() == server && app.errors().next().is_some()
    });
    let before = unread.filter(|app| users.iter().any(|user| places.is_before(&app.name, &user.app.name)));
    unwell.chain(before.map(crate::case::App::node)).collect()
}

fn fixes(names: &str, users: &[&User<'_, '_>], is_withheld: bool) -> Vec<Fix> {
    let apps: BTreeSet<&str> = users.iter().map(|user| user.app.name.name.as_str()).collect();
    let apps = words::list(apps);
    let install = Fix::new(format!("Install what defines {names}"))
        .person(format!(
            "add an application for the operator or the definitions of {names}, in an earlier wave than {apps}"
        ))
        .risk(Risk::Low, "new kinds; nothing that is there changes")
        .why("the objects were written for a cluster that has them")
        .verify(format!("kubectl get crd | grep -i {}", first_word(names).to_lowercase()));
    let objects: BTreeSet<(&crate::node::AppName, &ObjectKey)> =
        users.iter().filter_map(|user| Some((&user.app.name, user.object.as_ref()?))).collect();
    let remove = Fix::new(format!("Take {names} out of {apps}"));
    let remove = objects
        .iter()
        .fold(remove, |fix, (app, key)| fix.git(app, crate::fix::Place::Remove { object: (*key).clone() }))
        .risk(Risk::Medium, format!("what {names} would have done is not done"))
        .why("right where the cluster is meant to do without");
    let removable = remove.has_edits();
    (!is_withheld).then_some(install).into_iter().chain(removable.then_some(remove)).collect()
}

fn first_word(names: &str) -> &str {
    names.split([',', ' ']).next().unwrap_or(names)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const WANTED: &str = "
@app web OutOfSync Missing
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: kf}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: web, namespace: kf}
";

    #[test]
    fn kinds_that_nobody_brings_are_found_once_for_their_group() {
        assert_eq!(
            check("LYN0201", WANTED),
            "P1 LYN0201/web/Kind/Gateway.networking.istio.io: kinds Gateway and VirtualService of networking.istio.io are \
             not served, and no application brings the definition\n  web.yaml:5: web wants Gateway web\n  web.yaml:1: web \
             wants VirtualService web\n  fix: Install what defines Gateway and VirtualService\n  fix: Take Gateway and \
             VirtualService out of web\n"
        );
    }

    #[test]
    fn a_kind_that_is_one_letter_off_is_a_slip() {
        let text = "
@app web OutOfSync Missing
@unserved apps/Deploymnt
apiVersion: apps/v1
kind: Deploymnt
metadata: {name: web, namespace: shop}
";
        let found = check("LYN0201", text);
        assert!(
            found.starts_with(
                "P1 LYN0201/web/Kind/Deploymnt.apps: apps has no kind Deploymnt, which web wants; there is Deployment\n"
            ),
            "{found}"
        );
        assert!(found.ends_with("  fix: Write Deployment\n"), "{found}");
        let other = check("LYN0201", &text.replace("Deploymnt", "Rollout"));
        assert!(other.contains("no application brings the definition"), "{other}");
    }

    #[test]
    fn a_definition_that_an_option_keeps_back_is_told_with_the_option() {
        let text = format!(
            "@withheld istio networking.istio.io/Gateway skipCrds spec.source.helm.skipCrds\n{WANTED}"
        );
        let found = check("LYN0201", &text);
        assert!(
            found.contains(
                "are not served: application istio would bring the definition, but \
                 spec.source.helm.skipCrds of application istio is true\n"
            ),
            "{found}"
        );
        assert!(
            found.contains(
                "  fix: Have istio bring the definition of Gateway and VirtualService\n  fix: Take"
            ),
            "{found}"
        );
        let fixes = crate::tests::roots_with_fixes(&text);
        assert!(
            fixes.contains("in the files of istio: take spec.source.helm.skipCrds out of the Application"),
            "{fixes}"
        );
        let file = text.replace("skipCrds spec.source.helm.skipCrds", "crds.enabled istio/values.yaml:3");
        let found = check("LYN0201", &file);
        assert!(
            found.contains("but crds.enabled is false in the values of istio (istio/values.yaml:3)\n"),
            "{found}"
        );
    }

    #[test]
    fn a_definition_of_a_revision_that_is_gone_is_told_with_its_application() {
        let text = format!("@withheld istio networking.istio.io/Gateway revision v9.9\n{WANTED}");
        let found = check("LYN0201", &text);
        assert!(
            found.contains(
                "application istio would bring the definition, but its revision v9.9 is not there\n"
            ),
            "{found}"
        );
        let other = text.replace("networking.istio.io/Gateway revision", "example.org/Gateway revision");
        assert!(check("LYN0201", &other).contains("no application brings the definition"));
    }

    #[test]
    fn what_argo_cd_says_of_a_failed_sync_is_enough() {
        let text = "
@app web OutOfSync Missing
@unrendered
@status {operationState: {phase: Failed, message: one or more synchronization tasks are not valid, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: networking.istio.io, version: v1, kind: VirtualService, namespace: kf, name: web, status: SyncFailed, message: 'The Kubernetes API could not find networking.istio.io/VirtualService for requested resource kf/web. Make sure the \"VirtualService\" CRD is installed on the destination cluster.'}]}}}
";
        assert!(check("LYN0201", text).starts_with(
            "P1 LYN0201/web/Kind/VirtualService.networking.istio.io: kind VirtualService of networking.istio.io is not \
             served, and no application brings the definition\n"
        ));
        assert_eq!(roots(text), "P1 LYN0201/web/Kind/VirtualService.networking.istio.io explains web\n");
    }

    #[test]
    fn a_kind_that_is_served_or_that_somebody_brings_is_not_found() {
        let definition = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: x.networking.istio.io}
spec: {group: networking.istio.io, names: {kind: VirtualService}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: y.networking.istio.io}
spec: {group: networking.istio.io, names: {kind: Gateway}}
";
        assert_eq!(check("LYN0201", &format!("{WANTED}@live\n{definition}")), "");
        assert_eq!(check("LYN0201", &format!("{WANTED}@app istio OutOfSync Missing\n{definition}")), "");
    }
}
