//! ApplicationSets are played: what they make is delivered, what they would delete is held, what they cannot ask for is said.

mod common;

use common::*;
use jiff::Timestamp;
use lynceus_object::{Object, yaml};
use lynceus_rehearse::{Report, Script, Verdict, rehearse};
use lynceus_sim::stage::Snapshot;

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

const REPO: &str = "https://git.example.com/team/shop.git";

/// A set whose template delivers the folder `path` to the namespace `shop`.
fn set(generators: &str, name: &str, path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: shops, namespace: argocd}}\nspec:\n  goTemplate: true\n  \
         goTemplateOptions: [missingkey=error]\n  generators: [{generators}]\n  template:\n    metadata: {{name: '{name}'}}\n    spec:\n      \
         project: default\n      source: {{repoURL: '{REPO}', path: '{path}', targetRevision: main}}\n      destination: {{server: \
         'https://kubernetes.default.svc', namespace: shop}}\n      syncPolicy: {{automated: {{prune: true}}, syncOptions: [CreateNamespace=true]}}\n"
    )
}

fn directories() -> String {
    let git = format!("{{git: {{repoURL: '{REPO}', revision: main, directories: [{{path: apps/*}}]}}}}");
    set(&git, "{{.path.basename}}", "{{.path.path}}")
}

