//! Kustomizations as sources: overlays, Argo CD's parameters, bases elsewhere, and who is rendered again when.

use jiff::Timestamp;
use lynceus_files::FilePath;
use lynceus_object::{Object, Value, value};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_testkit::fixture::{FINE, automated, namespace};
use lynceus_testkit::world::World;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: example/web:1
        envFrom:
        - configMapRef: {name: settings}
";

const BASE: &str = "\
resources: [web.yaml]
configMapGenerator:
- name: settings
  literals: [colour=blue, size=small]
";

const SIDECAR: &str = "\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: Deployment}
  patch: |-
    - op: add
      path: /spec/template/spec/containers/-
      value: {name: log, image: example/log:1}
";

const OVERLAY: &str = "\
namePrefix: prod-
resources: [../../base]
components: [../../components/sidecar]
configMapGenerator:
- name: settings
  behavior: merge
  literals: [colour=red]
images:
- name: example/log
  newTag: '2'
replicas:
- {name: web, count: 2}
";

const LABELLED: &str = "\
resources: [../../base]
labels:
- pairs: {tier: base}
  includeTemplates: true
commonAnnotations: {of: base}
";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("base/web.yaml", WEB),
        ("base/kustomization.yaml", BASE),
        ("components/sidecar/kustomization.yaml", SIDECAR),
        ("overlays/prod/kustomization.yaml", OVERLAY),
        ("overlays/labelled/kustomization.yaml", LABELLED),
    ]
}

/// An automated policy, with these parameters.
fn with(kustomize: Value) -> Value {
    let mut more = automated();
    more.set(&["source", "kustomize"], kustomize);
    more
}

fn deployment(world: &World, space: &str, name: &str) -> Object {
    let found = world.object("apps", "Deployment", space, name);
    found.unwrap_or_else(|| panic!("there is no Deployment {name}"))
}

fn images(deployment: &Object) -> Vec<&str> {
    let containers = deployment.value().items_at(&["spec", "template", "spec", "containers"]);
    containers.iter().filter_map(|container| container.str_at(&["image"])).collect()
}

/// The data of the only ConfigMap whose name begins so.
fn data(world: &World, prefix: &str, key: &str) -> String {
    let maps = world.objects("", "ConfigMap");
    let found: Vec<&Object> = maps.iter().filter(|map| map.name().starts_with(prefix)).collect();
    match found.as_slice() {
        [map] => map.value().str_at(&["data", key]).unwrap_or_default().to_owned(),
        other => format!("there are {} of {prefix}", other.len()),
    }
}

