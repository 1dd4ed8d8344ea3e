//! Where pods go and what is said of those that go nowhere: every word is that of a real scheduler.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_object::{Value, value, yaml};
use lynceus_testkit::world::World;

const JSON: &str = "application/json";
/// How often a cluster is asked for something before it is given up: a real one looks at pending claims every 15 s.
const PATIENCE: usize = 300;
/// Nobody to send away, and nothing to gain from it.
const USELESS: &str = "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
const NO_VICTIMS: &str = "no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";

async fn get(world: &World, path: &str) -> Value {
    world.ask("GET", path, JSON, &Value::Null).await.1
}

/// The pods of the default namespace, as `name: node` or with what is said of one that has none.
async fn pods(world: &World) -> Vec<String> {
    let list = get(world, "/api/v1/namespaces/default/pods").await;
    let tell = |pod: &Value| {
        let name = pod.str_at(&["metadata", "name"]).unwrap_or_default();
        let mut conditions = pod.items_at(&["status", "conditions"]).iter();
        let said = conditions.find(|one| one.str_at(&["type"]) == Some("PodScheduled"));
        let said = said.and_then(|said| said.str_at(&["message"])).unwrap_or_default();
        format!("{name}: {}", pod.str_at(&["spec", "nodeName"]).unwrap_or(said))
    };
    list.items_at(&["items"]).iter().map(tell).collect()
}

/// The events about an object, as `Reason: message`.
async fn events(world: &World, about: &str) -> Vec<String> {
    let path = format!("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={about}");
    let text = |event: &Value, field| event.str_at(&[field]).unwrap_or_default().to_owned();
    let tell = |event: &Value| format!("{}: {}", text(event, "reason"), text(event, "message"));
    get(world, &path).await.items_at(&["items"]).iter().map(tell).collect()
}

/// Waits until what is told of pods and events has a line; gives all of it.
async fn until(world: &World, about: &str, expected: &str) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..PATIENCE {
        told = pods(world).await;
        told.extend(events(world, about).await);
        if told.iter().any(|line| line.contains(expected)) {
            return told;
        }
        world.pass(SignedDuration::from_millis(200)).await;
    }
    panic!("nobody says {expected}:\n{}", told.join("\n"));
}

/// A pod with more in its spec.
fn pod(name: &str, spec: &str) -> String {
    let container =
        if spec.contains("containers:") { "" } else { "\n  containers: [{name: main, image: example/a}]" };
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  {spec}{container}\n"
    )
}

fn asking(requests: &str) -> String {
    format!("containers: [{{name: main, image: example/a, resources: {{requests: {{{requests}}}}}}}]")
}

/// A Deployment whose pods are labelled with its name.
fn deployment(name: &str, replicas: usize, spec: &str) -> String {
    let container = if spec.contains("containers:") {
        ""
    } else {
        "\n      containers: [{name: main, image: example/a}]"
    };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  replicas: \
         {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
         spec:\n      {spec}{container}\n"
    )
}

/// A node of the scenario's own, which goes with it.
async fn add_node(world: &World, name: &str, spec: &str) {
    // The nodes that every cluster has come first.
    world.pass(SignedDuration::from_secs(1)).await;
    remove_node(world, name).await;
    let amounts = "{cpu: '8', memory: 32Gi, pods: '110'}";
    let node = format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}\nspec: \
         {spec}\nstatus:\n  allocatable: {amounts}\n  capacity: {amounts}\n  conditions:\n  - {{type: Ready, status: \
         'True', reason: KubeletReady, lastHeartbeatTime: '2026-01-01T00:00:00Z', lastTransitionTime: \
         '2026-01-01T00:00:00Z'}}\n"
    );
    let (code, answer) = world.ask("POST", "/api/v1/nodes", JSON, &yaml::parse_str(&node).unwrap()).await;
    assert_eq!(code, 201, "{answer:?}");
}

async fn remove_node(world: &World, name: &str) {
    for path in [format!("/api/v1/nodes/{name}"), format!("/apis/storage.k8s.io/v1/csinodes/{name}")] {
        world.ask("DELETE", &path, JSON, &Value::Null).await;
    }
}

