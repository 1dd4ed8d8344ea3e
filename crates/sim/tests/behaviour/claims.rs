//! Claims that are to become larger, and claims that go with whose they are.

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

/// The claims of a set: what happened to them when it shrank from two to one and when it was deleted.
async fn kept(policy: &str) -> [Vec<String>; 3] {
    let cluster = Cluster::start().await;
    cluster
        .apply(&format!(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db}}\nspec:\n  serviceName: db\n  replicas: 2\n  \
             selector: {{matchLabels: {{app: db}}}}\n  persistentVolumeClaimRetentionPolicy: {{{policy}}}\n  \
             template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: main, image: db}}]}}}}\n  \
             volumeClaimTemplates:\n  - metadata: {{name: data}}\n    spec: {{accessModes: [ReadWriteOnce], \
             resources: {{requests: {{storage: 1Gi}}}}}}\n"
        ))
        .await;
    cluster.pass(20).await;
    let claims = || -> Vec<String> {
        let owner = |claim: &lynceus_object::Object| {
            claim.owners().map(|owner| format!(" of {} {}", owner.kind, owner.name)).collect::<String>()
        };
        cluster.list("persistentvolumeclaims").iter().map(|one| one.name().to_owned() + &owner(one)).collect()
    };
    let first = claims();
    cluster.patch("statefulsets.apps", "db", "spec: {replicas: 1}").await.unwrap();
    cluster.pass(60).await;
    let second = claims();
    cluster.patch("statefulsets.apps", "db", "spec: {replicas: 2}").await.unwrap();
    cluster.pass(60).await;
    assert_eq!(cluster.pods(), ["db-0 Running ready", "db-1 Running ready"], "{policy}");
    assert_eq!(claims(), first, "{policy}");
    cluster.delete("statefulsets.apps", "db").await;
    cluster.pass(60).await;
    [first, second, claims()]
}

#[tokio::test]
async fn claims_of_a_set_stay_or_go_as_it_says() {
    let (plain, owned) =
        (["data-db-0", "data-db-1"], ["data-db-0 of StatefulSet db", "data-db-1 of StatefulSet db"]);
    for (policy, first, second, last) in [
        ("whenScaled: Retain", &plain[..], &plain[..], &plain[..]),
        ("whenScaled: Delete", &plain, &plain[..1], &plain),
        ("whenDeleted: Delete", &owned, &owned, &[]),
        ("whenScaled: Delete, whenDeleted: Delete", &owned, &owned[..1], &[]),
    ] {
        let wanted: [&[&str]; 3] = [first, second, last];
        assert_eq!(kept(policy).await, wanted, "{policy}");
    }
}
