//! Where pods go, and what is said of those that go nowhere: three nodes of 64 cores and 256 GiB in three zones, and
//! what is created on them, one after the other.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use jiff::SignedDuration;
use lynceus_object::{Object, yaml};
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Options, Sim, Stage, Target};

/// What kinds are called in URLs.
const PLACES: [(&str, &str, &str); 12] = [
    ("Pod", "", "pods"),
    ("Node", "", "nodes"),
    ("Namespace", "", "namespaces"),
    ("Service", "", "services"),
    ("PersistentVolume", "", "persistentvolumes"),
    ("PersistentVolumeClaim", "", "persistentvolumeclaims"),
    ("StorageClass", "storage.k8s.io", "storageclasses"),
    ("CSINode", "storage.k8s.io", "csinodes"),
    ("CSIDriver", "storage.k8s.io", "csidrivers"),
    ("PriorityClass", "scheduling.k8s.io", "priorityclasses"),
    ("PodDisruptionBudget", "policy", "poddisruptionbudgets"),
    ("ReplicaSet", "apps", "replicasets"),
];

struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    async fn start() -> Self {
        let sim = Sim::start_at_rest(Options::by_hand(Stage::default())).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    /// Creates one object after the other; each time everything comes to rest.
    async fn create(&self, text: &str) {
        for document in text.split("---\n").filter(|text| !text.trim().is_empty()) {
            let mut object = Object::new(yaml::parse_str(document).unwrap()).unwrap();
            let (_, group, resource) = PLACES.iter().find(|(kind, ..)| *kind == object.kind()).unwrap();
            let namespaced = !matches!(
                object.kind(),
                "Node"
                    | "Namespace"
                    | "PersistentVolume"
                    | "StorageClass"
                    | "CSINode"
                    | "CSIDriver"
                    | "PriorityClass"
            );
            if namespaced && object.namespace().is_empty() {
                object.set(&["metadata", "namespace"], "default");
            }
            self.local.create(group, resource, object).await.unwrap();
            self.rest().await;
        }
    }

    async fn rest(&self) {
        self.sim.advance(SignedDuration::from_secs(2)).await;
    }

    async fn delete(&self, resource: &str, name: &str) {
        let namespace = if resource == "nodes" { "" } else { "default" };
        let target = Target { group: "", resource, namespace, name };
        self.local.delete(target, &DeleteOptions::default()).await.unwrap();
        self.sim.advance(SignedDuration::from_secs(60)).await;
    }

    /// `name: node`, or what is said of a pod without one.
    fn pods(&self) -> String {
        let said = |pod: &Object| {
            let conditions = pod.value().items_at(&["status", "conditions"]);
            let scheduled = conditions.iter().find(|one| one.str_at(&["type"]) == Some("PodScheduled"));
            scheduled.and_then(|one| one.str_at(&["message"])).unwrap_or("?").to_owned()
        };
        let mut text = String::new();
        for pod in self.local.list("", "pods", None) {
            let node = pod.value().str_at(&["spec", "nodeName"]).map(str::to_owned);
            text += &format!("{}: {}\n", pod.name(), node.unwrap_or_else(|| said(&pod)));
        }
        text
    }

    fn events(&self, about: &str) -> String {
        let mut events = self.local.list("", "events", Some("default"));
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(about));
        events.sort_by_key(|event| event.resource_version().parse::<u64>().unwrap_or_default());
        let text =
            |event: &Object, field: &str| event.value().str_at(&[field]).unwrap_or_default().to_owned();
        events
            .iter()
            .map(|event| format!("{}: {}\n", text(event, "reason"), text(event, "message")))
            .collect()
    }

    fn get(&self, resource: &str, name: &str) -> Object {
        let namespace = if resource == "persistentvolumes" { "" } else { "default" };
        self.local.get("", resource, namespace, name).unwrap_or_else(|| panic!("no {resource}/{name}"))
    }
}

/// A pod with more in its spec, and labels.
fn pod(name: &str, labels: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{labels}}}}}\nspec:\n  {}\n",
        if spec.contains("containers:") {
            spec.to_owned()
        } else {
            format!("{spec}\n  containers: [{{name: main, image: nginx}}]")
        }
    )
}

