//! What gets stuck, and what is taken to be there so that the rest can be seen.

mod common;

use common::*;
use lynceus_rehearse::{Ending, Script, Verdict, rehearse};
use lynceus_sim::Stage;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

const WIDGET: &str = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 1}\n";

fn deployment(name: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
         template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      - name: main\n        \
         image: example/{name}:1\n{more}"
    )
}

#[tokio::test]
async fn a_wave_that_cannot_be_done_holds_those_behind_it_and_says_why() {
    let wave = |number: i32| format!("  annotations: {{argocd.argoproj.io/sync-wave: \"{number}\"}}\n");
    let from = "        envFrom: [{secretRef: {name: credentials}}]\n";
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== apps/a.yaml\n{}=== apps/b.yaml\n{}=== database/d.yaml\n{}=== web/d.yaml\n{}",
        application("root", "apps", "argocd"),
        application_with("database", "database", "shop", &wave(1)),
        application_with("web", "web", "shop", &wave(2)),
        deployment("db", from),
        deployment("web", ""),
    ));
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "database Stuck Synced Degraded\nroot Stuck OutOfSync Degraded\nweb Stuck OutOfSync Missing\n",
        "web never comes to be"
    );
    assert_eq!((played.report.verdict, played.report.ending), (Verdict::Stuck, Ending::Stuck));
    let why = why(&played.report, "database");
    assert!(why.contains("credentials"), "{why}");
    let root = self::why(&played.report, "root");
    assert!(root.contains("Application web is not there") && root.contains("credentials"), "{root}");
    let stuck = played.report.applications[0].stuck_for.unwrap_or_default();
    assert!(stuck >= 30 * 60, "{stuck}");
}

#[tokio::test]
async fn a_definition_that_the_repository_holds_and_nobody_brings_is_missed() {
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== widgets/w.yaml\n{WIDGET}=== not-used/crd.yaml\n{DEFINITION}",
        application("widgets", "widgets", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(assumed(&played.report), [""; 0]);
    assert_eq!(played.report.verdict, Verdict::Stuck);
    let why = why(&played.report, "widgets");
    assert!(why.contains("example.com"), "{why}");
}

#[tokio::test]
async fn a_definition_from_elsewhere_is_assumed_and_its_objects_become_healthy() {
    let certificate = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web}\nspec:\n  secretName: web-tls\n  \
                       issuerRef: {name: ca, kind: ClusterIssuer}\n---\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\n\
                       metadata: {name: ca}\nspec: {selfSigned: {}}\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== widgets/w.yaml\n{WIDGET}=== widgets/c.yaml\n{certificate}",
        application("widgets", "widgets", "shop"),
    ));
    let played = repository.play().await;
    assert_eq!(
        states(&played.report),
        "widgets Finishes Synced Healthy\n",
        "{}",
        why(&played.report, "widgets")
    );
    assert_eq!(
        assumed(&played.report),
        [
            "Definition cert-manager.io/Certificate",
            "Definition cert-manager.io/ClusterIssuer",
            "Definition example.com/Widget",
        ]
    );
    let strict = rehearse(&Script { strict: true, ..repository.script() }).await.unwrap();
    assert_eq!(strict.report.verdict, Verdict::Stuck, "what is assumed is a failure if it is strict");
}

#[tokio::test]
async fn a_definition_in_a_later_wave_of_another_application_is_no_reason_to_assume_it() {
    let wave = |number: i32| format!("  annotations: {{argocd.argoproj.io/sync-wave: \"{number}\"}}\n");
    let repository = Repository::of_files(&format!(
        "=== root.yaml\n{}=== apps/a.yaml\n{}=== apps/b.yaml\n{}=== widgets/w.yaml\n{WIDGET}=== crds/crd.yaml\n{DEFINITION}",
        application("root", "apps", "argocd"),
        application_with("widgets", "widgets", "shop", &wave(1)),
        application_with("crds", "crds", "shop", &wave(2)),
    ));
    let played = repository.play().await;
    assert_eq!(assumed(&played.report), [""; 0]);
    let names: Vec<&str> = played.report.applications.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, played.report.verdict), (vec!["crds", "root", "widgets"], Verdict::Stuck));
}

#[tokio::test]
async fn a_namespace_that_nobody_makes_is_missed() {
    let app = application("web", "web", "shop").replace("[CreateNamespace=true]", "[]");
    let repository =
        Repository::of_files(&format!("=== app.yaml\n{app}=== web/d.yaml\n{}", deployment("web", "")));
    let played = repository.play().await;
    assert_eq!(played.report.verdict, Verdict::Stuck);
    let why = why(&played.report, "web");
    assert!(why.contains("namespaces \"shop\" not found"), "{why}");
}

#[tokio::test]
async fn nodes_classes_and_projects_that_are_named_are_assumed() {
    let more = "      nodeSelector: {disktype: ssd}\n      priorityClassName: high\n      volumes:\n      - name: data\n        \
                persistentVolumeClaim: {claimName: data}\n";
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec:\n  storageClassName: fast\n  \
                 accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n";
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec:\n  ingressClassName: nginx\n  \
                   defaultBackend: {service: {name: web, port: {number: 80}}}\n";
    let app = application("web", "web", "shop").replace("project: default", "project: team");
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{app}=== web/d.yaml\n{}=== web/c.yaml\n{claim}=== web/i.yaml\n{ingress}",
        deployment("web", more)
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "web Finishes Synced Healthy\n", "{}", why(&played.report, "web"));
    assert_eq!(
        assumed(&played.report),
        [
            "Project team",
            "Nodes nodes with disktype=ssd",
            "Nodes three nodes with room for everything",
            "StorageClass fast",
            "PriorityClass high",
            "IngressClass nginx",
            "Image example/web:1",
        ]
    );
}

