//! From a commit to a cluster, and back: the whole path on the embedded Kubernetes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_object::value;
use lynceus_testkit::fixture::{FINE, automated, config_map, deployment, job};
use lynceus_testkit::world::World;

#[tokio::test]
async fn a_commit_arrives_and_the_next_one_too() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    assert_eq!(world.objects("", "Pod").len(), 2);
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    let arrived = |world: &World| {
        world
            .object("", "ConfigMap", "default", "a")
            .is_some_and(|map| map.value().str_at(&["data", "key"]) == Some("two"))
    };
    world.until("the second commit", arrived).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(world.application("shop").status.history.len(), 2);
    world.end().await;
}

#[tokio::test]
async fn an_application_that_is_not_automated_says_that_it_is_out_of_sync() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    let operation = value!({"operation": {"sync": {}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &operation).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let state = world.application("shop").status.operation_state.unwrap();
    assert_eq!(state.message, "successfully synced (all tasks run)");
    assert_eq!(state.sync_result.unwrap().resources[0].message, "configmap/a created");
    world.end().await;
}

#[tokio::test]
async fn drift_is_healed_and_what_is_removed_from_git_is_pruned() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    world.delete("v1", "ConfigMap", "default", "a").await;
    world.until("the deletion", |world| world.object("", "ConfigMap", "default", "a").is_none()).await;
    world.until("the healing", |world| world.object("", "ConfigMap", "default", "a").is_some()).await;
    world.commit(&[("app/b.yaml", "")]);
    world.until("the pruning", |world| world.object("", "ConfigMap", "default", "b").is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn waves_wait_for_each_other_and_the_wait_says_for_what() {
    let world = World::new().await;
    world.commit(&[
        ("app/first.yaml", &deployment("first", -1)),
        ("app/second.yaml", &deployment("second", 1)),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world
        .until("a wait", |world| {
            let state = world.application("shop").status.operation_state;
            state.is_some_and(|state| state.message == "waiting for healthy state of apps/Deployment/first")
        })
        .await;
    assert!(world.object("apps", "Deployment", "default", "second").is_none());
    let mark = lynceus_engine::WaitMark::of(&world.application("shop")).unwrap();
    assert_eq!(mark.for_[0].text, "it waits for healthy state of apps/Deployment/default/first");
    world.until("both waves", |world| world.state("shop") == FINE).await;
    assert!(lynceus_engine::WaitMark::of(&world.application("shop")).is_none());
    world.end().await;
}

#[tokio::test]
async fn a_failing_hook_before_the_sync_stops_it_with_its_reason() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/migrate.yaml", &job("migrate", "PreSync", "[\"sh\", \"-c\", \"exit 3\"]")),
    ]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})).await;
    world.until("the failure", |world| world.state("shop") == "OutOfSync Missing Failed").await;
    assert!(world.object("", "ConfigMap", "default", "a").is_none());
    let state = world.application("shop").status.operation_state.unwrap();
    assert!(
        state.message.starts_with("one or more synchronization tasks completed unsuccessfully"),
        "{}",
        state.message
    );
    let hook =
        state.sync_result.unwrap().resources.into_iter().find(|result| result.name == "migrate").unwrap();
    assert_eq!(hook.hook_phase.as_str(), "Failed");
    assert!(!hook.message.is_empty());
    world.end().await;
}