/// `shops Finishes: created Application argocd/a`, and why it is stuck.
fn sets(report: &Report) -> String {
    let mut out = String::new();
    for one in &report.sets {
        let place = one.place.as_ref().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("{} {:?} ({place})\n", one.name, one.verdict));
        for step in &one.steps {
            out.push_str(&format!("  {:?} {} {}/{}\n", step.did, step.kind, step.namespace, step.name));
        }
        for line in one.reasons.iter().map(ToString::to_string).collect::<String>().lines() {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

#[tokio::test]
async fn directories_of_the_repository_become_applications_that_are_delivered() {
    let repository = Repository::of_files(&format!(
        "=== sets/shops.yaml\n{}=== apps/one/a.yaml\n{CONFIG}=== apps/two/a.yaml\n{}",
        directories(),
        CONFIG.replace("name: a", "name: b"),
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "one Finishes Synced Healthy\ntwo Finishes Synced Healthy\n");
    assert_eq!(
        sets(&played.report),
        "shops Finishes (sets/shops.yaml:1)\n  Created Application argocd/one\n  Created Application argocd/two\n"
    );
    assert_eq!(played.report.verdict, Verdict::Finishes);
    assert_eq!(played.report.applications[0].place.as_ref().unwrap().to_string(), "sets/shops.yaml:1");
}

#[tokio::test]
async fn a_set_that_an_application_brings_is_played_after_it() {
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== sets/shops.yaml\n{}=== apps/one/a.yaml\n{CONFIG}",
        application("root", "sets", "argocd"),
        directories(),
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "one Finishes Synced Healthy\nroot Finishes Synced Healthy\n");
    assert_eq!(played.report.not_rehearsed, []);
}

#[tokio::test]
async fn a_change_that_would_delete_too_much_is_held_and_says_what_confirms_it() {
    let files: String = ["a", "b", "c", "d"]
        .iter()
        .map(|name| {
            format!("=== apps/{name}/x.yaml\n{}", CONFIG.replace("name: a", &format!("name: {name}")))
        })
        .collect();
    let repository = Repository::of_commit(&format!("=== sets/shops.yaml\n{}{files}", directories()));
    repository.commit("main", "=== apps/b/x.yaml\n\n=== apps/c/x.yaml\n\n=== apps/d/x.yaml\n\n");
    let script = Script { from: Some("HEAD~1".to_owned()), ..repository.script() };
    let played = rehearse(&script).await.unwrap();
    let told = sets(&played.report);
    assert!(
        told.contains("shops Stuck (sets/shops.yaml:1)\n  3 of 4 Applications would be deleted")
            && told.contains("[WaitsForConfirmation]"),
        "{told}"
    );
    assert_eq!(played.report.verdict, Verdict::Stuck);
    let one = "=== apps/d/x.yaml\n\n";
    let repository = Repository::of_commit(&format!("=== sets/shops.yaml\n{}{files}", directories()));
    repository.commit("main", one);
    let script = Script { from: Some("HEAD~1".to_owned()), ..repository.script() };
    let played = rehearse(&script).await.unwrap();
    assert_eq!(sets(&played.report), "shops Finishes (sets/shops.yaml:1)\n  Deleted Application argocd/d\n");
    assert!(states(&played.report).contains("d Gone"), "{}", states(&played.report));
}

#[tokio::test]
async fn what_only_others_can_answer_is_said_and_holds_up_nobody() {
    let scm = set("{scmProvider: {github: {organization: acme}}}", "{{.repository}}", "app");
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== more/set.yaml\n{scm}---\n{}=== web/a.yaml\n{CONFIG}",
        application("root", "more", "argocd"),
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "root Finishes Synced Healthy\nweb Finishes Synced Healthy\n");
    let [unknown] = played.report.not_rehearsed.as_slice() else {
        panic!("{:?}", played.report.not_rehearsed)
    };
    assert_eq!(
        (unknown.what.as_str(), unknown.why.as_str()),
        ("ApplicationSet shops", "it needs the repositories of the organisation, and nobody is asked")
    );
    assert_eq!(played.report.verdict, Verdict::NotRehearsed);
}

#[tokio::test]
async fn a_set_that_cannot_be_generated_is_stuck_and_says_where() {
    let git = format!("{{git: {{repoURL: '{REPO}', revision: main, files: [{{path: 'envs/*.yaml'}}]}}}}");
    let repository = Repository::of_files(&format!(
        "=== set.yaml\n{}=== envs/a.yaml\nname: one\n=== envs/b.yaml\nnames: two\n=== app/a.yaml\n{CONFIG}",
        set(&git, "{{.name}}", "app"),
    ));
    let played = repository.play().await;
    let told = sets(&played.report);
    assert!(
        told.starts_with("shops Stuck (set.yaml:1)\n  spec.generators[0].git, element 1 (file envs/b.yaml)"),
        "{told}"
    );
}

#[tokio::test]
async fn clusters_are_those_of_the_snapshot_and_otherwise_not_made_up() {
    let all = set("{clusters: {}}", "{{.nameNormalized}}", "app");
    let chosen = set("{clusters: {selector: {matchLabels: {tier: web}}}}", "{{.nameNormalized}}", "app")
        .replace("'https://kubernetes.default.svc'", "'{{.server}}'");
    let files = |set: &str| format!("=== set.yaml\n{set}=== app/a.yaml\n{CONFIG}");
    let played = Repository::of_files(&files(&all)).play().await;
    assert_eq!(states(&played.report), "in-cluster Finishes Synced Healthy\n");
    let played = Repository::of_files(&files(&chosen)).play().await;
    let why = &played.report.not_rehearsed[0].why;
    assert!(why.starts_with("it chooses among the registered clusters by their labels"), "{why}");
    let mut snapshot = Snapshot::default();
    for (name, tier) in [("east", "web"), ("west", "data")] {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: argocd, labels: {{argocd.argoproj.io/secret-type: cluster, tier: \
             {tier}}}}}\nstringData: {{name: {name}, server: 'https://{name}.example', config: '{{\"bearerToken\": \"hush\"}}'}}\n"
        );
        snapshot.add(Object::new(yaml::parse_str(&secret).unwrap()).unwrap());
    }
    let repository = Repository::of_files(&files(&chosen));
    let script = repository.script().beginning_as(snapshot, Timestamp::UNIX_EPOCH);
    let played = rehearse(&script).await.unwrap();
    assert_eq!(states(&played.report), "east Finishes Synced Healthy\n", "{:?}", played.report.not_rehearsed);
}
