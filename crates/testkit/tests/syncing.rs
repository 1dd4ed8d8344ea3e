//! Options and operations: what a sync is told, and what it makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::sync::atomic::{AtomicUsize, Ordering};

use lynceus_object::{Gvk, Object, Value, value};
use lynceus_testkit::fixture::{
    FINE, annotated, automated, automated_with, config_map, deployment, job, once, results,
};
use lynceus_testkit::world::{Trouble, World};

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

async fn change(world: &World, name: &str, patch: &Value) {
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", name, patch).await;
}

/// Asks for a sync and waits for its end.
async fn sync(world: &World, name: &str, sync: Value) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // Two syncs may begin and end within one second; a note tells them apart.
    let note = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
    let operation = value!({"sync": sync, "info": [{"name": "count", "value": note}]});
    change(world, name, &value!({"operation": operation})).await;
    world
        .until("the end of the sync", |world| {
            let application = world.application(name);
            let state = application.status.operation_state.unwrap_or_default();
            let is_ours = state.operation.info.first().is_some_and(|info| info.value == note.as_str());
            let is_over = state.phase.known().is_some_and(|phase| phase.is_completed());
            is_ours && is_over && application.operation.is_none()
        })
        .await;
}

fn message(world: &World, name: &str) -> String {
    world.application(name).status.operation_state.unwrap_or_default().message.to_string()
}

fn phase(world: &World, name: &str) -> String {
    world.application(name).status.operation_state.unwrap_or_default().phase.to_string()
}

fn has(world: &World, name: &str) -> bool {
    world.object("", "ConfigMap", "default", name).is_some()
}

#[tokio::test]
async fn a_sync_that_may_not_share_fails_when_an_object_belongs_to_another_application() {
    let world = World::new().await;
    world.commit(&[("one/a.yaml", &config_map("a", "one")), ("two/a.yaml", &config_map("a", "two"))]);
    world.deliver("one", "one", &automated()).await;
    world.until("the owner", |world| world.state("one") == FINE).await;
    let options = value!({"syncPolicy": {"syncOptions": ["FailOnSharedResource=true"]}});
    world.deliver("two", "two", &options).await;
    world.until("the comparison", |world| world.state("two").starts_with("OutOfSync")).await;
    sync(&world, "two", value!({})).await;
    assert_eq!(phase(&world, "two"), "Failed");
    let said = message(&world, "two");
    assert!(said.starts_with("Shared resource found: ConfigMap/a is part of applications "), "{said}");
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("one"));
    world.end().await;
}

/// Has somebody write to ConfigMap `b` a moment before it is deleted.
async fn pruned_after(patch: Value) -> (World, Option<Object>) {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let (hand, mut left) = (world.hand().clone(), Some(patch));
    world.wire().meddle(move |call| {
        let patch =
            (call.verb == "delete" && call.resource == "configmaps").then(|| left.take()).flatten()?;
        let hand = hand.clone();
        Some(Trouble::After(Box::pin(async move {
            hand.patch_record(&Gvk::new("", "v1", "ConfigMap"), "default", "b", &patch).await.unwrap();
        })))
    });
    world.commit(&[("app/b.yaml", "")]);
    world
        .until("the prune", |world| {
            results(&world.application("shop")).iter().any(|line| line.contains(" b Prune"))
        })
        .await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    let left = world.hand().get(&Gvk::new("", "v1", "ConfigMap"), "default", "b").await.unwrap();
    (world, left)
}

#[tokio::test]
async fn what_another_application_takes_over_in_the_moment_of_the_prune_stays() {
    let theirs = value!({"argocd.argoproj.io/tracking-id": "other:/ConfigMap:default/b"});
    let (world, left) = pruned_after(value!({"metadata": {"annotations": theirs}})).await;
    assert!(left.is_some());
    let lines = results(&world.application("shop"));
    let told = "Sync b PruneSkipped Succeeded: ignored (belongs to another application by now)".to_owned();
    assert!(lines.contains(&told), "{lines:?}");
    world.end().await;
}

