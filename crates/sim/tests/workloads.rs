//! What becomes of workloads, on a clock that is moved by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Value, value};
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Target};
use lynceus_sim::{Options, Sim, Stage};

/// A cluster that does the same in every run.
struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    async fn start() -> Self {
        let sim = Sim::start_at_rest(Options::by_hand(Stage::default())).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    async fn create(&self, group: &str, resource: &str, object: Value) -> Object {
        self.local.create(group, resource, Object::new(object).unwrap()).await.unwrap()
    }

    async fn advance(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    fn get(&self, group: &str, resource: &str, name: &str) -> Object {
        self.local.get(group, resource, "default", name).unwrap_or_else(|| panic!("no {resource}/{name}"))
    }

    fn pods(&self) -> Vec<Object> {
        self.local.list("", "pods", Some("default"))
    }

    /// The pods as `kubectl get pods` would show them: name, phase, ready.
    fn states(&self) -> Vec<String> {
        let ready = |pod: &Object| condition(pod, "Ready").0 == "True";
        self.pods()
            .iter()
            .map(|pod| {
                let phase = pod.value().str_at(&["status", "phase"]).unwrap_or_default();
                let word = if pod.is_deleting() { "Terminating" } else { phase };
                format!("{} {word}{}", pod.name(), if ready(pod) { " ready" } else { "" })
            })
            .collect()
    }

    async fn edit(&self, group: &str, resource: &str, name: &str, edit: impl Fn(&mut Object) + Send + Sync) {
        let target = Target { group, resource, namespace: "default", name };
        self.local.edit(target, "", edit).await.unwrap();
    }

    async fn delete(&self, group: &str, resource: &str, name: &str, options: Value) {
        let target = Target { group, resource, namespace: "default", name };
        let options = DeleteOptions::from_value(&options).unwrap();
        self.local.delete(target, &options).await.unwrap();
    }

    fn events(&self, about: &str) -> Vec<String> {
        let mut events = self.local.list("", "events", Some("default"));
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(about));
        events.sort_by_key(|event| event.resource_version().parse::<u64>().unwrap_or_default());
        let text =
            |event: &Object, field: &str| event.value().str_at(&[field]).unwrap_or_default().to_owned();
        events.iter().map(|event| format!("{}: {}", text(event, "reason"), text(event, "message"))).collect()
    }
}

fn condition(object: &Object, type_: &str) -> (String, String) {
    let conditions = object.value().items_at(&["status", "conditions"]);
    let found = conditions.iter().find(|condition| condition.str_at(&["type"]) == Some(type_));
    let text = |field| found.and_then(|found| found.str_at(&[field])).unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

fn count(object: &Object, field: &str) -> i64 {
    object.value().int_at(&["status", field]).unwrap_or(0)
}

fn deployment(name: &str, replicas: i64, image: &str) -> Value {
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    })
}

fn job(name: &str, spec: Value, pod: Value) -> Value {
    let mut job = value!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
    });
    job.set(&["spec"], spec);
    job.set(&["spec", "template"], pod);
    job
}

