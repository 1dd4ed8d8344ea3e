//! What becomes of pods on a stage: images that cannot be had, programs that fail, nodes that are lost.
//!
//! No real kubelet runs these: they are about the embedded cluster alone, on a clock that is moved by hand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use std::fmt::Write as _;

use jiff::SignedDuration;
use lynceus_object::{Gvk, Object, value, yaml};
use lynceus_sim::attributes::User;
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Options, Sim, Stage, Target};

/// A cluster on a stage.
struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    async fn on(stage: &str) -> Self {
        let options = Options::by_hand(Stage::of_keys(stage).unwrap());
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    async fn apply(&self, text: &str) {
        for object in objects(text) {
            let Gvk { group, kind, .. } = object.gvk();
            let resource = format!("{}s", kind.to_lowercase());
            self.local.create(&group, &resource, object).await.unwrap();
        }
        self.sim.settle().await;
    }

    async fn pass(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    fn pod(&self, name: &str) -> Object {
        self.local.get("", "pods", "default", name).unwrap_or_else(|| panic!("no pod {name}"))
    }

    /// A pod in a line: its phase, and what each container does.
    fn state(&self, name: &str) -> String {
        let pod = self.pod(name);
        let mut out = pod.value().str_at(&["status", "phase"]).unwrap_or_default().to_owned();
        for list in ["initContainerStatuses", "containerStatuses"] {
            for status in pod.value().items_at(&["status", list]) {
                let at = |path: &[&str]| status.str_at(path).map(ToOwned::to_owned);
                let does = at(&["state", "waiting", "reason"])
                    .or_else(|| at(&["state", "terminated", "reason"]))
                    .unwrap_or_else(|| "runs".to_owned());
                let ready = if status.bool_at(&["ready"]) == Some(true) { " ready" } else { "" };
                let restarts = status.int_at(&["restartCount"]).unwrap_or(0);
                let name = at(&["name"]).unwrap_or_default();
                let again = if restarts > 0 { format!(" x{restarts}") } else { String::new() };
                write!(out, ", {name} {does}{ready}{again}").unwrap();
            }
        }
        out
    }

    /// What a container of a pod waits for, in words.
    fn waits_for(&self, name: &str) -> String {
        let pod = self.pod(name);
        let status = &pod.value().items_at(&["status", "containerStatuses"])[0];
        status.str_at(&["state", "waiting", "message"]).unwrap_or_default().to_owned()
    }

    /// The events about an object, each with how often it was told.
    fn events(&self, name: &str) -> Vec<String> {
        let mut events = self.local.list("", "events", Some("default"));
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(name));
        events.sort_by_key(|event| {
            let name = event.name().to_owned();
            (event.value().str_at(&["firstTimestamp"]).unwrap_or_default().to_owned(), name)
        });
        let line = |event: &Object| {
            let text = |field| event.value().str_at(&[field]).unwrap_or_default().to_owned();
            let count = event.value().int_at(&["count"]).unwrap_or(1);
            let times = if count > 1 { format!(" (x{count})") } else { String::new() };
            format!("{} {}: {}{times}", text("type"), text("reason"), text("message"))
        };
        events.iter().map(line).filter(|line| !line.contains("Scheduled")).collect()
    }

    async fn edit(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        edit: impl Fn(&mut Object) + Send + Sync,
    ) {
        let target = Target { group: "", resource, namespace, name };
        self.local.edit(target, "", edit).await.unwrap();
        self.sim.settle().await;
    }

    /// What the server answers to `kubectl logs`.
    async fn logs(&self, query: &str) -> String {
        use http_body_util::BodyExt as _;
        let request = http::Request::get(format!("https://sim/api/v1/namespaces/default/pods/{query}"));
        let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        let answer = tower::ServiceExt::oneshot(self.sim.service(User::admin()), request).await.unwrap();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

fn objects(text: &str) -> Vec<Object> {
    let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
    documents.into_iter().map(|document| Object::new(document.result.unwrap()).unwrap()).collect()
}

fn pod(name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default, labels: {{app: {name}}}}}\n\
         spec:\n  containers:\n  - name: main\n    image: {image}\n{more}"
    )
}

