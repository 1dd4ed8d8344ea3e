//! The cluster as its own controllers see it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Object, Value, value};
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Options, PatchKind, Sim, Stage, Target};

async fn local() -> Local {
    let options = Options { without_controllers: true, ..Options::by_hand(Stage::default()) };
    Sim::start(options).await.unwrap().local()
}

fn config_map(name: &str) -> Object {
    let object = value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"a": "1"},
    });
    Object::new(object).unwrap()
}

const TARGET: Target<'static> =
    Target { group: "", resource: "configmaps", namespace: "default", name: "settings" };

#[tokio::test]
async fn a_new_object_gets_what_the_server_knows() {
    let local = local().await;
    let object = local.create("", "configmaps", config_map("settings")).await.unwrap();
    assert_eq!(object.meta_str("creationTimestamp"), "2026-01-01T00:00:00Z");
    assert_eq!(object.uid().len(), 36);
    assert!(!object.resource_version().is_empty());
    assert_eq!(local.get("", "configmaps", "default", "settings"), Some(object));
}

#[tokio::test]
async fn a_taken_name_and_a_missing_namespace_are_refused() {
    let local = local().await;
    local.create("", "configmaps", config_map("settings")).await.unwrap();
    let error = local.create("", "configmaps", config_map("settings")).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (409, "configmaps \"settings\" already exists"));
    let mut elsewhere = config_map("settings");
    elsewhere.set(&["metadata", "namespace"], "nowhere");
    let error = local.create("", "configmaps", elsewhere).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (404, "namespaces \"nowhere\" not found"));
}

#[tokio::test]
async fn a_stale_replace_conflicts_and_an_equal_one_changes_nothing() {
    let local = local().await;
    let first = local.create("", "configmaps", config_map("settings")).await.unwrap();
    let same = local.update("", "configmaps", first.clone()).await.unwrap();
    assert_eq!(same.resource_version(), first.resource_version());
    let patch = value!({"data": {"a": "2"}});
    let second = local.patch(TARGET, "", PatchKind::Merge, patch).await.unwrap();
    assert_ne!(second.resource_version(), first.resource_version());
    let error = local.update("", "configmaps", first).await.unwrap_err();
    assert_eq!((error.code, error.reason), (409, "Conflict"));
}

#[tokio::test]
async fn an_object_with_a_finalizer_goes_when_the_finalizer_does() {
    let local = local().await;
    let mut object = config_map("settings");
    object.set(&["metadata", "finalizers"], value!(["example.com/wait"]));
    local.create("", "configmaps", object).await.unwrap();
    local.delete(TARGET, &DeleteOptions::default()).await.unwrap();
    let waiting = local.get("", "configmaps", "default", "settings").unwrap();
    assert_eq!(waiting.meta_str("deletionTimestamp"), "2026-01-01T00:00:00Z");
    let patch = value!({"metadata": {"finalizers": null}});
    local.patch(TARGET, "", PatchKind::Merge, patch).await.unwrap();
    assert_eq!(local.get("", "configmaps", "default", "settings"), None);
}

#[tokio::test]
async fn names_are_generated() {
    let local = local().await;
    let mut object = config_map("");
    object.remove(&["metadata", "name"]);
    object.set(&["metadata", "generateName"], "settings-");
    let object = local.create("", "configmaps", object).await.unwrap();
    assert!(object.name().starts_with("settings-") && object.name().len() == 14, "{}", object.name());
}

#[tokio::test]
async fn a_namespace_waits_for_its_finalizer() {
    let local = local().await;
    let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    local.create("", "namespaces", Object::new(namespace).unwrap()).await.unwrap();
    let target = Target { group: "", resource: "namespaces", namespace: "", name: "shop" };
    local.delete(target, &DeleteOptions::default()).await.unwrap();
    let going = local.get("", "namespaces", "", "shop").unwrap();
    assert_eq!(going.value().str_at(&["status", "phase"]), Some("Terminating"));
    let mut inside = config_map("settings");
    inside.set(&["metadata", "namespace"], "shop");
    let error = local.create("", "configmaps", inside).await.unwrap_err();
    let expected = "configmaps \"settings\" is forbidden: unable to create new content in namespace shop because \
                    it is being terminated";
    assert_eq!(error.message, expected);
    let mut done = going;
    done.set(&["spec", "finalizers"], Value::Seq([].into_iter().collect()));
    local.replace("", "namespaces", done, "finalize").await.unwrap();
    assert_eq!(local.get("", "namespaces", "", "shop"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_the_same_time_never_take_more_than_a_quota_has() {
    let local = local().await;
    let amounts = value!({"count/configmaps": "5"});
    let quota = value!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": amounts},
    });
    let mut quota = local.create("", "resourcequotas", Object::new(quota).unwrap()).await.unwrap();
    quota.set(&["status"], value!({"hard": amounts, "used": {"count/configmaps": "0"}}));
    local.update_status("", "resourcequotas", quota).await.unwrap();
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let local = local.clone();
            tokio::spawn(
                async move { local.create("", "configmaps", config_map(&format!("c{number}"))).await },
            )
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(error) => {
                let why = "is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=5, limited: \
                           count/configmaps=5";
                assert!(error.message.ends_with(why), "{}", error.message);
            }
        }
    }
    let stored = local.list("", "configmaps", Some("default")).len();
    let quota = local.get("", "resourcequotas", "default", "q").unwrap();
    assert_eq!((made, stored), (5, 5));
    assert_eq!(quota.value().str_at(&["status", "used", "count/configmaps"]), Some("5"));
}
