//! Volumes that one node has at a time, and how many a node can have.

use lynceus_object::Object;

use super::cluster::{Cluster, condition};

fn claim(name: &str, class: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec:\n  \
         accessModes: [ReadWriteOnce]\n  storageClassName: {class}\n  \
         resources: {{requests: {{storage: 1Gi}}}}\n---\n"
    )
}

/// A pod with a claim, on a node if one is named.
fn pod(name: &str, claim: &str, node: &str) -> String {
    let node = if node.is_empty() { String::new() } else { format!("nodeName: {node}\n  ") };
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  {node}\
         containers: [{{name: main, image: app}}]\n  \
         volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim}}}}}]\n---\n"
    )
}

fn waits_with(pod: &Object) -> String {
    let statuses = pod.value().items_at(&["status", "containerStatuses"]);
    let reason = statuses.first().and_then(|one| one.str_at(&["state", "waiting", "reason"]));
    reason.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_volume_for_one_node_keeps_a_pod_of_another_node_from_starting() {
    let cluster = Cluster::start().await;
    cluster.apply(&claim("data", "standard")).await;
    cluster.apply(&pod("a", "data", "sim-node-0")).await;
    cluster.pass(5).await;
    cluster.apply(&pod("b", "data", "sim-node-1")).await;
    cluster.apply(&pod("c", "data", "sim-node-0")).await;
    cluster.pass(60).await;
    assert_eq!(cluster.pods(), ["a Running ready", "b Pending", "c Running ready"]);
    assert_eq!(waits_with(&cluster.get("pods", "b")), "ContainerCreating");
    let claim = cluster.get("persistentvolumeclaims", "data");
    let volume = claim.value().str_at(&["spec", "volumeName"]).unwrap().to_owned();
    let words = format!("Multi-Attach error for volume {volume:?} Volume is already used by pod(s) a");
    assert_eq!(cluster.told("b", "FailedAttachVolume"), [words], "once, with those that had it then");
    // Nobody has it any more.
    cluster.delete("pods", "a").await;
    cluster.pass(60).await;
    assert_eq!(cluster.pods(), ["b Pending", "c Running ready"]);
    cluster.delete("pods", "c").await;
    cluster.pass(60).await;
    assert_eq!(cluster.pods(), ["b Running ready"]);
    let words = format!("AttachVolume.Attach succeeded for volume {volume:?} ");
    assert_eq!(cluster.told("b", "SuccessfulAttachVolume"), [words]);
}

#[tokio::test]
async fn a_node_has_as_many_volumes_of_the_stages_classes_as_its_pool_allows() {
    for storage in ["", "storage: [{class: standard, provisioner: example.com/disk}]\n"] {
        let stage = format!("{storage}nodePools: [{{name: a, volumeLimit: 1}}]");
        let cluster = Cluster::on(&stage).await;
        for name in ["one", "two"] {
            cluster.apply(&(claim(name, "standard") + &pod(name, name, ""))).await;
        }
        cluster.pass(30).await;
        assert_eq!(cluster.pods(), ["one Running ready", "two Pending"], "{stage}");
        let said = condition(&cluster.get("pods", "two"), "PodScheduled");
        let words = "False Unschedulable: 0/1 nodes are available: 1 node(s) exceed max volume count.";
        assert!(said.starts_with(words), "{stage}: {said}");
    }
}