#[tokio::test]
async fn a_pod_that_asks_for_too_much_memory_is_told_so_in_the_schedulers_words() {
    let world = World::new().await;
    world.apply(&pod("hungry", &asking("memory: 300Gi"))).await;
    let said = format!("0/3 nodes are available: 3 Insufficient memory. {USELESS}");
    let told = until(&world, "hungry", &format!("FailedScheduling: {said}")).await;
    assert!(told.contains(&format!("hungry: {said}")), "{told:?}");
    world.end().await;
}

#[tokio::test]
async fn a_missing_toleration_keeps_a_pod_from_its_node_until_it_is_there() {
    let world = World::new().await;
    add_node(&world, "reserved", "{taints: [{key: team, value: db, effect: NoSchedule}]}").await;
    let wish = "nodeSelector: {kubernetes.io/hostname: reserved}";
    world.apply(&pod("db", wish)).await;
    let said = "db: 0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match Pod's node \
                affinity/selector. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is \
                not helpful for scheduling.";
    until(&world, "db", said).await;
    let tolerating = value!({"spec": {"tolerations": [
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "team", "operator": "Equal", "value": "db", "effect": "NoSchedule"},
    ]}});
    world.patch("v1", "Pod", "default", "db", &tolerating).await;
    until(&world, "db", "db: reserved").await;
    remove_node(&world, "reserved").await;
    world.end().await;
}

#[tokio::test]
async fn a_node_at_its_volume_limit_takes_no_further_volume() {
    let world = World::new().await;
    add_node(&world, "small", "{}").await;
    world
        .apply(
            "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: small}\nspec: {drivers: [{name: \
             disk.example.org, nodeID: small, allocatable: {count: 1}}]}\n",
        )
        .await;
    for name in ["one", "two"] {
        world
            .apply(&format!(
                "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec: {{storageClassName: disks, \
                 capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], csi: {{driver: disk.example.org, volumeHandle: \
                 {name}}}}}\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}, namespace: \
                 default}}\nspec: {{storageClassName: disks, volumeName: {name}, accessModes: [ReadWriteOnce], resources: \
                 {{requests: {{storage: 1Gi}}}}}}\n"
            ))
            .await;
        let volumes = format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {name}}}}}]");
        let wish = "nodeSelector: {kubernetes.io/hostname: small}";
        world.apply(&pod(name, &format!("{wish}\n  {volumes}"))).await;
        until(&world, name, if name == "one" { "one: small" } else { "two: 0/4 nodes are available: 1 node(s) exceed max volume count, 3 node(s) didn't match Pod's node affinity/selector." }).await;
    }
    remove_node(&world, "small").await;
    world.end().await;
}

const LAZY: &str = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: lazy}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {storageClassName: lazy, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";
const DISK: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  storageClassName: lazy
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  local: {path: /data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [sim-node-1]}]
";