fn task(annotations: Value) -> Value {
    value!({
        "metadata": {"annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "task"}]},
    })
}

#[tokio::test]
async fn a_new_cluster_has_nodes_and_every_namespace_its_account_and_certificate() {
    let cluster = Cluster::start().await;
    let nodes: Vec<String> =
        cluster.local.list("", "nodes", None).iter().map(|node| node.name().to_owned()).collect();
    assert_eq!(nodes, ["sim-node-0", "sim-node-1", "sim-node-2"]);
    assert_eq!(cluster.get("", "serviceaccounts", "default").kind(), "ServiceAccount");
    let ca = cluster.get("", "configmaps", "kube-root-ca.crt");
    assert!(ca.value().str_at(&["data", "ca.crt"]).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
}

#[tokio::test]
async fn a_deployment_becomes_available() {
    let cluster = Cluster::start().await;
    cluster.create("apps", "deployments", deployment("web", 3, "nginx:1")).await;
    cluster.sim.settle().await;
    assert_eq!(cluster.pods().len(), 3);
    assert!(cluster.states().iter().all(|state| state.ends_with("Pending")), "{:?}", cluster.states());
    cluster.advance(2).await;
    assert!(cluster.states().iter().all(|state| state.ends_with("Running ready")), "{:?}", cluster.states());
    let web = cluster.get("apps", "deployments", "web");
    assert_eq!(count(&web, "availableReplicas"), 3);
    assert_eq!(count(&web, "observedGeneration"), web.generation());
    assert_eq!(condition(&web, "Available"), ("True".into(), "MinimumReplicasAvailable".into()));
    assert_eq!(condition(&web, "Progressing"), ("True".into(), "NewReplicaSetAvailable".into()));
    assert_eq!(web.annotation("deployment.kubernetes.io/revision"), Some("1"));
    let set = &cluster.local.list("apps", "replicasets", Some("default"))[0];
    assert_eq!(
        cluster.events("web"),
        [format!("ScalingReplicaSet: Scaled up replica set {} from 0 to 3", set.name())]
    );
    let pod = &cluster.pods()[0];
    assert_eq!(cluster.events(pod.name()).len(), 4, "{:?}", cluster.events(pod.name()));
    assert!(pod.value().str_at(&["status", "podIP"]).unwrap().starts_with("10.244."));
}

#[tokio::test]
async fn a_new_template_rolls_out_and_an_old_one_comes_back() {
    let cluster = Cluster::start().await;
    cluster.create("apps", "deployments", deployment("web", 4, "nginx:1")).await;
    cluster.advance(5).await;
    let image = |name: &'static str| {
        move |object: &mut Object| {
            let containers = value!([{"name": "main", "image": name}]);
            object.set(&["spec", "template", "spec", "containers"], containers);
        }
    };
    cluster.edit("apps", "deployments", "web", image("nginx:2")).await;
    cluster.sim.settle().await;
    let total: i64 = cluster
        .local
        .list("apps", "replicasets", Some("default"))
        .iter()
        .filter_map(|set| set.value().int_at(&["spec", "replicas"]))
        .sum();
    assert_eq!(total, 5, "one more than wanted, as a quarter may be");
    cluster.advance(30).await;
    let web = cluster.get("apps", "deployments", "web");
    assert_eq!(
        ["replicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"]
            .map(|field| count(&web, field)),
        [4, 4, 4, 0]
    );
    assert_eq!(web.annotation("deployment.kubernetes.io/revision"), Some("2"));
    cluster.edit("apps", "deployments", "web", image("nginx:1")).await;
    cluster.advance(30).await;
    let web = cluster.get("apps", "deployments", "web");
    assert_eq!(web.annotation("deployment.kubernetes.io/revision"), Some("3"));
    let sets = cluster.local.list("apps", "replicasets", Some("default"));
    assert_eq!(sets.len(), 2, "the first set is used again");
}

#[tokio::test]
async fn a_rollout_that_crashes_runs_out_of_time() {
    let cluster = Cluster::start().await;
    let mut object = deployment("web", 2, "nginx:1");
    object.set(&["spec", "progressDeadlineSeconds"], 60);
    let annotations = value!({"sim.lynceus.dev/exit-code": "1"});
    object.set(&["spec", "template", "metadata", "annotations"], annotations);
    cluster.create("apps", "deployments", object).await;
    cluster.advance(120).await;
    let web = cluster.get("apps", "deployments", "web");
    assert_eq!(condition(&web, "Progressing"), ("False".into(), "ProgressDeadlineExceeded".into()));
    let pod = &cluster.pods()[0];
    let status = &pod.value().items_at(&["status", "containerStatuses"])[0];
    assert_eq!(status.str_at(&["state", "waiting", "reason"]), Some("CrashLoopBackOff"));
    assert!(status.int_at(&["restartCount"]).unwrap() >= 2);
}

#[tokio::test]
async fn deleting_takes_everything_along() {
    let cluster = Cluster::start().await;
    for (policy, left) in [("Background", 0), ("Foreground", 0), ("Orphan", 2)] {
        cluster.create("apps", "deployments", deployment("web", 2, "nginx:1")).await;
        cluster.advance(5).await;
        cluster.delete("apps", "deployments", "web", value!({"propagationPolicy": policy})).await;
        cluster.advance(60).await;
        assert!(cluster.local.get("apps", "deployments", "default", "web").is_none(), "{policy}");
        assert_eq!(cluster.pods().len(), left, "{policy}: {:?}", cluster.states());
    }
}

#[tokio::test]
async fn a_job_completes() {
    let cluster = Cluster::start().await;
    let spec = value!({"completions": 3, "parallelism": 2});
    cluster.create("batch", "jobs", job("sum", spec, task(value!({})))).await;
    cluster.advance(60).await;
    let job = cluster.get("batch", "jobs", "sum");
    assert_eq!(condition(&job, "Complete"), ("True".into(), "CompletionsReached".into()));
    assert_eq!((count(&job, "succeeded"), count(&job, "active")), (3, 0));
    assert!(job.at(&["status", "completionTime"]).is_some());
    assert!(cluster.pods().iter().all(|pod| pod.finalizers().next().is_none()));
    assert!(
        cluster.events("sum").contains(&"Completed: Job completed".to_owned()),
        "{:?}",
        cluster.events("sum")
    );
}

#[tokio::test]
async fn a_job_that_fails_gives_up() {
    let cluster = Cluster::start().await;
    let failing = task(value!({"sim.lynceus.dev/exit-code": "3"}));
    cluster.create("batch", "jobs", job("sum", value!({"backoffLimit": 1}), failing)).await;
    cluster.advance(300).await;
    let job = cluster.get("batch", "jobs", "sum");
    assert_eq!(condition(&job, "Failed"), ("True".into(), "BackoffLimitExceeded".into()));
    assert_eq!(count(&job, "failed"), 2);
    let pod = &cluster.pods()[0];
    let status = &pod.value().items_at(&["status", "containerStatuses"])[0];
    assert_eq!(status.int_at(&["state", "terminated", "exitCode"]), Some(3));
}

#[tokio::test]
async fn a_job_that_is_deleted_leaves_no_pod_behind() {
    let cluster = Cluster::start().await;
    let endless = task(value!({"sim.lynceus.dev/run-for": "1h"}));
    cluster.create("batch", "jobs", job("sum", value!({"parallelism": 2}), endless)).await;
    cluster.advance(10).await;
    assert_eq!(cluster.pods().len(), 2);
    cluster.delete("batch", "jobs", "sum", value!({"propagationPolicy": "Background"})).await;
    cluster.advance(60).await;
    assert_eq!(cluster.states(), Vec::<String>::new());
}

#[tokio::test]
async fn a_suspended_job_counts_no_failure() {
    let cluster = Cluster::start().await;
    let slow = task(value!({"sim.lynceus.dev/run-for": "60s"}));
    cluster.create("batch", "jobs", job("sum", value!({}), slow)).await;
    cluster.advance(10).await;
    cluster.edit("batch", "jobs", "sum", |job| job.set(&["spec", "suspend"], true)).await;
    cluster.advance(60).await;
    let job = cluster.get("batch", "jobs", "sum");
    assert_eq!(condition(&job, "Suspended"), ("True".into(), "JobSuspended".into()));
    assert_eq!((cluster.pods().len(), count(&job, "failed")), (0, 0));
    cluster.edit("batch", "jobs", "sum", |job| job.set(&["spec", "suspend"], false)).await;
    cluster.advance(100).await;
    assert_eq!(condition(&cluster.get("batch", "jobs", "sum"), "Complete").0, "True");
}

#[tokio::test]
async fn a_pod_waits_for_its_configuration() {
    let cluster = Cluster::start().await;
    let pod = value!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app", "namespace": "default"},
        "spec": {"containers": [{
            "name": "main", "image": "app", "envFrom": [{"configMapRef": {"name": "settings"}}],
        }]},
    });
    cluster.create("", "pods", pod).await;
    cluster.advance(30).await;
    let app = cluster.get("", "pods", "app");
    let status = &app.value().items_at(&["status", "containerStatuses"])[0];
    assert_eq!(status.str_at(&["state", "waiting", "reason"]), Some("CreateContainerConfigError"));
    assert_eq!(status.str_at(&["state", "waiting", "message"]), Some("configmap \"settings\" not found"));
    let settings = value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}});
    cluster.create("", "configmaps", settings).await;
    cluster.advance(5).await;
    assert_eq!(cluster.states(), ["app Running ready"]);
}

