//! What kubelets do with containers beside running them: how they stop, what gates say, who is started again, guests.

use lynceus_object::{Object, yaml};
use lynceus_sim::{PatchKind, Target};

use super::cluster::{Cluster, condition};

async fn running(spec: &str) -> Cluster {
    let cluster = Cluster::start().await;
    cluster.apply(&format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {spec}\n")).await;
    cluster.pass(5).await;
    cluster
}

#[tokio::test]
async fn a_pod_stops_when_its_last_hook_has_slept_or_its_patience_is_over() {
    for (hook, grace, seconds) in [
        ("{sleep: {seconds: 10}}", 30, 11),
        ("{exec: {command: [sleep, '10']}}", 30, 11),
        ("{exec: {command: [sh, -c, sleep 4 && sleep 6]}}", 30, 11),
        ("{exec: {command: [sleep, '40']}}", 15, 15),
        ("{exec: {command: [nginx, -s, quit]}}", 30, 1),
    ] {
        let containers = format!("[{{name: main, image: app, lifecycle: {{preStop: {hook}}}}}]");
        let cluster =
            running(&format!("{{terminationGracePeriodSeconds: {grace}, containers: {containers}}}")).await;
        cluster.delete("pods", "web").await;
        cluster.pass(seconds - 1).await;
        assert_eq!(cluster.pods(), ["web Running ready terminating"], "{hook}");
        cluster.pass(1).await;
        assert_eq!(cluster.pods().len(), 0, "{hook}");
    }
}

#[tokio::test]
async fn a_pod_says_which_of_its_gates_are_closed() {
    let gates = "readinessGates: [{conditionType: example.com/a}, {conditionType: example.com/b}]";
    let cluster = running(&format!("{{{gates}, containers: [{{name: main, image: app}}]}}")).await;
    let ready = || condition(&cluster.get("pods", "web"), "Ready");
    let missing = |gate: &str| {
        format!("corresponding condition of pod readiness gate \"example.com/{gate}\" does not exist.")
    };
    assert_eq!(ready(), format!("False ReadinessGatesNotReady: {}, {}", missing("a"), missing("b")));
    let open = |type_: &'static str, status: &'static str| {
        let target = Target { group: "", resource: "pods", namespace: "default", name: "web" };
        let patch = format!("status: {{conditions: [{{type: example.com/{type_}, status: '{status}'}}]}}");
        let patch = yaml::parse_str(&patch).unwrap();
        cluster.local.patch(target, "status", PatchKind::Strategic, patch)
    };
    open("a", "False").await.unwrap();
    open("b", "True").await.unwrap();
    cluster.pass(1).await;
    let words = "the status of pod readiness gate \"example.com/a\" is not \"True\", but False";
    assert_eq!(ready(), format!("False ReadinessGatesNotReady: {words}"));
    open("a", "True").await.unwrap();
    cluster.pass(1).await;
    assert_eq!(ready(), "True : ");
}

/// The name of each container, how often it was started again, and whether it runs.
fn containers(pod: &Object, list: &str) -> Vec<String> {
    let statuses = pod.value().items_at(&["status", list]).iter();
    let line = |status: &lynceus_object::Value| {
        let runs = if status.at(&["state", "running"]).is_some() { "runs" } else { "does not run" };
        let name = status.str_at(&["name"]).unwrap_or_default();
        format!("{name} {} {runs}", status.int_at(&["restartCount"]).unwrap_or_default())
    };
    statuses.map(line).collect()
}

#[tokio::test]
async fn a_container_is_started_again_as_it_says_itself() {
    let fails = |name: &str, code: i64, more: &str| {
        format!("{{name: {name}, image: app, command: [sh, -c, exit {code}], {more}}}")
    };
    let rule = "restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]";
    let list = [
        fails("retried", 42, rule),
        fails("given-up", 1, rule),
        fails("on-failure", 1, "restartPolicy: OnFailure"),
        "{name: serves, image: app, restartPolicy: Always}".to_owned(),
    ];
    let cluster = running(&format!("{{restartPolicy: Never, containers: [{}]}}", list.join(", "))).await;
    cluster.pass(5).await;
    let pod = cluster.get("pods", "web");
    let wanted =
        ["retried 1 does not run", "given-up 0 does not run", "on-failure 1 does not run", "serves 0 runs"];
    assert_eq!(containers(&pod, "containerStatuses"), wanted);
    assert_eq!(cluster.pods(), ["web Running"]);
}

#[tokio::test]
async fn a_container_that_is_added_to_a_running_pod_has_a_status() {
    let cluster = running("{containers: [{name: main, image: app}]}").await;
    let target = Target { group: "", resource: "pods", namespace: "default", name: "web" };
    let patch = "spec: {ephemeralContainers: [{name: look, image: busybox, targetContainerName: main}]}";
    let patch = yaml::parse_str(patch).unwrap();
    cluster.local.patch(target, "ephemeralcontainers", PatchKind::Strategic, patch).await.unwrap();
    cluster.pass(2).await;
    let pod = cluster.get("pods", "web");
    assert_eq!(containers(&pod, "ephemeralContainerStatuses"), ["look 0 runs"]);
    assert_eq!(cluster.pods(), ["web Running ready"]);
    let statuses = pod.value().items_at(&["status", "ephemeralContainerStatuses"]);
    assert_eq!(statuses[0].bool_at(&["ready"]), Some(false), "nobody asks it");
}

#[tokio::test]
async fn a_service_is_told_of_its_load_balancer() {
    let cluster = Cluster::start().await;
    cluster
        .apply("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n")
        .await;
    let ensured =
        ["EnsuringLoadBalancer: Ensuring load balancer", "EnsuredLoadBalancer: Ensured load balancer"];
    assert_eq!(cluster.events("web"), ensured);
    cluster.patch("services", "web", "spec: {type: ClusterIP}").await.unwrap();
    let deleted =
        ["DeletingLoadBalancer: Deleting load balancer", "DeletedLoadBalancer: Deleted load balancer"];
    assert_eq!(cluster.events("web"), [ensured, deleted].concat());
}
