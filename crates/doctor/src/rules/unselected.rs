//! Services that select no pods, where it can be told which pods are meant, or where requests come in for them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::links::route::Backend;
use crate::node::Node;
use crate::rules::unhealthy::is_in_peace;
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

/// A service, and the pods and workloads whose labels it selects.
pub(super) struct Served<'a> {
    pub(super) service: &'a Object,
    pub(super) behind: Vec<&'a Object>,
}

/// Looks for services whose selector fits no pods of any workload, while one is behind no service at all and differs by
/// one label or is called as the service is; and for those that something sends requests to. Gives the others with what is behind them.
pub(super) fn find<'a>(
    case: &Case<'a>,
    server: &str,
    backends: &[Backend<'_>],
    findings: &mut Findings,
) -> Vec<Served<'a>> {
    let services: Vec<(&'a Object, Labels<'a>)> = case
        .due(server, "", "Service")
        .map(|service| (service, labels(service.at(&["spec", "selector"]))))
        .filter(|(_, selector)| !selector.is_empty())
        .collect();
    let labelled = Labelled::new(case, server);
    let mut behind: HashSet<usize> = HashSet::new();
    let mut idle = Vec::new();
    let mut served = Vec::new();
    for (service, selector) in &services {
        let fitting = labelled.fitting(service.namespace(), selector);
        let is_made = !service.value().items_at(&["metadata", "ownerReferences"]).is_empty();
        let is_outside = service.value().str_at(&["spec", "type"]) == Some("ExternalName");
        if fitting.is_empty() && !is_made && !is_outside {
            idle.push((*service, selector));
        }
        if !fitting.is_empty() && !is_made && !is_outside {
            let behind = fitting.iter().map(|place| labelled.all[*place].0).collect();
            served.push(Served { service, behind });
        }
        behind.extend(fitting);
    }
    let users = users(server, backends);
    for (service, selector) in idle {
        let near = labelled.near(service, selector);
        let mut lonely = near.into_iter().filter(|(place, _)| !behind.contains(place));
        let users = users.get(&service.key()).map_or(&[][..], Vec::as_slice);
        let meant = match (lonely.next(), lonely.next()) {
            (Some((place, slip)), None) => Some((labelled.all[place].0, vec![slip])),
            _ => labelled.namesake(service, selector, &behind),
        };
        match meant {
            Some((owner, slips)) => findings.add(found(case, server, service, owner, &slips, users)),
            None if is_asked(case, server, service, selector, users)
                && !labelled.has_part(service, selector) =>
            {
                findings.add(empty(case, server, service, selector, users));
            }
            None => {}
        }
    }
    served
}

/// What sends requests to services, by service.
fn users<'b>(server: &str, backends: &'b [Backend<'_>]) -> HashMap<ObjectKey, Vec<&'b Object>> {
    let mut users: HashMap<ObjectKey, Vec<&'b Object>> = HashMap::new();
    for backend in backends.iter().filter(|backend| backend.server == server && backend.key.kind == "Service")
    {
        users.entry(backend.key.clone()).or_default().push(backend.holder);
    }
    users
}

/// Whether requests come in for a service and nobody is to be seen who would make its pods: a custom resource that is called as it, or
/// as what it selects, may have an operator that does.
fn is_asked(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    selector: &Labels<'_>,
    users: &[&Object],
) -> bool {
    let is_headless = service.value().str_at(&["spec", "clusterIP"]) == Some("None");
    let is_custom = |object: &Object| {
        object.namespace() == service.namespace()
            && object.group().contains('.')
            && !object.group().ends_with(".k8s.io")
            && (object.name() == service.name() || selector.values().any(|value| *value == object.name()))
    };
    let wanted = || case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    // Labels with a prefix are mostly an operator's own.
    let is_foreign = |key: &&str| key.contains('/') && !key.starts_with("app.kubernetes.io/");
    // Whoever was not seen may have the labels.
    let is_seen = case.is_absent(server, &ObjectKey::new("", "Pod", service.namespace(), ""))
        && case.app_of(server, &service.key()).is_some_and(|app| app.delivery.rendered);
    !users.is_empty()
        && is_seen
        && !is_headless
        && !selector.keys().any(is_foreign)
        && !case.objects(server).iter().any(&is_custom)
        && !wanted().any(|one| is_custom(&one.object))
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

    /// The workloads that differ from a service's selector by one label. Whatever has all labels but one has one of any two.
    fn near<'s>(&'s self, service: &'s Object, selector: &'s Labels<'s>) -> Vec<(usize, Slip<'s>)> {
        let namespace = service.namespace();
        let alone = selector.keys().next().and_then(|key| self.by_key.get(&(namespace, *key)));
        let lists = match selector.len() {
            1 => vec![alone.map_or(&[][..], Vec::as_slice)],
            _ => self.lists(namespace, selector).into_iter().take(2).collect(),
        };
        let places: BTreeSet<usize> = lists.into_iter().flatten().copied().collect();
        let own = places.into_iter().filter(|place| self.all[*place].0.controller().is_none());
        own.filter_map(|place| {
            let (owner, labels) = &self.all[place];
            Some((place, slip(service, selector, owner, labels)?))
        })
        .collect()
    }
}