#[tokio::test]
async fn what_somebody_changes_in_the_moment_of_the_prune_is_pruned_all_the_same() {
    let (world, left) = pruned_after(value!({"data": {"key": "two"}})).await;
    assert_eq!(left, None);
    assert!(results(&world.application("shop")).contains(&"Sync b Pruned Succeeded: pruned".to_owned()));
    world.end().await;
}

#[tokio::test]
async fn what_asks_for_confirmation_is_pruned_once_somebody_confirms() {
    let world = World::new().await;
    let guarded = annotated(&config_map("b", "one"), "sync-options", "Prune=confirm");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &guarded)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let listed = world.application("shop").status.resources;
    let asks: Vec<bool> = listed.iter().map(|resource| resource.requires_deletion_confirmation).collect();
    assert_eq!(asks, [false, true]);
    world.commit(&[("app/b.yaml", "")]);
    let waits = |world: &World| message(world, "shop") == "waiting for pruning confirmation of /ConfigMap/b";
    world.until("the question", waits).await;
    assert!(has(&world, "b"));
    let approve = |at: &str| {
        let mut patch = value!({});
        patch.set(&["metadata", "annotations", "argocd.argoproj.io/deletion-approved"], at);
        patch
    };
    change(&world, "shop", &approve("2020-01-01T00:00:00Z")).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(has(&world, "b") && waits(&world), "what was approved before it was asked for is not approved");
    change(&world, "shop", &approve("2100-01-01T00:00:00Z")).await;
    world.until("the pruning", |world| !has(world, "b")).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn what_may_not_be_pruned_stays_and_is_told() {
    let world = World::new().await;
    let spared = annotated(&config_map("b", "one"), "sync-options", "Prune=true");
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/b.yaml", &spared),
        ("app/c.yaml", &config_map("c", "one")),
    ]);
    world.deliver("shop", "app", &automated_with(&["Prune=false"])).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/b.yaml", ""), ("app/c.yaml", "")]);
    world.until("the pruning", |world| !has(world, "b")).await;
    world.until("the end", |world| phase(world, "shop") == "Succeeded").await;
    assert!(has(&world, "c"));
    let lines = results(&world.application("shop"));
    assert!(lines.contains(&"Sync c PruneSkipped Succeeded: ignored (no prune)".to_owned()), "{lines:?}");
    world.end().await;
}

#[tokio::test]
async fn pruning_can_come_after_everything_else() {
    let world = World::new().await;
    world.commit(&[("app/old.yaml", &config_map("old", "one"))]);
    world.deliver("shop", "app", &automated_with(&["PruneLast=true"])).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/old.yaml", ""), ("app/web.yaml", &deployment("web", 3))]);
    world.until("the deployment", |world| !world.objects("apps", "Deployment").is_empty()).await;
    world.until("the pruning", |world| !has(world, "old")).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    let written = world.written();
    let at = |what: &str| written.iter().position(|line| line.starts_with(what)).unwrap();
    assert!(at("create deployments") < at("delete configmaps"), "{written:?}");
    world.end().await;
}

#[tokio::test]
async fn only_what_is_out_of_sync_is_applied_when_that_is_asked_for() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated_with(&["ApplyOutOfSyncOnly=true"])).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/b.yaml", &config_map("b", "two"))]);
    world.until("the second sync", |world| world.application("shop").status.history.len() == 2).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(results(&world.application("shop")), ["Sync b Synced Running: configmap/b configured"]);
    world.end().await;
}

