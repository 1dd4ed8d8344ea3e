//! What is sent when something is written.

mod server;

use lynceus_cluster::{ApplyOptions, Cluster, Deletion, Options, Rate, Strategy};
use lynceus_object::{Gvk, Object, ObjectKey, Value, json, value};
use server::{Answer, Server, end, event, pod, status};

const POD: &str = "/api/v1/namespaces/shop/pods/a";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn desired() -> Object {
    let mut object = Object::named(&Gvk::new("", "v1", "Pod"), "shop", "a");
    object.set(&["spec", "nodeName"], "m");
    object
}

async fn apply(cluster: &Cluster, strategy: Strategy) -> String {
    let options = ApplyOptions { strategy, ..ApplyOptions::default() };
    match cluster.apply(&desired(), options).await {
        Ok(applied) => applied.message,
        Err(error) => format!("error: {error}"),
    }
}

/// Every write: its method, and what was sent.
fn writes(server: &Server) -> Vec<String> {
    let writes = server.all().into_iter().filter(|ask| ask.method != "GET");
    writes.map(|ask| format!("{} {}", ask.method, json::to_string(&ask.body))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_is_only_observed_is_never_written_to() {
    let server = Server::new(|_| None);
    let options = Options { read_only: true, rate: Rate::UNBOUNDED, ..Options::default() };
    let cluster = server.connect_with(options).await;
    let refused = "error: the cluster is only observed: PATCH /api/v1/namespaces/shop/pods/a was not sent";
    assert_eq!(apply(&cluster, Strategy::ServerSide).await, refused);
    let gvk = Gvk::new("", "v1", "Pod");
    let deletion = cluster.delete(&gvk, "shop", "a", &Deletion::default()).await;
    assert!(deletion.is_err());
    assert!(cluster.patch_record(&gvk, "shop", "a", &value!({})).await.is_err());
    assert!(cluster.create_record(&desired()).await.is_err());
    assert!(cluster.replace_record(&desired()).await.is_err());
    assert_eq!(writes(&server), [""; 0]);
}

fn manager(name: &str, operation: &str, fields: Value) -> Value {
    value!({"manager": name, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
}

#[tokio::test(start_paused = true)]
async fn fields_that_were_applied_from_the_clients_side_are_taken_over() {
    let mut annotated = Value::default();
    annotated.set(&["f:metadata", "f:annotations", &format!("f:{LAST_APPLIED}")], value!({}));
    let server = Server::new(move |ask| {
        let mut answer = pod("a", 10 + ask.before as u64);
        if ask.before == 0 {
            let fields = vec![manager("argocd-controller", "Update", annotated.clone())];
            answer.set(&["metadata", "managedFields"], fields);
        }
        (ask.path == POD && ask.method == "PATCH").then_some(Answer::Json(200, answer))
    });
    let cluster = server.connect().await;
    assert_eq!(apply(&cluster, Strategy::ServerSide).await, "pod/a serverside-applied");
    let sent = writes(&server);
    assert_eq!(sent.len(), 3);
    assert_eq!(
        sent[1],
        format!(
            r#"PATCH {{"metadata":{{"managedFields":[{{"apiVersion":"v1","fieldsV1":{{"f:metadata":{{"f:annotations":{{"f:{LAST_APPLIED}":{{}}}}}}}},"manager":"argocd-controller","operation":"Apply"}}],"resourceVersion":"10"}}}}"#
        )
    );
    assert_eq!(sent[0], sent[2]);
}

#[tokio::test(start_paused = true)]
async fn what_is_replaced_or_created_carries_no_copy_of_itself() {
    let server = Server::new(|ask| match (ask.method.as_str(), ask.path.as_str()) {
        ("GET", POD) => Some(Answer::Json(200, pod("a", 7))),
        ("PUT" | "POST", _) => Some(Answer::Json(200, pod("a", 8))),
        _ => None,
    });
    let cluster = server.connect().await;
    assert_eq!(apply(&cluster, Strategy::Replace).await, "pod/a replaced");
    assert_eq!(apply(&cluster, Strategy::Create).await, "pod/a created");
    assert!(writes(&server).iter().all(|write| !write.contains(LAST_APPLIED)));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_made_anew_comes_back_as_it_was() {
    let server = Server::new(|ask| match (ask.method.as_str(), ask.path.as_str()) {
        ("GET", POD) if ask.before < 2 => Some(Answer::Json(200, pod("a", 7))),
        ("GET", POD) => Some(Answer::Json(404, status(404, "NotFound", "gone"))),
        ("PATCH", _) => Some(Answer::Json(422, status(422, "Invalid", "spec: Forbidden: immutable"))),
        ("POST", _) if ask.before == 0 => Some(Answer::Json(403, status(403, "Forbidden", "no quota"))),
        ("POST", _) => Some(Answer::Json(201, pod("a", 9))),
        _ => None,
    });
    let cluster = server.connect().await;
    let options = ApplyOptions { force: true, ..ApplyOptions::default() };
    let error = cluster.apply(&desired(), options).await.unwrap_err();
    assert_eq!(error.to_string(), "no quota");
    let sent = writes(&server);
    assert!(sent[1].starts_with("DELETE"));
    assert_eq!(
        sent.last().map(String::as_str),
        Some(
            r#"POST {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop"},"spec":{"nodeName":"n"}}"#
        )
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_of_which_only_the_metadata_is_kept_is_fetched_when_it_is_asked_for() {
    let server = Server::new(|ask| match ask.path.as_str() {
        "/api/v1/pods" => Some(Answer::Open(vec![event("ADDED", pod("a", 3)), end(5)])),
        POD => Some(Answer::Json(200, pod("a", 3))),
        _ => None,
    });
    let cluster = server.connect().await;
    let key = ObjectKey::new("", "Pod", "shop", "a");
    let gvk = Gvk::new("", "v1", "Pod");
    assert!(cluster.cache().get(&key).unwrap().at(&["spec"]).is_none());
    for _ in 0..2 {
        let live = cluster.live(&key, &gvk).await.unwrap().unwrap();
        assert_eq!(live.value().str_at(&["spec", "nodeName"]), Some("n"));
    }
    assert_eq!(server.asked(POD).len(), 1);
    let nobody = ObjectKey::new("", "Pod", "shop", "nobody");
    assert!(cluster.live(&nobody, &gvk).await.unwrap().is_none());
    assert_eq!(server.asked("/api/v1/namespaces/shop/pods/nobody").len(), 0);
}