/// A container that asks for something.
fn asking(requests: &str) -> String {
    let limits =
        if requests.contains("example.org") { format!(", limits: {{{requests}}}") } else { String::new() };
    format!("containers: [{{name: main, image: nginx, resources: {{requests: {{{requests}}}{limits}}}}}]")
}

fn on(node: &str) -> String {
    format!("nodeSelector: {{kubernetes.io/hostname: {node}}}")
}

fn apart(key: &str, selector: &str) -> String {
    let field = "requiredDuringSchedulingIgnoredDuringExecution";
    format!("affinity: {{podAntiAffinity: {{{field}: [{{topologyKey: {key}, {selector}}}]}}}}")
}

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
const USELESS: &str = "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
const NO_VICTIMS: &str = "no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";

#[track_caller]
fn is(found: &str, expected: &str) {
    assert_eq!(found.trim(), expected.trim());
}

#[tokio::test]
async fn pods_that_are_too_large_are_told_what_is_missing() {
    let cluster = Cluster::start().await;
    cluster.create(&pod("a", "", &asking("memory: 300Gi"))).await;
    cluster.create(&pod("b", "", &asking("cpu: 100, example.org/gpu: 1, ephemeral-storage: 2Ti"))).await;
    let lacks = "3 Insufficient cpu, 3 Insufficient ephemeral-storage, 3 Insufficient example.org/gpu";
    is(
        &cluster.pods(),
        &format!(
            "a: 0/3 nodes are available: 3 Insufficient memory. {USELESS}\n\
             b: 0/3 nodes are available: {lacks}. {USELESS}"
        ),
    );
    is(
        &cluster.events("a"),
        &format!("FailedScheduling: 0/3 nodes are available: 3 Insufficient memory. {USELESS}"),
    );
}

#[tokio::test]
async fn a_pod_that_finds_no_room_among_its_equals_waits_until_one_goes() {
    let cluster = Cluster::start().await;
    for name in ["a", "b", "c", "d"] {
        cluster.create(&pod(name, "", &asking("cpu: 40"))).await;
    }
    let waits = format!("d: 0/3 nodes are available: 3 Insufficient cpu. {NO_VICTIMS}");
    is(&cluster.pods(), &format!("a: sim-node-0\nb: sim-node-1\nc: sim-node-2\n{waits}"));
    cluster.delete("pods", "b").await;
    is(&cluster.pods(), "a: sim-node-0\nc: sim-node-2\nd: sim-node-1");
}

