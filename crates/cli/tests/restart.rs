//! `lynceus up` as a process: killed, started again, started twice.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use std::collections::BTreeSet;

use support::{Home, Up, until};

fn job(name: &str, hook: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    argocd.argoproj.io/hook: {hook}\n\
         spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: main\n        \
         image: example/job:1\n        command: [\"true\"]\n"
    )
}

fn deployment(name: &str, wave: i32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  annotations:\n    \
         argocd.argoproj.io/sync-wave: \"{wave}\"\nspec:\n  selector:\n    matchLabels: {{app: {name}}}\n  template:\n    \
         metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      - name: main\n        \
         image: example/{name}:1\n"
    )
}

/// A moment of a sync: the object whose appearance marks it.
const MOMENTS: [(&str, &str, &str, &str); 5] = [
    ("namespace", "", "Namespace", ""),
    ("before", "batch", "Job", "migrate"),
    ("first", "apps", "Deployment", "first"),
    ("second", "apps", "Deployment", "second"),
    ("after", "batch", "Job", "smoke"),
];

async fn reached(up: &Up, namespace: &str, (_, group, kind, name): (&str, &str, &str, &str)) -> Option<()> {
    let (namespace, name) = if kind == "Namespace" { ("", namespace) } else { (namespace, name) };
    up.get(group, kind, namespace, name).await.map(drop)
}

#[tokio::test]
async fn a_sync_that_is_killed_at_any_moment_is_finished_after_a_restart_and_no_hook_runs_twice() {
    let home = Home::new();
    home.commit(&[
        ("app/migrate.yaml", job("migrate", "PreSync")),
        ("app/first.yaml", deployment("first", 0)),
        ("app/second.yaml", deployment("second", 1)),
        ("app/smoke.yaml", job("smoke", "PostSync")),
    ]);
    let mut up = home.up(&[]).await;
    for moment in MOMENTS {
        let name = format!("shop-{}", moment.0);
        up.create(&home.application(&name, "app")).await;
        until(moment.0, async || reached(&up, &name, moment).await).await;
        let mut hooks: BTreeSet<String> = up.jobs(&name).await.into_iter().collect();
        up.kill();
        up = home.up(&[]).await;
        let done = async || (up.state(&name).await == "Synced Healthy Succeeded").then_some(());
        until(format!("the end of the sync killed at {}", moment.0), done).await;
        hooks.extend(up.jobs(&name).await);
        let names: Vec<&str> = hooks.iter().filter_map(|hook| hook.split(' ').next()).collect();
        assert_eq!(names, ["migrate", "smoke"], "each hook ran once when killed at {}: {hooks:?}", moment.0);
        let application = up.get("argoproj.io", "Application", "argocd", &name).await.unwrap();
        assert_eq!(application.value().items_at(&["status", "history"]).len(), 1, "{}", moment.0);
    }
}

#[tokio::test]
async fn a_directory_or_a_port_that_another_has_is_refused_with_a_hint() {
    let home = Home::new();
    let up = home.up(&[]).await;
    let told = |arguments: &[&str]| {
        let output = home.run(arguments);
        let code = output.status.code().unwrap_or(-1);
        (code, String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = told(&["up", "--data-dir", "data", "--port", "0"]);
    assert_eq!(
        (code, text.as_str()),
        (
            20,
            "error: cannot start the embedded cluster\n  caused by: cannot open the data directory\n  caused by: \
             data/cluster/lock is in use by another process\n  hint: stop the other one, or choose another directory with \
             --data-dir DIR\n"
        )
    );
    let kubeconfig = std::fs::read_to_string(home.kubeconfig()).unwrap();
    let port = kubeconfig.split("127.0.0.1:").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let (code, text) = told(&["up", "--data-dir", "other", "--port", &port]);
    assert_eq!(code, 20);
    assert!(
        text.ends_with("  hint: another program has the port\n  hint: choose another with --port N\n"),
        "{text}"
    );
    up.kill();
}

#[tokio::test]
async fn a_second_demo_in_the_same_directory_is_the_first_one() {
    let home = Home::new();
    let up = home.up(&["--demo"]).await;
    let arrived = async |up: &Up| {
        let state = up.state("shop-production").await;
        (state == "Synced Healthy Succeeded").then_some(())
    };
    until("the demo", async || arrived(&up).await).await;
    let hooks = up.jobs("shop-production").await;
    up.kill();
    let up = home.up(&["--demo"]).await;
    until("the demo again", async || arrived(&up).await).await;
    assert_eq!(up.jobs("shop-production").await, hooks, "no hook has run again");
}
