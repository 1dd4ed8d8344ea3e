//! What is made to go wrong, on a clock that is moved by hand: by the stage, and by objects as kubectl would send them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use bytes::Bytes;
use futures::FutureExt as _;
use http_body_util::{BodyExt, Full};
use jiff::SignedDuration;
use lynceus_object::{Object, Value, json, value, yaml};
use lynceus_sim::attributes::User;
use lynceus_sim::view::View;
use lynceus_sim::{Local, Options, Sim, Stage, Target};
use tower::ServiceExt;

struct Cluster {
    sim: Sim,
    local: Local,
}

struct Answer {
    status: u16,
    headers: http::HeaderMap,
    body: Value,
}

impl Answer {
    /// `500 InternalError: Internal error occurred: …`
    fn line(&self) -> String {
        let text = |field: &str| self.body.str_at(&[field]).unwrap_or_default();
        format!("{} {}: {}", self.status, text("reason"), text("message"))
    }
}

impl Cluster {
    async fn start() -> Self {
        Cluster::on("").await
    }

    async fn on(stage: &str) -> Self {
        let options = Options::by_hand(Stage::of_keys(stage).unwrap());
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    async fn pass(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    async fn stream(&self, method: &str, path: &str, body: &str) -> http::Response<lynceus_sim::http::Body> {
        let request = http::Request::builder().method(method).uri(path);
        let request =
            request.header("content-type", "application/json").header("user-agent", "kubectl/v1.36.3");
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        self.sim.service(User::admin()).oneshot(request).await.unwrap()
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let (parts, body) = self.stream(method, path, body).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = json::parse(&body).unwrap_or_default();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Makes a Fault, as `kubectl create` does.
    async fn fault(&self, name: &str, spec: &str) -> Answer {
        let mut fault =
            value!({"apiVersion": "sim.lynceus.dev/v1alpha1", "kind": "Fault", "metadata": {"name": name}});
        fault.set(&["spec"], yaml::parse_str(spec).unwrap());
        let answer = self.send("POST", FAULTS, &json::to_string(&fault)).await;
        self.sim.settle().await;
        answer
    }

    async fn clear(&self, name: &str) {
        assert_eq!(self.send("DELETE", &format!("{FAULTS}/{name}"), "").await.status, 200);
        self.sim.settle().await;
    }

    fn fault_status(&self, name: &str) -> String {
        let fault = self.local.get("sim.lynceus.dev", "faults", "", name).unwrap();
        let text = |field| fault.value().str_at(&["status", field]).unwrap_or_default().to_owned();
        format!("{}, {}", text("what"), text("phase"))
    }

    async fn apply(&self, text: &str) {
        for document in text.split("---\n") {
            let object = Object::new(yaml::parse_str(document).unwrap()).unwrap();
            let registry = self.local.registry();
            let resource = registry.of_kind(&object.gvk()).unwrap();
            self.local.create(&resource.group, &resource.plural, object).await.unwrap();
        }
        self.sim.settle().await;
    }

    fn pods(&self) -> Vec<Object> {
        self.local.list("", "pods", Some("default"))
    }

    fn events(&self, about: &str) -> Vec<String> {
        let of = |event: &Object| event.value().str_at(&["involvedObject", "name"]) == Some(about);
        let text = |event: &Object, field| event.value().str_at(&[field]).unwrap_or_default().to_owned();
        let events = self.local.list("", "events", None).into_iter().filter(of);
        events.map(|event| format!("{}: {}", text(&event, "reason"), text(&event, "message"))).collect()
    }
}

const FAULTS: &str = "/apis/sim.lynceus.dev/v1alpha1/faults";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MAP: &str = r#"{"metadata": {"generateName": "map-"}}"#;

fn condition(object: &Object, type_: &str) -> String {
    let conditions = object.value().items_at(&["status", "conditions"]);
    let found = conditions.iter().find(|condition| condition.str_at(&["type"]) == Some(type_));
    let text = |field| found.and_then(|found| found.str_at(&[field])).unwrap_or_default();
    format!("{} {}", text("status"), text("reason"))
}

fn deployment(replicas: i64) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: default}}\nspec:\n  replicas: \
         {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    \
         spec: {{containers: [{{name: main, image: app}}]}}\n"
    )
}

