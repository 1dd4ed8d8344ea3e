//! The nodes that pods of an application run on: what they are, and how full they are with it and with others.
//!
//! The picture of a cluster holds of nodes and of foreign pods no more than who they are, so they are asked for, and what
//! was answered counts for a while: a tree is made anew with every change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use lynceus_cluster::Cluster;
use lynceus_object::{Object, Quantity, Value, value};

use crate::call::Call;
use crate::limits;

/// Amounts in thousandths, by the name of what they are of.
type Amounts = BTreeMap<String, i64>;

/// What was found out of nodes.
#[derive(Default)]
pub(crate) struct Hosts(Mutex<HashMap<(usize, String), Known>>);

/// Of one node, when, and in which cluster: whose place in memory is nobody else's while this is kept.
struct Known {
    at: Duration,
    _cluster: Weak<Cluster>,
    facts: Option<Arc<Facts>>,
}

/// What a node is, and who is on it.
#[derive(Default)]
struct Facts {
    system: Value,
    labels: BTreeMap<String, String>,
    capacity: Amounts,
    /// What each pod on it asks for, by its namespace and name.
    pods: Vec<((String, String), Amounts)>,
}

impl Hosts {
    fn known(&self, key: &(usize, String), now: Duration) -> Option<Option<Arc<Facts>>> {
        let all = self.lock();
        let known = all.get(key).filter(|known| now.saturating_sub(known.at) < limits::HOST_FACTS)?;
        Some(known.facts.clone())
    }

    fn keep(&self, key: (usize, String), known: Known) {
        let mut all = self.lock();
        if all.len() >= limits::HOSTS_KNOWN {
            all.clear();
        }
        all.insert(key, known);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, String), Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nodes of some pods, in order. One of which nothing can be found out is named all the same.
pub(super) async fn of(call: &Call, cluster: &Arc<Cluster>, pods: &[&Object]) -> Value {
    let names = pods.iter().filter_map(|pod| pod.value().str_at(&["spec", "nodeName"]));
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let own: BTreeSet<(&str, &str)> = pods.iter().map(|pod| (pod.namespace(), pod.name())).collect();
    let labels = call.server.setting("application.allowedNodeLabels");
    let labels: BTreeSet<&str> = labels.split(',').map(str::trim).filter(|label| !label.is_empty()).collect();
    let asked =
        names.iter().take(limits::HOSTS).map(|name| async move { (*name, facts(call, cluster, name).await) });
    let asked: Vec<_> = asked.collect();
    let found: HashMap<&str, Option<Arc<Facts>>> =
        futures::stream::iter(asked).buffered(limits::HOSTS_AT_ONCE).collect().await;
    let shown = names.iter().map(|name| match found.get(name).cloned().flatten() {
        Some(facts) => facts.shown(name, &own, &labels),
        None => value!({"name": *name}),
    });
    shown.collect()
}

async fn facts(call: &Call, cluster: &Arc<Cluster>, name: &str) -> Option<Arc<Facts>> {
    let (hosts, clock) = (&call.server.hosts, call.server.engine.clock());
    let key = (Arc::as_ptr(cluster) as usize, name.to_owned());
    if let Some(known) = hosts.known(&key, clock.monotonic()) {
        return known;
    }
    let found = tokio::time::timeout(limits::HOST_ANSWER, asked(cluster, name)).await;
    let facts = found.ok().flatten().map(Arc::new);
    let known = Known { at: clock.monotonic(), _cluster: Arc::downgrade(cluster), facts: facts.clone() };
    hosts.keep(key, known);
    facts
}

/// Asks for a node and its pods. Somebody who may not read them is shown no more than names.
async fn asked(cluster: &Cluster, name: &str) -> Option<Facts> {
    // Names of nodes are those of hosts; what is none is not asked for.
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')) || name.contains("..") {
        return None;
    }
    let node = format!("/api/v1/nodes/{name}");
    let pods = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{name}&limit={}", limits::HOST_PODS);
    let (node, pods) = futures::future::join(cluster.raw(&node), cluster.raw(&pods)).await;
    let told = |what: &str, error: lynceus_cluster::ClusterError| {
        tracing::debug!(node = name, error = lynceus_engine::words(&error), "{what} cannot be read");
    };
    let node = node.map_err(|error| told("a node", error)).ok()?;
    let pods = pods.map_err(|error| told("the pods of a node", error)).unwrap_or_default();
    Some(Facts::read(&node, pods.items_at(&["items"])))
}

