#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use axum::body::Body;
use axum::http::{Request, header};
use futures::StreamExt as _;
use lynceus_object::{Value, json, value};

use crate::access::tests::{Said, Stage};

fn config(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{colour: blue}}\n")
}

/// An Application for a folder of the stage's repository.
fn application(stage: &Stage, name: &str, path: &str) -> Value {
    value!({
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
            "source": {"repoURL": stage.world.repository(), "path": path, "targetRevision": "main"},
        },
    })
}

async fn post(stage: &Stage, token: &str, path: &str, body: &Value) -> Said {
    stage.ask("POST", path, token, &json::to_string(body)).await
}

#[tokio::test]
async fn what_is_refused_or_only_read_lays_claim_to_nothing() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    let before =
        stage.world.commit(&[("own/both.yaml", &config("both")), ("shop/both.yaml", &config("both"))]);
    stage.world.commit(&[("own/both.yaml", ""), ("own/own.yaml", &config("own"))]);
    stage.world.deliver("own", "own", &value!({})).await;
    stage.world.until("own", |world| world.state("own").starts_with("OutOfSync")).await;
    let shared = value!({"syncPolicy": {"syncOptions": ["FailOnSharedResource=true"]}});
    stage.world.deliver("shop", "shop", &shared).await;
    stage.world.until("shop", |world| world.state("shop").starts_with("OutOfSync")).await;

    let taken = post(&stage, &token, "/api/v1/applications", &application(&stage, "own", "shop")).await;
    assert_eq!((taken.status, stage.world.look("shop").await.conditions), (400, vec![]));
    let path = format!("/api/v1/applications/own/manifests?revision={before}");
    let old = stage.ask("GET", &path, &token, "").await;
    assert_eq!((old.status, old.body.items_at(&["manifests"]).len()), (200, 1));
    let mut moved = application(&stage, "own", "shop");
    moved.set(&["metadata", "resourceVersion"], "1");
    let refused = stage.ask("PUT", "/api/v1/applications/own", &token, &json::to_string(&moved)).await;
    assert_eq!((refused.status, stage.world.look("shop").await.conditions), (409, vec![]));

    let asked = post(&stage, &token, "/api/v1/applications/shop/sync", &value!({})).await;
    assert_eq!(asked.status, 200, "{}", asked.text("message"));
    stage.world.until("the sync", |world| world.state("shop") == "Synced Healthy Succeeded").await;
}

const WEB: &str = r#"
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
"#;

/// How the one object of an application is, and what is said of it.
fn health(application: &Value) -> String {
    let resource = &application.items_at(&["status", "resources"])[0];
    let part = |field| resource.str_at(&["health", field]).unwrap_or("-");
    format!("{} {} {}", resource.str_at(&["kind"]).unwrap_or("-"), part("status"), part("message"))
}

/// The first that a stream of applications says.
async fn first(stage: &Stage, token: &str, path: &str) -> Value {
    let request = Request::get(path).header(header::AUTHORIZATION, format!("Bearer {token}"));
    let mut body = stage.stream(request.body(Body::empty()).unwrap()).await;
    let line = body.next().await.unwrap().unwrap();
    let line = json::parse(&line).unwrap();
    line.at(&["result", "application"]).cloned().unwrap()
}

#[tokio::test]
async fn whoever_asks_for_one_application_is_told_how_each_of_its_objects_is() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    stage.world.commit(&[("web/web.yaml", WEB)]);
    let missing = "Service Missing Resource has not been created";
    let made = post(&stage, &token, "/api/v1/applications", &application(&stage, "web", "web")).await;
    assert_eq!(made.status, 200, "{}", made.text("message"));
    stage.world.until("a look", |world| world.state("web").starts_with("OutOfSync")).await;
    let path = "/api/v1/applications/web";
    assert_eq!(health(&stage.ask("GET", path, &token, "").await.body), missing);
    let mut body = application(&stage, "web", "web");
    body.set(&["metadata", "labels"], value!({"team": "shop"}));
    let put = stage.ask("PUT", path, &token, &json::to_string(&body)).await;
    assert_eq!(health(&put.body), missing, "{}", put.text("message"));
    let begun = post(&stage, &token, &format!("{path}/sync"), &value!({})).await;
    assert_eq!(health(&begun.body), missing, "{}", begun.text("message"));
    stage.world.until("the sync", |world| world.state("web") == "Synced Healthy Succeeded").await;
    assert_eq!(health(&stage.ask("GET", path, &token, "").await.body), "Service Healthy ");
    let told = first(&stage, &token, "/api/v1/stream/applications?name=web").await;
    assert_eq!(health(&told), "Service Healthy ");
    // As in Argo CD a list, which is of many, says nothing of it.
    let list = stage.ask("GET", "/api/v1/applications", &token, "").await;
    assert_eq!(health(&list.body.items_at(&["items"])[0]), "Service - -");
}

#[tokio::test]
async fn what_is_in_the_cluster_is_shown_while_git_cannot_be_rendered() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    stage.world.commit(&[("web/web.yaml", WEB)]);
    stage.world.deliver("web", "web", &value!({"syncPolicy": {"automated": {}}})).await;
    stage.world.until("the sync", |world| world.state("web") == "Synced Healthy Succeeded").await;
    let elsewhere = value!({"spec": {"source": {"path": "nowhere"}}});
    stage.world.patch("argoproj.io/v1alpha1", "Application", "argocd", "web", &elsewhere).await;
    stage.world.until("the fault", |world| world.state("web").starts_with("Unknown")).await;
    let tree = stage.ask("GET", "/api/v1/applications/web/resource-tree", &token, "").await;
    let nodes: Vec<&str> =
        tree.body.items_at(&["nodes"]).iter().filter_map(|node| node.str_at(&["kind"])).collect();
    assert!(nodes.contains(&"Service"), "{nodes:?}");
    let managed = stage.ask("GET", "/api/v1/applications/web/managed-resources", &token, "").await;
    let items = managed.body.items_at(&["items"]);
    assert_eq!((managed.status, items.len()), (200, 1), "{}", managed.text("message"));
    assert_eq!(items[0].str_at(&["targetState"]), Some("null"));
    assert!(!items[0].bool_at(&["modified"]).unwrap_or_default());
    assert!(items[0].str_at(&["liveState"]).unwrap().contains(r#""name":"web""#));
}