#[tokio::test]
async fn hooks_run_in_their_phases_and_go_when_they_are_told_to() {
    let world = World::new().await;
    let smoke = job("smoke", "PostSync", "[\"true\"]").replace(
        "hook: PostSync",
        "hook: PostSync\n    argocd.argoproj.io/hook-delete-policy: HookSucceeded",
    );
    world.commit(&[
        ("app/migrate.yaml", &job("migrate", "PreSync", "[\"true\"]")),
        ("app/web.yaml", &deployment("web", 0)),
        ("app/smoke.yaml", &smoke),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let results = world.application("shop").status.operation_state.unwrap().sync_result.unwrap().resources;
    let lines: Vec<String> = results
        .iter()
        .map(|result| format!("{} {} {}", result.sync_phase, result.name, result.hook_phase))
        .collect();
    assert_eq!(lines, ["PreSync migrate Succeeded", "Sync web Succeeded", "PostSync smoke Succeeded"]);
    world.until("the hook's end", |world| world.object("batch", "Job", "default", "smoke").is_none()).await;
    assert!(world.object("batch", "Job", "default", "migrate").is_some());
    world.end().await;
}

#[tokio::test]
async fn a_sync_that_is_killed_is_finished_by_the_next_engine_and_no_hook_runs_twice() {
    let mut world = World::new().await;
    world.commit(&[
        ("app/migrate.yaml", &job("migrate", "PreSync", "[\"true\"]")),
        ("app/first.yaml", &deployment("first", 0)),
        ("app/second.yaml", &deployment("second", 1)),
    ]);
    world.deliver("shop", "app", &automated()).await;
    // Whoever is killed before the result is told leaves it to the next one, who finds the object unchanged.
    let first = |world: &World| {
        let result = world.application("shop").status.operation_state.and_then(|state| state.sync_result);
        result.is_some_and(|result| result.resources.iter().any(|resource| resource.name == "first"))
    };
    world.until("the middle of the sync", first).await;
    let hook = world.object("batch", "Job", "default", "migrate").unwrap().uid().to_owned();
    world.start_engine();
    world.until("the end of the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(world.object("batch", "Job", "default", "migrate").unwrap().uid(), hook);
    assert!(world.object("apps", "Deployment", "default", "second").is_some());
    assert_eq!(world.application("shop").status.history.len(), 1);
    world.end().await;
}

#[tokio::test]
async fn a_broken_file_stops_its_own_application_only() {
    let world = World::new().await;
    world.commit(&[
        ("bad/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n"),
        ("bad/b.yaml", &config_map("b", "one")),
        ("good/c.yaml", &config_map("c", "one")),
    ]);
    world.deliver("bad", "bad", &automated()).await;
    world.deliver("good", "good", &automated()).await;
    world.until("the good one", |world| world.state("good") == FINE).await;
    world
        .until("the bad one", |world| world.application("bad").status.sync.status.as_str() == "Unknown")
        .await;
    let condition = world.application("bad").status.conditions.into_iter().next().unwrap();
    assert_eq!(condition.type_.as_str(), "ComparisonError");
    assert!(condition.message.contains("bad/a.yaml:4"), "{}", condition.message);
    assert!(world.object("", "ConfigMap", "default", "b").is_none());
    world.end().await;
}

#[tokio::test]
async fn a_missing_path_and_a_missing_branch_are_different_errors() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("path", "nowhere", &automated()).await;
    world.deliver("branch", "app", &value!({"source": {"targetRevision": "gone"}})).await;
    let said = |world: &World, name: &str| {
        world.application(name).status.conditions.first().map(|condition| condition.message.to_string())
    };
    world
        .until("both errors", |world| said(world, "path").is_some() && said(world, "branch").is_some())
        .await;
    assert!(said(&world, "path").unwrap().contains("nowhere"));
    assert!(said(&world, "branch").unwrap().contains("gone"));
    world.end().await;
}

#[tokio::test]
async fn a_deleted_application_takes_its_objects_along() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    let finalizers = value!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &finalizers).await;
    world.delete("argoproj.io/v1alpha1", "Application", "argocd", "shop").await;
    world.until("the end", |world| world.objects("argoproj.io", "Application").is_empty()).await;
    assert!(world.object("", "ConfigMap", "default", "a").is_none());
    world.end().await;
}

#[tokio::test]
async fn an_app_of_apps_delivers_its_children_in_waves() {
    let world = World::new().await;
    let child = |name: &str, wave: i32| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: argocd\n  \
             annotations:\n    argocd.argoproj.io/sync-wave: \"{wave}\"\nspec:\n  project: default\n  source:\n    repoURL: {}\n    \
             path: {name}\n    targetRevision: main\n  destination:\n    server: https://kubernetes.default.svc\n    \
             namespace: default\n  syncPolicy:\n    automated: {{}}\n",
            world.repository()
        )
    };
    world.commit(&[
        ("apps/one.yaml", &child("one", 0)),
        ("apps/two.yaml", &child("two", 1)),
        ("one/web.yaml", &deployment("one", 0)),
        ("two/web.yaml", &deployment("two", 0)),
    ]);
    world.deliver("root", "apps", &automated()).await;
    world.until("the first child", |world| world.state("one") == FINE).await;
    world.until("everything", |world| world.state("root") == FINE && world.state("two") == FINE).await;
    assert!(world.application("root").status.summary.is_app_of_apps);
    world.end().await;
}

