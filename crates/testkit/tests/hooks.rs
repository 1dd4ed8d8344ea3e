//! Hooks and waves: what runs when, what ends it, and what becomes of those that nobody expected.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_cluster::Deletion;
use lynceus_object::{Gvk, Propagation, Value, value};
use lynceus_testkit::fixture::{FINE, annotated, automated, config_map, deployment, job, once, results};
use lynceus_testkit::world::World;

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

/// A command that never ends.
const FOR_EVER: &str = "[\"sleep\", \"infinity\"]";

/// How many waves follow each other; without optimisation five hundred of them take minutes.
const WAVES: usize = if cfg!(debug_assertions) { 100 } else { 500 };

async fn change(world: &World, name: &str, patch: &Value) {
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", name, patch).await;
}

fn message(world: &World) -> String {
    world.application("shop").status.operation_state.unwrap_or_default().message.to_string()
}

fn phase(world: &World) -> String {
    world.application("shop").status.operation_state.unwrap_or_default().phase.to_string()
}

fn has_job(world: &World, name: &str) -> bool {
    world.object("batch", "Job", "default", name).is_some()
}

fn is_running(world: &World, name: &str) -> bool {
    let active = |job: lynceus_object::Object| job.value().int_at(&["status", "active"]) == Some(1);
    world.object("batch", "Job", "default", name).is_some_and(active)
}

async fn settings(world: &World, key: &str, text: &str) {
    let mut map = value!({"apiVersion": "v1", "kind": "ConfigMap"});
    map.set(&["metadata"], value!({"name": "argocd-cmd-params-cm", "namespace": "argocd"}));
    map.set(&["data", key], text);
    world.apply(&lynceus_object::yaml::to_string(&map)).await;
}

#[tokio::test]
async fn a_hook_that_never_ends_is_stopped_when_the_applications_time_is_up() {
    let world = World::new().await;
    let hook = job("hang", "PreSync", FOR_EVER);
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hang.yaml", &hook)]);
    world.deliver("shop", "app", &value!({})).await;
    let mut patch = value!({"operation": {"sync": {}, "retry": {"limit": 2}}});
    patch.set(&["metadata", "annotations", "lynceus.dev/sync-timeout"], "6s");
    change(&world, "shop", &patch).await;
    world.until("the hook", |world| is_running(world, "hang")).await;
    world.until("the end", |world| phase(world) == "Failed").await;
    assert_eq!(
        message(&world),
        "Operation terminated, triggered by the application's lynceus.dev/sync-timeout"
    );
    assert_eq!(results(&world.application("shop")), ["PreSync hang Synced Failed: Terminated"]);
    world.until("the hook's end", |world| !has_job(world, "hang")).await;
    assert!(world.object("", "ConfigMap", "default", "a").is_none());
    world.end().await;
}