#[tokio::test]
async fn a_tag_that_was_not_pushed_is_waited_for_ever_longer() {
    let cluster = Cluster::on("images: {list: [{image: example.com/app, tags: [v1]}]}").await;
    cluster.apply(&pod("web", "example.com/app:v2", "")).await;
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Pending, main ErrImagePull");
    let error = "rpc error: code = NotFound desc = failed to pull and unpack image \"example.com/app:v2\": \
                 failed to resolve image: example.com/app:v2: not found";
    assert_eq!(cluster.waits_for("web"), error);
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Pending, main ImagePullBackOff");
    let waiting = format!("Back-off pulling image \"example.com/app:v2\": ErrImagePull: {error}");
    assert_eq!(cluster.waits_for("web"), waiting);
    // Tried at 1, 11, 31 and 71 seconds.
    cluster.pass(9).await;
    assert_eq!(cluster.state("web"), "Pending, main ErrImagePull");
    cluster.pass(69).await;
    let mut events = cluster.events("web");
    events.sort();
    assert_eq!(
        events,
        [
            "Normal BackOff: Back-off pulling image \"example.com/app:v2\" (x4)".to_owned(),
            "Normal Pulling: Pulling image \"example.com/app:v2\" (x4)".to_owned(),
            "Warning Failed: Error: ErrImagePull (x4)".to_owned(),
            "Warning Failed: Error: ImagePullBackOff (x4)".to_owned(),
            format!("Warning Failed: Failed to pull image \"example.com/app:v2\": {error} (x4)"),
        ]
    );
    let refused =
        "container \\\"main\\\" in pod \\\"web\\\" is waiting to start: trying and failing to pull image";
    assert!(cluster.logs("web/log").await.contains(refused));
    cluster
        .edit("pods", "default", "web", |pod| {
            let mut containers = pod.value().items_at(&["spec", "containers"]).to_vec();
            containers[0].set(&["image"], "example.com/app:v1");
            pod.set(&["spec", "containers"], containers);
        })
        .await;
    assert_eq!(cluster.state("web"), "Running, main runs ready");
}

#[tokio::test]
async fn a_pushed_image_is_pulled_once_for_each_node() {
    let stage = "nodePools: [{name: only}]\nimages: {list: [{image: example.com/app, tags: [v1]}]}";
    let cluster = Cluster::on(stage).await;
    cluster.apply(&pod("one", "example.com/app:v1", "")).await;
    cluster.pass(1).await;
    cluster.apply(&pod("two", "example.com/app:v1", "")).await;
    cluster.apply(&pod("three", "example.com/app:v1", "    imagePullPolicy: Always\n")).await;
    cluster.apply(&pod("four", "example.com/other:v1", "")).await;
    cluster.pass(1).await;
    let first = |name: &str| {
        let pulled = cluster.events(name).into_iter().filter(|event| event.contains("Pull"));
        pulled
            .map(|event| event.split(" in 1s").next().unwrap().to_owned())
            .collect::<Vec<String>>()
            .join("; ")
    };
    let mut seen = String::new();
    for name in ["one", "two", "three", "four"] {
        writeln!(seen, "{name}: {}", first(name)).unwrap();
    }
    let there = |image: &str| {
        format!(
            "Normal Pulled: Container image {image:?} already present on machine and can be accessed by the pod"
        )
    };
    let pulled = "Normal Pulled: Successfully pulled image \"example.com/app:v1\"";
    let pulling = "Normal Pulling: Pulling image \"example.com/app:v1\"";
    let wanted = format!(
        "one: {pulled}; {pulling}\ntwo: {}\nthree: {pulled}; {pulling}\nfour: {}\n",
        there("example.com/app:v1"),
        there("example.com/other:v1")
    );
    let sorted = |text: &str| {
        let line = |line: &str| {
            let (name, events) = line.split_once(": ").unwrap();
            let mut events: Vec<&str> = events.split("; ").collect();
            events.sort_unstable();
            format!("{name}: {}", events.join("; "))
        };
        text.lines().map(line).collect::<Vec<String>>()
    };
    assert_eq!(sorted(&seen), sorted(&wanted));
}