#[tokio::test]
async fn an_object_may_ask_to_be_replaced_or_made_anew() {
    let world = World::new().await;
    let uid = |world: &World, name: &str| {
        world.object("", "ConfigMap", "default", name).map(|map| map.uid().to_owned()).unwrap_or_default()
    };
    let replaced = |data: &str| annotated(&config_map("a", data), "sync-options", "Replace=true");
    let anew = |data: &str| annotated(&config_map("b", data), "sync-options", "Force=true,Replace=true");
    world.commit(&[("app/a.yaml", &replaced("one")), ("app/b.yaml", &anew("one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let before = (uid(&world, "a"), uid(&world, "b"));
    world.commit(&[("app/a.yaml", &replaced("two")), ("app/b.yaml", &anew("two"))]);
    world.until("the second sync", |world| world.application("shop").status.history.len() == 2).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(uid(&world, "a"), before.0);
    assert_ne!(uid(&world, "b"), before.1);
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.annotation("kubectl.kubernetes.io/last-applied-configuration"), None);
    world.end().await;
}

#[tokio::test]
async fn fields_of_a_manager_that_is_named_move_over_to_server_side_apply() {
    let world = World::new().await;
    let mut map = value!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "zero", "left": "over"}});
    map.set(&["metadata"], value!({"name": "a", "namespace": "default"}));
    let path = "/api/v1/namespaces/default/configmaps?fieldManager=old-tool";
    assert_eq!(world.ask("POST", path, "application/json", &map).await.0, 201);
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}})).await;
    let mut patch = value!({});
    let annotation = "argocd.argoproj.io/client-side-apply-migration-manager";
    patch.set(&["metadata", "annotations", annotation], "old-tool");
    change(&world, "shop", &patch).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "shop", value!({})).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.at(&["data", "left"]), None, "what the old tool alone had wanted goes");
    let managers: Vec<&str> = map
        .value()
        .items_at(&["metadata", "managedFields"])
        .iter()
        .filter_map(|entry| entry.str_at(&["manager"]))
        .collect();
    assert_eq!(managers, ["argocd-controller"]);
    world.end().await;
}

#[tokio::test]
async fn a_namespace_is_made_and_keeps_the_labels_that_it_is_to_have() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let policy = |team: &str| {
        value!({
            "destination": {"namespace": "own"},
            "syncPolicy": {"automated": {}, "syncOptions": ["CreateNamespace=true"],
                "managedNamespaceMetadata": {"labels": {"team": team}, "annotations": {"note": "ours"}}},
        })
    };
    world.deliver("shop", "app", &policy("red")).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let own = world.object("", "Namespace", "", "own").unwrap();
    assert_eq!((own.label("team"), own.annotation("note")), (Some("red"), Some("ours")));
    world.patch("v1", "Namespace", "", "own", &value!({"metadata": {"labels": {"other": "kept"}}})).await;
    change(&world, "shop", &value!({"spec": policy("blue")})).await;
    sync(&world, "shop", value!({})).await;
    let own = world.object("", "Namespace", "", "own").unwrap();
    assert_eq!((own.label("team"), own.label("other")), (Some("blue"), Some("kept")));
    world.end().await;
}

#[tokio::test]
async fn a_kind_that_comes_later_may_be_left_out_of_the_dry_run() {
    let world = World::new().await;
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec: {}\n";
    let patient = annotated(widget, "sync-options", "SkipDryRunOnMissingResource=true");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/w.yaml", &patient)]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert!(has(&world, "a"), "the rest is applied, because nothing was refused beforehand");
    world.end().await;
}

#[tokio::test]
async fn a_sync_of_some_resources_leaves_the_others_hooks_and_history_alone() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/b.yaml", &config_map("b", "one")),
        ("app/hook.yaml", &job("hook", "PreSync", "[\"true\"]")),
    ]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "shop", value!({"resources": [{"kind": "ConfigMap", "name": "a"}]})).await;
    assert!(has(&world, "a") && !has(&world, "b"));
    assert!(world.object("batch", "Job", "default", "hook").is_none());
    assert!(world.application("shop").status.history.is_empty());
    world.end().await;
}

#[tokio::test]
async fn the_strategy_apply_leaves_hooks_out() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/hook.yaml", &job("hook", "PreSync", "[\"true\"]")),
    ]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "shop", value!({"syncStrategy": {"apply": {}}})).await;
    assert!(has(&world, "a") && world.object("batch", "Job", "default", "hook").is_none());
    assert_eq!(world.application("shop").status.history.len(), 1);
    world.end().await;
}