#[tokio::test]
async fn a_claim_is_pending_until_its_pod_is_scheduled() {
    let world = World::new().await;
    world.apply(LAZY).await;
    until(&world, "data", "WaitForFirstConsumer: waiting for first consumer to be created before binding")
        .await;
    world.apply(&pod("db", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")).await;
    let none = "3 node(s) didn't find available persistent volumes to bind";
    until(&world, "db", &format!("db: 0/3 nodes are available: {none}. {USELESS}")).await;
    until(&world, "data", "WaitForPodScheduled: waiting for pod db to be scheduled").await;
    world.apply(DISK).await;
    until(&world, "db", "db: sim-node-1").await;
    let claim = get(&world, "/api/v1/namespaces/default/persistentvolumeclaims/data").await;
    assert_eq!(claim.str_at(&["status", "phase"]), Some("Bound"));
    assert_eq!(claim.str_at(&["spec", "volumeName"]), Some("disk"));
    world.end().await;
}

const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims/data";

/// Waits until the claim is gone.
async fn until_gone(world: &World) {
    for _ in 0..PATIENCE {
        if get(world, CLAIM).await.str_at(&["reason"]) == Some("NotFound") {
            return;
        }
        world.pass(SignedDuration::from_millis(200)).await;
    }
    panic!("the claim is still there");
}

#[tokio::test]
async fn a_claim_that_is_deleted_stays_for_a_pod_that_has_a_node_and_for_no_other() {
    let world = World::new().await;
    world.apply(LAZY).await;
    world.apply(&pod("db", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")).await;
    let none = "3 node(s) didn't find available persistent volumes to bind";
    until(&world, "db", &format!("db: 0/3 nodes are available: {none}. {USELESS}")).await;
    world.delete("v1", "PersistentVolumeClaim", "default", "data").await;
    until_gone(&world).await;
    world.apply(LAZY).await;
    world.apply(DISK).await;
    until(&world, "db", "db: sim-node-1").await;
    world.delete("v1", "PersistentVolumeClaim", "default", "data").await;
    world.pass(SignedDuration::from_secs(3)).await;
    assert!(get(&world, CLAIM).await.at(&["metadata", "deletionTimestamp"]).is_some());
    world.delete("v1", "Pod", "default", "db").await;
    until_gone(&world).await;
    world.end().await;
}

#[tokio::test]
async fn replicas_that_keep_apart_leave_one_pending_when_nodes_run_out() {
    let world = World::new().await;
    let field = "requiredDuringSchedulingIgnoredDuringExecution";
    let term = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}";
    world
        .apply(&deployment("web", 4, &format!("affinity: {{podAntiAffinity: {{{field}: [{term}]}}}}")))
        .await;
    let said =
        format!("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. {NO_VICTIMS}");
    let told = until(&world, "web", &said).await;
    let nodes = |node: &str| told.iter().filter(|line| line.ends_with(node)).count();
    assert_eq!([nodes("sim-node-0"), nodes("sim-node-1"), nodes("sim-node-2")], [1, 1, 1], "{told:?}");
    world.end().await;
}

#[tokio::test]
async fn replicas_are_spread_over_zones() {
    let world = World::new().await;
    let rule = "maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule";
    let spread =
        format!("topologySpreadConstraints: [{{{rule}, labelSelector: {{matchLabels: {{app: web}}}}}}]");
    world.apply(&deployment("web", 6, &spread)).await;
    for _ in 0..PATIENCE {
        let told = pods(&world).await;
        let nodes = |node: &str| told.iter().filter(|line| line.ends_with(node)).count();
        if [nodes("sim-node-0"), nodes("sim-node-1"), nodes("sim-node-2")] == [2, 2, 2] {
            return world.end().await;
        }
        world.pass(SignedDuration::from_millis(200)).await;
    }
    panic!("they are not spread: {:?}", pods(&world).await);
}

#[tokio::test]
async fn a_pod_of_higher_priority_sends_a_lower_one_away() {
    let world = World::new().await;
    world
        .apply("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n")
        .await;
    for (name, node) in [("low-0", 0), ("low-1", 1), ("low-2", 2)] {
        let wish = format!("nodeSelector: {{kubernetes.io/hostname: sim-node-{node}}}");
        let grace = "terminationGracePeriodSeconds: 1";
        world.apply(&pod(name, &format!("{wish}\n  {grace}\n  {}", asking("cpu: '40'")))).await;
        until(&world, name, &format!("{name}: sim-node-{node}")).await;
    }
    world.apply(&pod("equal", &asking("cpu: '40'"))).await;
    until(&world, "equal", &format!("equal: 0/3 nodes are available: 3 Insufficient cpu. {NO_VICTIMS}"))
        .await;
    world.delete("v1", "Pod", "default", "equal").await;
    world.apply(&pod("vip", &format!("priorityClassName: high\n  {}", asking("cpu: '60'")))).await;
    let told = until(&world, "vip", "vip: sim-node-").await;
    assert!(
        told.contains(&"FailedScheduling: 0/3 nodes are available: 3 Insufficient cpu.".to_owned()),
        "{told:?}"
    );
    let left: Vec<&String> = told.iter().filter(|line| line.starts_with("low-")).collect();
    assert_eq!(left.len(), 2, "{told:?}");
    let gone = (0..3)
        .map(|n| format!("low-{n}"))
        .find(|name| !left.iter().any(|line| line.starts_with(name.as_str())));
    until(&world, &gone.unwrap(), "Preempted: Preempted by pod ").await;
    world.end().await;
}
