//! Things that go: namespaces, owners, and what holds on to life.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated, automated_with, config_map, deployment};
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
    let finalizers = value!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    world.patch(APPLICATION.0, APPLICATION.1, "argocd", name, &finalizers).await;
    world.delete(APPLICATION.0, APPLICATION.1, "argocd", name).await;
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
    world.pass(jiff::SignedDuration::from_secs(3)).await;
    assert_eq!(world.objects("argoproj.io", "Application").len(), 1);
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