impl<'a> Labelled<'a> {
    /// The workload that is called as a service is and is behind none, with all labels by which it differs.
    fn namesake<'s>(
        &'s self,
        service: &Object,
        selector: &'s Labels<'s>,
        behind: &HashSet<usize>,
    ) -> Option<(&'a Object, Vec<Slip<'s>>)> {
        let is_namesake = |place: &usize| {
            let (object, _) = &self.all[*place];
            object.name() == service.name()
                && object.namespace() == service.namespace()
                && object.controller().is_none()
                && !matches!(object.group(), "" | "batch")
                && !behind.contains(place)
        };
        let mut namesakes = (0..self.all.len()).filter(is_namesake);
        let (Some(place), None) = (namesakes.next(), namesakes.next()) else { return None };
        let (owner, own) = &self.all[place];
        let off: BTreeMap<&'s str, &'s str> = selector
            .iter()
            .filter(|(key, value)| own.get(*key) != Some(*value))
            .map(|(key, value)| (*key, *value))
            .collect();
        let slip = |(key, wanted): (&'s str, &'s str)| {
            let there = own.get(key).copied();
            (there.is_some() || !may_come(owner, key, wanted)).then_some(Slip { key, wanted, there })
        };
        let slips: Option<Vec<Slip<'s>>> = off.into_iter().map(slip).collect();
        slips.filter(|slips| !slips.is_empty()).map(|slips| (*owner, slips))
    }

    /// Whether a workload has some of the labels that are selected, and lacks only those that may come while its pods run.
    fn has_part(&self, service: &Object, selector: &Labels<'_>) -> bool {
        let is_part = |owner: &Object, own: &Labels<'_>| {
            let has = |key: &str, value: &str| own.get(key) == Some(&value);
            let comes = |key: &str, value: &str| !own.contains_key(key) && may_come(owner, key, value);
            selector.iter().any(|(key, value)| has(key, value))
                && selector.iter().all(|(key, value)| has(key, value) || comes(key, value))
        };
        let mut all = self.all.iter().filter(|(object, _)| object.namespace() == service.namespace());
        all.any(|(object, own)| is_part(object, own))
    }
}

fn labels(map: Option<&Value>) -> Labels<'_> {
    let pairs = map.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect()
}

fn fits(selector: &Labels<'_>, labels: &Labels<'_>) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// A label by which pods differ from a selector.
#[derive(Clone, Copy)]
struct Slip<'l> {
    key: &'l str,
    wanted: &'l str,
    /// What they have instead; nothing if they have no such label.
    there: Option<&'l str>,
}