#[tokio::test]
async fn a_missing_secret_holds_its_container_alone_and_a_missing_volume_the_whole_pod() {
    let cluster = Cluster::start().await;
    let secret = |name: &str| value!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"}});
    let key =
        value!({"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}});
    let pod = |name: &str, volumes: Value| {
        value!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"volumes": volumes, "containers": [
                {"name": "main", "image": "app", "env": [key]}, {"name": "side", "image": "proxy"},
            ]},
        })
    };
    cluster.create("", "secrets", secret("login")).await;
    cluster.create("", "pods", pod("app", value!([]))).await;
    let mounted = value!([{"name": "files", "secret": {"secretName": "files"}}]);
    cluster.create("", "pods", pod("blocked", mounted)).await;
    cluster.advance(30).await;
    let states = |name: &str| -> Vec<String> {
        let pod = cluster.get("", "pods", name);
        let statuses = pod.value().items_at(&["status", "containerStatuses"]).iter();
        let word =
            |status: &Value| status.str_at(&["state", "waiting", "reason"]).unwrap_or("runs").to_owned();
        statuses.map(|status| format!("{} {}", status.str_at(&["name"]).unwrap(), word(status))).collect()
    };
    assert_eq!(states("app"), ["main CreateContainerConfigError", "side runs"]);
    assert_eq!(states("blocked"), ["main ContainerCreating", "side ContainerCreating"]);
    assert_eq!(cluster.states(), ["app Pending", "blocked Pending"]);
    let failed = "Failed: Error: couldn't find key password in Secret default/login";
    assert_eq!(cluster.events("app").iter().filter(|event| *event == failed).count(), 1);
    let mount = "FailedMount: MountVolume.SetUp failed for volume \"files\" : secret \"files\" not found";
    assert!(cluster.events("blocked").contains(&mount.to_owned()), "{:?}", cluster.events("blocked"));
    cluster.create("", "secrets", secret("files")).await;
    let password = |login: &mut Object| login.set(&["data", "password"], "czNjcjN0");
    cluster.edit("", "secrets", "login", password).await;
    cluster.advance(5).await;
    assert_eq!(cluster.states(), ["app Running ready", "blocked Running ready"]);
}

