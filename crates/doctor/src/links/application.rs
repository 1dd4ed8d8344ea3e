//! Applications wait for their objects, objects that are not there for their application, and late waves for early ones.

use std::collections::BTreeMap;

use lynceus_api::{HealthStatusCode, Reason, ResourceStatus, SyncStatusCode, wave};
use lynceus_object::ObjectKey;

use crate::case::{App, Case};
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;
use crate::rules::sets;

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    for app in case.apps().filter(|app| app.is_troubled()) {
        to_objects(case, app, graph);
        from_missing(case, app, graph);
        waves(case, app, graph);
        steps(case, app, graph);
    }
}

/// An application that waits for its step waits for those of the step before that are not done.
fn steps(case: &Case<'_>, app: &App<'_>, graph: &mut Graph) {
    for other in sets::awaited(case, &app.name) {
        graph.link(app.node(), Node::Application(other));
    }
}

/// An application waits for its objects that are not well, could not be applied or are waited for.
fn to_objects(case: &Case<'_>, app: &App<'_>, graph: &mut Graph) {
    let resources = app
        .application()
        .status
        .resources
        .iter()
        .filter(|one| is_unwell(one) || is_unwell_there(case, app, one))
        .map(key_of);
    let failed = app.failures().into_iter().map(|(key, _)| key);
    let reasons = Reason::of(&app.application().metadata);
    let mut own = Vec::new();
    reasons.iter().for_each(|reason| note_own(case, app, reason, &mut own));
    let awaited = own.into_iter().filter_map(|reason| reason.object.clone());
    // Hooks stand in no status; those that are there and have not ended well are seen by themselves.
    let hooks = app
        .wanted()
        .iter()
        .map(|one| one.object.key())
        .filter(|key| case.live(app.server(), key).is_some_and(|object| case.is_unwell(object)));
    if app.health() != Some(HealthStatusCode::Healthy) {
        to_children(case, app, graph);
    }
    // What is to come is not waited for yet, whatever will be wrong with it.
    let waited_for = resources.chain(awaited).filter(|key| !is_to_come(case, &case.node(app.server(), key)));
    for key in waited_for.chain(failed).chain(hooks) {
        graph.link(app.node(), case.node(app.server(), &key));
    }
}

/// A reason and what it comes from. What another application of those that are looked at waits for is that one's, and stands between.
fn note_own<'r>(case: &Case<'_>, app: &App<'_>, reason: &'r Reason, all: &mut Vec<&'r Reason>) {
    all.push(reason);
    let node = reason.object.as_ref().map(|key| case.node(app.server(), key));
    let is_other = matches!(&node, Some(Node::Application(name)) if *name != app.name
        && case.app(name).is_some_and(App::is_troubled));
    if !is_other {
        reason.because.iter().for_each(|below| note_own(case, app, below, all));
    }
}

/// Whether it is an application that nobody has created yet.
fn is_to_come(case: &Case<'_>, node: &Node) -> bool {
    matches!(node, Node::Application(name) if case.app(name).is_some_and(|child| child.delivery.uncreated))
}

/// An application that is not healthy waits for those that it has brought and that are not fine.
fn to_children(case: &Case<'_>, app: &App<'_>, graph: &mut Graph) {
    // Where the sources were not read, the status lists them, mostly without their health.
    let listed = app.application().status.resources.iter().map(key_of);
    for key in app.wanted().iter().map(|wanted| wanted.object.key()).chain(listed) {
        let node = case.node(app.server(), &key);
        if let Node::Application(name) = &node
            && case.app(name).is_some_and(|child| !child.is_fine() && !child.delivery.uncreated)
        {
            graph.link(app.node(), node);
        }
    }
}

fn is_unwell(resource: &ResourceStatus) -> bool {
    let health = resource.health.as_ref().and_then(|health| health.status.known());
    let is_well = health.is_none_or(|health| {
        matches!(health, HealthStatusCode::Healthy | HealthStatusCode::Suspended | HealthStatusCode::Missing)
    });
    !is_well || resource.status == SyncStatusCode::OutOfSync
}

/// Some controllers leave the health of objects out of the status; then the object itself is asked.
fn is_unwell_there(case: &Case<'_>, app: &App<'_>, resource: &ResourceStatus) -> bool {
    resource.health.is_none()
        && case.live(app.server(), &key_of(resource)).is_some_and(|object| case.is_unwell(object))
}

fn key_of(resource: &ResourceStatus) -> ObjectKey {
    ObjectKey::new(
        resource.group.clone(),
        resource.kind.clone(),
        resource.namespace.clone(),
        resource.name.clone(),
    )
}

