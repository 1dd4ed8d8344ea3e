//! Services that select no pods, where a workload differs by one label.

use std::collections::HashMap;

use lynceus_object::{FieldPath, Object, Value};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::words;

/// Labels of pods by key.
type Labels<'a> = HashMap<&'a str, &'a str>;

/// The workloads of each namespace with the labels of their pods.
type Workloads<'a> = HashMap<&'a str, Vec<(&'a Object, Labels<'a>)>>;

/// Looks for services whose selector fits no pods of any workload, while one differs by the value of one label and is behind no
/// service at all.
pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let mut services: HashMap<&str, Vec<(&Object, Labels<'_>)>> = HashMap::new();
    for service in case.of_kind(server, "", "Service").iter().copied() {
        let selector = labels(service.at(&["spec", "selector"]));
        if !selector.is_empty() {
            services.entry(service.namespace()).or_default().push((service, selector));
        }
    }
    let workloads = workloads(case, server);
    for (namespace, services) in &services {
        let near = workloads.get(namespace).map_or(&[][..], Vec::as_slice);
        // Both sides are those of one namespace; where there are many, whoever wrote them was a program.
        if services.len() * near.len() > 40_000 {
            continue;
        }
        of_namespace(case, server, services, near, findings);
    }
}

fn of_namespace(
    case: &Case<'_>,
    server: &str,
    services: &[(&Object, Labels<'_>)],
    workloads: &[(&Object, Labels<'_>)],
    findings: &mut Findings,
) {
    let idle = services.iter().filter(|(service, selector)| {
        service.value().items_at(&["metadata", "ownerReferences"]).is_empty()
            && !workloads.iter().any(|(_, labels)| fits(selector, labels))
    });
    for (service, selector) in idle {
        let lonely = workloads.iter().filter(|(_, labels)| !services.iter().any(|(_, other)| fits(other, labels)));
        let mut near = lonely.filter_map(|(owner, labels)| Some((*owner, slip(selector, labels)?)));
        if let (Some((owner, slip)), None) = (near.next(), near.next()) {
            findings.add(found(case, server, service, owner, slip));
        }
    }
}

fn labels(map: Option<&Value>) -> Labels<'_> {
    let pairs = map.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect()
}

/// The labels that the pods of each namespace have: of pods that run, and of templates, wanted ones too.
fn workloads<'a>(case: &Case<'a>, server: &str) -> Workloads<'a> {
    let mut all: Workloads<'a> = HashMap::new();
    let mut note = |owner: &'a Object, pods: &Pods<'a>| {
        let labels = labels(pods.metadata.and_then(|metadata| metadata.get("labels")));
        all.entry(owner.namespace()).or_default().push((owner, labels));
    };
    for object in case.objects(server) {
        if let Some(pods) = Pods::of(object) {
            note(object, &pods);
        }
    }
    for app in case.apps().filter(|app| app.server() == server) {
        let absent = app.wanted().iter().filter(|one| case.is_absent(server, &one.object.key()));
        for wanted in absent {
            if let Some(pods) = Pods::of(&wanted.object) {
                note(&wanted.object, &pods);
            }
        }
    }
    all
}

fn fits(selector: &Labels<'_>, labels: &Labels<'_>) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// The one label by which pods differ from a selector: key, selected, there. Labels that pods get while they run, such as which of
/// them leads, are not in templates: a key that is missing is no slip.
fn slip<'l>(selector: &Labels<'l>, labels: &Labels<'l>) -> Option<(&'l str, &'l str, &'l str)> {
    let mut off = selector.iter().filter(|(key, value)| labels.get(*key) != Some(*value));
    let (key, wanted) = off.next()?;
    let there = labels.get(key)?;
    let is_only = off.next().is_none();
    // One label alone has to be nearly the same, or anything would do.
    let is_near = selector.len() > 1 || super::near::nearest(wanted, [*there]).is_some();
    (is_only && is_near).then_some((*key, *wanted, *there))
}

fn found(case: &Case<'_>, server: &str, service: &Object, owner: &Object, (key, wanted, there): (&str, &str, &str)) -> Finding {
    let cause = format!(
        "Service {} selects no pods: it wants {key}={wanted}, and {} {} has {key}={there}",
        service.name(),
        owner.kind(),
        owner.name()
    );
    let path = FieldPath::fields(["spec", "selector", key]);
    let app = case.owner(server, &service.key());
    let fix = app.as_ref().map(|app| {
        Fix::new(format!("Select {key}={there}"))
            .git(app, Place::Field { object: service.key(), path: path.clone(), value: Some(Value::from(there)) })
            .risk(Risk::Low, format!("requests to Service {}, which nobody answers now", service.name()))
            .verify(format!("kubectl -n {} get endpointslices -l kubernetes.io/service-name={}", service.namespace(), service.name()))
    });
    Finding::new("LYN0303", Node::object(server, service.key()), cause)
        .of(app)
        .severity(Severity::P2)
        .seen([Evidence::Field { object: service.key(), path, value: words::quote(wanted) }])
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const SLIP: &str = "
@live
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web, part: fornt}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web, part: front}}, spec: {containers: [{name: web, image: web}]}}}
";

    #[test]
    fn a_selector_that_differs_by_a_label_is_found() {
        assert_eq!(
            check("LYN0303", SLIP),
            "P2 LYN0303/shop/Service/web: Service web selects no pods: it wants part=fornt, and Deployment web has part=front\n  \
             Service shop/web: spec.selector.part: fornt\n"
        );
    }

    #[test]
    fn a_service_for_pods_that_lead_is_no_slip() {
        assert_eq!(check("LYN0303", &SLIP.replace("part: fornt", "leads: 'true'")), "");
    }

    #[test]
    fn a_workload_that_another_service_selects_is_no_slip() {
        let other = "---\napiVersion: v1\nkind: Service\nmetadata: {name: blue, namespace: shop}\nspec: {selector: {part: front}}\n";
        assert_eq!(check("LYN0303", &format!("{SLIP}{other}")), "");
    }
}
