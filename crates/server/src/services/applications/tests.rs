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
    moved.set(&["metadata", "labels"], value!({"team": "no label"}));
    let refused = stage.ask("PUT", "/api/v1/applications/own", &token, &json::to_string(&moved)).await;
    assert_eq!((refused.status, stage.world.look("shop").await.conditions), (400, vec![]));

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

/// What a request is answered, in short.
fn short(stage: &Stage, said: &Said) -> String {
    let repository = stage.world.repository();
    let message = said.text("message").replace(repository.as_str(), "REPOSITORY");
    format!("{} {message}", said.status)
}

#[tokio::test]
async fn a_spec_that_cannot_be_followed_is_refused_unless_nobody_wants_to_know() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n";
    stage.world.commit(&[("web/web.yaml", WEB), ("broken/a.yaml", broken)]);
    let path = "/api/v1/applications";
    let made = post(&stage, &token, path, &application(&stage, "web", "web")).await;
    assert_eq!(short(&stage, &made), "200 ");

    let invalid = |name: &str| format!("400 application spec for {name} is invalid: InvalidSpecError: ");
    let nowhere = application(&stage, "nowhere", "nowhere");
    let refused = short(&stage, &post(&stage, &token, path, &nowhere).await);
    assert!(
        refused.starts_with(&(invalid("nowhere") + "Unable to generate manifests in nowhere: ")),
        "{refused}"
    );
    assert!(refused.contains("nowhere: app path does not exist: "), "{refused}");
    let broken = short(&stage, &post(&stage, &token, path, &application(&stage, "broken", "broken")).await);
    assert!(
        broken.starts_with(&(invalid("broken") + "Unable to generate manifests in broken: ")),
        "{broken}"
    );
    let mut away = application(&stage, "away", "web");
    away.set(&["spec", "source", "repoURL"], "file:///there/is/no/repository");
    let away = short(&stage, &post(&stage, &token, path, &away).await);
    assert!(away.starts_with(&(invalid("away") + "repository not accessible: ")), "{away}");

    let body = json::to_string(&application(&stage, "web", "nowhere"));
    let put = short(&stage, &stage.ask("PUT", "/api/v1/applications/web", &token, &body).await);
    assert!(put.starts_with(&(invalid("web") + "Unable to generate manifests in nowhere: ")), "{put}");
    let spec = json::to_string(nowhere.get("spec").unwrap());
    let put = short(&stage, &stage.ask("PUT", "/api/v1/applications/web/spec", &token, &spec).await);
    assert!(put.starts_with(&invalid("web")), "{put}");

    let made = post(&stage, &token, &format!("{path}?validate=false"), &nowhere).await;
    assert_eq!(short(&stage, &made), "200 ");
    // What stays as it is is not looked at again: it can be labelled, and mended.
    let label = r#"{"patchType": "merge", "patch": "{\"metadata\":{\"labels\":{\"team\":\"shop\"}}}"}"#;
    let labelled = stage.ask("PATCH", "/api/v1/applications/nowhere", &token, label).await;
    assert_eq!(short(&stage, &labelled), "200 ");
}

#[tokio::test]
async fn what_a_project_does_not_permit_is_refused_whether_it_is_tried_or_not() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    stage.world.commit(&[("web/web.yaml", WEB)]);
    let only = value!({"spec": {"sourceRepos": ["https://git.example.com/*"]}});
    stage.patch("AppProject", "default", &only).await;
    for query in ["", "?validate=false"] {
        let path = format!("/api/v1/applications{query}");
        let said = post(&stage, &token, &path, &application(&stage, "web", "web")).await;
        assert_eq!(
            short(&stage, &said),
            "400 application spec for web is invalid: InvalidSpecError: application repo REPOSITORY is not permitted in \
             project 'default'"
        );
    }
}

#[tokio::test]
async fn changes_that_are_made_at_the_same_time_all_arrive() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    stage.world.commit(&[("web/web.yaml", WEB)]);
    let made = post(&stage, &token, "/api/v1/applications", &application(&stage, "web", "web")).await;
    assert_eq!(short(&stage, &made), "200 ");
    let names = ["a", "b", "c", "d", "e", "f"];
    let patches = names.map(|name| {
        let patch = json::to_string(&value!({"metadata": {"labels": {name: "x"}}}));
        json::to_string(&value!({"patchType": "merge", "patch": patch}))
    });
    let path = "/api/v1/applications/web";
    let work = patches.iter().map(|patch| stage.ask("PATCH", path, &token, patch));
    for said in futures::future::join_all(work).await {
        assert_eq!(short(&stage, &said), "200 ");
    }
    let now = stage.world.object("argoproj.io", "Application", "argocd", "web").unwrap();
    assert_eq!(names.map(|name| now.label(name)), [Some("x"); 6]);
    // Whoever has read it long ago may still replace it: its status is written all the time.
    let mut stale = application(&stage, "web", "web");
    stale.set(&["metadata", "resourceVersion"], "1");
    let put = stage.ask("PUT", path, &token, &json::to_string(&stale)).await;
    assert_eq!(short(&stage, &put), "200 ");
    assert!(put.body.at(&["metadata", "labels", "a"]).is_none());
}

#[tokio::test]
async fn an_application_is_asked_for_with_its_project_by_either_name() {
    let stage = Stage::at_work().await;
    let token = stage.admin().await;
    stage.world.commit(&[("web/web.yaml", WEB)]);
    let made = post(&stage, &token, "/api/v1/applications", &application(&stage, "web", "web")).await;
    assert_eq!(short(&stage, &made), "200 ");
    stage.world.until("it is seen", |world| world.state("web").starts_with("OutOfSync")).await;
    let mut found = Vec::new();
    for query in
        ["project=default", "projects=default", "project=other", "projects=other", "project=a&project=b"]
    {
        let list = stage.ask("GET", &format!("/api/v1/applications?{query}"), &token, "").await;
        let one = stage.ask("GET", &format!("/api/v1/applications/web?{query}"), &token, "").await;
        found.push((list.body.items_at(&["items"]).len(), one.status));
    }
    assert_eq!(found, [(1, 200), (1, 200), (0, 403), (0, 403), (0, 400)]);
}

#[tokio::test]
async fn a_verb_that_a_path_does_not_have_is_told_apart_from_a_path_that_there_is_not() {
    let stage = Stage::new("").await;
    let put = stage.ask("PUT", "/api/v1/applications", "", "{}").await;
    assert_eq!((put.status, put.text("message")), (405, "PUT is not for this path"));
    assert_eq!(stage.ask("GET", "/api/v1/nothing", "", "").await.status, 404);
}
