//! Claims that are to become larger.

use super::cluster::Cluster;

fn class(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {name}}}\n\
         provisioner: sim.lynceus.dev/local\n{more}\n"
    )
}

fn claim(name: &str, class: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec:\n  \
         accessModes: [ReadWriteOnce]\n  storageClassName: {class}\n  \
         resources: {{requests: {{storage: 1Gi}}}}\n"
    )
}

#[tokio::test]
async fn a_claim_grows_only_where_its_class_allows_it() {
    let cluster = Cluster::start().await;
    cluster.apply(&(class("stiff", "") + &class("soft", "allowVolumeExpansion: true"))).await;
    cluster.apply(&(claim("a", "stiff") + &claim("b", "soft"))).await;
    cluster.pass(5).await;
    let grow = "spec: {resources: {requests: {storage: 2Gi}}}";
    let refused = cluster.patch("persistentvolumeclaims", "a", grow).await.unwrap_err();
    let words = "persistentvolumeclaims \"a\" is forbidden: only dynamically provisioned pvc can be resized and the \
                 storageclass that provisions the pvc must support resize";
    assert_eq!((refused.code, refused.message.as_str()), (403, words));
    assert!(cluster.patch("persistentvolumeclaims", "b", grow).await.is_ok());
    // Another change of the claim is nobody's business.
    let label = "metadata: {labels: {team: a}}";
    assert!(cluster.patch("persistentvolumeclaims", "a", label).await.is_ok());
}

#[tokio::test]
async fn a_claim_without_a_volume_is_refused_as_a_spec_that_cannot_change() {
    let cluster = Cluster::start().await;
    cluster.apply(&claim("a", "nowhere")).await;
    cluster.pass(5).await;
    let grow = "spec: {resources: {requests: {storage: 2Gi}}}";
    let refused = cluster.patch("persistentvolumeclaims", "a", grow).await.unwrap_err();
    let words = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    assert!(refused.code == 422 && refused.message.contains(words), "{}", refused.message);
}
