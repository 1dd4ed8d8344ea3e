//! Fixes that are tried as a whole: a repository is played, a change is made to it, and it is played again.
#![allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]

mod common;

use std::time::{Duration, Instant};

use common::*;
use lynceus_doctor::{Proof, examine};
use lynceus_engine::FileChange;
use lynceus_files::FilePath;
use lynceus_rehearse::{Attempt, Complaint, Trial};

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: example/web:1
        envFrom: [{secretRef: {name: ledger}}]
";
const SETTINGS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
const CAUSE: &str = "LYN0301/web/Secret/ledger";

fn child(name: &str, wave: i32) -> String {
    let wave = format!("  annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}\n");
    application_with(name, name, "shop", &wave)
}

/// One application of the parent's last wave lacks a Secret; another one comes before it and is well.
async fn tried(file: &str, after: &str) -> Attempt {
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== apps/settings.yaml\n{}=== apps/web.yaml\n{}=== settings/a.yaml\n{SETTINGS}=== web/d.yaml\n{WEB}",
        application("root", "apps", "argocd"),
        child("settings", 1),
        child("web", 2),
    ));
    let played = repository.play().await;
    assert!(
        states(&played.report).contains("settings Finishes Synced Healthy"),
        "{}",
        states(&played.report)
    );
    let examination = examine(&played.snapshot().await);
    let complaint = Complaint::of(&examination, CAUSE).expect("the Secret is missed");
    let trial = Trial::on(&played, Instant::now() + Duration::from_secs(600)).await;
    let change = FileChange {
        repository: "https://git.example.com/team/shop.git".into(),
        path: FilePath::new(file).expect("a path"),
        before: None,
        after: Some(after.to_owned()),
    };
    trial.attempt(&complaint, &[change]).await.expect("it can be tried")
}

#[tokio::test]
async fn a_fix_that_keeps_another_application_from_being_created_is_refuted() {
    let attempt = tried("apps/web.yaml", &child("web", 0)).await;
    let reason = "with the fix settings gets stuck, which it does not without".to_owned();
    assert_eq!(attempt.proof, Proof::Refuted { reason });
    let settings = attempt.applications.iter().find(|one| one.name == "settings").expect("it is told");
    assert_eq!(settings.after.as_deref(), Some("OutOfSync Missing"));
}

#[tokio::test]
async fn a_fix_that_mends_and_leaves_the_others_alone_is_verified() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: ledger}\nstringData: {password: x}\n";
    let attempt = tried("web/secret.yaml", secret).await;
    assert!(matches!(attempt.proof, Proof::Verified { .. }), "{attempt:?}");
}

#[tokio::test]
async fn a_fix_that_takes_away_what_an_application_has_is_refuted_though_all_are_well_without_it() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: ledger}\nstringData: {password: x}\n";
    let attempt = tried("settings/a.yaml", secret).await;
    let reason = "with the fix no application wants ConfigMap settings any more, which settings does without"
        .to_owned();
    assert_eq!(attempt.proof, Proof::Refuted { reason });
    let harmed: Vec<&str> = attempt.harmed.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(harmed, ["settings"]);
}
