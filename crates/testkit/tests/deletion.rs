//! Things that go: namespaces, owners, and what holds on to life.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, annotated, automated, automated_with, config_map, deployment, job};
use lynceus_testkit::world::World;

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

fn held(name: &str) -> String {
    config_map(name, "one")
        .replace(&format!("  name: {name}\n"), &format!("  name: {name}\n  finalizers: [example.com/hold]\n"))
}

fn is_deleting(world: &World, name: &str) -> bool {
    world.object("", "ConfigMap", "default", name).is_some_and(|map| map.is_deleting())
}

async fn release(world: &World, name: &str) {
    let free = value!({"metadata": {"finalizers": Value::Null}});
    world.patch("v1", "ConfigMap", "default", name, &free).await;
}

async fn delete_with_its_objects(world: &World, name: &str) {
    delete_by(world, name, "resources-finalizer.argocd.argoproj.io").await;
}

/// Deletes an application with a finalizer beside those that it has.
async fn delete_by(world: &World, name: &str, finalizer: &str) {
    let mut finalizers: Vec<String> =
        world.application(name).metadata.finalizers.iter().map(ToString::to_string).collect();
    finalizers.push(finalizer.to_owned());
    let patch = value!({"metadata": {"finalizers": finalizers}});
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", name, &patch).await;
    world.delete(APPLICATION.0, APPLICATION.1, "argocd", name).await;
}

fn is_gone(world: &World) -> bool {
    world.objects("argoproj.io", "Application").is_empty()
}

fn has(world: &World, name: &str) -> bool {
    world.object("", "ConfigMap", "default", name).is_some()
}

fn has_job(world: &World, name: &str) -> bool {
    world.object("batch", "Job", "default", name).is_some()
}

/// What the deletion of an application waits for.
fn waits(world: &World, name: &str) -> String {
    let mark = lynceus_engine::WaitMark::of(&world.application(name));
    let told = |reason: &lynceus_api::Reason| reason.text.replace("it waits for ", "").to_string();
    mark.map(|mark| mark.for_.iter().map(told).collect::<Vec<_>>().join("; ")).unwrap_or_default()
}

#[tokio::test]
async fn a_namespace_that_goes_takes_everything_along_and_is_made_again() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/web.yaml", &deployment("web", 0))]);
    let policy = value!({
        "destination": {"namespace": "own"},
        "syncPolicy": {"automated": {"selfHeal": true}, "syncOptions": ["CreateNamespace=true"],
            "retry": {"limit": 20, "backoff": {"duration": "1s", "maxDuration": "2s"}}},
    });
    world.deliver("shop", "app", &policy).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let uid = |world: &World| {
        world.object("", "Namespace", "", "own").map(|own| own.uid().to_owned()).unwrap_or_default()
    };
    let first = uid(&world);
    world.delete("v1", "Namespace", "", "own").await;
    world.until("another namespace", |world| !uid(world).is_empty() && uid(world) != first).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert!(world.object("", "ConfigMap", "own", "a").is_some());
    world.end().await;
}