#[tokio::test]
async fn a_dry_run_tells_what_it_would_do_and_does_nothing() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "shop", value!({"dryRun": true})).await;
    assert_eq!(
        results(&world.application("shop")),
        ["Sync a Synced Succeeded: configmap/a created (dry run)"]
    );
    assert!(!has(&world, "a") && world.application("shop").status.history.is_empty());
    world.end().await;
}

#[tokio::test]
async fn manifests_may_come_with_the_operation() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    let local = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"local\"}}";
    sync(&world, "shop", value!({"manifests": [local]})).await;
    assert!(has(&world, "local") && !has(&world, "a"));
    assert!(world.application("shop").status.history.is_empty());
    world.end().await;
}

#[tokio::test]
async fn a_rollback_leads_to_any_entry_of_the_history() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({"revisionHistoryLimit": 3})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("OutOfSync")).await;
    sync(&world, "shop", value!({})).await;
    for data in ["two", "three", "four"] {
        world.commit(&[("app/a.yaml", &config_map("a", data)), ("app/new.yaml", &config_map("new", data))]);
        sync(&world, "shop", value!({})).await;
    }
    let history = world.application("shop").status.history;
    assert_eq!(history.iter().map(|entry| entry.id).collect::<Vec<_>>(), [1, 2, 3]);
    let target = &history[0];
    let mut back = value!({"prune": true, "syncStrategy": {"apply": {}}});
    back.set(&["revision"], target.revision.clone());
    back.set(&["source"], lynceus_object::typed::from_typed(&target.source).unwrap());
    sync(&world, "shop", back).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("two"));
    let history = world.application("shop").status.history;
    assert_eq!(history.last().map(|entry| (entry.id, &entry.revision)), Some((4, &target.revision)));
    change(&world, "shop", &value!({"spec": {"revisionHistoryLimit": 0}})).await;
    sync(&world, "shop", value!({})).await;
    assert!(world.application("shop").status.history.is_empty());
    world.end().await;
}

#[tokio::test]
async fn a_retry_takes_the_newest_commit_if_it_is_told_to() {
    let world = World::new().await;
    let bad = "apiVersion: v1\nkind: Service\nmetadata:\n  name: bad\nspec:\n  ports: []\n  type: Nonsense\n";
    world.commit(&[("app/a.yaml", bad)]);
    let retry = value!({"limit": -1, "refresh": true, "backoff": {"duration": "2s", "maxDuration": "3s"}});
    let mut policy = value!({"syncPolicy": {"automated": {}}});
    policy.set(&["syncPolicy", "retry"], retry);
    world.deliver("shop", "app", &policy).await;
    let tried = |world: &World| {
        world.application("shop").status.operation_state.is_some_and(|state| state.retry_count >= 2)
    };
    world.until("two retries", tried).await;
    let commit = world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let state = world.application("shop").status.operation_state.unwrap();
    assert!(state.retry_count >= 2, "the same operation went on");
    assert_eq!(state.sync_result.unwrap().revision, commit.to_string());
    world.end().await;
}

#[tokio::test]
async fn automation_can_be_switched_off_and_does_not_wipe_everything_out_by_mistake() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world
        .deliver("shop", "app", &value!({"syncPolicy": {"automated": {"enabled": false, "prune": true}}}))
        .await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    world.pass(jiff::SignedDuration::from_secs(5)).await;
    assert_eq!(world.state("shop"), "OutOfSync Missing");
    change(&world, "shop", &value!({"spec": {"syncPolicy": {"automated": {"enabled": true}}}})).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/a.yaml", ""), ("app/note.txt", "nothing to deliver")]);
    let refused = |world: &World| world.said("shop").contains("auto-sync will wipe out all resources");
    world.until("the refusal", refused).await;
    assert!(has(&world, "a"));
    change(&world, "shop", &value!({"spec": {"syncPolicy": {"automated": {"allowEmpty": true}}}})).await;
    world.until("the pruning", |world| !has(world, "a")).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn an_application_that_is_to_be_skipped_is_left_alone() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let skip = |text: Value| {
        let mut patch = value!({});
        patch.set(&["metadata", "annotations", "argocd.argoproj.io/skip-reconcile"], text);
        patch
    };
    change(&world, "shop", &skip("true".into())).await;
    world.commit(&[("app/b.yaml", &config_map("b", "one"))]);
    world.pass(jiff::SignedDuration::from_secs(10)).await;
    assert!(!has(&world, "b"));
    change(&world, "shop", &skip(Value::Null)).await;
    world.until("the rest", |world| has(world, "b")).await;
    world.end().await;
}

