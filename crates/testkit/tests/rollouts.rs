//! How workloads change and go: what is made, replaced and left behind, and in which words that is told.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_object::{Value, value};
use lynceus_testkit::world::World;

const JSON: &str = "application/json";
/// How often a cluster is asked for something before it is given up.
const PATIENCE: usize = 300;

async fn list(world: &World, path: &str) -> Vec<Value> {
    let (_, answer) = world.ask("GET", path, JSON, &Value::Null).await;
    answer.items_at(&["items"]).to_vec()
}

async fn one(world: &World, kind: &str, name: &str) -> Value {
    world.ask("GET", &format!("/apis/{kind}/{name}"), JSON, &Value::Null).await.1
}

/// Waits until something that is asked for is so; gives it.
async fn until(world: &World, path: &str, what: &str, tell: impl Fn(&[Value]) -> String) -> Vec<Value> {
    let mut told = String::new();
    for _ in 0..PATIENCE {
        let found = list(world, path).await;
        told = tell(&found);
        if told == what {
            return found;
        }
        world.pass(SignedDuration::from_millis(200)).await;
    }

    panic!("it is never\n{what}\nbut\n{told}");
}

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn name(object: &Value) -> String {
    object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned()
}

fn count(object: &Value, field: &str) -> i64 {
    object.int_at(&["status", field]).unwrap_or(0)
}

/// ReplicaSets by revision: `1: 0 of 0, 2: 3 of 3`.
fn revisions(sets: &[Value]) -> String {
    let revision = |set: &Value| {
        let key = ["metadata", "annotations", "deployment.kubernetes.io/revision"];
        set.str_at(&key).unwrap_or_default().to_owned()
    };
    let mut told: Vec<String> = sets
        .iter()
        .map(|set| {
            let wanted = set.int_at(&["spec", "replicas"]).unwrap_or(0);
            format!("{}: {} of {wanted}", revision(set), count(set, "readyReplicas"))
        })
        .collect();
    told.sort();
    told.join(", ")
}

/// The events about an object of this scenario, in order of their words.
async fn events(world: &World, uid: &str) -> Vec<String> {
    let path = format!("/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid={uid}");
    let text = |event: &Value, field: &str| event.str_at(&[field]).unwrap_or_default().to_owned();
    let mut told: Vec<String> = list(world, &path)
        .await
        .iter()
        .map(|event| format!("{}: {}", text(event, "reason"), text(event, "message")))
        .collect();
    told.sort();
    told
}

async fn image(world: &World, kind: &str, name: &str, image: &str) {
    let patch = value!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}});
    world.patch("apps/v1", kind, "default", name, &patch).await;
}

fn deployment(more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: default}}\nspec:\n  replicas: 3\n  \
         selector: {{matchLabels: {{app: web}}}}\n{more}  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      \
         containers: [{{name: main, image: 'example/web:1'}}]\n"
    )
}

#[tokio::test]
async fn a_rolling_update_goes_one_by_one_and_keeps_the_revision_before() {
    let world = World::new().await;
    let careful = "  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n";
    world.apply(&deployment(careful)).await;
    let first = until(&world, SETS, "1: 3 of 3", revisions).await;
    image(&world, "Deployment", "web", "example/web:2").await;
    let both = until(&world, SETS, "1: 0 of 0, 2: 3 of 3", revisions).await;
    let old = name(&first[0]);
    let new = both.iter().map(name).find(|name| *name != old).unwrap();
    let web = one(&world, "apps/v1/namespaces/default/deployments", "web").await;
    let told = events(&world, web.str_at(&["metadata", "uid"]).unwrap()).await;
    let mut wanted = [
        format!("ScalingReplicaSet: Scaled down replica set {old} from 1 to 0"),
        format!("ScalingReplicaSet: Scaled down replica set {old} from 2 to 1"),
        format!("ScalingReplicaSet: Scaled down replica set {old} from 3 to 2"),
        format!("ScalingReplicaSet: Scaled up replica set {new} from 0 to 1"),
        format!("ScalingReplicaSet: Scaled up replica set {new} from 1 to 2"),
        format!("ScalingReplicaSet: Scaled up replica set {new} from 2 to 3"),
        format!("ScalingReplicaSet: Scaled up replica set {old} from 0 to 3"),
    ];
    wanted.sort();
    assert_eq!(told, wanted);
    // Going back makes the old set the newest.
    image(&world, "Deployment", "web", "example/web:1").await;
    until(&world, SETS, "2: 0 of 0, 3: 3 of 3", revisions).await;
    world.delete("apps/v1", "Deployment", "default", "web").await;
    until(&world, PODS, "", |pods| pods.iter().map(name).collect()).await;
    world.end().await;
}