#[tokio::test]
async fn a_pruned_object_that_is_held_is_waited_for() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &held("b"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/b.yaml", "")]);
    world.until("the pruning", |world| is_deleting(world, "b")).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(is_deleting(&world, "b"));
    release(&world, "b").await;
    world.until("the end", |world| world.object("", "ConfigMap", "default", "b").is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn an_application_waits_for_an_object_that_is_held() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &held("b"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    delete_with_its_objects(&world, "shop").await;
    world.until("the free one's end", |world| world.object("", "ConfigMap", "default", "a").is_none()).await;
    world.until("the held one's beginning", |world| is_deleting(world, "b")).await;
    let told = "deletion of /ConfigMap/default/b, held by example.com/hold";
    world.until("what it waits for", |world| waits(world, "shop") == told).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert_eq!(world.objects("argoproj.io", "Application").len(), 1);
    assert_eq!(world.said("shop"), "", "to wait is no error");
    release(&world, "b").await;
    world.until("the end", |world| world.objects("argoproj.io", "Application").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn an_object_that_is_deleted_and_held_is_made_again_once_it_is_gone() {
    let world = World::new().await;
    world.commit(&[("app/b.yaml", &held("b"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let uid = |world: &World| {
        world.object("", "ConfigMap", "default", "b").map(|map| map.uid().to_owned()).unwrap_or_default()
    };
    let first = uid(&world);
    world.delete("v1", "ConfigMap", "default", "b").await;
    world.until("the deletion", |world| is_deleting(world, "b")).await;
    release(&world, "b").await;
    world.until("another", |world| !uid(world).is_empty() && uid(world) != first).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn an_application_takes_what_its_objects_own_along() {
    let world = World::new().await;
    world.commit(&[("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(world.objects("", "Pod").len(), 2);
    delete_with_its_objects(&world, "shop").await;
    world.until("the end", |world| world.objects("argoproj.io", "Application").is_empty()).await;
    world
        .until("the end of what it owned", |world| {
            world.objects("apps", "ReplicaSet").is_empty() && world.objects("", "Pod").is_empty()
        })
        .await;
    world.end().await;
}

#[tokio::test]
async fn what_is_pruned_can_leave_its_dependents_behind() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &automated_with(&["PrunePropagationPolicy=orphan"])).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/web.yaml", "")]);
    world.until("the pruning", |world| world.objects("apps", "Deployment").is_empty()).await;
    let orphan = |world: &World| {
        let sets = world.objects("apps", "ReplicaSet");
        sets.len() == 1 && sets.iter().all(|set| set.owners().next().is_none() && !set.is_deleting())
    };
    world.until("the orphan", orphan).await;
    assert_eq!(world.objects("", "Pod").len(), 2);
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_schedule_owns_its_jobs_and_their_pods() {
    let world = World::new().await;
    let schedule = "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: \"0 0 1 1 *\"\n  \
         suspend: true\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          \
         - name: main\n            image: example/report:1\n";
    world.commit(&[("app/report.yaml", schedule)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.application("shop").status.sync.status.as_str() == "Synced").await;
    let owner = world.object("batch", "CronJob", "default", "report").unwrap();
    // As kubectl does it to run a schedule at once.
    world
        .apply(&format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: report-now\n  namespace: default\n  annotations: \
             {{cronjob.kubernetes.io/instantiate: manual}}\n  ownerReferences:\n  - {{apiVersion: batch/v1, kind: CronJob, \
             name: report, uid: {}, controller: true}}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      \
             - {{name: main, image: \"example/report:1\"}}\n",
            owner.uid()
        ))
        .await;
    let done = |world: &World| {
        world
            .objects("", "Pod")
            .iter()
            .any(|pod| pod.value().str_at(&["status", "phase"]) == Some("Succeeded"))
    };
    world.until("the pod", done).await;
    delete_with_its_objects(&world, "shop").await;
    world.until("the end", |world| world.objects("argoproj.io", "Application").is_empty()).await;
    world
        .until("the end of what it owned", |world| {
            world.objects("batch", "Job").is_empty() && world.objects("", "Pod").is_empty()
        })
        .await;
    world.end().await;
}

#[tokio::test]
async fn an_owner_without_a_namespace_takes_objects_in_one_along() {
    let world = World::new().await;
    world.commit(&[(
        "app/role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: owner}\nrules: []\n",
    )]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let owner = world.object("rbac.authorization.k8s.io", "ClusterRole", "", "owner").unwrap();
    world
        .apply(&format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: owned\n  namespace: default\n  ownerReferences:\n  - \
             {{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: owner, uid: {}}}\n",
            owner.uid()
        ))
        .await;
    world.until("the owned", |world| world.object("", "ConfigMap", "default", "owned").is_some()).await;
    delete_with_its_objects(&world, "shop").await;
    world.until("the end", |world| world.object("", "ConfigMap", "default", "owned").is_none()).await;
    world
        .until("the application's end", |world| world.objects("argoproj.io", "Application").is_empty())
        .await;
    world.end().await;
}

#[tokio::test]
async fn hooks_run_before_and_after_an_application_goes_and_are_cleaned_up() {
    let world = World::new().await;
    let bye = annotated(&job("bye", "PostDelete", "[\"true\"]"), "hook-delete-policy", "HookSucceeded");
    let helm = job("helm", "PreSync", "[\"true\"]")
        .replace("argocd.argoproj.io/hook: PreSync", "helm.sh/hook: pre-delete");
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/backup.yaml", &job("backup", "PreDelete", "[\"true\"]")),
        ("app/helm.yaml", &helm),
        ("app/bye.yaml", &bye),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert!(world.objects("batch", "Job").is_empty(), "they are no part of a sync");
    let finalizers = world.application("shop").metadata.finalizers;
    assert_eq!(
        finalizers,
        [
            "pre-delete-finalizer.argocd.argoproj.io",
            "pre-delete-finalizer.argocd.argoproj.io/cleanup",
            "post-delete-finalizer.argocd.argoproj.io",
            "post-delete-finalizer.argocd.argoproj.io/cleanup",
        ]
    );
    delete_with_its_objects(&world, "shop").await;
    world.until("the end", is_gone).await;
    assert!(world.objects("batch", "Job").is_empty() && !has(&world, "a"));
    let written = world.written();
    let at = |what: &str| {
        written.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what}: {written:?}"))
    };
    assert!(at("create jobs.batch default/backup") < at("delete configmaps default/a"), "{written:?}");
    assert!(at("create jobs.batch default/helm") < at("delete configmaps default/a"), "{written:?}");
    assert!(at("delete configmaps default/a") < at("create jobs.batch default/bye"), "{written:?}");
    world.end().await;
}

#[tokio::test]
async fn a_hook_that_leaves_git_no_longer_holds_its_application() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/backup.yaml", &job("backup", "PreDelete", "[\"true\"]")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the finalizers", |world| world.application("shop").metadata.finalizers.len() == 2).await;
    world.commit(&[("app/backup.yaml", "")]);
    world.until("none", |world| world.application("shop").metadata.finalizers.is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_hook_that_fails_before_a_deletion_blocks_it_until_it_is_mended() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/backup.yaml", &job("backup", "PreDelete", "[\"false\"]")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    delete_with_its_objects(&world, "shop").await;
    let why = "DeletionError: error executing pre-delete hooks: PreDelete hook(s) failed: default/backup";
    world.until("the failure", |world| world.said("shop").starts_with(why)).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(has(&world, "a") && has_job(&world, "backup"), "nothing goes, and the hook can be looked at");
    world.commit(&[("app/backup.yaml", &job("backup", "PreDelete", "[\"true\"]"))]);
    world.until("the end", is_gone).await;
    assert!(!has(&world, "a"));
    world.end().await;
}

#[tokio::test]
async fn hooks_run_around_a_deletion_that_leaves_the_objects_behind() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/backup.yaml", &job("backup", "PreDelete", "[\"true\"]")),
        ("app/bye.yaml", &job("bye", "PostDelete", "[\"true\"]")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.delete(APPLICATION.0, APPLICATION.1, "argocd", "shop").await;
    world.until("the end", is_gone).await;
    assert!(has(&world, "a"), "it did not ask for its objects to go");
    assert!(has_job(&world, "backup") && has_job(&world, "bye"), "no policy deletes them");
    world.end().await;
}

#[tokio::test]
async fn nothing_of_an_application_goes_before_it_is_confirmed() {
    let world = World::new().await;
    let guarded = annotated(&config_map("b", "one"), "sync-options", "Delete=confirm");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &guarded)]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    delete_with_its_objects(&world, "shop").await;
    let told = "deletion confirmation of /ConfigMap/default/b";
    world.until("the question", |world| waits(world, "shop") == told).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(has(&world, "a") && has(&world, "b"));
    let mut patch = value!({});
    let approved = "argocd.argoproj.io/deletion-approved";
    patch.set(&["metadata", "annotations", approved], "2100-01-01T00:00:00Z");
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", "shop", &patch).await;
    world.until("the end", is_gone).await;
    assert!(!has(&world, "a") && !has(&world, "b"));
    world.end().await;
}

#[tokio::test]
async fn objects_go_wave_by_wave_the_last_first() {
    let world = World::new().await;
    let wave = |manifest: &str, wave: &str| annotated(manifest, "sync-wave", wave);
    world.commit(&[
        ("app/a.yaml", &wave(&config_map("a", "one"), "-1")),
        ("app/b.yaml", &wave(&held("b"), "3")),
        ("app/c.yaml", &config_map("c", "one")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    delete_with_its_objects(&world, "shop").await;
    world.until("the last wave", |world| is_deleting(world, "b")).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(has(&world, "a") && has(&world, "c"), "the waves before wait for it");
    release(&world, "b").await;
    world.until("the end", is_gone).await;
    let written = world.written();
    let deleted: Vec<&str> =
        written.iter().filter_map(|line| line.strip_prefix("delete configmaps default/")).collect();
    assert_eq!(deleted, ["b", "c", "a"]);
    world.end().await;
}

#[tokio::test]
async fn what_is_asked_to_stay_stays_when_its_application_goes() {
    let world = World::new().await;
    let stays = annotated(&config_map("own", "one"), "sync-options", "Delete=false");
    let kept = annotated(&config_map("helm", "one"), "helm.sh/resource-policy", "keep");
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/own.yaml", &stays),
        ("app/helm.yaml", &kept),
        ("all/all.yaml", &config_map("all", "one")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.deliver("whole", "all", &automated_with(&["Delete=false"])).await;
    world.until("both", |world| world.state("shop") == FINE && world.state("whole") == FINE).await;
    delete_by(&world, "shop", "resources-finalizer.argocd.argoproj.io/background").await;
    delete_by(&world, "whole", "resources-finalizer.argocd.argoproj.io/foreground").await;
    world.until("the end", is_gone).await;
    assert!(!has(&world, "a"));
    assert!(has(&world, "own") && has(&world, "helm") && has(&world, "all"));
    world.end().await;
}

#[tokio::test]
async fn an_application_without_the_finalizer_leaves_its_objects_behind() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.delete(APPLICATION.0, APPLICATION.1, "argocd", "shop").await;
    world.until("the end", is_gone).await;
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert!(has(&world, "a"));
    world.end().await;
}
