//! The same is played of the same files, each time.
#![allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]

mod common;

use common::*;

const SHARED: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags, namespace: shop}\ndata: {of: OWNER}\n";

/// Three applications that want one object, each as it has it, and take it from each other again and again.
fn contested() -> Repository {
    let app = |name: &str| format!("=== apps/{name}.yaml\n{}", application(name, name, "shop"));
    let file = |name: &str| format!("=== {name}/a.yaml\n{}", SHARED.replace("OWNER", name));
    let names = ["blue", "green", "red"];
    let all: String = names.iter().map(|name| format!("{}{}", app(name), file(name))).collect();
    Repository::of_files(&format!("=== root.yaml\n{}{all}", application("root", "apps", "argocd")))
}

#[tokio::test]
async fn applications_that_take_an_object_from_each_other_do_so_in_the_same_order_each_time() {
    let repository = contested();
    let mut told = Vec::new();
    for _ in 0..3 {
        let played = repository.play().await;
        let steps: String = ["blue", "green", "red"]
            .iter()
            .map(|name| format!("{name}\n{}", steps(&played.report, name)))
            .collect();
        told.push(format!("{}{} s\n{steps}", states(&played.report), played.report.seconds));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}
