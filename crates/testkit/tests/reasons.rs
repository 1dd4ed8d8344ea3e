//! Why an application is not Synced and Healthy, as it stands on the Application.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::Reason;
use lynceus_object::value;
use lynceus_testkit::fixture::{FINE, automated, config_map, deployment};
use lynceus_testkit::world::World;

/// The reasons of an application, a line each.
fn told(world: &World, name: &str) -> String {
    Reason::of(&world.application(name).metadata).iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn an_application_that_nobody_syncs_says_so_and_what_differs() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    assert_eq!(
        told(&world, "shop"),
        "one object is not as Git wants it [OutOfSync]\n\
         ├─ it does not sync by itself, and nobody has asked for a sync [SyncIsManual]\n\
         └─ ConfigMap a is not there [NotCreated]\n"
    );
    let operation = value!({"operation": {"sync": {}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &operation).await;
    world.until("the sync", |world| world.state("shop") == FINE && told(world, "shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_sync_that_failed_is_told_with_what_failed() {
    let world = World::new().await;
    let service =
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}], type: Nonsense}\n";
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/web.yaml", service)]);
    let once = value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}});
    world.deliver("shop", "app", &once).await;
    world.until("the failure", |world| told(world, "shop").contains("[SyncFailed]")).await;
    let told = told(&world, "shop");
    assert!(told.contains("[Failed]") && told.contains("Service web"), "{told}");
    world.end().await;
}

const CLASS: &str = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: lazy}
provisioner: example.com/none
volumeBindingMode: WaitForFirstConsumer
";
const CLAIM: &str = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {argocd.argoproj.io/sync-wave: '2'}}
spec: {storageClassName: lazy, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";
const CONSUMER: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, annotations: {argocd.argoproj.io/sync-wave: '3'}}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: example/db}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
";

#[tokio::test]
async fn a_wave_that_waits_for_a_claim_names_the_consumer_in_the_wave_behind_it() {
    let world = World::new().await;
    world.apply(CLASS).await;
    world
        .apply(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: \
             {lynceus.sync.claimsHoldWaves: 'true'}\n",
        )
        .await;
    world.commit(&[("app/claim.yaml", CLAIM), ("app/db.yaml", CONSUMER)]);
    world.deliver("shop", "app", &automated()).await;
    let expected = "the sync waits [SyncWaits]\n\
         └─ wave 2 of phase Sync is not done [WaveNotDone]\n\
         \u{20}  └─ it waits for healthy state of /PersistentVolumeClaim/default/data [WaitsForHealth]\n\
         \u{20}     └─ class lazy binds it when what uses it is scheduled [BindsOnFirstConsumer]\n\
         \u{20}        └─ it is used by Deployment db, which comes in wave 3 [ConsumerComesLater]\n";
    world.until("the reason", |world| told(world, "shop").starts_with(expected)).await;
    assert!(world.object("apps", "Deployment", "default", "db").is_none());
    world.end().await;
}

#[tokio::test]
async fn a_claim_whose_consumer_comes_later_does_not_hold_its_wave() {
    let world = World::new().await;
    world.apply(CLASS).await;
    world.commit(&[("app/claim.yaml", CLAIM), ("app/db.yaml", CONSUMER)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the consumer", |world| world.object("apps", "Deployment", "default", "db").is_some()).await;
    world.end().await;
}

#[tokio::test]
async fn a_pod_that_no_node_takes_is_found_below_its_deployment() {
    let world = World::new().await;
    let lonely = deployment("web", 0).replace("    spec:\n", "    spec:\n      nodeSelector: {moon: dark}\n");
    assert!(lonely.contains("nodeSelector"), "{lonely}");
    world.commit(&[("app/web.yaml", &lonely)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the reason", |world| told(world, "shop").contains("[Unschedulable]")).await;
    let told = told(&world, "shop");
    assert!(told.contains("Pod web-"), "{told}");
    world.end().await;
}