#[tokio::test]
async fn an_overlay_is_delivered_with_components_generators_and_images() {
    let world = World::new().await;
    world.commit(&files());
    world.deliver("shop", "overlays/prod", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let web = deployment(&world, "default", "prod-web");
    assert_eq!(images(&web), ["example/web:1", "example/log:2"]);
    assert_eq!(web.value().at(&["spec", "replicas"]), Some(&value!(2)));
    assert_eq!(data(&world, "prod-settings-", "colour"), "red");
    assert_eq!(data(&world, "prod-settings-", "size"), "small");
    let source_type = world.application("shop").status.source_type;
    assert_eq!(source_type.to_string(), "Kustomize");
    world.end().await;
}

#[tokio::test]
async fn every_parameter_of_an_application_counts() {
    let world = World::new().await;
    world.apply(&namespace("elsewhere")).await;
    world.commit(&files());
    let kustomize = value!({
        "images": ["example/web=registry.example.com/web:7"],
        "namePrefix": "a-",
        "nameSuffix": "-z",
        "commonLabels": {"tier": "forced", "team": "$ARGOCD_APP_NAME"},
        "forceCommonLabels": true,
        "labelWithoutSelector": true,
        "labelIncludeTemplates": true,
        "commonAnnotations": {"of": "${ARGOCD_APP_NAME}-app"},
        "commonAnnotationsEnvsubst": true,
        "forceCommonAnnotations": true,
        "replicas": [{"name": "web", "count": 3}],
        "namespace": "elsewhere",
        "patches": [{
            "target": {"kind": "Deployment", "name": "web"},
            "patch": "- {op: add, path: /spec/minReadySeconds, value: 1}",
        }],
        "components": ["../../components/sidecar", "../../components/none"],
        "ignoreMissingComponents": true,
    });
    world.deliver("shop", "overlays/labelled", &with(kustomize)).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let web = deployment(&world, "elsewhere", "a-web-z");
    assert_eq!(images(&web), ["registry.example.com/web:7", "example/log:1"]);
    let at = |path: &[&str]| web.value().at(path).cloned().unwrap_or_default();
    assert_eq!(at(&["spec", "replicas"]), value!(3));
    assert_eq!(at(&["spec", "minReadySeconds"]), value!(1));
    let labels = value!({"app": "web", "team": "shop", "tier": "forced"});
    assert_eq!(at(&["metadata", "labels"]), labels);
    assert_eq!(at(&["spec", "template", "metadata", "labels"]), labels);
    assert_eq!(at(&["spec", "selector", "matchLabels"]), value!({"app": "web"}));
    assert_eq!(at(&["metadata", "annotations", "of"]), value!("shop-app"));
    world.end().await;
}

#[tokio::test]
async fn labels_go_into_selectors_and_nothing_is_replaced_without_force() {
    let world = World::new().await;
    world.commit(&files());
    let kustomize = value!({"commonLabels": {"team": "shop"}});
    world.deliver("shop", "base", &with(kustomize)).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let web = deployment(&world, "default", "web");
    let selector = web.value().at(&["spec", "selector", "matchLabels"]);
    assert_eq!(selector, Some(&value!({"app": "web", "team": "shop"})));
    let kustomize = value!({"commonAnnotations": {"of": "shop"}});
    world.deliver("unforced", "overlays/labelled", &with(kustomize)).await;
    world.until("the refusal", |world| world.said("unforced").contains("annotation of already in")).await;
    world.end().await;
}

#[tokio::test]
async fn files_beside_the_kustomization_change_the_parameters() {
    let world = World::new().await;
    let mut files = files();
    files.push(("base/.argocd-source.yaml", "kustomize: {namePrefix: all-, images: ['example/web:5']}\n"));
    files.push(("base/.argocd-source-shop.yaml", "kustomize: {namePrefix: shop-}\n"));
    world.commit(&files);
    let kustomize = value!({"namePrefix": "own-", "nameSuffix": "-z"});
    world.deliver("shop", "base", &with(kustomize.clone())).await;
    world.deliver("other", "base", &with(kustomize)).await;
    world.until("the syncs", |world| world.state("shop") == FINE && world.state("other") == FINE).await;
    assert_eq!(images(&deployment(&world, "default", "shop-web-z")), ["example/web:5"]);
    assert_eq!(images(&deployment(&world, "default", "all-web-z")), ["example/web:5"]);
    world.end().await;
}

#[tokio::test]
async fn a_change_in_a_base_renders_those_that_read_it_and_no_others() {
    let world = World::new().await;
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\ndata: {key: value}\n";
    let mut files = files();
    files.push(("overlays/test/kustomization.yaml", "namePrefix: test-\nresources: [../../base]\n"));
    files.push(("overlays/lone/kustomization.yaml", "namePrefix: lone-\nresources: [plain.yaml]\n"));
    files.push(("overlays/lone/plain.yaml", plain));
    files.push(("plain/plain.yaml", plain));
    world.commit(&files);
    let applications =
        [("prod", "overlays/prod"), ("test", "overlays/test"), ("lone", "overlays/lone"), ("plain", "plain")];
    for (name, path) in applications {
        world.deliver(name, path, &automated()).await;
    }
    let all = |world: &World| applications.iter().all(|(name, _)| world.state(name) == FINE);
    world.until("the syncs", all).await;
    let arrived = |commit: String| {
        move |world: &World| {
            all(world)
                && applications
                    .iter()
                    .all(|(name, _)| world.application(name).status.sync.revision == commit.as_str())
        }
    };
    let before = world.renderings();
    let commit = world.commit(&[("base/kustomization.yaml", &BASE.replace("blue", "green"))]);
    world.until("the change of the base", arrived(commit.to_string())).await;
    assert_eq!(data(&world, "test-settings-", "colour"), "green");
    assert_eq!(world.renderings() - before, 2, "only the two that read the base");
    let before = world.renderings();
    let commit = world.commit(&[("components/sidecar/readme.md", "hello")]);
    world.until("the other change", arrived(commit.to_string())).await;
    assert_eq!(world.renderings() - before, 0, "nobody reads it");
    world.end().await;
}

#[tokio::test]
async fn a_base_in_another_repository_is_fetched() {
    let world = World::new().await;
    let folder = std::env::temp_dir().join(format!("lynceus-kustomize-base-{}", std::process::id()));
    let other = Composition::create(folder.join("other"), Layout::Bare).unwrap();
    let changes = [("web/web.yaml", WEB), ("web/kustomization.yaml", BASE)]
        .map(|(path, text)| (FilePath::new(path).unwrap(), Change::Write(text.as_bytes().to_vec())));
    let when = Timestamp::from_second(1_767_225_600).unwrap();
    let message = Message { name: "Test", email: "test@example.com", when, text: "A base\n" };
    other.commit("main", &message, changes).unwrap();
    let overlay =
        format!("namePrefix: far-\nresources:\n- file://{}//web?ref=main\n", folder.join("other").display());
    world.commit(&[("overlay/kustomization.yaml", &overlay)]);
    world.deliver("shop", "overlay", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(images(&deployment(&world, "default", "far-web")), ["example/web:1"]);
    world.end().await;
    let _ = std::fs::remove_dir_all(&folder);
}

#[tokio::test]
async fn a_broken_kustomization_is_named_with_its_field_and_line() {
    let world = World::new().await;
    let mut files = files();
    let broken = "resources: [../../base]\npatches:\n- path: missing.yaml\n";
    files.push(("overlays/broken/kustomization.yaml", broken));
    files.push(("overlays/typo/kustomization.yaml", "resources: [../../base]\nnameprefx: a-\n"));
    world.commit(&files);
    // What the Application adds is not in the file, and does not move its lines.
    let kustomize = value!({"images": ["example/web:2"], "namePrefix": "a-"});
    for (name, path, more) in [
        ("bare", "overlays/broken", automated()),
        ("edited", "overlays/broken", with(kustomize)),
        ("typo", "overlays/typo", automated()),
    ] {
        world.deliver(name, path, &more).await;
    }
    for name in ["bare", "edited"] {
        world.until("what is wrong", |world| world.said(name).contains("ComparisonError")).await;
        let said = world.said(name);
        assert!(said.contains("overlays/broken/kustomization.yaml: patches[0]: "), "{said}");
        assert!(said.contains("(overlays/broken/kustomization.yaml:3:3)"), "{said}");
    }
    world.until("what is wrong", |world| world.said("typo").contains("ComparisonError")).await;
    let said = world.said("typo");
    assert!(said.contains("unknown field \"nameprefx\" (overlays/typo/kustomization.yaml:2:1)"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn a_chart_is_rendered_where_the_settings_allow_it() {
    let world = World::new().await;
    world.commit(&[
        ("shop/kustomization.yaml", "helmCharts:\n- name: web\n  releaseName: one\n  valuesInline: {colour: red}\n"),
        ("shop/charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("shop/charts/web/values.yaml", "colour: blue\n"),
        (
            "shop/charts/web/templates/config.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-web\ndata:\n  colour: {{ \
             .Values.colour }}\n",
        ),
    ]);
    world.deliver("shop", "shop", &automated()).await;
    world.until("the refusal", |world| world.said("shop").contains("must specify --enable-helm")).await;
    world
        .apply(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  namespace: argocd\ndata:\n  \
             kustomize.buildOptions: --enable-helm\n",
        )
        .await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "one-web", "colour"), "red");
    world.end().await;
}
