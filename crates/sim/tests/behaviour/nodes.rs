//! Pods and the nodes that they name.

use lynceus_object::Object;

use super::cluster::{Cluster, condition};

fn pod(name: &str, meta: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{meta}}}\n\
         spec: {{{spec}, containers: [{{name: main, image: app}}]}}\n"
    )
}

#[tokio::test]
async fn pods_of_a_node_that_is_not_there_are_removed() {
    let cluster = Cluster::start().await;
    cluster.apply(&pod("lost", ", finalizers: [example.com/keep]", "nodeName: nowhere")).await;
    cluster.apply(&pod("going", "", "nodeName: nowhere")).await;
    cluster.delete("pods", "going").await;
    cluster.pass(39).await;
    assert_eq!(cluster.pods(), ["going Pending terminating", "lost Pending"]);
    cluster.pass(2).await;
    assert_eq!(cluster.pods(), ["lost Failed terminating"]);
    let lost = condition(&cluster.get("pods", "lost"), "DisruptionTarget");
    assert_eq!(lost, "True DeletionByPodGC: PodGC: node no longer exists");
}

#[tokio::test]
async fn a_namespace_goes_with_a_pod_whose_node_is_not_there() {
    let cluster = Cluster::start().await;
    cluster.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n").await;
    cluster.apply(&pod("lost", ", namespace: shop", "nodeName: nowhere")).await;
    cluster.delete("namespaces", "shop").await;
    cluster.pass(120).await;
    assert!(cluster.find("namespaces", "shop").is_none());
}

#[tokio::test]
async fn a_node_that_comes_in_time_keeps_its_pod() {
    let cluster = Cluster::start().await;
    cluster.apply(&pod("early", "", "nodeName: late")).await;
    cluster.pass(30).await;
    cluster.apply("apiVersion: v1\nkind: Node\nmetadata: {name: late}\n").await;
    cluster.pass(30).await;
    assert_eq!(cluster.list("pods").len(), 1, "{:?}", cluster.pods());
}

/// A small node with a pod on it that takes most of it, and a taint.
const SMALL: &str = "nodePools: [{name: small, capacity: {cpu: '2', memory: 1Gi, pods: '3', example.org/gpu: '1'}, \
                     labels: {disk: hdd}, taints: [{key: only, effect: NoSchedule}]}]\n";

#[tokio::test]
async fn a_pod_that_does_not_fit_the_node_that_it_names_is_refused_there() {
    let asks = |name: &str, more: &str, what: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{nodeName: small-0{more}, containers: \
             [{{name: main, image: app, {what}}}]}}\n"
        )
    };
    let request = |what: &str| format!("resources: {{requests: {{{what}}}, limits: {{{what}}}}}");
    let out_of = |what: &str| format!("Node didn't have enough resource: {what}");
    for (more, what, reason, message) in [
        ("", request("cpu: 500m"), "", String::new()),
        ("", request("cpu: '1'"), "OutOfcpu", out_of("cpu, requested: 1000, used: 1500, capacity: 2000")),
        ("", request("memory: 2Gi"), "OutOfmemory", out_of("memory, requested: 2147483648, used: 0, capacity: 1073741824")),
        (
            "",
            request("example.org/gpu: '2'"),
            "UnexpectedAdmissionError",
            "Allocate failed due to requested number of devices unavailable for example.org/gpu. Requested: 2, Available: 1, \
             which is unexpected"
                .into(),
        ),
        ("", request("example.org/unknown: '2'"), "", String::new()),
        (
            ", nodeSelector: {disk: ssd}",
            String::new(),
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector".into(),
        ),
        (
            "",
            "ports: [{containerPort: 80, hostPort: 80}]".into(),
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports".into(),
        ),
    ] {
        let cluster = Cluster::on(SMALL).await;
        let first = "resources: {requests: {cpu: 1500m}}, ports: [{containerPort: 80, hostPort: 80}]";
        cluster.apply(&asks("first", "", first)).await;
        cluster.pass(5).await;
        cluster.apply(&asks("second", more, &what)).await;
        cluster.pass(5).await;
        let second = cluster.get("pods", "second");
        let status = |pod: &Object, field: &str| pod.value().str_at(&["status", field]).unwrap_or_default().to_owned();
        let wanted = match reason {
            "" => ("Running", String::new()),
            _ => ("Failed", format!("Pod was rejected: {message}")),
        };
        let found = (status(&second, "phase"), status(&second, "reason"), status(&second, "message"));
        assert_eq!(found, (wanted.0.to_owned(), reason.to_owned(), wanted.1), "{more}, {what}");
        if reason.is_empty() {
            assert!(condition(&second, "PodScheduled").starts_with("True"));
        } else {
            assert_eq!(cluster.told("second", reason), [message], "{more}, {what}");
        }
    }
}

#[tokio::test]
async fn a_node_takes_no_more_pods_than_it_has_places() {
    let cluster = Cluster::on(SMALL).await;
    for name in ["a", "b", "c", "d"] {
        cluster.apply(&pod(name, "", "nodeName: small-0")).await;
    }
    cluster.pass(5).await;
    let ready = ["a Running ready", "b Running ready", "c Running ready", "d Failed"];
    assert_eq!(cluster.pods(), ready);
    assert_eq!(
        cluster.told("d", "OutOfpods"),
        ["Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"]
    );
}

#[tokio::test]
async fn who_holds_a_deleted_pod_without_a_node_has_a_while_to_let_it_go() {
    let cluster = Cluster::start().await;
    cluster.apply(&pod("held", ", finalizers: [example.com/keep]", "nodeSelector: {no: such}")).await;
    cluster.delete("pods", "held").await;
    cluster.pass(19).await;
    assert_eq!(cluster.pods(), ["held Pending terminating"]);
    cluster.pass(2).await;
    assert_eq!(cluster.pods(), ["held Failed terminating"]);
}
