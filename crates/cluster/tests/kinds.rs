//! Kinds that come, go, fail and are left out.

mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lynceus_cluster::{Cluster, Options, Rate, RespectRbac, Scope};
use lynceus_object::{GroupKind, Value, value};
use server::{Answer, Server, end, event, pod, resource, status};

const PODS: &str = "/api/v1/pods";
const WIDGETS: &str = "/apis/example.com/v1/widgets";

fn watched(cluster: &Cluster, kind: &str) -> Vec<String> {
    let kind = if kind == "Widget" { GroupKind::new("example.com", kind) } else { GroupKind::new("", kind) };
    cluster.cache().of_kind(&kind).iter().map(|object| object.name().to_owned()).collect()
}

fn options() -> Options {
    Options { rate: Rate::UNBOUNDED, ..Options::default() }
}

fn widget(name: &str) -> Value {
    value!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {
        "name": name, "namespace": "shop", "uid": name, "resourceVersion": "3",
    }})
}

fn group(version: Value) -> Answer {
    let items = vec![value!({"metadata": {"name": "example.com"}, "versions": [version]})];
    Answer::Json(200, value!({"kind": "APIGroupDiscoveryList", "items": items}))
}

fn served() -> Value {
    value!({"version": "v1", "resources": [{
        "resource": "widgets", "scope": "Namespaced", "verbs": ["get", "list", "watch"],
        "responseKind": {"group": "example.com", "version": "v1", "kind": "Widget"},
    }]})
}