#[tokio::test]
async fn requests_are_answered_as_a_server_in_trouble_answers() {
    let cluster = Cluster::start().await;
    for (code, wanted, retry) in [
        (429, "429 TooManyRequests: Too many requests, please try again later.", "1"),
        (500, "500 InternalError: Internal error occurred: etcdserver: request timed out", ""),
        (503, "503 ServiceUnavailable: the server is currently unable to handle the request", ""),
        (504, "504 Timeout: Timeout: request did not complete within the allotted timeout", ""),
    ] {
        let spec = format!("{{answer: {code}, requests: {{resources: [configmaps], verbs: [list]}}}}");
        assert_eq!(cluster.fault("trouble", &spec).await.status, 201);
        let answer = cluster.send("GET", MAPS, "").await;
        assert_eq!(answer.line(), wanted);
        let after = answer.headers.get("retry-after").map_or("", |value| value.to_str().unwrap());
        assert_eq!(after, retry);
        assert_eq!(cluster.send("POST", MAPS, MAP).await.status, 201, "another verb is not hit");
        cluster.clear("trouble").await;
        assert_eq!(cluster.send("GET", MAPS, "").await.status, 200);
    }
}

#[tokio::test]
async fn a_share_of_requests_fails_and_the_same_ones_each_time() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let cluster = Cluster::start().await;
        cluster
            .fault(
                "flaky",
                "{answer: 500, share: 0.3, requests: {groups: [core], users: [kubernetes-admin]}}",
            )
            .await;
        let mut run = String::new();
        for _ in 0..50 {
            let failed = cluster.send("GET", MAPS, "").await.status == 500;
            run.push(if failed { 'x' } else { '.' });
        }
        let failed = run.matches('x').count();
        assert!((8..=22).contains(&failed), "{run}");
        cluster.pass(10).await;
        let fault = cluster.local.get("sim.lynceus.dev", "faults", "", "flaky").unwrap();
        assert_eq!(fault.value().int_at(&["status", "hits"]), Some(failed as i64));
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn nobody_is_locked_out_by_a_fault() {
    let cluster = Cluster::start().await;
    cluster.fault("all", "{answer: 503}").await;
    assert_eq!(cluster.send("GET", "/api/v1/namespaces", "").await.status, 503);
    assert_eq!(cluster.send("GET", "/apis/apps/v1", "").await.status, 503);
    for open in ["/healthz", "/readyz", "/livez", "/version", "/api", "/apis", "/openapi/v3", FAULTS] {
        assert_eq!(cluster.send("GET", open, "").await.status, 200, "{open}");
    }
    let table = cluster.send("GET", FAULTS, "").await;
    assert_eq!(table.body.items_at(&["items"]).len(), 1);
    cluster.clear("all").await;
    assert_eq!(cluster.send("GET", "/api/v1/namespaces", "").await.status, 200);
}

#[tokio::test]
async fn a_fault_that_makes_no_sense_is_refused_with_its_field() {
    let cluster = Cluster::start().await;
    for (spec, wanted) in [
        ("{}", "does not say what goes wrong"),
        ("{answer: 404}", "is no code that can be answered: it has to be one of: 429, 500, 503, 504"),
        ("{answer: 500, slow: 1s}", "has answer and slow at the same time"),
        ("{answer: 500, share: 2}", "is no part of a whole"),
        ("{nodeDown: a, share: 0.5}", "does not go with nodeDown"),
        ("{slow: soon}", "is no duration"),
        ("{expireTokens: default}", "write it as namespace/serviceaccount"),
        ("{answer: 500, at: tomorrow}", "is neither a duration nor a time"),
    ] {
        let answer = cluster.fault("odd", spec).await;
        assert_eq!(answer.status, 422, "{spec}");
        assert!(
            answer.line().contains("Fault.sim.lynceus.dev \"odd\" is invalid: spec"),
            "{}",
            answer.line()
        );
        assert!(answer.line().contains(wanted), "{}", answer.line());
    }
}

#[tokio::test]
async fn a_stage_has_faults_by_schedule() {
    let cluster = Cluster::on(
        "faults:\n- {name: later, at: 30s, for: 1m, answer: 500, requests: {resources: [configmaps]}}\n",
    )
    .await;
    let status = async || cluster.send("GET", MAPS, "").await.status;
    assert_eq!((status().await, cluster.fault_status("later")), (200, "answers 500, Waiting".to_owned()));
    cluster.pass(30).await;
    assert_eq!((status().await, cluster.fault_status("later")), (500, "answers 500, Active".to_owned()));
    cluster.pass(59).await;
    assert_eq!(status().await, 500);
    cluster.pass(1).await;
    assert_eq!((status().await, cluster.fault_status("later")), (200, "answers 500, Over".to_owned()));
    let told = cluster.events("later");
    assert_eq!(told, ["Begun: it goes wrong from now on", "Ended: it is over"]);
}

#[tokio::test]
async fn an_api_group_is_slowed_down() {
    let cluster = Cluster::start().await;
    cluster.fault("slow", "{slow: 2s, requests: {groups: [apps]}}").await;
    let mut slow = Box::pin(cluster.send("GET", "/apis/apps/v1/deployments", ""));
    assert!((&mut slow).now_or_never().is_none());
    assert_eq!(cluster.send("GET", MAPS, "").await.status, 200, "another group is as fast as ever");
    cluster.pass(1).await;
    assert!((&mut slow).now_or_never().is_none());
    cluster.pass(1).await;
    assert_eq!(slow.await.status, 200);
}