/// What an application wants and has not made yet waits for the application.
fn from_missing(case: &Case<'_>, app: &App<'_>, graph: &mut Graph) {
    // Where the sources were not read the status lists what there should be.
    let listed = app.application().status.resources.iter().filter(|one| !one.requires_pruning).map(key_of);
    for key in app.wanted().iter().map(|wanted| wanted.object.key()).chain(listed) {
        if !key.name.is_empty() && case.is_absent(app.server(), &key) {
            graph.link(case.node(app.server(), &key), app.node());
        }
    }
}

/// What is not there and comes late waits for what is not well in an earlier wave.
fn waves(case: &Case<'_>, app: &App<'_>, graph: &mut Graph) {
    let mut by_wave: BTreeMap<i64, (Vec<Node>, Vec<Node>)> = BTreeMap::new();
    for wanted in app.wanted() {
        let key = wanted.object.key();
        let (missing, unwell) = by_wave.entry(wave(&wanted.object)).or_default();
        let node = case.node(app.server(), &key);
        if case.is_absent(app.server(), &key) {
            missing.push(node);
        } else if holds_wave(case, app, &key, &node) {
            unwell.push(node);
        }
    }
    let Some((holding, (_, holders))) = by_wave.iter().find(|(_, (_, unwell))| !unwell.is_empty()) else {
        return;
    };
    let late: usize = by_wave.range(holding + 1..).map(|(_, (missing, _))| missing.len()).sum();
    // What is missing waits for the application anyway, and that for what is not well: this only shortens the way.
    if late.saturating_mul(holders.len()) > limits::WAVE_LINKS {
        return;
    }
    for (missing, _) in by_wave.range(holding + 1..).map(|(_, both)| both) {
        for (node, holder) in missing.iter().flat_map(|node| holders.iter().map(move |holder| (node, holder)))
        {
            graph.link(node.clone(), holder.clone());
        }
    }
}

/// Whether what comes after an object waits for it.
fn holds_wave(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, node: &Node) -> bool {
    match node {
        Node::Application(name) => {
            case.app(name).is_some_and(|child| child.health() != Some(HealthStatusCode::Healthy))
        }
        _ => case.live(app.server(), key).is_some_and(|object| case.is_unwell(object)),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{roots, told};

    /// The reasons of the parent go on to those of its child, which does not make the parent wait for the same.
    #[test]
    fn what_a_child_waits_for_its_parent_waits_for_by_way_of_the_child() {
        let app = |name: &str, reasons: &str| {
            format!(
                "@app {name} Synced Progressing\n@metadata {{annotations: {{lynceus.dev/reasons: '[{reasons}]'}}}}\n"
            )
        };
        let reason = |code: &str, group: &str, kind: &str, namespace: &str, name: &str, because: &str| {
            format!(
                "{{\"code\":\"{code}\",\"object\":{{\"group\":\"{group}\",\"kind\":\"{kind}\",\"namespace\":\"{namespace}\",\
                 \"name\":\"{name}\"}},\"text\":\"x\",\"because\":[{because}]}}"
            )
        };
        let claim = reason("WaitsForHealth", "example.com", "Widget", "data", "events", "");
        let child = reason("WaitsForHealth", "argoproj.io", "Application", "argocd", "web", &claim);
        let text = format!(
            "{}apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\n{}@live\napiVersion: \
             example.com/v1\nkind: Widget\nmetadata: {{name: events, namespace: data}}\nstatus: {{conditions: [{{type: Ready, status: \
             'False', message: no room}}]}}\n",
            app("trunk", &child),
            app("web", &claim),
        );
        let told = told(&text);
        assert!(
            told.contains("   └─ application web (Synced Progressing)\n      └─ application trunk (Synced Progressing)\n"),
            "{told}"
        );
    }

    #[test]
    fn a_child_that_is_to_come_holds_nothing_up_whatever_will_be_wrong_with_it() {
        let apps = "\
@app apps OutOfSync Missing
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: late, namespace: argocd}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: later, namespace: argocd}
@status {resources: [{group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: late, status: OutOfSync}, {group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: later, status: OutOfSync}]}
@app late Unknown Unknown
@uncreated
apiVersion: acme.example/v1
kind: Widgte
metadata: {name: a}
@app later Unknown Unknown
@uncreated
@unserved acme.example/Widgte
";
        assert_eq!(
            roots(apps),
            "P1 LYN0201/late/Kind/Widgte.acme.example explains late\nunexplained apps\nunexplained later\n"
        );
    }

    /// As a snapshot has it: no sources were read, and the parent's status says nothing of the health of its children.
    #[test]
    fn a_parent_waits_for_the_children_that_its_status_lists() {
        let text = "
@app trunk Synced Progressing
@unrendered
@status {resources: [{group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: web, status: Synced}]}
@app web Unknown Degraded
@unrendered
@condition ComparisonError Failed to load target state: unable to resolve 'feature/x' to a commit SHA
";
        assert_eq!(roots(text), "P0 LYN1001/web/Application/web explains trunk web\n");
    }
}