/// A server whose second group goes through these states, one per look.
fn with_group(states: Vec<Value>) -> Server {
    let state = Arc::new(AtomicUsize::new(0));
    Server::new(move |ask| match ask.path.as_str() {
        "/apis" => {
            let at = state.fetch_add(1, Ordering::SeqCst).min(states.len() - 1);
            Some(match &states[at] {
                Value::Null => Answer::Json(200, value!({"kind": "APIGroupDiscoveryList", "items": []})),
                version => group(version.clone()),
            })
        }
        "/apis/example.com/v1" => {
            Some(Answer::Json(503, status(503, "ServiceUnavailable", "the server is currently unable")))
        }
        WIDGETS => Some(Answer::Open(vec![event("ADDED", widget("w")), end(5)])),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn a_group_that_fails_keeps_its_kinds_and_objects() {
    let server = with_group(vec![served(), value!({"version": "v1", "freshness": "Stale"}), served()]);
    let cluster = server.connect().await;
    assert_eq!(watched(&cluster, "Widget"), ["w"]);
    cluster.rediscover().await.unwrap();
    assert_eq!(watched(&cluster, "Widget"), ["w"]);
    let error = cluster.cache().errors()[&GroupKind::new("example.com", "Widget")].message.clone();
    assert_eq!(error, "the server is currently unable");
    assert_eq!(server.asked(WIDGETS), ["stream"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_no_longer_served_is_forgotten_and_one_that_comes_is_read() {
    let server = with_group(vec![Value::Null, served(), Value::Null]);
    let cluster = server.connect().await;
    assert_eq!(watched(&cluster, "Widget"), [""; 0]);
    cluster.rediscover().await.unwrap();
    assert_eq!(watched(&cluster, "Widget"), ["w"]);
    cluster.rediscover().await.unwrap();
    assert_eq!(watched(&cluster, "Widget"), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_comes_is_noticed() {
    let definition = value!({
        "apiVersion": "v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "uid": "d", "resourceVersion": "7"},
    });
    let inner = with_group(vec![Value::Null, served()]);
    let client = inner.clone();
    let server = Server::new(move |ask| match ask.path.as_str() {
        "/api" => Some(Answer::Json(
            200,
            value!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": ""}, "versions": [{
                "version": "v1",
                "resources": [resource("definitions", "CustomResourceDefinition", false)],
            }]}]}),
        )),
        "/api/v1/definitions" => Some(Answer::Open(vec![end(5), event("ADDED", definition.clone())])),
        _ => client.script(ask),
    });
    let cluster = server.connect().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(watched(&cluster, "Widget"), ["w"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_aggregated_discovery_is_asked_group_by_group() {
    let pods = value!({"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["list", "watch"]});
    let widgets =
        value!({"name": "widgets", "kind": "Widget", "namespaced": true, "verbs": ["list", "watch"]});
    let server = Server::new(move |ask| {
        let answer = match ask.path.as_str() {
            "/api" => value!({"kind": "APIVersions", "versions": ["v1"]}),
            "/api/v1" => value!({"kind": "APIResourceList", "resources": [
                pods.clone(), {"name": "pods/log", "kind": "Pod", "namespaced": true, "verbs": ["get"]},
            ]}),
            "/apis" => value!({"kind": "APIGroupList", "groups": [
                {"name": "example.com", "versions": [{"groupVersion": "example.com/v1"}]},
                {"name": "down.example.com", "versions": [{"groupVersion": "down.example.com/v1"}]},
            ]}),
            "/apis/example.com/v1" => value!({"kind": "APIResourceList", "resources": [widgets.clone()]}),
            "/apis/down.example.com/v1" => {
                return Some(Answer::Json(503, status(503, "ServiceUnavailable", "down")));
            }
            _ => return None,
        };
        Some(Answer::Json(200, answer))
    });
    let cluster = server.connect().await;
    let kinds = cluster.kinds();
    let names: Vec<String> = kinds.watchable().map(|kind| kind.gvk.to_string()).collect();
    assert_eq!(names, ["/v1, Kind=Pod", "example.com/v1, Kind=Widget"]);
    assert_eq!(kinds.broken_groups.get("down.example.com/v1").map(String::as_str), Some("down"));
}

fn forbidding(allowed: bool) -> Server {
    Server::new(move |ask| match ask.path.as_str() {
        PODS => Some(Answer::Json(403, status(403, "Forbidden", "pods is forbidden"))),
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => {
            assert_eq!(ask.body.str_at(&["spec", "resourceAttributes", "verb"]), Some("list"));
            Some(Answer::Json(201, value!({"status": {"allowed": allowed}})))
        }
        _ => None,
    })
}

async fn told(server: &Server, respect_rbac: RespectRbac) -> (usize, usize) {
    let cluster = server.connect_with(Options { respect_rbac, read_only: true, ..options() }).await;
    (cluster.cache().errors().len(), cluster.cache().left_out().len())
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_we_may_not_read_is_an_error_or_left_out() {
    assert_eq!(told(&forbidding(false), RespectRbac::Off).await, (1, 0));
    assert_eq!(told(&forbidding(false), RespectRbac::Normal).await, (0, 1));
    assert_eq!(told(&forbidding(false), RespectRbac::Strict).await, (0, 1));
    assert_eq!(told(&forbidding(true), RespectRbac::Strict).await, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_excluded_at_run_time_is_forgotten_and_what_is_included_again_is_read() {
    let server = Server::new(|ask| {
        (ask.path == PODS).then(|| Answer::Open(vec![event("ADDED", pod("a", 3)), end(5)]))
    });
    let cluster = server.connect().await;
    assert_eq!(watched(&cluster, "Pod"), ["a"]);
    cluster.set_scope(Scope::read(Some("- {kinds: [Pod]}"), None).0, RespectRbac::Off);
    assert_eq!(watched(&cluster, "Pod"), [""; 0]);
    cluster.set_scope(Scope::default(), RespectRbac::Off);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(watched(&cluster, "Pod"), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn with_namespaces_only_these_are_asked_for() {
    let server = Server::new(|_| None);
    let options = Options { namespaces: vec!["dev".into(), "prod".into()], ..options() };
    let _cluster = server.connect_with(options).await;
    let asked = |path: &str| server.asked(path).len();
    assert_eq!(asked("/api/v1/namespaces/dev/pods"), 1);
    assert_eq!(asked("/api/v1/namespaces/prod/pods"), 1);
    assert_eq!(asked(PODS), 0);
}