#[tokio::test]
async fn a_watch_is_cut_and_goes_on_where_it_was_unless_its_version_expired() {
    let cluster = Cluster::start().await;
    cluster.send("POST", MAPS, MAP).await;
    let version = || cluster.local.list("", "configmaps", Some("default"));
    let version = version().iter().map(|map| map.resource_version().parse::<u64>().unwrap()).max().unwrap();
    let watch = format!("{MAPS}?watch=1&resourceVersion={version}");
    let ended = async |body: lynceus_sim::http::Body| {
        let collected = body.collect().now_or_never()?.unwrap().to_bytes();
        Some(String::from_utf8(collected.to_vec()).unwrap())
    };
    let open = cluster.stream("GET", &watch, "").await.into_body();
    let other = cluster.stream("GET", "/api/v1/pods?watch=1", "").await.into_body();
    cluster.fault("cut", "{cutWatches: ended, requests: {resources: [configmaps]}}").await;
    assert_eq!(ended(open).await.as_deref(), Some(""), "the stream ends");
    assert!(ended(other).await.is_none(), "another watch goes on");
    assert_eq!(cluster.fault_status("cut"), "watches end, Over");
    cluster.send("POST", MAPS, MAP).await;
    let mut again = cluster.stream("GET", &watch, "").await.into_body();
    let frame = again.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(frame.starts_with(b"{\"type\":\"ADDED\""), "it goes on where it was");
    drop(again);
    cluster.fault("expire", "{cutWatches: expired, requests: {resources: [configmaps]}}").await;
    let late = cluster.stream("GET", &watch, "").await;
    assert_eq!(late.status(), 200);
    let said = ended(late.into_body()).await.unwrap();
    assert!(said.contains("\"type\":\"ERROR\"") && said.contains("\"code\":410"), "{said}");
    assert!(said.contains(&format!("too old resource version: {version} (")), "{said}");
    let fresh = cluster.stream("GET", &format!("{MAPS}?watch=1"), "").await.into_body();
    assert!(ended(fresh).await.is_none(), "a watch that starts over goes on");
}

#[tokio::test]
async fn watches_are_cut_for_as_long_as_the_fault_lasts() {
    let cluster = Cluster::start().await;
    cluster.fault("cut", "{cutWatches: ended, for: 10s}").await;
    let watch = async || cluster.stream("GET", "/api/v1/pods?watch=1", "").await.into_body();
    assert!(watch().await.collect().now_or_never().is_some());
    cluster.pass(10).await;
    assert!(watch().await.collect().now_or_never().is_none());
}

#[tokio::test]
async fn controllers_suffer_too_and_recover() {
    let cluster = Cluster::start().await;
    cluster.fault("no-pods", "{answer: 500, for: 20s, requests: {resources: [pods], verbs: [create]}}").await;
    cluster.apply(&deployment(2)).await;
    cluster.pass(10).await;
    assert!(cluster.pods().is_empty());
    let set = cluster.local.list("apps", "replicasets", Some("default"))[0].clone();
    let told = cluster.events(set.name());
    let wanted = "FailedCreate: Error creating: Internal error occurred: etcdserver: request timed out";
    assert!(told.iter().any(|line| line == wanted), "{told:?}");
    cluster.pass(60).await;
    assert_eq!(cluster.pods().len(), 2);
    assert!(cluster.pods().iter().all(|pod| condition(pod, "Ready").starts_with("True")));
}