#[tokio::test]
async fn a_rollout_without_progress_is_told_after_its_deadline() {
    let world = World::new().await;
    let hurried = "  progressDeadlineSeconds: 3\n";
    let nowhere = deployment(hurried).replace("    spec:\n", "    spec:\n      nodeSelector: {moon: dark}\n");
    world.apply(&nowhere).await;
    let progress = |found: &[Value]| {
        let conditions = found.iter().flat_map(|one| one.items_at(&["status", "conditions"]));
        let told = conditions.filter(|one| one.str_at(&["type"]) == Some("Progressing")).map(|one| {
            let text = |field| one.str_at(&[field]).unwrap_or_default();
            format!("{} {}", text("status"), text("reason"))
        });
        told.collect::<String>()
    };
    until(&world, DEPLOYMENTS, "False ProgressDeadlineExceeded", progress).await;
    let web = one(&world, "apps/v1/namespaces/default/deployments", "web").await;
    let set = name(&list(&world, SETS).await[0]);
    let said = web.items_at(&["status", "conditions"]).iter().filter_map(|one| one.str_at(&["message"]));
    let wanted = format!("ReplicaSet \"{set}\" has timed out progressing.");
    assert!(said.clone().any(|message| message == wanted), "{:?}", said.collect::<Vec<_>>());
    world.delete("apps/v1", "Deployment", "default", "web").await;
    until(&world, PODS, "", |pods| pods.iter().map(name).collect()).await;
    world.end().await;
}

fn database(strategy: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db, namespace: default}}\nspec:\n  replicas: 3\n  \
         serviceName: db\n  selector: {{matchLabels: {{app: db}}}}\n  updateStrategy: {strategy}\n  template:\n    metadata: \
         {{labels: {{app: db}}}}\n    spec:\n      terminationGracePeriodSeconds: 0\n      containers: [{{name: main, image: \
         'example/db:1'}}]\n"
    )
}

/// Pods with the versions of their images, those that are ready: `db-0 1, db-1 1`.
fn versions(pods: &[Value]) -> String {
    let ready = |pod: &&Value| {
        let conditions = pod.items_at(&["status", "conditions"]);
        let is =
            |one: &Value| one.str_at(&["type"]) == Some("Ready") && one.str_at(&["status"]) == Some("True");
        conditions.iter().any(is) && pod.at(&["metadata", "deletionTimestamp"]).is_none()
    };
    let version = |pod: &Value| {
        let image = pod.items_at(&["spec", "containers"])[0].str_at(&["image"]).unwrap_or_default();
        format!("{} {}", name(pod), image.rsplit(':').next().unwrap_or_default())
    };
    let mut told: Vec<String> = pods.iter().filter(ready).map(version).collect();
    told.sort();
    told.join(", ")
}