#[tokio::test]
async fn a_finished_job_goes_after_its_time() {
    let cluster = Cluster::start().await;
    cluster
        .create("batch", "jobs", job("sum", value!({"ttlSecondsAfterFinished": 100}), task(value!({}))))
        .await;
    cluster.advance(60).await;
    assert_eq!(cluster.pods().len(), 1);
    cluster.advance(120).await;
    assert!(cluster.local.get("batch", "jobs", "default", "sum").is_none());
    assert_eq!(cluster.states(), Vec::<String>::new());
}

#[tokio::test]
async fn a_cron_job_runs_every_hour_and_keeps_three() {
    let cluster = Cluster::start().await;
    let mut cron = value!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "default"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {}}},
    });
    cron.set(&["spec", "jobTemplate", "spec", "template"], task(value!({})));
    cluster.create("batch", "cronjobs", cron).await;
    cluster.advance(5 * 3600 + 60).await;
    let cron = cluster.get("batch", "cronjobs", "tick");
    assert_eq!(cron.value().str_at(&["status", "lastScheduleTime"]), Some("2026-01-01T05:00:00Z"));
    assert_eq!(cron.at(&["status", "active"]), None);
    let jobs = cluster.local.list("batch", "jobs", Some("default"));
    let start: Timestamp = "2026-01-01T03:00:00Z".parse().unwrap();
    let first = format!("tick-{}", start.as_second() / 60);
    assert_eq!((jobs.len(), jobs[0].name()), (3, first.as_str()));
}