#[tokio::test]
async fn a_full_disk_sends_pods_away_and_takes_none() {
    let cluster = Cluster::on("nodePools: [{name: node, count: 2}]\n").await;
    cluster.apply(&deployment(4)).await;
    cluster.apply(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: kube-system}\nspec:\n  selector: \
         {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n    spec: {containers: [{name: main, \
         image: agent}]}\n",
    )
    .await;
    cluster.pass(5).await;
    cluster.fault("full", "{diskFull: node-0}").await;
    let node = || cluster.local.get("", "nodes", "", "node-0").unwrap();
    assert_eq!(condition(&node(), "DiskPressure"), "True KubeletHasDiskPressure");
    let taints: Vec<String> = node()
        .value()
        .items_at(&["spec", "taints"])
        .iter()
        .map(|taint| format!("{}:{}", taint.str_at(&["key"]).unwrap(), taint.str_at(&["effect"]).unwrap()))
        .collect();
    assert_eq!(taints, ["node.kubernetes.io/disk-pressure:NoSchedule"]);
    let told = cluster.events("node-0");
    for wanted in [
        "NodeHasDiskPressure: Node node-0 status is now: NodeHasDiskPressure",
        "EvictionThresholdMet: Attempting to reclaim ephemeral-storage",
    ] {
        assert!(told.iter().any(|line| line == wanted), "{told:?}");
    }
    let evicted = || -> Vec<Object> {
        let pods = cluster.pods().into_iter();
        pods.filter(|pod| pod.value().str_at(&["status", "reason"]) == Some("Evicted")).collect()
    };
    assert_eq!(evicted().len(), 1, "one after the other");
    cluster.pass(10).await;
    assert_eq!(evicted().len(), 2);
    let gone = &evicted()[0];
    let message =
        "The node was low on resource: ephemeral-storage. Threshold quantity: 109951162777, available: 0. ";
    assert_eq!(gone.value().str_at(&["status", "message"]), Some(message));
    assert_eq!(condition(gone, "DisruptionTarget"), "True TerminationByKubelet");
    assert!(cluster.events(gone.name()).iter().any(|line| *line == format!("Evicted: {message}")));
    let running: Vec<Object> =
        cluster.pods().into_iter().filter(|pod| condition(pod, "Ready").starts_with("True")).collect();
    assert_eq!(running.len(), 4, "they are replaced elsewhere");
    assert!(running.iter().all(|pod| pod.value().str_at(&["spec", "nodeName"]) == Some("node-1")));
    // A daemon is sent to its node whatever its state, and turned away there, less often each time.
    let daemons = || -> Vec<Object> {
        let pods = cluster.local.list("", "pods", Some("kube-system")).into_iter();
        pods.filter(|pod| pod.value().str_at(&["spec", "nodeName"]) == Some("node-0")).collect()
    };
    let refused = "Pod was rejected: The node had condition: [DiskPressure]. ";
    assert_eq!(daemons()[0].value().str_at(&["status", "message"]), Some(refused));
    cluster.clear("full").await;
    assert_eq!(
        condition(&node(), "DiskPressure"),
        "True KubeletHasDiskPressure",
        "it takes a while to believe it"
    );
    cluster.pass(300).await;
    assert_eq!(condition(&node(), "DiskPressure"), "False KubeletHasNoDiskPressure");
    assert!(node().value().items_at(&["spec", "taints"]).is_empty());
    cluster.pass(900).await;
    assert!(condition(&daemons()[0], "Ready").starts_with("True"));
}

#[tokio::test]
async fn a_sealed_vault_is_open_again_when_the_fault_is_gone() {
    let cluster = Cluster::start().await;
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default}}\nspec: {{containers: [{{name: vault, \
             image: hashicorp/vault}}]}}\n"
        )
    };
    cluster.apply(&pod("vault-0")).await;
    cluster.fault("sealed", "{sealVault: default/vault-*}").await;
    cluster.apply(&pod("vault-1")).await;
    cluster.apply(&pod("other")).await;
    let sealed = || -> Vec<String> {
        let pods = cluster.pods().into_iter();
        let sealed = pods.filter(|pod| pod.annotation("sim.lynceus.dev/sealed") == Some("true"));
        sealed.map(|pod| pod.name().to_owned()).collect()
    };
    assert_eq!(sealed(), ["vault-0", "vault-1"], "those that come later too");
    cluster.fault("twice", "{sealVault: default/vault-0}").await;
    cluster.clear("sealed").await;
    assert_eq!(sealed(), ["vault-0"], "another fault still seals it");
    cluster.clear("twice").await;
    assert!(sealed().is_empty());
}

#[tokio::test]
async fn tokens_that_were_made_before_expire() {
    let cluster = Cluster::start().await;
    cluster.pass(1).await;
    let token = async || {
        let target = Target { group: "", resource: "serviceaccounts", namespace: "default", name: "default" };
        let made = cluster.local.subresource(target, "token", Object::default()).await.unwrap();
        made.value().str_at(&["status", "token"]).unwrap().to_owned()
    };
    let review = async |token: &str| {
        let review = value!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let answer = cluster.send("POST", path, &json::to_string(&review)).await;
        answer.body.bool_at(&["status", "authenticated"]) == Some(true)
    };
    let old = token().await;
    assert!(review(&old).await);
    cluster.pass(1).await;
    cluster.fault("stale", "{expireTokens: default/default}").await;
    assert!(!review(&old).await);
    cluster.pass(1).await;
    let new = token().await;
    assert!(review(&new).await, "tokens that are made later are good");
    cluster.fault("all", "{expireTokens: 'kube-*/*'}").await;
    assert!(review(&new).await, "those of others are good");
    cluster.clear("stale").await;
    assert!(review(&old).await);
}