#[tokio::test]
async fn three_thousand_resources_fit_the_store_of_the_cluster() {
    let world = World::new().await;
    let mut all = String::new();
    for number in 0..3_000 {
        let name = format!("map-{number:04}-{}", "n".repeat(54));
        all.push_str(&format!("---\n{}", config_map(&name, "one")));
    }
    world.commit(&[("app/all.yaml", &all)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let application = world.object("argoproj.io", "Application", "argocd", "shop").unwrap();
    let bytes = lynceus_object::json::to_string(application.value()).len();
    assert!(bytes < 1_400_000, "{bytes} bytes");
    assert_eq!(
        world.objects("", "ConfigMap").iter().filter(|map| map.name().starts_with("map-")).count(),
        3_000
    );
    world.end().await;
}

/// Sets what an installation is told.
async fn set(world: &World, map: &str, key: &str, text: &str) {
    let mut object = value!({"apiVersion": "v1", "kind": "ConfigMap"});
    object.set(&["metadata"], value!({"name": map, "namespace": "argocd"}));
    object.set(&["data", key], text);
    world.apply(&lynceus_object::yaml::to_string(&object)).await;
}

/// Each resource of an application with its status: `a Synced`.
fn statuses(world: &World, name: &str) -> Vec<String> {
    let resources = world.application(name).status.resources;
    resources.iter().map(|one| format!("{} {}", one.name, one.status).trim().to_owned()).collect()
}

#[tokio::test]
async fn a_repository_that_is_away_changes_nothing_until_its_time_is_up_or_somebody_asks() {
    let world = World::new().await;
    set(&world, "argocd-cmd-params-cm", "controller.repo.error.grace.period.seconds", "60").await;
    set(&world, "argocd-cm", "timeout.reconciliation", "10s").await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let there = std::path::PathBuf::from(world.repository().trim_start_matches("file://"));
    let away = there.with_extension("away");
    let is_lost = |world: &World| {
        world.said("shop").starts_with("ComparisonError: ") && statuses(world, "shop") == ["a Unknown"]
    };
    std::fs::rename(&there, &away).unwrap();
    // The first look that finds it away comes within the period and its jitter.
    for _ in 0..40 {
        world.pass(jiff::SignedDuration::from_secs(1)).await;
        assert_eq!((world.state("shop").as_str(), world.said("shop").as_str()), (FINE, ""));
    }
    world.until("the end of the grace", is_lost).await;
    std::fs::rename(&away, &there).unwrap();
    world.until("its return", |world| world.state("shop") == FINE && world.said("shop").is_empty()).await;
    assert_eq!(statuses(&world, "shop"), ["a Synced"]);
    std::fs::rename(&there, &away).unwrap();
    let ask = value!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}});
    change(&world, "shop", &ask).await;
    world.until("the answer", is_lost).await;
    std::fs::rename(&away, &there).unwrap();
    world.end().await;
}