#[tokio::test]
async fn a_sync_that_never_ends_is_stopped_when_the_time_for_all_is_up() {
    let world = World::new().await;
    settings(&world, "controller.sync.timeout.seconds", "6").await;
    let stuck = deployment("stuck", 0).replace("    spec:\n", "    spec:\n      nodeSelector: {no: such}\n");
    world.commit(&[("app/stuck.yaml", &stuck), ("app/next.yaml", &deployment("next", 1))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the end", |world| phase(world) == "Failed").await;
    assert_eq!(message(&world), "Operation terminated, triggered by controller sync timeout");
    assert!(world.object("apps", "Deployment", "default", "stuck").is_some(), "what was applied stays");
    assert!(world.object("apps", "Deployment", "default", "next").is_none());
    world.end().await;
}

#[tokio::test]
async fn a_sync_can_be_stopped_in_every_phase() {
    let world = World::new().await;
    for (name, hook) in [("before", "PreSync"), ("during", "Sync"), ("after", "PostSync")] {
        world
            .commit(&[("app/a.yaml", &config_map("a", name)), ("app/hook.yaml", &job(name, hook, FOR_EVER))]);
        match name {
            "before" => world.deliver("shop", "app", &value!({})).await,
            _ => change(&world, "shop", &value!({"metadata": {"annotations": {"try": name}}})).await,
        }
        change(&world, "shop", &value!({"operation": {"sync": {}}})).await;
        world.until("the hook", |world| is_running(world, name)).await;
        let waits = format!("waiting for completion of hook batch/Job/{name}");
        world.until("the wait", |world| message(world) == waits).await;
        let stop = value!({"status": {"operationState": {"phase": "Terminating"}}});
        change(&world, "shop", &stop).await;
        world.until("the end", |world| message(world) == "Operation terminated").await;
        assert_eq!(phase(&world), "Failed");
        world.until("the hook's end", |world| !has_job(world, name)).await;
        let applied = world.object("", "ConfigMap", "default", "a");
        let data = applied.and_then(|map| map.value().str_at(&["data", "key"]).map(str::to_owned));
        let expected = if name == "before" { None } else { Some(name.to_owned()) };
        assert_eq!(data, expected, "{hook}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_hook_that_somebody_else_deletes_ends_the_sync_with_a_clear_word() {
    let world = World::new().await;
    let hook = job("hook", "PreSync", FOR_EVER);
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hook.yaml", &hook)]);
    world.deliver("shop", "app", &once()).await;
    world.until("the hook", |world| is_running(world, "hook")).await;
    world.until("the wait", |world| message(world).starts_with("waiting for completion")).await;
    world
        .patch("batch/v1", "Job", "default", "hook", &value!({"metadata": {"finalizers": Value::Null}}))
        .await;
    world.delete("batch/v1", "Job", "default", "hook").await;
    world.until("the end", |world| phase(world) == "Failed").await;
    let why = "Resource batch/Job/hook is missing, it might have been deleted";
    assert!(message(&world).ends_with(why), "{}", message(&world));
    world.end().await;
}

#[tokio::test]
async fn a_hook_that_loses_its_pods_by_a_deletion_ends_the_sync_with_a_clear_word() {
    let world = World::new().await;
    let hook = job("hook", "PreSync", FOR_EVER);
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hook.yaml", &hook)]);
    world.deliver("shop", "app", &once()).await;
    world.until("the hook", |world| is_running(world, "hook")).await;
    world.until("the wait", |world| message(world).starts_with("waiting for completion")).await;
    let deletion = Deletion { propagation: Propagation::Foreground, ..Deletion::default() };
    let gvk = Gvk::from_manifest("batch/v1", "Job");
    world.hand().delete(&gvk, "default", "hook", &deletion).await.unwrap();
    world.until("the end", |world| phase(world) == "Failed").await;
    world.until("the hook's end", |world| !has_job(world, "hook")).await;
    let lines = results(&world.application("shop"));
    assert!(lines[0].starts_with("PreSync hook Synced Failed: "), "{lines:?}");
    world.end().await;
}

#[tokio::test]
async fn a_stuck_hook_that_somebody_deletes_without_its_pods_ends_the_sync_with_a_clear_word() {
    for kind in ["Job", "Pod"] {
        let world = World::new().await;
        let stuck = "nodeSelector: {no: such}";
        let (version, hook) = match kind {
            "Job" => (
                "batch/v1",
                job("hook", "PreSync", FOR_EVER)
                    .replace("      restartPolicy", &format!("      {stuck}\n      restartPolicy")),
            ),
            _ => (
                "v1",
                format!(
                    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: hook\n  annotations: {{argocd.argoproj.io/hook: \
                     PreSync}}\nspec:\n  {stuck}\n  containers: [{{name: main, image: example/job}}]\n"
                ),
            ),
        };
        world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hook.yaml", &hook)]);
        world.deliver("shop", "app", &once()).await;
        world.until("the wait", |world| message(world).starts_with("waiting for completion")).await;
        world.pass(jiff::SignedDuration::from_secs(5)).await;
        let deletion = Deletion { propagation: Propagation::Background, ..Deletion::default() };
        let gvk = Gvk::from_manifest(version, kind);
        world.hand().delete(&gvk, "default", "hook", &deletion).await.unwrap();
        world.until("the end", |world| phase(world) == "Failed").await;
        let group = if kind == "Job" { "batch" } else { "" };
        world.until("its going", |world| world.object(group, kind, "default", "hook").is_none()).await;
        let expected = "PreSync hook Synced Failed: hook was deleted by somebody else before it was done";
        assert_eq!(results(&world.application("shop")), [expected]);
        world.end().await;
    }
}

#[tokio::test]
async fn a_hook_that_removes_itself_is_seen_to_its_end() {
    let world = World::new().await;
    let hook = job("hook", "PreSync", "[\"true\"]")
        .replace("spec:\n  backoff", "spec:\n  ttlSecondsAfterFinished: 0\n  backoff");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/hook.yaml", &hook)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert!(results(&world.application("shop"))[0].starts_with("PreSync hook Synced Succeeded"));
    world.until("the hook's end", |world| !has_job(world, "hook")).await;
    world.end().await;
}

#[tokio::test]
async fn hooks_go_by_their_policies_and_one_without_a_name_is_made_for_every_sync() {
    let world = World::new().await;
    let named = |name: &str, hook: &str, policy: &str| {
        annotated(&job(name, hook, "[\"true\"]"), "hook-delete-policy", policy)
    };
    let nameless = job("each", "PostSync", "[\"true\"]").replace("  name: each\n", "  generateName: each-\n");
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/gone.yaml", &named("gone", "PreSync", "HookSucceeded")),
        ("app/kept.yaml", &named("kept", "PreSync", "HookFailed")),
        ("app/anew.yaml", &named("anew", "PreSync", "BeforeHookCreation")),
        ("app/each.yaml", &nameless),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.until("the spent hook's end", |world| !has_job(world, "gone")).await;
    assert!(has_job(&world, "kept") && has_job(&world, "anew"));
    let uid = world.object("batch", "Job", "default", "anew").unwrap().uid().to_owned();
    world.commit(&[("app/a.yaml", &config_map("a", "two")), ("app/kept.yaml", "")]);
    world.until("the second sync", |world| world.application("shop").status.history.len() == 2).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_ne!(world.object("batch", "Job", "default", "anew").unwrap().uid(), uid);
    let each = world.objects("batch", "Job").iter().filter(|job| job.name().starts_with("each-")).count();
    assert_eq!(each, 2);
    world.end().await;
}

#[tokio::test]
async fn a_failed_sync_runs_the_hooks_that_are_for_that() {
    let world = World::new().await;
    let failing = annotated(&job("fails", "Sync", "[\"false\"]"), "hook-delete-policy", "HookFailed");
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/fails.yaml", &failing),
        ("app/sorry.yaml", &job("sorry", "SyncFail", "[\"true\"]")),
        ("app/never.yaml", &job("never", "PostSync", "[\"true\"]")),
        ("app/skipped.yaml", &job("skipped", "Skip", "[\"true\"]")),
    ]);
    world.deliver("shop", "app", &once()).await;
    world.until("the end", |world| phase(world) == "Failed").await;
    world.until("the failed hook's end", |world| !has_job(world, "fails")).await;
    assert!(has_job(&world, "sorry") && !has_job(&world, "never") && !has_job(&world, "skipped"));
    let lines = results(&world.application("shop"));
    assert!(lines.iter().any(|line| line.starts_with("SyncFail sorry Synced Succeeded")), "{lines:?}");
    world.end().await;
}

#[tokio::test]
async fn hooks_of_charts_run_by_their_weight() {
    let world = World::new().await;
    let hook = |name: &str, kind: &str, weight: &str| {
        let plain = job(name, "PreSync", "[\"true\"]").replace("    argocd.argoproj.io/hook: PreSync\n", "");
        annotated(&annotated(&plain, "helm.sh/hook", kind), "helm.sh/hook-weight", weight)
    };
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/second.yaml", &hook("second", "pre-install,pre-upgrade", "5")),
        ("app/first.yaml", &hook("first", "pre-install", "-5")),
        ("app/last.yaml", &hook("last", "post-install", "0")),
        ("app/test.yaml", &hook("test", "test", "0")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let names: Vec<String> = results(&world.application("shop"))
        .iter()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(names, ["PreSync first", "PreSync second", "Sync a", "PostSync last"]);
    assert!(!has_job(&world, "test"));
    world.end().await;
}

#[tokio::test]
async fn waves_go_as_far_as_numbers_do_and_what_is_no_number_is_told() {
    let world = World::new().await;
    let wave = |name: &str, wave: &str| annotated(&config_map(name, "one"), "sync-wave", wave);
    world.commit(&[
        ("app/a.yaml", &wave("a", "2147483647")),
        ("app/b.yaml", &wave("b", "-2147483648")),
        ("app/c.yaml", &wave("c", "first")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let names: Vec<String> = results(&world.application("shop"))
        .iter()
        .filter_map(|line| line.split(' ').nth(1).map(str::to_owned))
        .collect();
    assert_eq!(names, ["b", "c", "a"]);
    assert_eq!(
        world.said("shop"),
        "ManifestWarning: annotation argocd.argoproj.io/sync-wave has \"first\", which is no number: the wave is 0 \
         (/ConfigMap/default/c)\n"
    );
    world.end().await;
}

#[tokio::test]
async fn hundreds_of_waves_follow_each_other() {
    let world = World::new().await;
    settings(&world, "controller.sync.wave.delay.seconds", "0").await;
    let mut all = String::new();
    for number in 0..WAVES {
        let map =
            annotated(&config_map(&format!("map-{number:03}"), "one"), "sync-wave", &number.to_string());
        all.push_str(&format!("---\n{map}"));
    }
    world.commit(&[("app/all.yaml", &all)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let lines = results(&world.application("shop"));
    assert_eq!(lines.len(), WAVES);
    assert!(lines.is_sorted(), "they were applied in order");
    world.end().await;
}

#[tokio::test]
async fn a_time_limit_that_is_none_is_told() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let mut patch = value!({});
    patch.set(&["metadata", "annotations", "lynceus.dev/sync-timeout"], "soon");
    change(&world, "shop", &patch).await;
    let told = "ManifestWarning: annotation lynceus.dev/sync-timeout of the Application cannot be followed: unable to \
                parse soon as a duration; write it as 90s, 10m or 1h\n";
    world.until("the warning", |world| world.said("shop") == told).await;
    world.end().await;
}