#[tokio::test]
async fn a_cron_job_for_a_day_that_no_month_has_is_reported() {
    let cluster = Cluster::start().await;
    let mut cron = value!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "never", "namespace": "default"},
        "spec": {"schedule": "59 23 31 2 *", "jobTemplate": {"spec": {}}},
    });
    cron.set(&["spec", "jobTemplate", "spec", "template"], task(value!({})));
    cluster.create("batch", "cronjobs", cron).await;
    cluster.advance(1).await;
    assert_eq!(
        cluster.events("never"),
        ["InvalidSchedule: invalid schedule: 59 23 31 2 * : \
          time difference between two schedules is less than 1 second"]
    );
}

#[tokio::test]
async fn a_stateful_set_starts_in_order_and_keeps_its_claims() {
    let cluster = Cluster::start().await;
    let set = value!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "serviceName": "db", "replicas": 2, "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "main", "image": "db:1"}]},
            },
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {"storageClassName": "standard", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }],
        },
    });
    cluster.create("apps", "statefulsets", set).await;
    cluster.sim.settle().await;
    assert_eq!(cluster.states(), ["db-0 Pending"]);
    cluster.advance(10).await;
    assert_eq!(cluster.states(), ["db-0 Running ready", "db-1 Running ready"]);
    let claim = cluster.get("", "persistentvolumeclaims", "data-db-0");
    assert_eq!(claim.value().str_at(&["status", "phase"]), Some("Bound"));
    cluster
        .edit("apps", "statefulsets", "db", |set| {
            let containers = value!([{"name": "main", "image": "db:2"}]);
            set.set(&["spec", "template", "spec", "containers"], containers);
        })
        .await;
    cluster.advance(30).await;
    let db = cluster.get("apps", "statefulsets", "db");
    assert_eq!((count(&db, "updatedReplicas"), count(&db, "readyReplicas")), (2, 2));
    assert_eq!(db.at(&["status", "currentRevision"]), db.at(&["status", "updateRevision"]));
    assert_eq!(cluster.local.list("apps", "controllerrevisions", Some("default")).len(), 2);
    cluster.edit("apps", "statefulsets", "db", |set| set.set(&["spec", "replicas"], 0)).await;
    cluster.advance(30).await;
    assert_eq!(cluster.states(), Vec::<String>::new());
    assert_eq!(cluster.local.list("", "persistentvolumeclaims", Some("default")).len(), 2);
}

#[tokio::test]
async fn a_node_that_never_says_a_word_is_given_up_and_tainted() {
    let cluster = Cluster::start().await;
    let silent = value!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "silent"}});
    cluster.create("", "nodes", silent).await;
    let node = || cluster.local.get("", "nodes", "", "silent").unwrap();
    cluster.advance(59).await;
    assert_eq!(node().value().items_at(&["status", "conditions"]).len(), 0);
    cluster.advance(1).await;
    let node = node();
    let given_up = ("Unknown".to_owned(), "NodeStatusNeverUpdated".to_owned());
    for type_ in ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] {
        assert_eq!(condition(&node, type_), given_up);
    }
    let taints = node.value().items_at(&["spec", "taints"]);
    let text = |taint: &Value, field| taint.str_at(&[field]).unwrap_or_default().to_owned();
    let keys: Vec<String> =
        taints.iter().map(|taint| text(taint, "key") + " " + &text(taint, "effect")).collect();
    let unreachable = "node.kubernetes.io/unreachable";
    assert_eq!(keys, [format!("{unreachable} NoSchedule"), format!("{unreachable} NoExecute")]);
}

#[tokio::test]
async fn a_node_that_takes_no_pods_is_tainted_until_it_does() {
    let cluster = Cluster::start().await;
    let target = Target { group: "", resource: "nodes", namespace: "", name: "sim-node-0" };
    let cluster = &cluster;
    let cordon = |on: bool| async move {
        cluster.local.edit(target, "", |node| node.set(&["spec", "unschedulable"], on)).await.unwrap();
        cluster.sim.settle().await;
        let node = cluster.local.get("", "nodes", "", "sim-node-0").unwrap();
        node.value().items_at(&["spec", "taints"]).to_vec()
    };
    let taints = cordon(true).await;
    let taint = value!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
        "timeAdded": "2026-01-01T00:00:00Z"});
    assert_eq!(taints, [taint]);
    assert_eq!(cordon(false).await, []);
}

