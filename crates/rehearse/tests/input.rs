//! Repositories that are not as they should be, and what is looked for in them.

mod common;

use common::*;
use lynceus_doctor::examine;
use lynceus_engine::AppKey;
use lynceus_rehearse::{Script, Verdict, rehearse};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[tokio::test]
async fn a_repository_without_applications_is_refused() {
    let repository = Repository::of_files(&format!("=== a.yaml\n{CONFIG}"));
    assert_eq!(repository.refusal().await.to_string(), "there is no Application in the repository");
}

#[tokio::test]
async fn applications_that_create_each_other_are_refused() {
    let repository = Repository::of_files(&format!(
        "=== a/b.yaml\n{}=== b/a.yaml\n{}",
        application("b", "b", "argocd"),
        application("a", "a", "argocd"),
    ));
    assert_eq!(
        repository.refusal().await.to_string(),
        "applications create each other, and nobody creates the first: b -> a -> b"
    );
    let chosen = Script { applications: vec!["a".to_owned()], ..repository.script() };
    let played = rehearse(&chosen).await.unwrap();
    assert_eq!(
        states(&played.report),
        "a Stuck Synced Progressing\nb Stuck Synced Progressing\n",
        "each waits for the other to be healthy"
    );
}

#[tokio::test]
async fn an_application_that_creates_itself_is_a_beginning() {
    let repository =
        Repository::of_files(&format!("=== apps/root.yaml\n{}", application("root", "apps", "argocd")));
    assert_eq!(states(&repository.play().await.report), "root Finishes Synced Healthy\n");
}

#[tokio::test]
async fn a_broken_document_is_told_with_its_line_and_the_others_are_played() {
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}---\napiVersion: argoproj.io/v1alpha1\nkind: [Application\n=== web/a.yaml\n{CONFIG}",
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(
        (states(&played.report).as_str(), played.report.verdict),
        ("web Finishes Synced Healthy\n", Verdict::Stuck)
    );
    let note = &played.report.notes[0];
    assert_eq!((note.place.file.as_str(), note.place.line > 10), ("app.yaml", true), "{note:?}");
}

#[tokio::test]
async fn an_application_that_cannot_be_read_is_told_with_its_line() {
    let broken = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: broken}\nspec: {project: 7, source: text}\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== x/t1.yaml\n{broken}=== web/a.yaml\n{CONFIG}",
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    let notes: Vec<String> =
        played.report.notes.iter().map(|note| format!("{}: {}", note.place, note.message)).collect();
    assert!(
        matches!(notes.as_slice(), [note] if note.starts_with("x/t1.yaml:1: Application broken cannot be read: ")),
        "{notes:?}"
    );
    assert!(played.snapshot().await.unseen.contains(&notes[0]));
}

#[tokio::test]
async fn an_application_that_the_server_refuses_is_told_with_its_line_and_the_others_are_played() {
    let broken =
        application("broken", "web", "shop").replace("path: web", "path: web, helm: {valuesObject: [1]}");
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}---\n{broken}=== web/a.yaml\n{CONFIG}",
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(
        (states(&played.report).as_str(), played.report.verdict),
        ("broken NotRehearsed OutOfSync Missing\nweb Finishes Synced Healthy\n", Verdict::NotRehearsed)
    );
    let [refused] = played.report.not_rehearsed.as_slice() else { panic!("{:?}", played.report) };
    assert_eq!(refused.what, "Application broken");
    assert_eq!(
        refused.why,
        "the API server refuses it: Application.argoproj.io \"broken\" is invalid: spec.source.helm.valuesObject: Invalid \
         value: \"array\": spec.source.helm.valuesObject in body must be of type object: \"array\""
    );
    let found = examine(&played.snapshot().await);
    let [root] = found.roots.as_slice() else { panic!("{:?}", found.roots) };
    assert_eq!(
        (root.id.as_str(), root.finding.cause.as_str()),
        (
            "LYN0808/broken/Application/broken",
            "the API server refuses Application broken: spec.source.helm.valuesObject: Invalid value: \"array\": \
             spec.source.helm.valuesObject in body must be of type object: \"array\""
        )
    );
    let evidence: Vec<String> = root.finding.evidence.iter().map(ToString::to_string).collect();
    assert_eq!(evidence, [format!("{}:1: Application broken", refused.place.as_ref().unwrap())]);
    assert_eq!((found.totals.applications, found.totals.fine), (2, 1));
    assert!(found.unseen.iter().all(|unseen| !unseen.contains("broken")), "{:?}", found.unseen);
}

