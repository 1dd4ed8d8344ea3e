//! Pods and the nodes that they name.

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