#[tokio::test]
async fn an_image_for_other_machines_runs_only_on_those() {
    let cluster = Cluster::on(
        "nodePools: [{name: intel}, {name: arm, architecture: arm64}]\n\
         images: {list: [{image: example.com/app, platforms: [linux/arm64]}]}",
    )
    .await;
    let on = |machine: &str| format!("  nodeSelector: {{kubernetes.io/arch: {machine}}}\n");
    cluster.apply(&pod("wrong", "example.com/app:v1", &on("amd64"))).await;
    cluster.apply(&pod("right", "example.com/app:v1", &on("arm64"))).await;
    cluster.pass(1).await;
    assert_eq!(cluster.state("wrong"), "Pending, main ErrImagePull");
    assert_eq!(
        cluster.waits_for("wrong"),
        "rpc error: code = NotFound desc = failed to pull and unpack image \"example.com/app:v1\": \
         no match for platform in manifest: not found"
    );
    assert_eq!(cluster.state("right"), "Running, main runs ready");
}

#[tokio::test]
async fn a_pod_without_its_pull_secret_heals_when_the_secret_comes() {
    let cluster = Cluster::on("images: {list: [{image: 'registry.example.com/*', pullSecret: true}]}").await;
    let secrets = "  imagePullSecrets: [{name: regcred}]\n";
    cluster.apply(&pod("web", "registry.example.com/app:v1", secrets)).await;
    cluster.pass(2).await;
    assert_eq!(cluster.state("web"), "Pending, main ImagePullBackOff");
    let denied = "pull access denied, repository does not exist or may require authorization: authorization failed: \
                  no basic auth credentials";
    assert!(cluster.waits_for("web").ends_with(denied), "{}", cluster.waits_for("web"));
    let missing = "Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (regcred); \
                   attempting to pull the image may not succeed.";
    assert!(cluster.events("web").iter().any(|event| event == missing), "{:?}", cluster.events("web"));
    cluster
        .apply(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: regcred, namespace: default}\n\
             type: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: '{\"auths\":{\"registry.example.com\":{}}}'\n",
        )
        .await;
    cluster.pass(8).await;
    assert_eq!(cluster.state("web"), "Pending, main ImagePullBackOff");
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Running, main runs ready");
}

#[tokio::test]
async fn names_that_are_none_and_images_that_may_not_be_pulled_say_so() {
    let cluster = Cluster::on("images: {list: [{image: example.com/app}]}").await;
    cluster.apply(&pod("bad", "example.com/App:v1", "")).await;
    cluster.apply(&pod("never", "example.com/app:v1", "    imagePullPolicy: Never\n")).await;
    cluster.pass(60).await;
    assert_eq!(cluster.state("bad"), "Pending, main InvalidImageName");
    assert_eq!(
        cluster.waits_for("bad"),
        "Failed to apply default image tag \"example.com/App:v1\": couldn't parse image name \"example.com/App:v1\": \
         invalid reference format: repository name (App) must be lowercase"
    );
    assert_eq!(cluster.state("never"), "Pending, main ErrImageNeverPull");
    assert_eq!(
        cluster.waits_for("never"),
        "Container image \"example.com/app:v1\" is not present with pull policy of Never"
    );
}

