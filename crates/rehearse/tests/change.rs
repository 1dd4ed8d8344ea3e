//! What a change does: from one revision to another, and with files replaced.

mod common;

use common::*;
use lynceus_rehearse::{Script, Verdict, rehearse};

fn config(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: v{value}}}\n")
}

fn shop() -> String {
    format!(
        "=== app.yaml\n{}=== web/a.yaml\n{}=== web/b.yaml\n{}=== web/c.yaml\n{}=== web/d.yaml\n{}",
        application("web", "web", "shop"),
        config("a", "1"),
        config("b", "1"),
        config("c", "1"),
        config("d", "1"),
    )
}

#[tokio::test]
async fn a_change_is_told_by_what_it_creates_changes_and_deletes() {
    let repository = Repository::of_commit(&shop());
    repository.commit(
        "main",
        &format!(
            "=== web/a.yaml\n{}=== web/b.yaml\n\n=== web/e.yaml\n{}",
            config("a", "2"),
            config("e", "1")
        ),
    );
    let script =
        Script { from: Some("main~1".to_owned()), to: Some("main".to_owned()), ..repository.script() };
    let played = rehearse(&script).await.unwrap();
    assert_eq!(states(&played.report), "web Finishes Synced Healthy\n");
    let mut steps: Vec<String> = steps(&played.report, "web").lines().map(str::to_owned).collect();
    steps.sort();
    assert_eq!(
        steps,
        ["changed ConfigMap shop/a (data.key)", "created ConfigMap shop/e", "deleted ConfigMap shop/b"]
    );
    assert!(played.report.mass_deletions.is_empty());
}

#[tokio::test]
async fn a_change_that_deletes_most_of_an_application_is_a_mass_deletion() {
    let repository = Repository::of_commit(&shop());
    // As somebody has it who is still working on it.
    for file in ["web/b.yaml", "web/c.yaml", "web/d.yaml"] {
        std::fs::remove_file(repository.folder.join(file)).unwrap();
    }
    let script = Script { from: Some("main".to_owned()), ..repository.script() };
    let played = rehearse(&script).await.unwrap();
    assert_eq!(played.report.verdict, Verdict::Finishes);
    let told: Vec<(Option<&str>, usize, usize)> = played
        .report
        .mass_deletions
        .iter()
        .map(|one| (one.application.as_deref(), one.deleted, one.of))
        .collect();
    assert_eq!(told, [(None, 3, 4), (Some("web"), 3, 4)]);
}

#[tokio::test]
async fn an_application_that_is_deleted_takes_its_objects_along() {
    let finalizer = "  finalizers: [resources-finalizer.argocd.argoproj.io]\n";
    let repository = Repository::of_commit(&format!(
        "=== root.yaml\n{}=== apps/web.yaml\n{}=== apps/other.yaml\n{}=== web/a.yaml\n{}=== other/a.yaml\n{}",
        application("root", "apps", "argocd"),
        application_with("web", "web", "shop", finalizer),
        application("other", "other", "shop"),
        config("a", "1"),
        config("o", "1"),
    ));
    repository.commit("main", "=== apps/web.yaml\n\n");
    let script = Script { from: Some("main~1".to_owned()), ..repository.script() };
    let played = rehearse(&script).await.unwrap();
    assert_eq!(
        states(&played.report),
        "other Finishes Synced Healthy\nroot Finishes Synced Healthy\nweb Gone  \n"
    );
    assert_eq!(steps(&played.report, "root"), "deleted Application argocd/web\n");
    assert_eq!(steps(&played.report, "web"), "deleted ConfigMap shop/a\n");
}

#[tokio::test]
async fn another_branch_is_served_as_it_is_and_one_that_is_not_there_is_an_error_of_its_application() {
    let at = |name: &str, branch: &str| {
        application(name, "web", name).replace("targetRevision: main", &format!("targetRevision: {branch}"))
    };
    let repository = Repository::of_commit(&format!("=== web/a.yaml\n{}", config("old", "1")));
    repository.commit("release", &format!("=== web/a.yaml\n{}", config("released", "1")));
    repository.commit(
        "main",
        &format!(
            "=== apps/a.yaml\n{}=== apps/b.yaml\n{}=== apps/c.yaml\n{}=== web/a.yaml\n{}",
            at("current", "main"),
            at("released", "release"),
            at("lost", "stage1-complete"),
            config("new", "1")
        ),
    );
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "current Finishes Synced Healthy\nlost Stuck Unknown Unknown\nreleased Finishes Synced Healthy\n"
    );
    assert_eq!(
        steps(&played.report, "current"),
        "created Namespace current\ncreated ConfigMap current/new\n"
    );
    assert_eq!(
        steps(&played.report, "released"),
        "created Namespace released\ncreated ConfigMap released/released\n"
    );
    assert!(why(&played.report, "lost").contains("stage1-complete"));
}

#[tokio::test]
async fn a_fix_is_verified_by_playing_the_same_with_files_replaced() {
    let broken = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - name: main\n    image: example/web:1\n    \
                  envFrom: [{configMapRef: {name: missing}}]\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== other.yaml\n{}=== web/p.yaml\n{broken}=== other/a.yaml\n{}",
        application("web", "web", "shop"),
        application("other", "other", "other"),
        config("a", "1")
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "other Finishes Synced Healthy\nweb Stuck Synced Degraded\n");
    let fix = overlay(&format!("=== web/c.yaml\n{}", config("missing", "1")));
    let verified = played.verify(&fix).await.unwrap();
    let told: Vec<String> = verified
        .applications
        .iter()
        .map(|one| format!("{}: {:?} -> {:?}", one.name, one.before, one.after))
        .collect();
    assert_eq!(
        told,
        [
            "other: Some(\"Synced Healthy\") -> Some(\"Synced Healthy\")",
            "web: Some(\"Synced Degraded\") -> Some(\"Synced Healthy\")",
        ]
    );
    assert_eq!(verified.healed().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["web"]);
    assert_eq!((verified.harmed().count(), verified.after.verdict), (0, Verdict::Finishes));
    assert!(!repository.folder.join("web/c.yaml").exists(), "the files themselves are left alone");
}

#[tokio::test]
async fn a_manual_application_is_synced_as_somebody_would_ask_for_it() {
    let manual = application("web", "web", "shop")
        .replace("automated: {prune: true, selfHeal: true}", "managedNamespaceMetadata: {}");
    let repository =
        Repository::of_files(&format!("=== app.yaml\n{manual}=== web/a.yaml\n{}", config("a", "1")));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "web Finishes Synced Healthy\n", "{}", why(&played.report, "web"));
    assert!(played.report.applications[0].by_hand);
}