#[tokio::test]
async fn a_daemon_set_runs_on_every_node() {
    let cluster = Cluster::start().await;
    let set = value!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "main", "image": "agent:1"}]},
            },
        },
    });
    cluster.create("apps", "daemonsets", set).await;
    cluster.advance(5).await;
    let agent = cluster.get("apps", "daemonsets", "agent");
    assert_eq!(
        ["desiredNumberScheduled", "numberReady", "numberAvailable", "updatedNumberScheduled"]
            .map(|f| count(&agent, f)),
        [3, 3, 3, 3]
    );
    let mut nodes: Vec<String> = cluster
        .pods()
        .iter()
        .filter_map(|pod| pod.value().str_at(&["spec", "nodeName"]).map(str::to_owned))
        .collect();
    nodes.sort();
    assert_eq!(nodes, ["sim-node-0", "sim-node-1", "sim-node-2"]);
    cluster
        .edit("apps", "daemonsets", "agent", |set| {
            let containers = value!([{"name": "main", "image": "agent:2"}]);
            set.set(&["spec", "template", "spec", "containers"], containers);
        })
        .await;
    cluster.advance(60).await;
    let agent = cluster.get("apps", "daemonsets", "agent");
    assert_eq!((count(&agent, "updatedNumberScheduled"), count(&agent, "numberReady")), (3, 3));
}

#[tokio::test]
async fn a_service_has_the_addresses_of_its_ready_pods() {
    let cluster = Cluster::start().await;
    let service = value!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}], "type": "LoadBalancer"},
    });
    cluster.create("", "services", service).await;
    cluster.create("apps", "deployments", deployment("web", 2, "nginx:1")).await;
    cluster.advance(5).await;
    let endpoints = cluster.get("", "endpoints", "web");
    let subset = &endpoints.value().items_at(&["subsets"])[0];
    assert_eq!(subset.items_at(&["addresses"]).len(), 2);
    assert_eq!(subset.items_at(&["ports"]), [value!({"port": 8080, "protocol": "TCP"})]);
    let slices = cluster.local.list("discovery.k8s.io", "endpointslices", Some("default"));
    let slice = slices.iter().find(|slice| slice.label("kubernetes.io/service-name") == Some("web")).unwrap();
    assert_eq!(slice.value().items_at(&["endpoints"]).len(), 2);
    let web = cluster.get("", "services", "web");
    let address = &web.value().items_at(&["status", "loadBalancer", "ingress"])[0];
    assert_eq!(address.str_at(&["ip"]), Some("198.18.0.1"));
}

#[tokio::test]
async fn a_namespace_goes_with_everything_in_it() {
    let cluster = Cluster::start().await;
    let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    cluster.create("", "namespaces", namespace).await;
    cluster.sim.settle().await;
    let mut object = deployment("web", 2, "nginx:1");
    object.set(&["metadata", "namespace"], "shop");
    cluster.create("apps", "deployments", object).await;
    cluster.advance(5).await;
    let target = Target { group: "", resource: "namespaces", namespace: "", name: "shop" };
    cluster.local.delete(target, &Default::default()).await.unwrap();
    cluster.sim.settle().await;
    let shop = cluster.local.get("", "namespaces", "", "shop").unwrap();
    assert_eq!(condition(&shop, "NamespaceContentRemaining"), ("True".into(), "SomeResourcesRemain".into()));
    cluster.advance(60).await;
    assert!(cluster.local.get("", "namespaces", "", "shop").is_none());
    assert_eq!(cluster.local.list("", "pods", Some("shop")).len(), 0);
    assert_eq!(cluster.local.list("", "events", Some("shop")).len(), 0);
}

