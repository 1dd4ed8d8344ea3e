//! `lynceus snapshot` and `lynceus sim fault`, with the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_object::{Gvk, Object, value};
use support::Home;

fn object(api_version: &str, kind: &str, name: &str) -> Object {
    Object::named(&Gvk::from_manifest(api_version, kind), "default", name)
}

fn text(output: std::process::Output) -> String {
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[tokio::test]
async fn a_snapshot_of_one_cluster_is_the_beginning_of_another() {
    let home = Home::new();
    let up = home.up(&[]).await;
    let mut secret = object("v1", "Secret", "database");
    secret.set(&["stringData", "password"], "correct-horse");
    up.create(&secret).await;
    let mut quota = object("v1", "ResourceQuota", "small");
    quota.set(&["spec"], value!({"hard": {"services": "0"}}));
    up.create(&quota).await;
    // What cannot be read is told, and the rest goes on.
    let fault = ["sim", "fault", "--kubeconfig", "data/kubeconfig"];
    home.run(&[&fault[..], &["answer", "500", "--resource", "secrets", "--verbs", "list"]].concat());
    let said = text(home.run(&["snapshot", "--kubeconfig", "data/kubeconfig", "part.json.gz"]));
    assert!(said.contains("left out     secrets: Internal error occurred: etcdserver"), "{said}");
    home.run(&[&fault[..], &["clear"]].concat());
    let said = text(home.run(&["snapshot", "--kubeconfig", "data/kubeconfig", "cluster.yaml"]));
    assert!(said.starts_with("snapshot     cluster.yaml: Kubernetes v1.36.3, 3 nodes, "), "{said}");
    up.kill();
    let written = std::fs::read_to_string(home.folder.join("cluster.yaml")).unwrap();
    assert!(!written.contains("correct-horse") && !written.contains("Y29ycmVjdC1ob3JzZQ"));
    std::fs::remove_dir_all(home.folder.join("data")).unwrap();
    let again = home.up(&["--stage", "cluster.yaml"]).await;
    let kept = again.get("", "Secret", "default", "database").await.unwrap();
    assert_eq!(kept.value().str_at(&["data", "password"]), Some(""));
    assert!(again.get("", "ResourceQuota", "default", "small").await.is_some());
}

#[tokio::test]
async fn a_fault_is_made_listed_and_cleared() {
    let home = Home::new();
    let up = home.up(&[]).await;
    let fault = |more: &[&str]| {
        text(home.run(&[&["sim", "fault", "--kubeconfig", "data/kubeconfig"][..], more].concat()))
    };
    let said = fault(&["answer", "500", "--resource", "configmaps", "--verbs", "get", "--name", "flaky"]);
    assert_eq!(said, "fault flaky is made; take it back with: lynceus sim fault clear flaky\n");
    let refused = text(home.run(&["sim", "fault", "--kubeconfig", "data/kubeconfig", "answer", "200"]));
    assert!(refused.contains("it has to be one of: 429, 500, 503, 504"), "{refused}");
    let listed = fault(&["list"]);
    assert!(listed.contains("flaky") && listed.contains("answers 500"), "{listed}");
    assert_eq!(fault(&["clear"]), "fault flaky is cleared\n");
    assert!(fault(&["clear", "flaky"]).contains("there is no fault flaky"));
    drop(up);
}