#[tokio::test]
async fn a_program_that_fails_is_started_again_ever_later() {
    let stage =
        "programs: [{image: 'app:*', exitCode: 3, after: 2s, message: no table, log: [one, two, three]}]";
    let cluster = Cluster::on(stage).await;
    cluster.apply(&pod("web", "app:v1", "")).await;
    cluster.pass(2).await;
    assert_eq!(cluster.state("web"), "Running, main runs");
    // The first restart comes at once, at 3 seconds; the second run ends at 5, and the third begins at 15.
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Running, main runs x1");
    cluster.pass(2).await;
    assert_eq!(cluster.state("web"), "Running, main CrashLoopBackOff x1");
    let uid = cluster.pod("web").uid().to_owned();
    assert_eq!(
        cluster.waits_for("web"),
        format!("back-off 10s restarting failed container=main pod=web_default({uid})")
    );
    let status = cluster.pod("web").value().items_at(&["status", "containerStatuses"])[0].clone();
    let last =
        |field: &str| status.str_at(&["lastState", "terminated", field]).unwrap_or_default().to_owned();
    assert_eq!((last("reason"), last("message")), ("Error".to_owned(), "no table".to_owned()));
    assert_eq!(status.int_at(&["lastState", "terminated", "exitCode"]), Some(3));
    cluster.pass(10).await;
    assert_eq!(cluster.state("web"), "Running, main runs x2");
    cluster.pass(2).await;
    assert!(cluster.waits_for("web").starts_with("back-off 20s "), "{}", cluster.waits_for("web"));
    assert_eq!(cluster.logs("web/log?previous=true&tailLines=2").await, "two\nthree\n");
    assert_eq!(cluster.logs("web/log?follow=true").await, "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_program_that_takes_too_much_memory_is_killed() {
    let cluster = Cluster::on("programs: [{image: 'app:*', oom: true, after: 30s}]").await;
    cluster.apply(&pod("web", "app:v1", "  restartPolicy: Never\n")).await;
    cluster.pass(30).await;
    assert_eq!(cluster.state("web"), "Running, main runs ready");
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Failed, main OOMKilled");
    let status = &cluster.pod("web").value().items_at(&["status", "containerStatuses"])[0].clone();
    assert_eq!(status.int_at(&["state", "terminated", "exitCode"]), Some(137));
}

const DATABASE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: default}\n\
                        spec: {selector: {app: db}, ports: [{port: 5432}]}\n";

#[tokio::test]
async fn a_program_is_ready_while_the_service_that_it_needs_is() {
    let stage =
        "programs:\n- {image: 'app:*', needs: {service: 'db:5432'}}\n- {image: 'db:*', readyAfter: 5s}";
    let cluster = Cluster::on(stage).await;
    let probe = "    readinessProbe: {httpGet: {path: /ready, port: 8080}}\n";
    cluster.apply(&pod("web", "app:v1", probe)).await;
    cluster.apply(DATABASE).await;
    cluster.pass(60).await;
    assert_eq!(cluster.state("web"), "Running, main runs");
    let unhealthy =
        "Warning Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned();
    assert!(cluster.events("web").contains(&unhealthy), "{:?}", cluster.events("web"));
    cluster.apply(&pod("db", "db:v1", "")).await;
    cluster.pass(5).await;
    assert_eq!(cluster.state("web"), "Running, main runs");
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Running, main runs ready");
    let target = Target { group: "", resource: "pods", namespace: "default", name: "db" };
    cluster.local.delete(target, &lynceus_sim::DeleteOptions::default()).await.unwrap();
    cluster.pass(5).await;
    assert_eq!(cluster.state("web"), "Running, main runs");
}

#[tokio::test]
async fn a_program_that_cannot_live_without_a_service_fails_until_it_comes() {
    let cluster = Cluster::on("programs: [{image: 'app:*', needs: {service: db, crashWithout: true}}]").await;
    cluster.apply(&pod("web", "app:v1", "")).await;
    cluster.pass(4).await;
    assert_eq!(cluster.state("web"), "Running, main CrashLoopBackOff x1");
    cluster.apply(DATABASE).await;
    cluster.apply(&pod("db", "db:v1", "")).await;
    cluster.pass(20).await;
    assert_eq!(cluster.state("web"), "Running, main runs ready x2");
}

#[tokio::test]
async fn init_containers_go_in_order_and_sidecars_beside() {
    let stage =
        "programs:\n- {image: 'migrate:*', exitCode: 0, after: 5s}\n- {image: 'proxy:*', readyAfter: 3s}";
    let cluster = Cluster::on(stage).await;
    let inits = "  restartPolicy: Never\n  initContainers:\n  - {name: proxy, image: 'proxy:v1', restartPolicy: Always,\n\
                 \x20    startupProbe: {tcpSocket: {port: 15000}}}\n  - {name: migrate, image: 'migrate:v1'}\n";
    cluster.apply(&pod("web", "app:v1", inits)).await;
    for (seconds, wanted) in [
        (1, "Pending, proxy runs, migrate PodInitializing, main PodInitializing"),
        (3, "Pending, proxy runs ready, migrate runs, main PodInitializing"),
        (5, "Running, proxy runs ready, migrate Completed ready, main runs ready"),
        (1, "Succeeded, proxy Completed, migrate Completed ready, main Completed"),
    ] {
        cluster.pass(seconds).await;
        assert_eq!(cluster.state("web"), wanted);
    }
}