impl Facts {
    fn read(node: &Value, pods: &[Value]) -> Self {
        let text =
            |value: &Value, field: &str| value.str_at(&["metadata", field]).unwrap_or_default().to_owned();
        let labels = node.at(&["metadata", "labels"]).and_then(Value::as_map);
        let labels = labels.into_iter().flat_map(|labels| labels.iter());
        let running = pods
            .iter()
            .filter(|pod| !matches!(pod.str_at(&["status", "phase"]), Some("Succeeded" | "Failed")));
        Facts {
            system: node.at(&["status", "nodeInfo"]).cloned().unwrap_or_else(|| value!({})),
            labels: labels
                .filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned())))
                .collect(),
            capacity: amounts(node.at(&["status", "capacity"])),
            pods: running.map(|pod| ((text(pod, "namespace"), text(pod, "name")), requests(pod))).collect(),
        }
    }

    fn shown(&self, name: &str, own: &BTreeSet<(&str, &str)>, labels: &BTreeSet<&str>) -> Value {
        let (mut by_app, mut by_others) = (Amounts::new(), Amounts::new());
        for ((namespace, name), requests) in &self.pods {
            let is_own = own.contains(&(namespace.as_str(), name.as_str()));
            add(if is_own { &mut by_app } else { &mut by_others }, requests);
        }
        // Of what the application asks nothing of, nothing is shown, as in Argo CD.
        let resources: Value = self
            .capacity
            .iter()
            .filter(|(_, capacity)| **capacity > 0)
            .filter_map(|(resource, capacity)| {
                let app = by_app.get(resource).copied().filter(|app| *app > 0)?;
                let others = by_others.get(resource).copied().unwrap_or_default();
                Some(value!({
                    "resourceName": resource.as_str(), "requestedByApp": app, "requestedByNeighbors": others,
                    "capacity": *capacity,
                }))
            })
            .collect();
        let mut host = value!({"name": name, "systemInfo": self.system.clone(), "resourcesInfo": resources});
        for (label, value) in self.labels.iter().filter(|(label, _)| labels.contains(label.as_str())) {
            host.set(&["labels", label], value.as_str());
        }
        host
    }
}

/// What a pod asks of its node, as a scheduler counts it: its containers together with those that stay beside them, or what
/// one that comes before them needs if that is more, and what the pod itself takes.
fn requests(pod: &Value) -> Amounts {
    let of = |container: &Value| amounts(container.at(&["resources", "requests"]));
    let mut beside = Amounts::new();
    let mut before = Amounts::new();
    for container in pod.items_at(&["spec", "initContainers"]) {
        let mut wanted = of(container);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            add(&mut beside, &wanted);
            wanted = beside.clone();
        } else {
            add(&mut wanted, &beside);
        }
        most(&mut before, &wanted);
    }
    pod.items_at(&["spec", "containers"]).iter().for_each(|container| add(&mut beside, &of(container)));
    most(&mut beside, &before);
    add(&mut beside, &amounts(pod.at(&["spec", "overhead"])));
    beside
}