#[tokio::test]
async fn a_partition_holds_an_update_back() {
    let world = World::new().await;
    world.apply(&database("{rollingUpdate: {partition: 2}}")).await;
    until(&world, PODS, "db-0 1, db-1 1, db-2 1", versions).await;
    image(&world, "StatefulSet", "db", "example/db:2").await;
    until(&world, PODS, "db-0 1, db-1 1, db-2 2", versions).await;
    let counts = |sets: &[Value]| {
        let one = &sets[0];
        format!("{} old, {} new", count(one, "currentReplicas"), count(one, "updatedReplicas"))
    };
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    until(&world, sets, "2 old, 1 new", counts).await;
    let whole = value!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    world.patch("apps/v1", "StatefulSet", "default", "db", &whole).await;
    until(&world, PODS, "db-0 2, db-1 2, db-2 2", versions).await;
    world.delete("apps/v1", "StatefulSet", "default", "db").await;
    until(&world, PODS, "", |pods| pods.iter().map(name).collect()).await;
    world.end().await;
}

#[tokio::test]
async fn pods_of_an_old_revision_stay_until_somebody_deletes_them() {
    let world = World::new().await;
    world.apply(&database("{type: OnDelete}")).await;
    until(&world, PODS, "db-0 1, db-1 1, db-2 1", versions).await;
    image(&world, "StatefulSet", "db", "example/db:2").await;
    world.pass(SignedDuration::from_secs(3)).await;
    until(&world, PODS, "db-0 1, db-1 1, db-2 1", versions).await;
    world.delete("v1", "Pod", "default", "db-1").await;
    until(&world, PODS, "db-0 1, db-1 2, db-2 1", versions).await;
    world.delete("apps/v1", "StatefulSet", "default", "db").await;
    until(&world, PODS, "", |pods| pods.iter().map(name).collect()).await;
    world.end().await;
}

const SLOW: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: slow, namespace: default}
spec:
  activeDeadlineSeconds: 2
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {moon: dark}
      containers: [{name: main, image: 'example/slow:1'}]
";

#[tokio::test]
async fn a_job_that_takes_too_long_has_failed_and_its_pod_is_gone() {
    let world = World::new().await;
    world.apply(SLOW).await;
    let failed = |jobs: &[Value]| {
        let conditions = jobs.iter().flat_map(|job| job.items_at(&["status", "conditions"]));
        let of_type = conditions.filter(|one| one.str_at(&["type"]) == Some("Failed"));
        of_type
            .map(|one| {
                let text = |field| one.str_at(&[field]).unwrap_or_default();
                format!("{}: {}", text("reason"), text("message"))
            })
            .collect::<String>()
    };
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    until(&world, jobs, "DeadlineExceeded: Job was active longer than specified deadline", failed).await;
    until(&world, PODS, "", |pods| pods.iter().map(name).collect()).await;
    world.delete("batch/v1", "Job", "default", "slow").await;
    until(&world, jobs, "", |jobs| jobs.iter().map(name).collect()).await;
    world.end().await;
}

/// Deletes the Deployment with a policy for what it owns.
async fn delete(world: &World, policy: &str) {
    let options = value!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
    let (code, answer) = world.ask("DELETE", &format!("{DEPLOYMENTS}/web"), JSON, &options).await;
    assert_eq!(code, 200, "{answer:?}");
}

#[tokio::test]
async fn what_an_owner_leaves_behind_is_taken_over_by_the_next_that_selects_it() {
    let world = World::new().await;
    world.apply(&deployment("")).await;
    let before = until(&world, SETS, "1: 3 of 3", revisions).await;
    delete(&world, "Orphan").await;
    let owners = |sets: &[Value]| {
        let of = |set: &Value| set.items_at(&["metadata", "ownerReferences"]).len().to_string();
        sets.iter().map(of).collect::<Vec<_>>().join(",")
    };
    until(&world, SETS, "0", owners).await;
    until(&world, DEPLOYMENTS, "", |found| found.iter().map(name).collect()).await;
    world.apply(&deployment("")).await;
    let after = until(&world, SETS, "1", owners).await;
    assert_eq!(name(&before[0]), name(&after[0]));
    delete(&world, "Foreground").await;
    until(&world, DEPLOYMENTS, "", |found| found.iter().map(name).collect()).await;
    // Who goes last has waited for all that was his.
    assert!(list(&world, SETS).await.is_empty());
    assert!(list(&world, PODS).await.is_empty());
    world.end().await;
}