/// The one label by which pods differ from a selector. One that they do not have at all is a slip where their workload is
/// called as the service or as what else is selected, or has most of that: what many have tells nothing.
fn slip<'l>(
    service: &Object,
    selector: &'l Labels<'l>,
    owner: &Object,
    labels: &'l Labels<'l>,
) -> Option<Slip<'l>> {
    let mut off = selector.iter().filter(|(key, value)| labels.get(*key) != Some(*value));
    let (key, wanted) = off.next()?;
    let there = labels.get(key).copied();
    let is_only = off.next().is_none();
    let rest = || selector.iter().filter(|(other, _)| *other != key);
    let is_near = match there {
        // One label alone has to be nearly the same, or anything would do.
        Some(there) => selector.len() > 1 || super::near::nearest(wanted, [there]).is_some(),
        None if may_come(owner, key, wanted) => false,
        None => {
            selector.len() > 2
                || (selector.len() > 1 && owner.name() == service.name())
                || rest().any(|(_, value)| *value == owner.name())
        }
    };
    (is_only && is_near).then_some(Slip { key, wanted, there })
}

/// What labels are called that pods get while they run: which of them leads, and which one it is.
const COMING: [&str; 13] = [
    "role",
    "leader",
    "master",
    "primary",
    "replica",
    "standby",
    "active",
    "initialized",
    "sealed",
    "hash",
    "index",
    "uid",
    "pod",
];

/// Whether the pods of a workload may get a label while they run that its template does not have. Labels with a prefix are mostly an
/// operator's own, those that say yes or no are of how a pod is doing, and who makes pods by himself or has an operator for them may give
/// them any.
fn may_come(owner: &Object, key: &str, value: &str) -> bool {
    let is_plain =
        owner.group() == "apps" && matches!(owner.kind(), "Deployment" | "DaemonSet" | "ReplicaSet");
    let is_foreign = key.contains('/') && !key.starts_with("app.kubernetes.io/");
    let is_switch = matches!(value, "true" | "false" | "yes" | "no");
    let mut words = key.rsplit('/').next().unwrap_or(key).split(['-', '.', '_']);
    !is_plain || is_foreign || is_switch || words.any(|word| COMING.contains(&word))
}

/// `; Ingress web sends to it`
fn senders(users: &[&Object]) -> String {
    let names: BTreeSet<String> =
        users.iter().map(|user| format!("{} {}", user.kind(), user.name())).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("; {} sends to it", words::list(names)),
        _ => format!("; {} send to it", words::list(names)),
    }
}

fn verify(service: &Object) -> String {
    format!(
        "kubectl -n {} get endpointslices -l kubernetes.io/service-name={}",
        service.namespace(),
        service.name()
    )
}

fn found(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    owner: &Object,
    slips: &[Slip<'_>],
    users: &[&Object],
) -> Finding {
    let selected = words::list(slips.iter().map(|slip| format!("{}={}", slip.key, slip.wanted)));
    let there = words::list(slips.iter().map(|slip| match slip.there {
        Some(there) => format!("{}={there}", slip.key),
        None => format!("no label {}", slip.key),
    }));
    let cause = format!(
        "Service {} selects no pods: it wants {selected}, and {} {} has {there}{}",
        service.name(),
        owner.kind(),
        owner.name(),
        senders(users)
    );
    let path = |key: &str| FieldPath::fields(["spec", "selector", key]);
    let app = case.owner(server, &service.key());
    let right = corrected(service, owner, slips);
    let fix =
        app.as_ref().filter(|_| right.values().any(Option::is_some) || has_rest(service, slips)).map(|app| {
            let set = right.iter().filter_map(|(key, value)| Some(format!("{key}={}", (*value)?)));
            let out = right.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key);
            let (set, out) = (words::list(set), words::list(out));
            let title = match (set.is_empty(), out.is_empty()) {
                (false, _) => format!("Select {set}"),
                (true, _) => format!("Select without {out}"),
            };
            let fix = Fix::new(title)
                .risk(Risk::Low, format!("requests to Service {}, which nobody answers now", service.name()))
                .verify(verify(service));
            right.iter().fold(fix, |fix, (key, value)| {
                let value = value.map(Value::from);
                fix.git(app, Place::Field { object: service.key(), path: path(key), value })
            })
        });
    let seen = slips.iter().map(|slip| Evidence::Field {
        object: service.key(),
        path: path(slip.key),
        value: words::quote(slip.wanted),
    });
    sent(Finding::new("LYN0303", Node::object(server, service.key()), cause), case, server, users)
        .of(app.clone())
        .seen(seen)
        .fix(fix)
}

