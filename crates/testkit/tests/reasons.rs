//! Why an application is not Synced and Healthy, as it stands on the Application.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::Reason;
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, annotated, automated, config_map, deployment, job, once};
use lynceus_testkit::world::{Trouble, World};

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

async fn change(world: &World, patch: &Value) {
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", "shop", patch).await;
}

/// Asks for a sync by hand, and waits until it has ended and the look after it was stored.
async fn sync(world: &World, phase: &str) {
    change(world, &value!({"operation": {"sync": {}}})).await;
    world
        .until("the end of the sync", |world| {
            let application = world.application("shop");
            let state = application.status.operation_state.unwrap_or_default();
            application.operation.is_none() && state.phase.as_str() == phase
        })
        .await;
}

/// What the sync of an application waits for, as it stands on the Application.
fn waiting(world: &World) -> String {
    world
        .application("shop")
        .metadata
        .annotations
        .get("lynceus.dev/waiting")
        .cloned()
        .unwrap_or_default()
        .to_string()
}

/// The project with these windows.
async fn windows(world: &World, windows: Value) {
    let patch = value!({"spec": {"syncWindows": windows}});
    world.patch("argoproj.io/v1alpha1", "AppProject", "argocd", "default", &patch).await;
}

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
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
";
const VOLUME: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: {name: shelf}
spec:
  storageClassName: lazy
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  hostPath: {path: /data}
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
    world.apply(VOLUME).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
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

#[tokio::test]
async fn a_sync_by_hand_that_failed_is_told_with_the_field_that_cannot_be_changed() {
    let world = World::new().await;
    world.commit(&[("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    sync(&world, "Succeeded").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/web.yaml", &deployment("web", 0).replace("{app: web}", "{app: other}"))]);
    world.until("the difference", |world| told(world, "shop").contains("[SyncIsManual]")).await;
    sync(&world, "Failed").await;
    world.until("the failure", |world| told(world, "shop").contains("[SyncFailed]")).await;
    let told = told(&world, "shop");
    assert!(!told.contains("SyncIsManual"), "{told}");
    assert!(told.contains("[Failed]") && told.contains("Deployment web: "), "{told}");
    assert!(told.contains("spec.selector cannot be changed while the object is there"), "{told}");
    assert!(told.contains("[ImmutableField]"), "{told}");
    world.end().await;
}

