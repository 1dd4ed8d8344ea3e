//! Services that select no pods, where a workload differs by one label.

use std::collections::{BTreeSet, HashMap, HashSet};

use lynceus_object::{FieldPath, Object, Value};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::words;

/// Labels of pods by key.
type Labels<'a> = HashMap<&'a str, &'a str>;

/// The pods and workloads of a cluster, to be found by any of their labels.
#[derive(Default)]
struct Labelled<'a> {
    all: Vec<(&'a Object, Labels<'a>)>,
    by_label: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
    by_key: HashMap<(&'a str, &'a str), Vec<usize>>,
}

/// Looks for services whose selector fits no pods of any workload, while one differs by the value of one label and is behind no
/// service at all.
pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let services: Vec<(&Object, Labels<'_>)> = case
        .of_kind(server, "", "Service")
        .iter()
        .map(|service| (*service, labels(service.at(&["spec", "selector"]))))
        .filter(|(_, selector)| !selector.is_empty())
        .collect();
    let labelled = Labelled::new(case, server);
    let mut behind: HashSet<usize> = HashSet::new();
    let mut idle = Vec::new();
    for (service, selector) in &services {
        let fitting = labelled.fitting(service.namespace(), selector);
        let is_made = !service.value().items_at(&["metadata", "ownerReferences"]).is_empty();
        if fitting.is_empty() && !is_made {
            idle.push((*service, selector));
        }
        behind.extend(fitting);
    }
    for (service, selector) in idle {
        let near = labelled.near(service.namespace(), selector);
        let mut lonely = near.into_iter().filter(|(place, _)| !behind.contains(place));
        if let (Some((place, slip)), None) = (lonely.next(), lonely.next()) {
            findings.add(found(case, server, service, labelled.all[place].0, slip));
        }
    }
}

impl<'a> Labelled<'a> {
    /// Those of pods that run, and of templates, wanted ones too.
    fn new(case: &Case<'a>, server: &str) -> Self {
        let mut labelled = Labelled::default();
        for object in case.objects(server) {
            labelled.note(object);
        }
        for app in case.apps().filter(|app| app.server() == server) {
            let absent = app.wanted().iter().filter(|one| case.is_absent(server, &one.object.key()));
            absent.for_each(|one| labelled.note(&one.object));
        }
        labelled
    }

    fn note(&mut self, object: &'a Object) {
        let Some(pods) = Pods::of(object) else { return };
        let own = labels(pods.metadata.and_then(|metadata| metadata.get("labels")));
        let (place, namespace) = (self.all.len(), object.namespace());
        for (key, value) in &own {
            self.by_label.entry((namespace, key, value)).or_default().push(place);
            self.by_key.entry((namespace, key)).or_default().push(place);
        }
        self.all.push((object, own));
    }

    /// Those with one label, the rarest ones of a selector first.
    fn lists<'s>(&'s self, namespace: &'s str, selector: &'s Labels<'s>) -> Vec<&'s [usize]> {
        let list = |(key, value): (&&'s str, &&'s str)| {
            self.by_label.get(&(namespace, *key, *value)).map_or(&[][..], Vec::as_slice)
        };
        let mut lists: Vec<&[usize]> = selector.iter().map(list).collect();
        lists.sort_by_key(|list| list.len());
        lists
    }

    fn fitting<'s>(&'s self, namespace: &'s str, selector: &'s Labels<'s>) -> Vec<usize> {
        let rarest = self.lists(namespace, selector).first().copied().unwrap_or_default();
        rarest.iter().copied().filter(|place| fits(selector, &self.all[*place].1)).collect()
    }

    /// The workloads that differ from a selector by the value of one label. Whatever has all labels but one has one of any two.
    fn near<'s>(&'s self, namespace: &'s str, selector: &'s Labels<'s>) -> Vec<(usize, Slip<'s>)> {
        let alone = selector.keys().next().and_then(|key| self.by_key.get(&(namespace, *key)));
        let lists = match selector.len() {
            1 => vec![alone.map_or(&[][..], Vec::as_slice)],
            _ => self.lists(namespace, selector).into_iter().take(2).collect(),
        };
        let places: BTreeSet<usize> = lists.into_iter().flatten().copied().collect();
        let own = places.into_iter().filter(|place| self.all[*place].0.controller().is_none());
        own.filter_map(|place| Some((place, slip(selector, &self.all[place].1)?))).collect()
    }
}

fn labels(map: Option<&Value>) -> Labels<'_> {
    let pairs = map.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect()
}

fn fits(selector: &Labels<'_>, labels: &Labels<'_>) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// A label by which pods differ from a selector: key, selected, there.
type Slip<'l> = (&'l str, &'l str, &'l str);

/// The one label by which pods differ from a selector. Labels that pods get while they run, such as which of
/// them leads, are not in templates: a key that is missing is no slip.
fn slip<'l>(selector: &'l Labels<'l>, labels: &'l Labels<'l>) -> Option<Slip<'l>> {
    let mut off = selector.iter().filter(|(key, value)| labels.get(*key) != Some(*value));
    let (key, wanted) = off.next()?;
    let there = labels.get(key)?;
    let is_only = off.next().is_none();
    // One label alone has to be nearly the same, or anything would do.
    let is_near = selector.len() > 1 || super::near::nearest(wanted, [*there]).is_some();
    (is_only && is_near).then_some((*key, *wanted, *there))
}

fn found(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    owner: &Object,
    (key, wanted, there): Slip<'_>,
) -> Finding {
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
            .git(
                app,
                Place::Field { object: service.key(), path: path.clone(), value: Some(Value::from(there)) },
            )
            .risk(Risk::Low, format!("requests to Service {}, which nobody answers now", service.name()))
            .verify(format!(
                "kubectl -n {} get endpointslices -l kubernetes.io/service-name={}",
                service.namespace(),
                service.name()
            ))
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
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {template: {metadata: {labels: {app: web, part: front}}, spec: {containers: [{name: web, image: web}]}}}
---
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