/// Whether a selector selects something beside what differs.
fn has_rest(service: &Object, slips: &[Slip<'_>]) -> bool {
    labels(service.at(&["spec", "selector"])).len() > slips.len()
}

/// What a selector has to say instead: what the pods have, and nothing where they have no such label. Where nothing would be left, it is
/// what their workload itself knows its pods by.
fn corrected<'l>(
    service: &Object,
    owner: &'l Object,
    slips: &[Slip<'l>],
) -> BTreeMap<&'l str, Option<&'l str>> {
    let mut right: BTreeMap<&str, Option<&str>> = slips.iter().map(|slip| (slip.key, slip.there)).collect();
    if slips.iter().all(|slip| slip.there.is_none()) && !has_rest(service, slips) {
        let own = labels(owner.at(&["spec", "selector", "matchLabels"]));
        right.extend(own.into_iter().map(|(key, value)| (key, Some(value))));
    }
    right
}

/// With those that send to it. What controllers say of them comes of it: some give no address to what leads nowhere.
fn sent(finding: Finding, case: &Case<'_>, server: &str, users: &[&Object]) -> Finding {
    let is_felt = users.iter().any(|user| case.is_unwell(user) && !is_in_peace(case, server, user));
    finding
        .severity(if is_felt { Severity::P1 } else { Severity::P2 })
        .affects(users.iter().map(|user| case.node(server, &user.key())))
}

/// A service that requests come in for and that fits nothing at all.
fn empty(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    selector: &Labels<'_>,
    users: &[&Object],
) -> Finding {
    let selected: BTreeSet<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let selected = words::list(selected);
    let cause = format!(
        "Service {} selects no pods: no workload of namespace {} has {selected}{}",
        service.name(),
        service.namespace(),
        senders(users)
    );
    sent(Finding::new("LYN0303", Node::object(server, service.key()), cause), case, server, users)
        .of(case.owner(server, &service.key()))
        .seen([Evidence::Field {
            object: service.key(),
            path: FieldPath::fields(["spec", "selector"]),
            value: service.at(&["spec", "selector"]).map(words::shown).unwrap_or_default(),
        }])
        .unless_deeper()
        .fix([Fix::new("Select the pods that are meant, or bring the workload")
            .person(format!("compare with: kubectl -n {} get pods --show-labels", service.namespace()))
            .verify(verify(service))])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

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
    fn a_label_that_no_pod_has_is_a_slip_unless_it_may_come_while_they_run() {
        let frontend = SLIP.replace(", part: front}", "}").replace("part: fornt", "component: frontend");
        assert_eq!(
            check("LYN0303", &frontend),
            "P2 LYN0303/shop/Service/web: Service web selects no pods: it wants component=frontend, and Deployment web has no \
             label component\n  Service shop/web: spec.selector.component: frontend\n"
        );
        for label in ["role: leader", "pod-template-hash: a", "apps.kubernetes.io/pod-index: '0'"] {
            assert_eq!(check("LYN0303", &frontend.replace("component: frontend", label)), "", "{label}");
        }
        let stateful = frontend.replace("ReplicaSet", "Pod").replace("kind: Deployment", "kind: StatefulSet");
        assert_eq!(check("LYN0303", &stateful), "");
        // What many have says nothing of which of them is meant.
        let other = frontend
            .replace("name: web, namespace", "name: api, namespace")
            .replace("Service\nmetadata: {name: api", "Service\nmetadata: {name: front");
        assert_eq!(check("LYN0303", &other.replace("app: web", "app: shop")), "");
    }

    #[test]
    fn a_namesake_without_the_one_label_is_selected_by_what_its_workload_knows_its_pods_by() {
        let text = RENAMED.replace("{app: cart}", "{app.kubernetes.io/name: basket}").replacen(
            "spec: {template",
            "spec: {selector: {matchLabels: {app: basket}}, template",
            1,
        );
        let found = crate::tests::roots_with_fixes(&text);
        assert!(
            found.contains(
                "  Select app=basket\n    in the files of shop: set spec.selector.app of Service basket to \"basket\"\n    in the files \
                 of shop: take spec.selector.app.kubernetes.io/name out of Service basket\n"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_workload_that_another_service_selects_is_no_slip() {
        let other = "---\napiVersion: v1\nkind: Service\nmetadata: {name: blue, namespace: shop}\nspec: {selector: {part: front}}\n";
        assert_eq!(check("LYN0303", &format!("{SLIP}{other}")), "");
    }

    const RENAMED: &str = "
@app shop Synced Healthy
apiVersion: v1
kind: Service
metadata: {name: basket, namespace: shop}
spec: {selector: {app: cart}, ports: [{port: 80}]}
@live
apiVersion: v1
kind: Service
metadata: {name: basket, namespace: shop}
spec: {selector: {app: cart}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: basket, namespace: shop}
spec: {template: {metadata: {labels: {app: basket}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: shop}
spec: {rules: [{http: {paths: [{backend: {service: {name: basket, port: {number: 80}}}}]}}]}
status: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}
";

    #[test]
    fn a_workload_that_is_called_as_the_service_is_meant() {
        assert_eq!(
            check("LYN0303", RENAMED),
            "P2 LYN0303/shop/Service/basket: Service basket selects no pods: it wants app=cart, and Deployment basket has app=basket; \
             Ingress shop sends to it\n  Service shop/basket: spec.selector.app: cart\n  fix: Select app=basket\n"
        );
    }

    #[test]
    fn a_service_that_requests_come_in_for_and_that_fits_nothing_is_found() {
        let other = RENAMED
            .replace("kind: Deployment\nmetadata: {name: basket", "kind: Deployment\nmetadata: {name: other");
        assert!(check("LYN0303", &other).contains(
            "Service basket selects no pods: no workload of namespace shop has app=cart; Ingress shop sends to it"
        ));
        let (unasked, _) = other.split_once("---\napiVersion: networking.k8s.io").unwrap();
        assert_eq!(check("LYN0303", unasked), "", "nobody sends to it");
        let made = format!(
            "{other}---\napiVersion: example.com/v1\nkind: Cart\nmetadata: {{name: cart, namespace: shop}}\n"
        );
        assert_eq!(check("LYN0303", &made), "", "an operator may make the pods");
    }

    #[test]
    fn an_ingress_without_an_address_is_explained_by_the_service_that_it_leads_to() {
        let ingress = RENAMED.split("---\n").last().unwrap().split("status:").next().unwrap();
        let wanted = format!("Synced Progressing\n{ingress}---\n");
        let text = RENAMED.replace("Synced Healthy\n", &wanted).replace("[{ip: 10.0.0.1}]", "[]");
        assert_eq!(roots(&text), "P1 LYN0303/shop/Service/basket explains shop\n");
        let nobody = text.replace(
            "name: basket, namespace: shop}\nspec: {template",
            "name: other, namespace: shop}\nspec: {template",
        );
        assert_eq!(roots(&nobody), "P1 LYN0303/shop/Service/basket explains shop\n");
    }

    #[test]
    fn services_without_a_selector_and_names_of_others_are_fine() {
        assert_eq!(check("LYN0303", &RENAMED.replace("selector: {app: cart}, ", "")), "");
        let outside = RENAMED
            .replace("spec: {selector", "spec: {type: ExternalName, externalName: a.example.com, selector");
        assert_eq!(check("LYN0303", &outside), "");
    }

    #[test]
    fn a_service_that_a_stopped_sync_has_not_come_to_is_told_with_its_pods() {
        let wanted = SLIP.split("---\n").skip(1).collect::<Vec<_>>().join("---\n");
        let text = format!("@app shop OutOfSync Missing\n{wanted}@live\n");
        let found = check("LYN0303", &text);
        assert!(found.contains("it wants part=fornt, and Deployment web has part=front\n"), "{found}");
        assert_eq!(check("LYN0303", &text.replace("fornt", "front")), "");
    }
}