#[tokio::test]
async fn a_hook_that_fails_behind_what_is_synced_is_told_although_nothing_differs() {
    let world = World::new().await;
    let hook = job("check", "PostSync", "[\"false\"]");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/check.yaml", &hook)]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "Failed").await;
    world.until("the failure", |world| told(world, "shop").starts_with("the last sync failed")).await;
    assert!(world.state("shop").starts_with("Synced"), "{}", world.state("shop"));
    assert!(told(&world, "shop").contains("Job check: "), "{}", told(&world, "shop"));
    world.commit(&[("app/check.yaml", "")]);
    sync(&world, "Succeeded").await;
    world.until("silence", |world| told(world, "shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_failed_sync_that_is_repeated_tells_what_failed_between_its_attempts() {
    let world = World::new().await;
    let wrong = deployment("web", 0).replace("labels: {app: web}", "labels: {app: other}");
    world.commit(&[("app/web.yaml", &wrong.replace("matchLabels: {app: other}", "matchLabels: {app: web}"))]);
    let retry = value!({"limit": 5, "backoff": {"duration": "20s"}});
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": retry}})).await;
    world.until("the pause", |world| told(world, "shop").contains("[WaitsForRetry]")).await;
    assert!(waiting(&world).contains("WaitsForRetry"), "{}", waiting(&world));
    let told = told(&world, "shop");
    assert!(told.starts_with("the sync waits [SyncWaits]\n└─ it waits for attempt #1 at "), "{told}");
    assert!(told.contains("[WaitsForRetry]\n   └─ Deployment web: "), "{told}");
    world.end().await;
}

#[tokio::test]
async fn a_closed_window_is_told_and_so_is_one_that_cannot_be_read() {
    let world = World::new().await;
    windows(
        &world,
        value!([{"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["*"]}]),
    )
    .await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the window", |world| told(world, "shop").contains("[WaitsForWindow]")).await;
    let shut = told(&world, "shop");
    assert!(shut.contains("it waits for an open sync window: denied by deny window '* * * * *'"), "{shut}");
    windows(
        &world,
        value!([{"kind": "deny", "schedule": "nonsense", "duration": "1h", "applications": ["*"]}]),
    )
    .await;
    world.until("the fault", |world| told(world, "shop").contains("invalid sync windows")).await;
    assert!(told(&world, "shop").contains("cannot parse schedule 'nonsense'"), "{}", told(&world, "shop"));
    windows(&world, value!([])).await;
    world.until("the sync", |world| world.state("shop") == FINE && told(world, "shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_rule_that_hides_a_whole_spec_is_told_of_although_everything_is_well() {
    let world = World::new().await;
    world.commit(&[("app/web.yaml", &deployment("web", 0)), ("app/a.yaml", &config_map("a", "one"))]);
    let mut policy = automated();
    policy.set(
        &["ignoreDifferences"],
        value!([
            {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec"]},
            {"kind": "ConfigMap", "jsonPointers": ["/data/none"]},
            {"kind": "ConfigMap", "managedFieldsManagers": ["nobody"]},
            {"kind": "Secret", "jqPathExpressions": [".data"]},
        ]),
    );
    world.deliver("shop", "app", &policy).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let expected = "ManifestWarning: the rule .data for Secret is for no object of the application\n\
         ManifestWarning: the rule /data/none for ConfigMap names no field that an object has\n\
         ManifestWarning: the rule /spec for apps/Deployment hides all of spec, and so every difference in it\n";
    world.until("what is odd", |world| world.said("shop") == expected).await;
    world.end().await;
}

#[tokio::test]
async fn a_rule_for_objects_that_are_still_to_come_is_not_called_idle() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let rules = value!({"ignoreDifferences": [
        {"kind": "ConfigMap", "jsonPointers": ["/data/key"]}, {"kind": "Secret", "jsonPointers": ["/data"]},
    ]});
    world.deliver("shop", "app", &rules).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    let told = told(&world, "shop");
    assert!(!told.contains("for ConfigMap"), "{told}");
    assert!(
        told.contains("the rule /data for Secret is for no object of the application [IdleRule]"),
        "{told}"
    );
    world.end().await;
}

#[tokio::test]
async fn an_application_that_git_would_empty_says_so() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/README", "text")]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/a.yaml", "")]);
    world.until("the reason", |world| told(world, "shop").contains("[WouldEmpty]")).await;
    assert!(world.object("", "ConfigMap", "default", "a").is_some());
    world.end().await;
}

#[tokio::test]
async fn an_application_that_nobody_looks_at_says_so() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    let skip = |text: Value| {
        let mut patch = value!({});
        patch.set(&["metadata", "annotations", "argocd.argoproj.io/skip-reconcile"], text);
        patch
    };
    change(&world, &skip(value!("true"))).await;
    world.until("the word", |world| told(world, "shop").contains("[Skipped]")).await;
    change(&world, &skip(Value::Null)).await;
    world.until("a look", |world| told(world, "shop").contains("[SyncIsManual]")).await;
    world.end().await;
}

/// The answer to a write of ours may be lost, and then what it wrote is not known when the sync ends.
#[tokio::test]
async fn what_was_said_of_a_wait_ends_in_the_same_write_as_the_sync() {
    let world = World::new().await;
    let hand = world.hand().clone();
    let phase = ["status", "operationState", "phase"];
    let mut left = Some(r#"[{"code":"SyncWaits","text":"the sync waits"}]"#);
    let (ends, ended) = std::sync::mpsc::channel();
    world.wire().meddle(move |call| {
        let is_end =
            call.resource == "applications.argoproj.io" && call.body.str_at(&phase) == Some("Succeeded");
        if !is_end {
            return None;
        }
        let _ = ends.send(call.body.at(&["metadata", "annotations", "lynceus.dev/reasons"]).cloned());
        let text = left.take()?;
        let hand = hand.clone();
        Some(Trouble::After(Box::pin(async move {
            let patch = value!({"metadata": {"annotations": {"lynceus.dev/reasons": text}}});
            let gvk = lynceus_object::Gvk::new("argoproj.io", "v1alpha1", "Application");
            hand.patch_record(&gvk, "argocd", "shop", &patch).await.unwrap();
        })))
    });
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    // The first was decided without it, the second takes it off.
    assert_eq!(ended.try_iter().last(), Some(Some(Value::Null)));
    assert_eq!(told(&world, "shop"), "");
    world.end().await;
}

#[tokio::test]
async fn a_kind_that_cannot_be_read_has_a_word_of_its_own() {
    let world = World::new().await;
    world.wire().meddle(|call| call.reads("secrets").then(|| Trouble::Code(403)));
    // Whoever watches already goes on to hear of them.
    world.wire().cut_watches();
    world.commit(&[("app/s.yaml", &lynceus_testkit::fixture::secret("s"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the word", |world| told(world, "shop").contains("[KindUnreadable]")).await;
    world.wire().mend();
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    world.end().await;
}

#[tokio::test]
async fn a_hook_of_two_phases_is_told_in_the_one_that_it_runs_in() {
    let world = World::new().await;
    let hook = annotated(
        &job("hook", "\"PreSync,PostSync\"", "[\"sleep\", \"20\"]"),
        "hook-delete-policy",
        "BeforeHookCreation",
    );
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hook.yaml", &hook)]);
    world.deliver("shop", "app", &once()).await;
    world.until("the first", |world| told(world, "shop").contains("phase PreSync is not done")).await;
    world.until("the second", |world| told(world, "shop").contains("phase PostSync is not done")).await;
    let phase = |world: &World| world.application("shop").status.operation_state.unwrap_or_default().phase;
    world.until("the end", |world| phase(world).as_str() == "Succeeded").await;
    assert!(!told(&world, "shop").contains("[SyncWaits]"), "a sync that is over does not wait");
    world.end().await;
}