#[tokio::test]
async fn a_program_that_answers_too_late_is_killed_by_its_probe() {
    let cluster = Cluster::on("programs: [{image: 'app:*', readyAfter: 60s}]").await;
    let probe = "    livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 10, failureThreshold: 3}\n";
    cluster.apply(&pod("web", "app:v1", probe)).await;
    cluster.pass(21).await;
    assert_eq!(cluster.state("web"), "Running, main runs x1");
    let ip = cluster.pod("web").value().str_at(&["status", "podIP"]).unwrap().to_owned();
    let events = cluster.events("web");
    for wanted in [
        format!("Warning Unhealthy: Liveness probe failed: dial tcp {ip}:80: connect: connection refused"),
        "Normal Killing: Container main failed liveness probe, will be restarted".to_owned(),
    ] {
        assert!(events.contains(&wanted), "{wanted}\n{events:?}");
    }
}

#[tokio::test]
async fn a_pod_that_is_active_for_too_long_fails() {
    let cluster = Cluster::on("").await;
    cluster.apply(&pod("web", "app:v1", "  activeDeadlineSeconds: 30\n")).await;
    cluster.pass(29).await;
    assert_eq!(cluster.state("web"), "Running, main runs ready");
    cluster.pass(1).await;
    assert_eq!(cluster.state("web"), "Failed, main Error");
    assert_eq!(cluster.pod("web").value().str_at(&["status", "reason"]), Some("DeadlineExceeded"));
}

#[tokio::test]
async fn nodes_are_as_their_pools_say() {
    let cluster = Cluster::on(
        "nodePools:\n- {name: general, count: 2, capacity: {cpu: 8, pods: 110}, zones: [a, b], volumeLimit: 25}\n\
         - {name: gpu, labels: {accelerator: a100}, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}\n",
    )
    .await;
    let line = |node: &Object| {
        let label = |name: &str| node.label(name).unwrap_or_default().to_owned();
        let capacity =
            |name: &str| node.value().str_at(&["status", "allocatable", name]).unwrap_or_default().to_owned();
        let taints = node.value().items_at(&["spec", "taints"]).len();
        let (zone, accelerator) = (label("topology.kubernetes.io/zone"), label("accelerator"));
        format!("{} {zone} {accelerator} {} {} {taints}", node.name(), capacity("cpu"), capacity("memory"))
    };
    let nodes: Vec<String> = cluster.local.list("", "nodes", None).iter().map(line).collect();
    assert_eq!(nodes, ["general-0 a  8 256Gi 0", "general-1 b  8 256Gi 0", "gpu-0 sim-a a100 64 256Gi 1"]);
    let driver =
        "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: disk.example.com}\nspec: {}\n";
    cluster.apply(driver).await;
    let limits = cluster.local.list("storage.k8s.io", "csinodes", None);
    let names: Vec<&str> = limits.iter().map(Object::name).collect();
    assert_eq!(names, ["general-0", "general-1"]);
    let driver = &limits[0].value().items_at(&["spec", "drivers"])[0];
    assert_eq!(driver.str_at(&["name"]), Some("disk.example.com"));
    assert_eq!(driver.int_at(&["allocatable", "count"]), Some(25));
}