#[tokio::test]
async fn ports_of_a_node_are_taken_once() {
    let cluster = Cluster::start().await;
    let port = |address: &str| {
        let port = format!("{{containerPort: 80, hostPort: 8080{address}}}");
        format!("{}\n  containers: [{{name: main, image: nginx, ports: [{port}]}}]", on("sim-node-0"))
    };
    cluster.create(&pod("a", "", &port(", hostIP: 10.0.0.1"))).await;
    cluster.create(&pod("b", "", &port(", hostIP: 10.0.0.2"))).await;
    cluster.create(&pod("c", "", &port(""))).await;
    is(
        &cluster.pods(),
        "a: sim-node-0\nb: sim-node-0\n\
         c: 0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't \
         match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No \
         preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    );
}

#[tokio::test]
async fn taints_keep_pods_away_or_make_a_node_the_last_choice() {
    let cluster = Cluster::start().await;
    for (node, taint) in [("sim-node-0", "NoSchedule"), ("sim-node-1", "PreferNoSchedule")] {
        let target = Target { group: "", resource: "nodes", namespace: "", name: node };
        let taints = yaml::parse_str(&format!("[{{key: gpu, effect: {taint}}}]")).unwrap();
        cluster.local.edit(target, "", |node| node.set(&["spec", "taints"], taints.clone())).await.unwrap();
    }
    for name in ["a", "b"] {
        cluster.create(&pod(name, "", "")).await;
    }
    cluster.create(&pod("c", "", &on("sim-node-0"))).await;
    cluster
        .create(&pod("d", "", &format!("{}\n  tolerations: [{{operator: Exists}}]", on("sim-node-0"))))
        .await;
    is(
        &cluster.pods(),
        &format!(
            "a: sim-node-2\nb: sim-node-2\n\
             c: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node \
             affinity/selector. {USELESS}\nd: sim-node-0"
        ),
    );
}

#[tokio::test]
async fn pods_keep_apart_from_each_other_and_newcomers_from_those_that_run() {
    let cluster = Cluster::start().await;
    let alone = apart(HOST, "labelSelector: {matchLabels: {app: web}}");
    for name in ["web-0", "web-1", "web-2", "web-3"] {
        cluster.create(&pod(name, "app: web", &alone)).await;
    }
    // It says nothing itself, but those that run do not want it; in another namespace it is not meant.
    cluster.create(&pod("x-new", "app: web", "")).await;
    cluster.create("apiVersion: v1\nkind: Namespace\nmetadata: {name: other, labels: {team: b}}\n").await;
    let elsewhere =
        |name: &str, spec: &str| pod(name, "app: web", spec).replace("{name:", "{namespace: other, name:");
    cluster.create(&elsewhere("y-far", "")).await;
    let everywhere = apart(HOST, "namespaceSelector: {matchLabels: {team: b}}, labelSelector: {}");
    cluster.create(&pod("z-0", "", &format!("{}\n  {everywhere}", on("sim-node-0")))).await;
    is(
        &cluster.pods(),
        &format!(
            "web-0: sim-node-0\nweb-1: sim-node-1\nweb-2: sim-node-2\n\
             web-3: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. {NO_VICTIMS}\n\
             x-new: 0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules. {NO_VICTIMS}\n\
             z-0: 0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 2 node(s) didn't match \
             Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No \
             preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.\n\
             y-far: sim-node-0"
        ),
    );
}

#[tokio::test]
async fn pods_that_want_company_wait_for_it_and_the_first_of_a_kind_does_not() {
    let cluster = Cluster::start().await;
    let near = |app: &str| {
        let field = "requiredDuringSchedulingIgnoredDuringExecution";
        let term = format!("{{topologyKey: {ZONE}, labelSelector: {{matchLabels: {{app: {app}}}}}}}");
        format!("affinity: {{podAffinity: {{{field}: [{term}]}}}}")
    };
    cluster.create(&pod("a", "app: db", &near("cache"))).await;
    is(
        &cluster.pods(),
        &format!("a: 0/3 nodes are available: 3 node(s) didn't match pod affinity rules. {USELESS}"),
    );
    cluster.create(&pod("b", "app: cache", &on("sim-node-2"))).await;
    cluster.create(&pod("c", "app: flock", &near("flock"))).await;
    cluster.create(&pod("d", "app: flock", &near("flock"))).await;
    is(&cluster.pods(), "a: sim-node-2\nb: sim-node-2\nc: sim-node-0\nd: sim-node-0");
}

#[tokio::test]
async fn pods_are_spread_as_they_say() {
    let cluster = Cluster::start().await;
    let spread = |key: &str, more: &str| {
        let rule = format!("maxSkew: 1, topologyKey: {key}, labelSelector: {{matchLabels: {{app: web}}}}");
        format!("topologySpreadConstraints: [{{{rule}, whenUnsatisfiable: DoNotSchedule{more}}}]")
    };
    for (name, more) in [
        ("a", ""),
        ("b", ""),
        ("c", ""),
        // Every zone has one: a fourth zone that has none is asked for and not there.
        ("d", ", minDomains: 4"),
    ] {
        cluster.create(&pod(name, "app: web", &spread(ZONE, more))).await;
    }
    // Only the nodes that it selects count, unless it says otherwise.
    cluster.create(&pod("e", "app: web", &format!("{}\n  {}", on("sim-node-0"), spread(ZONE, "")))).await;
    let all = ", nodeAffinityPolicy: Ignore";
    cluster.create(&pod("f", "app: web", &format!("{}\n  {}", on("sim-node-0"), spread(ZONE, all)))).await;
    cluster.create(&pod("g", "app: web", &spread("rack", ""))).await;
    is(
        &cluster.pods(),
        &format!(
            "a: sim-node-0\nb: sim-node-1\nc: sim-node-2\n\
             d: 0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints. {NO_VICTIMS}\n\
             e: sim-node-0\n\
             f: 0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 node(s) didn't match \
             Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No \
             preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.\n\
             g: 0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required \
             label). {USELESS}"
        ),
    );
}

#[tokio::test]
async fn preferences_decide_among_nodes_that_will_do() {
    let cluster = Cluster::start().await;
    cluster.create(&pod("a", "app: db", &on("sim-node-1"))).await;
    let soft = "preferredDuringSchedulingIgnoredDuringExecution";
    let term =
        format!("podAffinityTerm: {{topologyKey: {HOST}, labelSelector: {{matchLabels: {{app: db}}}}}}");
    let prefers =
        |kind: &str, term: &str| format!("affinity: {{{kind}: {{{soft}: [{{weight: 50, {term}}}]}}}}");
    cluster.create(&pod("b", "", &prefers("podAffinity", &term))).await;
    cluster.create(&pod("c", "", &prefers("podAntiAffinity", &term))).await;
    let zone = format!("preference: {{matchExpressions: [{{key: {ZONE}, operator: In, values: [sim-c]}}]}}");
    cluster.create(&pod("d", "", &prefers("nodeAffinity", &zone))).await;
    is(&cluster.pods(), "a: sim-node-1\nb: sim-node-1\nc: sim-node-0\nd: sim-node-2");
}

#[tokio::test]
async fn a_pod_that_names_its_node_is_not_tried_elsewhere() {
    let cluster = Cluster::start().await;
    let field = "requiredDuringSchedulingIgnoredDuringExecution";
    let term = "{matchFields: [{key: metadata.name, operator: In, values: [sim-node-1]}]}";
    let named = format!("affinity: {{nodeAffinity: {{{field}: {{nodeSelectorTerms: [{term}]}}}}}}");
    cluster.create(&pod("a", "", &format!("{named}\n  {}", asking("cpu: 100")))).await;
    is(
        &cluster.pods(),
        &format!(
            "a: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. {USELESS}"
        ),
    );
}

#[tokio::test]
async fn a_gated_pod_waits_until_its_gates_are_gone() {
    let cluster = Cluster::start().await;
    cluster.create(&pod("a", "", "schedulingGates: [{name: example.org/wait}]")).await;
    is(&cluster.pods(), "a: Scheduling is blocked due to non-empty scheduling gates");
    is(&cluster.events("a"), "");
    let target = Target { group: "", resource: "pods", namespace: "default", name: "a" };
    cluster.local.edit(target, "", |pod| drop(pod.remove(&["spec", "schedulingGates"]))).await.unwrap();
    cluster.rest().await;
    is(&cluster.pods(), "a: sim-node-0");
}

const CLASSES: &str = "
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: polite}
value: 1000
preemptionPolicy: Never
";