#[tokio::test]
async fn events_carry_the_labels_of_the_application_and_its_project_that_are_asked_for() {
    let world = World::new().await;
    world
        .apply(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n  \
             resource.includeEventLabelKeys: team, cost/*\n  resource.excludeEventLabelKeys: cost/secret\n",
        )
        .await;
    let labels = value!({"metadata": {"labels": {"team": "platform", "cost/center": "7", "unasked": "x"}}});
    world.patch(APPLICATION.0, "AppProject", "argocd", "default", &labels).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let labels = value!({"metadata": {"labels": {"team": "shop", "cost/secret": "x", "unasked": "y"}}});
    change(&world, "shop", &labels).await;
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    let is_new = |world: &World| {
        let object = world.object("", "ConfigMap", "default", "a");
        object.is_some_and(|object| object.value().str_at(&["data", "key"]) == Some("two"))
    };
    world.until("the second sync", |world| is_new(world) && world.state("shop") == FINE).await;
    let (_, list) =
        world.ask("GET", "/api/v1/namespaces/argocd/events", "application/json", &Value::Null).await;
    // A real cluster keeps those of applications that were here before.
    let uid = world.application("shop").metadata.uid;
    let of_ends = |event: &&Value| {
        event.str_at(&["reason"]) == Some("OperationCompleted")
            && event.str_at(&["involvedObject", "uid"]) == Some(uid.as_str())
    };
    let labels = |event: &Value| event.at(&["metadata", "labels"]).map(lynceus_object::json::to_string);
    let told: Vec<Option<String>> =
        list.at(&["items"]).and_then(Value::as_seq).unwrap().iter().filter(of_ends).map(labels).collect();
    let expect = [r#"{"cost/center":"7","team":"platform"}"#, r#"{"cost/center":"7","team":"shop"}"#];
    assert_eq!(told, expect.map(|text| Some(text.to_owned())));
    world.end().await;
}

#[tokio::test]
async fn kinds_that_the_project_does_not_permit_are_unknown() {
    let world = World::new().await;
    let spec = value!({"spec": {"namespaceResourceBlacklist": [{"group": "", "kind": "ConfigMap"}]}});
    world.patch(APPLICATION.0, "AppProject", "argocd", "default", &spec).await;
    let secret = lynceus_testkit::fixture::secret("s");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/s.yaml", &secret)]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    assert_eq!(statuses(&world, "shop"), ["a Unknown", "s OutOfSync"]);
    world.end().await;
}

#[tokio::test]
async fn what_is_skipped_has_no_status() {
    let world = World::new().await;
    let skipped = annotated(&config_map("b", "one"), "hook", "Skip");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &skipped)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(statuses(&world, "shop"), ["a Synced", "b"]);
    assert!(!has(&world, "b"));
    world.end().await;
}

#[tokio::test]
async fn whether_waves_wait_for_child_applications_is_a_setting() {
    let world = World::new().await;
    set(&world, "argocd-cm", "lynceus.sync.waitForApplications", "true").await;
    let child = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: child\n  namespace: argocd\nspec:\n  \
         project: default\n  source: {{repoURL: '{}', path: child, targetRevision: main}}\n  destination: {{server: \
         'https://kubernetes.default.svc', namespace: default}}\n",
        world.repository()
    );
    let next = annotated(&config_map("next", "one"), "sync-wave", "1");
    world.commit(&[
        ("parent/child.yaml", &child),
        ("parent/next.yaml", &next),
        ("child/a.yaml", &config_map("a", "one")),
    ]);
    world.deliver("parent", "parent", &once()).await;
    let waits = "waiting for healthy state of argoproj.io/Application/child";
    world.until("the wait", |world| message(world, "parent") == waits).await;
    world.pass(jiff::SignedDuration::from_secs(10)).await;
    assert!(!has(&world, "next"));
    set(&world, "argocd-cm", "lynceus.sync.waitForApplications", "false").await;
    world.until("the next wave", |world| has(world, "next")).await;
    world.end().await;
}

#[tokio::test]
async fn whether_one_kind_that_cannot_be_read_makes_all_unknown_is_a_setting() {
    let world = World::new().await;
    world.wire().meddle(|call| call.reads("secrets").then_some(Trouble::Code(403)));
    // Whoever watches already goes on to hear of them.
    world.wire().cut_watches();
    let secret = lynceus_testkit::fixture::secret("s");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/s.yaml", &secret)]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop").starts_with("Unknown")).await;
    assert_eq!(statuses(&world, "shop")[0], "a OutOfSync");
    set(&world, "argocd-cm", "lynceus.compare.unreadableKindsStopAll", "true").await;
    world.until("the setting", |world| statuses(world, "shop") == ["a Unknown", "s Unknown"]).await;
    world.wire().mend();
    world.until("recovery", |world| statuses(world, "shop") == ["a OutOfSync", "s OutOfSync"]).await;
    world.end().await;
}