#[tokio::test]
async fn a_refused_application_is_not_taken_for_another_of_its_name() {
    let broken = application("web", "web", "shop")
        .replace("path: web", "path: web, helm: {valuesObject: [1]}")
        .replace("namespace: argocd", "namespace: teams");
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}---\n{broken}=== web/a.yaml\n{CONFIG}",
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    // Nothing makes the namespace of the first, and the second is wrong in itself: each has its own reason.
    let reason = |namespace: &str| {
        let key = AppKey::new(namespace, "web");
        let found = played.report.not_rehearsed.iter().find(|one| one.application.as_ref() == Some(&key));
        found.map(|one| one.why.clone()).unwrap_or_default()
    };
    assert!(
        reason("argocd").contains("namespaces \"argocd\" not found"),
        "{:?}",
        played.report.not_rehearsed
    );
    assert!(reason("teams").contains("valuesObject"), "{:?}", played.report.not_rehearsed);
}

#[tokio::test]
async fn a_source_that_cannot_be_rendered_is_stuck_and_says_why() {
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== gone.yaml\n{}=== chart/Chart.yaml\nname: chart\nversion: 1.0.0\napiVersion: v2\n=== \
         chart/templates/a.yaml\n{{{{ .Values.a.b.c }}}}\n",
        application("chart", "chart", "shop"),
        application("gone", "nowhere", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(played.report.verdict, Verdict::Stuck);
    assert_eq!(states(&played.report), "chart Stuck Unknown Unknown\ngone Stuck Unknown Unknown\n");
    assert!(why(&played.report, "chart").contains("templates/a.yaml"), "{}", why(&played.report, "chart"));
    assert!(why(&played.report, "gone").contains("nowhere"), "{}", why(&played.report, "gone"));
}

#[tokio::test]
async fn a_repository_that_cannot_be_reached_is_not_rehearsed_and_holds_nobody_up() {
    let wave = |number: i32| format!("  annotations: {{argocd.argoproj.io/sync-wave: \"{number}\"}}\n");
    let other = application_with("other", "x", "shop", &wave(1))
        .replace("git.example.com/team/shop.git", "127.0.0.1:1/x.git");
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== apps/a.yaml\n{other}=== apps/b.yaml\n{}=== web/a.yaml\n{CONFIG}",
        application("root", "apps", "argocd"),
        application_with("web", "web", "shop", &wave(2)),
    ));
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "other NotRehearsed Synced Healthy\nroot Finishes Synced Healthy\nweb Finishes Synced Healthy\n"
    );
    assert_eq!(played.report.verdict, Verdict::NotRehearsed);
    assert!(played.report.not_rehearsed[0].why.contains("127.0.0.1"), "{:?}", played.report.not_rehearsed);
}

#[tokio::test]
async fn applications_that_a_chart_or_a_kustomization_makes_are_not_applied_by_hand() {
    let template = application("{{ .Values.name }}", "web", "shop");
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== chart/Chart.yaml\nname: chart\nversion: 1.0.0\napiVersion: v2\n=== chart/values.yaml\nname: web\n=== \
         chart/templates/a.yaml\n{template}=== kust/kustomization.yaml\nnamePrefix: prod-\nresources: [app.yaml]\n=== \
         kust/app.yaml\n{}=== both.yaml\n{}=== web/a.yaml\n{CONFIG}",
        application("root", "chart", "argocd"),
        application("base", "web", "base"),
        application("both", "kust", "argocd"),
    ));
    let played = repository.play().await;
    let names: Vec<&str> = played.report.applications.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["both", "prod-base", "root", "web"]);
}