/// A pod of a class that asks for something.
fn of_class(class: &str, requests: &str) -> String {
    format!("priorityClassName: {class}\n  {}", asking(requests))
}

#[tokio::test]
async fn the_less_important_make_room_and_budgets_are_kept_where_possible() {
    let cluster = Cluster::start().await;
    cluster.create(CLASSES).await;
    for (name, node) in [("a", "sim-node-0"), ("b", "sim-node-1"), ("c", "sim-node-2")] {
        let spec = format!("{}\n  terminationGracePeriodSeconds: 10\n  {}", on(node), asking("cpu: 40"));
        cluster.create(&pod(name, &format!("app: {name}"), &spec)).await;
    }
    cluster
        .create(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: keep}\n\
             spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}\n",
        )
        .await;
    cluster.create(&pod("polite", "", &of_class("polite", "cpu: 60"))).await;
    let barred = "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.";
    let polite = format!("polite: 0/3 nodes are available: 3 Insufficient cpu. {barred}\n");
    is(&cluster.pods(), &format!("a: sim-node-0\nb: sim-node-1\nc: sim-node-2\n{polite}"));
    cluster.create(&pod("vip", "", &of_class("high", "cpu: 60"))).await;
    cluster.sim.advance(SignedDuration::from_secs(60)).await;
    // The one that ran for the shortest time goes.
    is(&cluster.pods(), &format!("a: sim-node-0\nb: sim-node-1\n{polite}vip: sim-node-2"));
    let preempted =
        format!("Preempted: Preempted by pod {} on node sim-node-2", cluster.get("pods", "vip").uid());
    assert!(cluster.events("c").contains(&preempted), "{}", cluster.events("c"));
    is(
        &cluster.events("vip").lines().take(2).collect::<Vec<_>>().join("\n"),
        "FailedScheduling: 0/3 nodes are available: 3 Insufficient cpu.\n\
         Scheduled: Successfully assigned default/vip to sim-node-2",
    );
}