#[tokio::test]
async fn an_ingress_that_names_no_class_has_a_default_one_unless_there_are_classes() {
    let files = format!(
        "=== app.yaml\n{}=== web/d.yaml\n{}=== web/i.yaml\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: \
         web}}\nspec:\n  defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}\n",
        application("web", "web", "shop"),
        deployment("web", ""),
    );
    let played = Repository::of_files(&files).play().await;
    assert_eq!(states(&played.report), "web Finishes Synced Healthy\n", "{}", why(&played.report, "web"));
    assert!(
        assumed(&played.report).contains(&"IngressClass default".to_owned()),
        "{:?}",
        assumed(&played.report)
    );
    let class = "=== web/c.yaml\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: \
                 k8s.io/ingress-nginx}\n";
    let played = Repository::of_files(&format!("{files}{class}")).play().await;
    assert_eq!(played.report.verdict, Verdict::Stuck);
    assert!(!assumed(&played.report).iter().any(|one| one.starts_with("IngressClass")));
}

#[tokio::test]
async fn a_stage_that_lists_storage_classes_lists_all_of_them() {
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec:\n  storageClassName: fast\n  \
                 accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== web/c.yaml\n{claim}",
        application("web", "web", "shop")
    ));
    let stage = Stage::read(
        "stage.yaml",
        "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\nstorage:\n- {class: slow}\n",
    )
    .unwrap();
    let script = repository.script();
    let begin = script.begin;
    let played = rehearse(&script.on(stage, begin)).await.unwrap();
    assert_eq!(assumed(&played.report), Vec::<String>::new());
    assert_eq!(played.report.verdict, Verdict::Stuck);
}

/// What seals its Secret has a controller that nobody plays, and so the Secret would never come.
#[tokio::test]
async fn a_secret_that_is_made_by_what_nobody_plays_is_assumed() {
    let sealed = |name: &str| {
        format!(
            "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {{name: {name}}}\nspec: {{encryptedData: {{password: AgBy}}}}\n"
        )
    };
    let more = "        envFrom: [{secretRef: {name: database}}]\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== web/d.yaml\n{}=== web/s.yaml\n{}",
        application("web", "web", "shop"),
        deployment("web", more),
        sealed("database"),
    ));
    let played = repository.play().await;
    assert_eq!(states(&played.report), "web Finishes Synced Healthy\n", "{}", why(&played.report, "web"));
    assert!(assumed(&played.report).contains(&"Secret database".to_owned()), "{:?}", assumed(&played.report));

    let elsewhere = Repository::of_files(&format!(
        "=== app.yaml\n{}=== web/d.yaml\n{}=== web/s.yaml\n{}",
        application("web", "web", "shop"),
        deployment("web", more),
        sealed("mail"),
    ));
    let played = elsewhere.play().await;
    assert_eq!(played.report.verdict, Verdict::Stuck);
    assert!(!assumed(&played.report).contains(&"Secret database".to_owned()));
}

/// Names become part of what an operator is told to do, and so must never be read as an expression.
#[tokio::test]
async fn a_maker_with_a_name_that_no_object_can_have_makes_nothing() {
    let sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: 'x\" || true || \"'}\nspec: \
                  {template: {metadata: {name: database}}}\n";
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== web/d.yaml\n{}=== web/s.yaml\n{sealed}",
        application("web", "web", "shop"),
        deployment("web", "        envFrom: [{secretRef: {name: '${database}'}}]\n"),
    ));
    let played = repository.play().await;
    assert_eq!(played.report.verdict, Verdict::Stuck);
    let secrets = assumed(&played.report).iter().filter(|one| one.starts_with("Secret")).count();
    assert_eq!(secrets, 0, "{:?}", assumed(&played.report));
}

#[tokio::test]
async fn what_could_not_be_rehearsed_is_unseen_and_no_application_of_the_snapshot() {
    let far = application("far", "web", "shop")
        .replace("https://git.example.com/team/shop.git", "https://git.example.com/else/where.git");
    let repository = Repository::of_files(&format!(
        "=== app.yaml\n{}=== far.yaml\n{far}=== web/d.yaml\n{}",
        application("web", "web", "shop"),
        deployment("web", ""),
    ));
    let snapshot = repository.play().await.snapshot().await;
    let names: Vec<&str> =
        snapshot.applications.iter().map(|one| one.application.metadata.name.as_str()).collect();
    assert_eq!(names, ["web"]);
    assert_eq!(snapshot.unseen.len(), 3, "{:?}", snapshot.unseen);
    assert!(
        snapshot.unseen[0].starts_with(
            "Application far (far.yaml:1): cannot read https://git.example.com/else/where.git: "
        )
    );
    assert_eq!(
        snapshot.unseen[1..],
        [
            "nodes are taken to be there: three nodes with room for everything",
            "images are taken to be there: example/web:1"
        ]
    );
}