#[tokio::test]
async fn a_kustomization_that_nobody_delivers_is_built_as_somebody_would_apply_it() {
    let repository = Repository::of_files(&format!(
        "=== base/app.yaml\n{}=== base/kustomization.yaml\nresources: [app.yaml]\n=== prod/kustomization.yaml\nnamePrefix: \
         prod-\nresources: [../base]\n=== web/a.yaml\n{CONFIG}",
        application("web", "web", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "prod-web Finishes Synced Healthy\n");
    assert_eq!(
        played.report.applications[0].place.as_ref().map(|place| place.file.as_str()),
        Some("prod/kustomization.yaml")
    );
}

#[tokio::test]
async fn destinations_are_clusters_of_their_own() {
    let to = |name: &str, cluster: &str| {
        application(name, "web", "shop").replace("server: \"https://kubernetes.default.svc\"", cluster)
    };
    let repository = Repository::of_files(&format!(
        "=== a.yaml\n{}=== b.yaml\n{}=== c.yaml\n{}=== web/a.yaml\n{CONFIG}",
        to("dev", "name: dev"),
        to("prod", "server: \"https://prod.example.com\""),
        to("here", "name: in-cluster"),
    ));
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "dev Finishes Synced Healthy\nhere Finishes Synced Healthy\nprod Finishes Synced Healthy\n"
    );
    assert_eq!(assumed(&played.report), ["Cluster dev", "Cluster https://prod.example.com"]);
    assert_eq!(played.world().sims().count(), 3);
    assert_eq!(played.report.applications[2].steps[0].cluster, "https://prod.example.com");
}

#[tokio::test]
async fn a_cluster_that_an_application_registers_is_where_its_secret_says() {
    let to = application("web", "web", "shop")
        .replace("server: \"https://kubernetes.default.svc\"", "name: prod-eu");
    let secret = |fields: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: eu, labels: {{argocd.argoproj.io/secret-type: cluster}}}}\n{fields}\n"
        )
    };
    for fields in [
        "stringData: {name: prod-eu, server: 'https://eu.example.com', config: '{}'}",
        "data: {name: cHJvZC1ldQ==, server: aHR0cHM6Ly9ldS5leGFtcGxlLmNvbQ==, config: e30=}",
    ] {
        let repository = Repository::of_files(&format!(
            "=== a.yaml\n{to}=== b.yaml\n{}=== clusters/eu.yaml\n{}=== web/a.yaml\n{CONFIG}",
            application("clusters", "clusters", "argocd"),
            secret(fields),
        ));
        let played = repository.play().await;
        assert_eq!(states(&played.report), "clusters Finishes Synced Healthy\nweb Finishes Synced Healthy\n");
        assert_eq!(played.report.applications[1].steps[0].cluster, "https://eu.example.com");
    }
}

#[tokio::test]
async fn an_application_that_is_asked_for_and_not_there_is_told_with_those_that_look_like_it() {
    let repository = Repository::of_files(&format!(
        "=== a.yaml\n{}=== web/a.yaml\n{CONFIG}",
        application("shop-web", "web", "shop")
    ));
    let script = Script { applications: vec!["shop-wbe".to_owned()], ..repository.script() };
    let error = rehearse(&script).await.err().unwrap();
    assert_eq!(error.to_string(), "there is no Application \"shop-wbe\" in the repository");
    assert!(format!("{error:?}").contains("shop-web"));
}

#[tokio::test]
async fn values_of_secrets_are_nowhere_in_what_is_told() {
    let secret = |value: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{password: {value}}}\n")
    };
    let repository = Repository::of_commit(&format!(
        "=== a.yaml\n{}=== web/s.yaml\n{}",
        application("web", "web", "shop"),
        secret("hunter-1")
    ));
    repository.commit("main", &format!("=== web/s.yaml\n{}", secret("hunter-2")));
    let played = rehearse(&Script { from: Some("main~1".to_owned()), ..repository.script() }).await.unwrap();
    let told = serde_json::to_string(&played.report).unwrap();
    assert!(
        told.contains("data.password") && !told.contains("hunter") && !told.contains("aHVudGVy"),
        "{told}"
    );
}