/// A claim of a class.
fn claim(name: &str, class: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}{more}}}\n"
    )
}

fn class(name: &str, provisioner: &str, more: &str) -> String {
    format!(
        "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {name}}}\nprovisioner: {provisioner}\n\
         {more}\n"
    )
}

const LATE: &str = "volumeBindingMode: WaitForFirstConsumer";

fn with_claim(claim: &str) -> String {
    format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim}}}}}]")
}

#[tokio::test]
async fn pods_wait_for_their_claims_and_claims_for_their_pods() {
    let cluster = Cluster::start().await;
    cluster.create(&class("late", "example.org/none", LATE)).await;
    cluster.create(&class("manual", "kubernetes.io/no-provisioner", LATE)).await;
    let topology =
        "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [x]}]}]";
    cluster.create(&class("nowhere", "example.org/none", &format!("{LATE}\n{topology}"))).await;
    for (name, class) in [("b", "nosuch"), ("c", "late"), ("d", "manual"), ("e", "nowhere")] {
        cluster.create(&claim(name, class, "")).await;
    }
    for name in ["a", "b", "c", "d", "e"] {
        cluster.create(&pod(name, "", &with_claim(name))).await;
    }
    let none = "3 node(s) didn't find available persistent volumes to bind";
    is(
        &cluster.pods(),
        &format!(
            "a: 0/3 nodes are available: persistentvolumeclaim \"a\" not found. not found\n\
             b: 0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found\n\
             c: ?\n\
             d: 0/3 nodes are available: {none}. {USELESS}\n\
             e: 0/3 nodes are available: {none}. {USELESS}"
        ),
    );
    // It is to go there as soon as somebody makes its volume.
    assert_eq!(cluster.get("pods", "c").value().str_at(&["status", "nominatedNodeName"]), Some("sim-node-0"));
    assert!(cluster.events("c").contains(
        "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.org/none' \
         or manually by the system administrator."
    ));
    assert!(
        cluster.events("b").contains("ProvisioningFailed: storageclass.storage.k8s.io \"nosuch\" not found")
    );
    assert!(cluster.events("d").contains("WaitForPodScheduled: waiting for pod d to be scheduled"));
}

fn volume(name: &str, class: &str, source: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], capacity: {{storage: 5Gi}}, {source}{more}}}\n"
    )
}

#[tokio::test]
async fn a_volume_of_one_node_takes_its_pod_there() {
    let cluster = Cluster::start().await;
    cluster.create(&class("manual", "kubernetes.io/no-provisioner", LATE)).await;
    let here = "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, \
                operator: In, values: [sim-node-2]}]}]}}";
    cluster.create(&volume("disk", "manual", "local: {path: /disk}", &format!(", {here}"))).await;
    cluster.create(&claim("data", "manual", "")).await;
    is(
        &cluster.events("data"),
        "WaitForFirstConsumer: waiting for first consumer to be created before binding",
    );
    cluster.create(&pod("a", "", &with_claim("data"))).await;
    is(&cluster.pods(), "a: sim-node-2");
    assert_eq!(cluster.get("persistentvolumes", "disk").value().str_at(&["status", "phase"]), Some("Bound"));
    cluster.create(&pod("b", "", &format!("{}\n  {}", on("sim-node-0"), with_claim("data")))).await;
    assert!(
        cluster.pods().contains("1 node(s) didn't match PersistentVolume's node affinity"),
        "{}",
        cluster.pods()
    );
}