#[tokio::test]
async fn the_pods_of_a_lost_node_are_replaced_and_a_node_that_comes_back_is_used_again() {
    let cluster = Cluster::on("nodePools: [{name: a, zones: [a]}, {name: b, zones: [b]}]").await;
    let mut deployment = value!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "app:v1"}]}}},
    });
    deployment.set(&["spec", "template", "spec", "terminationGracePeriodSeconds"], 5);
    cluster.local.create("apps", "deployments", Object::new(deployment).unwrap()).await.unwrap();
    cluster.pass(2).await;
    let pods = || cluster.local.list("", "pods", Some("default"));
    let condition = |object: &Object, type_: &str| {
        let conditions = object.value().items_at(&["status", "conditions"]);
        let found = conditions.iter().find(|condition| condition.str_at(&["type"]) == Some(type_)).cloned();
        let text =
            |field| found.as_ref().and_then(|found| found.str_at(&[field])).unwrap_or_default().to_owned();
        format!("{} {} {}", text("status"), text("reason"), text("message"))
    };
    let first = pods()[0].clone();
    let lost = first.value().str_at(&["spec", "nodeName"]).unwrap().to_owned();
    let node = || cluster.local.get("", "nodes", "", &lost).unwrap();
    let fault = format!(
        "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Fault\nmetadata: {{name: lost}}\nspec: {{nodeDown: {lost}}}\n"
    );
    cluster.apply(&fault).await;
    cluster.pass(49).await;
    assert_eq!(condition(&node(), "Ready"), "True KubeletReady kubelet is posting ready status");
    cluster.pass(1).await;
    assert_eq!(condition(&node(), "Ready"), "Unknown NodeStatusUnknown Kubelet stopped posting node status.");
    let effects: Vec<String> = node()
        .value()
        .items_at(&["spec", "taints"])
        .iter()
        .map(|taint| {
            let text = |field| taint.str_at(&[field]).unwrap_or_default();
            format!("{}:{}", text("key"), text("effect"))
        })
        .collect();
    assert_eq!(
        effects,
        ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]
    );
    assert!(condition(&pods()[0], "Ready").starts_with("False"), "{}", condition(&pods()[0], "Ready"));
    cluster.pass(299).await;
    assert_eq!(pods().len(), 1);
    cluster.pass(3).await;
    assert_eq!(pods().len(), 2);
    let old = pods().into_iter().find(|pod| pod.name() == first.name()).unwrap();
    assert!(old.is_deleting());
    assert_eq!(
        condition(&old, "DisruptionTarget"),
        "True DeletionByTaintManager Taint manager: deleting due to NoExecute taint"
    );
    let told = cluster.events(first.name());
    assert!(told.contains(&"Warning NodeNotReady: Node is not ready".to_owned()), "{told:?}");
    let marked = format!("Normal TaintManagerEviction: Marking for deletion Pod default/{}", first.name());
    assert!(told.contains(&marked), "{told:?}");
    let new = pods().into_iter().find(|pod| pod.name() != first.name()).unwrap();
    assert_ne!(new.value().str_at(&["spec", "nodeName"]), Some(lost.as_str()));
    assert!(condition(&new, "Ready").starts_with("True"));
    let target = Target { group: "sim.lynceus.dev", resource: "faults", namespace: "", name: "lost" };
    cluster.local.delete(target, &DeleteOptions::default()).await.unwrap();
    cluster.pass(2).await;
    assert!(condition(&node(), "Ready").starts_with("True"));
    assert!(node().value().items_at(&["spec", "taints"]).is_empty());
    assert_eq!(pods().len(), 1);
}

#[tokio::test]
async fn a_provisioner_that_fails_leaves_its_claim_pending_and_says_why() {
    let stage = "storage:\n- {class: full, provisioner: example.com/disks, fails: 'rpc error: out of space'}\n- {class: slow, \
                 provisioner: example.com/disks}\n";
    let cluster = Cluster::on(stage).await;
    for class in ["full", "slow"] {
        cluster
            .apply(&format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {class}, namespace: default}}\nspec: \
                 {{storageClassName: {class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
            ))
            .await;
    }
    cluster.pass(5).await;
    let phase = |name: &str| {
        let claim = cluster.local.get("", "persistentvolumeclaims", "default", name).unwrap();
        claim.value().str_at(&["status", "phase"]).unwrap_or_default().to_owned()
    };
    assert_eq!((phase("full").as_str(), phase("slow").as_str()), ("Pending", "Bound"));
    let events = cluster.local.list("", "events", Some("default"));
    let messages: Vec<&str> = events.iter().filter_map(|event| event.value().str_at(&["message"])).collect();
    let why = "failed to provision volume with StorageClass \"full\": rpc error: out of space";
    assert!(messages.contains(&why), "{messages:?}");
}