#[tokio::test]
async fn a_failed_sync_is_tried_again_as_often_as_it_says() {
    let world = World::new().await;
    world.commit(&[(
        "app/bad.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: bad\nspec:\n  ports: []\n  type: Nonsense\n",
    )]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 2}}})).await;
    let over = |world: &World| {
        let state = world.application("shop").status.operation_state;
        state.is_some_and(|state| state.phase.as_str() == "Failed" && state.retry_count == 2)
    };
    world.until("three attempts", over).await;
    let message = world.application("shop").status.operation_state.unwrap().message;
    assert!(message.ends_with("(retried 2 times)."), "{message}");
    world.pass(SignedDuration::from_secs(300)).await;
    assert!(over(&world), "a commit that failed is not tried again");
    world.end().await;
}

#[tokio::test]
async fn an_application_may_bring_the_namespace_of_its_own_objects() {
    let world = World::new().await;
    let there = config_map("there", "one").replace("  name: there", "  name: there\n  namespace: own");
    world.commit(&[
        ("app/a.yaml", &there),
        ("app/b.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: own\n"),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert!(world.object("", "ConfigMap", "own", "there").is_some());
    world.end().await;
}

#[tokio::test]
async fn what_is_valid_is_applied_beside_what_is_refused() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        (
            "app/bad.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: bad\nspec:\n  ports: [{port: 80}]\n  type: Nonsense\n",
        ),
    ]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})).await;
    let failed = |world: &World| world.state("shop").ends_with("Failed");
    world.until("the failure", failed).await;
    assert!(world.object("", "ConfigMap", "default", "a").is_some());
    let state = world.application("shop").status.operation_state.unwrap();
    let lines: Vec<String> = state
        .sync_result
        .unwrap()
        .resources
        .iter()
        .map(|result| format!("{} {}: {}", result.name, result.status, result.message))
        .collect();
    assert_eq!(
        lines,
        [
            "a Synced: configmap/a created",
            "bad SyncFailed: Service \"bad\" is invalid: spec.type: Unsupported value: \"Nonsense\": supported values: \
             \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\""
        ]
    );
    let reason =
        "one or more synchronization tasks completed unsuccessfully, reason: Service \"bad\" is invalid";
    assert!(state.message.starts_with(reason), "{}", state.message);
    world.end().await;
}

#[tokio::test]
async fn a_binding_that_is_moved_to_another_role_is_made_anew() {
    let world = World::new().await;
    let binding = |role: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: staff}}\nroleRef:\n  apiGroup: \
             rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: {role}\nsubjects:\n- apiGroup: \
             rbac.authorization.k8s.io\n  kind: Group\n  name: staff\n"
        )
    };
    world.commit(&[("app/a.yaml", &binding("view"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the binding", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/a.yaml", &binding("edit"))]);
    let moved = |world: &World| {
        let found = world.object("rbac.authorization.k8s.io", "RoleBinding", "default", "staff");
        found.is_some_and(|binding| binding.value().str_at(&["roleRef", "name"]) == Some("edit"))
    };
    world.until("the other role", moved).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn clients_that_wait_for_a_look_after_an_operation_see_one() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.pass(SignedDuration::from_secs(5)).await;
    let operation = value!({"operation": {"sync": {}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &operation).await;
    let seen = |world: &World| {
        let status = world.application("shop").status;
        let finished = status.operation_state.as_ref().and_then(|state| state.finished_at);
        status.history.len() == 2 && finished.is_some() && status.reconciled_at >= finished
    };
    world.until("a look after the second sync", seen).await;
    world.end().await;
}
