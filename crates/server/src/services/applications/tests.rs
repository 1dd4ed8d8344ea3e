#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

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
