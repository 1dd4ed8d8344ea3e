//! What happens when a repository is brought to a cluster with nothing in it.

mod common;

use common::*;
use lynceus_rehearse::{Ending, Verdict};

const WAVE: &str = "argocd.argoproj.io/sync-wave";

fn deployment(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
         template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {{containers: [{{name: main, image: \"example/{name}:1\"}}]}}\n"
    )
}

#[tokio::test]
async fn an_app_of_apps_brings_its_children_wave_by_wave() {
    let first =
        application_with("database", "database", "shop", &format!("  annotations: {{{WAVE}: \"1\"}}\n"));
    let second = application_with("web", "web", "shop", &format!("  annotations: {{{WAVE}: \"2\"}}\n"));
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== apps/database.yaml\n{first}=== apps/web.yaml\n{second}=== database/d.yaml\n{}=== web/d.yaml\n{}",
        application("root", "apps", "argocd"),
        deployment("db"),
        deployment("web"),
    ));
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "database Finishes Synced Healthy\nroot Finishes Synced Healthy\nweb Finishes Synced Healthy\n"
    );
    assert_eq!((played.report.verdict, played.report.ending), (Verdict::Finishes, Ending::Finished));
    assert_eq!(
        steps(&played.report, "root"),
        "created Application argocd/database\ncreated Application argocd/web\n"
    );
    assert_eq!(steps(&played.report, "web"), "created Deployment shop/web\n");
    assert_eq!(steps(&played.report, "database"), "created Namespace shop\ncreated Deployment shop/db\n");
    let done =
        |name: &str| played.report.applications.iter().find(|one| one.name == name).unwrap().done_after;
    assert!(done("database") < done("web") && done("web") <= done("root"));
    assert_eq!(
        assumed(&played.report),
        ["Nodes three nodes with room for everything", "Image example/db:1", "Image example/web:1"]
    );
}