#[tokio::test]
async fn a_pod_that_fits_nowhere_says_why_and_waits() {
    let cluster = Cluster::start().await;
    let pod = value!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "picky", "namespace": "default"},
        "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "main", "image": "x"}]},
    });
    cluster.create("", "pods", pod).await;
    cluster.sim.settle().await;
    let picky = cluster.get("", "pods", "picky");
    assert_eq!(condition(&picky, "PodScheduled"), ("False".into(), "Unschedulable".into()));
    let target = Target { group: "", resource: "nodes", namespace: "", name: "sim-node-1" };
    cluster.local.edit(target, "", |node| node.set_label("disk", "ssd")).await.unwrap();
    cluster.advance(5).await;
    assert_eq!(cluster.states(), ["picky Running ready"]);
}

#[tokio::test]
async fn a_budget_counts_healthy_pods() {
    let cluster = Cluster::start().await;
    cluster.create("apps", "deployments", deployment("web", 3, "nginx:1")).await;
    let budget = value!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": "34%", "selector": {"matchLabels": {"app": "web"}}},
    });
    cluster.create("policy", "poddisruptionbudgets", budget).await;
    cluster.advance(5).await;
    let budget = cluster.get("policy", "poddisruptionbudgets", "web");
    assert_eq!(
        ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"]
            .map(|field| count(&budget, field)),
        [3, 3, 1, 2]
    );
}

/// Everything that happens in a busy hour, one line for each change.
async fn busy_hour() -> Vec<String> {
    let cluster = Cluster::start().await;
    let mut changes = cluster.local.changes();
    let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    cluster.create("", "namespaces", namespace).await;
    cluster.create("apps", "deployments", deployment("web", 3, "nginx:1")).await;
    let service = value!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}], "type": "LoadBalancer"},
    });
    cluster.create("", "services", service).await;
    let scaler = value!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minReplicas": 5, "maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    });
    cluster.create("autoscaling", "horizontalpodautoscalers", scaler).await;
    let crashing = task(value!({"sim.lynceus.dev/exit-code": "1"}));
    cluster
        .create("batch", "jobs", job("sum", value!({"backoffLimit": 2, "parallelism": 2}), crashing))
        .await;
    let mut cron = value!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "default"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {}}},
    });
    cron.set(&["spec", "jobTemplate", "spec", "template"], task(value!({})));
    cluster.create("batch", "cronjobs", cron).await;
    cluster.advance(600).await;
    let image = |web: &mut Object| {
        web.set(&["spec", "template", "spec", "containers"], value!([{"name": "main", "image": "nginx:2"}]));
    };
    cluster.edit("apps", "deployments", "web", image).await;
    cluster.advance(600).await;
    let target = Target { group: "", resource: "nodes", namespace: "", name: "sim-node-1" };
    cluster.local.delete(target, &Default::default()).await.unwrap();
    cluster.advance(1200).await;
    cluster.delete("apps", "deployments", "web", value!({"propagationPolicy": "Foreground"})).await;
    let target = Target { group: "", resource: "namespaces", namespace: "", name: "shop" };
    cluster.local.delete(target, &Default::default()).await.unwrap();
    cluster.advance(1200).await;
    let mut lines = Vec::new();
    while let Ok(change) = changes.try_recv() {
        let mut object = change.object.clone();
        // The cluster's certificate is made anew for each.
        if object.name() == "kube-root-ca.crt" {
            object.remove(&["data"]);
        }
        let text = lynceus_object::json::to_string(object.value());
        lines.push(format!("{} {} {} {text}", change.revision, change.kind.word(), change.place.resource));
    }
    lines
}

#[tokio::test]
async fn the_same_seed_gives_the_same_run_event_by_event() {
    let (first, second) = (busy_hour().await, busy_hour().await);
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one, other);
    }
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 500, "{} changes are no busy hour", first.len());
}

#[tokio::test]
async fn hundreds_of_pods_settle() {
    let cluster = Cluster::start().await;
    cluster.create("apps", "deployments", deployment("web", 300, "nginx:1")).await;
    cluster.advance(10).await;
    let web = cluster.get("apps", "deployments", "web");
    assert_eq!(count(&web, "availableReplicas"), 300);
}