#[tokio::test]
async fn a_node_holds_no_more_volumes_than_it_says() {
    let cluster = Cluster::start().await;
    cluster
        .create(
            "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: sim-node-0}\nspec: {drivers: [{name: \
             d.example.org, nodeID: a, allocatable: {count: 1}}]}\n---\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\n\
             metadata: {name: d.example.org}\nspec: {}\n",
        )
        .await;
    cluster.create(&class("disks", "d.example.org", "")).await;
    for name in ["a", "b"] {
        cluster.create(&claim(name, "disks", "")).await;
        cluster.create(&pod(name, "", &format!("{}\n  {}", on("sim-node-0"), with_claim(name)))).await;
    }
    is(
        &cluster.pods(),
        "a: sim-node-0\n\
         b: 0/3 nodes are available: 1 node(s) exceed max volume count, 2 node(s) didn't match Pod's node \
         affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims \
         found for incoming pod, 2 Preemption is not helpful for scheduling.",
    );
}

#[tokio::test]
async fn a_claim_for_one_pod_is_not_shared() {
    let cluster = Cluster::start().await;
    cluster.create(&claim("data", "standard", "").replace("ReadWriteOnce", "ReadWriteOncePod")).await;
    for name in ["a", "b"] {
        cluster.create(&pod(name, "", &with_claim("data"))).await;
    }
    is(
        &cluster.pods(),
        &format!(
            "a: sim-node-0\n\
             b: 0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access \
             mode already in-use by another pod. {NO_VICTIMS}"
        ),
    );
}

#[tokio::test]
async fn an_ephemeral_volume_gets_a_claim_of_its_own() {
    let cluster = Cluster::start().await;
    let template = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}";
    let volume = format!("volumes: [{{name: scratch, ephemeral: {{volumeClaimTemplate: {{{template}}}}}}}]");
    cluster.create(&pod("a", "", &volume)).await;
    is(&cluster.pods(), "a: sim-node-0");
    assert_eq!(cluster.get("persistentvolumeclaims", "a-scratch").controller().unwrap().name, "a");
}

#[tokio::test]
async fn a_claim_that_wants_more_gets_it_when_a_pod_has_it() {
    let cluster = Cluster::start().await;
    cluster.create(&claim("data", "standard", "")).await;
    let target = Target { group: "", resource: "persistentvolumeclaims", namespace: "default", name: "data" };
    let size = ["spec", "resources", "requests", "storage"];
    cluster.local.edit(target, "", |claim| claim.set(&size, "3Gi")).await.unwrap();
    cluster.rest().await;
    let found = |path: &[&str]| {
        cluster.get("persistentvolumeclaims", "data").value().str_at(path).unwrap_or_default().to_owned()
    };
    assert_eq!(found(&["status", "capacity", "storage"]), "1Gi");
    let claim = cluster.get("persistentvolumeclaims", "data");
    let pending = claim.value().items_at(&["status", "conditions"]);
    assert_eq!(pending[0].str_at(&["type"]), Some("FileSystemResizePending"));
    cluster.create(&pod("a", "", &with_claim("data"))).await;
    cluster.sim.advance(SignedDuration::from_secs(10)).await;
    assert_eq!(found(&["status", "capacity", "storage"]), "3Gi");
    let claim = cluster.get("persistentvolumeclaims", "data");
    assert!(claim.value().items_at(&["status", "conditions"]).is_empty());
}

#[tokio::test]
async fn a_volume_is_kept_emptied_or_deleted_when_its_claim_is_gone() {
    let cluster = Cluster::start().await;
    for policy in ["Retain", "Recycle", "Delete"] {
        let name = policy.to_lowercase();
        let more = format!(", persistentVolumeReclaimPolicy: {policy}");
        cluster.create(&volume(&name, &name, "hostPath: {path: /tmp/a}", &more)).await;
        cluster.create(&claim(&name, &name, "")).await;
        cluster.delete("persistentvolumeclaims", &name).await;
    }
    let phases: Vec<String> = cluster
        .local
        .list("", "persistentvolumes", None)
        .iter()
        .map(|one| format!("{} {}", one.name(), one.value().str_at(&["status", "phase"]).unwrap_or_default()))
        .collect();
    assert_eq!(phases, ["recycle Available", "retain Released"]);
}