/// Amounts in thousandths. What cannot be read is nothing.
fn amounts(value: Option<&Value>) -> Amounts {
    let map = value.and_then(Value::as_map);
    let read = |value: &Value| match value {
        Value::Int(number) => Some(number.saturating_mul(1_000)),
        Value::Str(text) => Quantity::parse(text).ok().map(|quantity| quantity.milli_value()),
        _ => None,
    };
    map.into_iter()
        .flat_map(|map| map.iter())
        .filter_map(|(name, value)| Some((name.to_string(), read(value)?)))
        .collect()
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let own = sum.entry(name.clone()).or_default();
        *own = own.saturating_add(*amount);
    }
}

fn most(largest: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let own = largest.entry(name.clone()).or_default();
        *own = (*own).max(*amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, yaml};

    fn read(text: &str) -> Value {
        yaml::parse(text.as_bytes()).unwrap()
    }

    const NODE: &str = "
metadata: {name: n1, labels: {zone: a, secret: b}}
status:
  capacity: {cpu: '4', memory: 8Gi, pods: '110', nvidia.com/gpu: 2}
  nodeInfo: {osImage: Debian, architecture: amd64, kubeletVersion: v1.36.1}
";

    fn pod(name: &str, spec: &str, phase: &str) -> Value {
        read(&format!(
            "metadata: {{namespace: shop, name: {name}}}\nspec: {spec}\nstatus: {{phase: {phase}}}\n"
        ))
    }

    #[test]
    fn a_node_is_shown_with_what_the_application_and_others_ask_of_it() {
        let pods = [
            pod("web", "{containers: [{resources: {requests: {cpu: 250m, memory: 1Gi}}}]}", "Running"),
            pod(
                "other",
                "{containers: [{resources: {requests: {cpu: '1'}}}, {resources: {requests: {cpu: 500m}}}]}",
                "Running",
            ),
            pod("done", "{containers: [{resources: {requests: {cpu: '2'}}}]}", "Succeeded"),
        ];
        let facts = Facts::read(&read(NODE), &pods);
        let shown =
            facts.shown("n1", &BTreeSet::from([("shop", "web")]), &BTreeSet::from(["zone", "absent"]));
        assert_eq!(
            json::to_string(&shown),
            r#"{"labels":{"zone":"a"},"name":"n1","resourcesInfo":[{"capacity":4000,"requestedByApp":250,"requestedByNeighbors":1500,"resourceName":"cpu"},{"capacity":8589934592000,"requestedByApp":1073741824000,"requestedByNeighbors":0,"resourceName":"memory"}],"systemInfo":{"architecture":"amd64","kubeletVersion":"v1.36.1","osImage":"Debian"}}"#
        );
        let bare = facts.shown("n1", &BTreeSet::new(), &BTreeSet::new());
        assert_eq!(json::to_string(bare.get("resourcesInfo").unwrap()), "[]");
        assert!(bare.get("labels").is_none(), "no label is shown that nobody allowed");
    }

    #[test]
    fn a_pod_asks_for_what_a_scheduler_counts() {
        let check = |spec: &str| requests(&pod("web", spec, "Running")).get("cpu").copied();
        let main = "containers: [{resources: {requests: {cpu: 300m}}}, {resources: {requests: {cpu: 200m}}}]";
        assert_eq!(check(&format!("{{{main}}}")), Some(500));
        assert_eq!(
            check(&format!("{{{main}, initContainers: [{{resources: {{requests: {{cpu: 2}}}}}}]}}")),
            Some(2_000)
        );
        let beside = "{restartPolicy: Always, resources: {requests: {cpu: 100m}}}";
        assert_eq!(check(&format!("{{{main}, initContainers: [{beside}]}}")), Some(600));
        let behind = "{resources: {requests: {cpu: 550m}}}";
        assert_eq!(check(&format!("{{{main}, initContainers: [{beside}, {behind}]}}")), Some(650));
        assert_eq!(check(&format!("{{{main}, overhead: {{cpu: 50m}}}}")), Some(550));
        assert_eq!(check("{containers: [{resources: {requests: {cpu: nonsense}}}]}"), None);
    }
}
