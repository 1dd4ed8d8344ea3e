//! Charts as sources: from Git, from a chart repository and from a registry, with Argo CD's parameters.

use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated};
use lynceus_testkit::shelf::Shelf;
use lynceus_testkit::world::World;

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

const VALUES: &str = "colour: blue\ncount: 1\n";

const CONFIG: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
data:
  colour: {{ .Values.colour | quote }}
  count: {{ .Values.count | quote }}
  namespace: {{ .Release.Namespace }}
  apps: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}
";

const HOOK: &str = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: \"-5\"}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example/job:1, command: [sleep, \"2\"]}]
";

fn files() -> [(&'static str, &'static str); 4] {
    [
        ("Chart.yaml", CHART),
        ("values.yaml", VALUES),
        ("templates/config.yaml", CONFIG),
        ("templates/migrate.yaml", HOOK),
    ]
}

/// The same below a folder of a repository.
fn below(folder: &str) -> Vec<(String, String)> {
    files().iter().map(|(name, text)| (format!("{folder}/{name}"), (*text).to_owned())).collect()
}

fn commit(world: &World, files: &[(String, String)]) {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    world.commit(&files);
}

fn data(world: &World, name: &str, key: &str) -> String {
    let found = world.object("", "ConfigMap", "default", name);
    found.and_then(|map| map.value().str_at(&["data", key]).map(str::to_owned)).unwrap_or_default()
}

/// An automated policy, with this source.
fn with(source: &Value) -> Value {
    let mut more = automated();
    more.set(&["source"], source.clone());
    more
}

#[tokio::test]
async fn a_chart_in_git_is_delivered_with_its_hooks() {
    let world = World::new().await;
    commit(&world, &below("chart"));
    world.deliver("shop", "chart", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "shop-settings", "colour"), "blue");
    assert_eq!(data(&world, "shop-settings", "namespace"), "default");
    assert_eq!(data(&world, "shop-settings", "apps"), "true");
    let result = world.application("shop").status.operation_state.unwrap().sync_result.unwrap();
    let hooks: Vec<String> = result
        .resources
        .iter()
        .filter(|one| !one.hook_phase.to_string().is_empty() && one.kind == "Job")
        .map(|one| format!("{} {} {}", one.sync_phase, one.kind, one.name))
        .collect();
    assert_eq!(hooks, ["PreSync Job migrate"]);
    world.end().await;
}

#[tokio::test]
async fn parameters_win_over_values_and_values_over_files() {
    let world = World::new().await;
    let mut files = below("chart");
    files.push(("chart/eu.yaml".to_owned(), "colour: green\ncount: 2\n".to_owned()));
    files.push(("shared/all.yaml".to_owned(), "count: 7\n".to_owned()));
    commit(&world, &files);
    let helm = value!({
        "releaseName": "front",
        "valueFiles": ["eu.yaml", "/shared/*.yaml"],
        "valuesObject": {"colour": "red"},
        "parameters": [{"name": "count", "value": "$ARGOCD_APP_NAME,9", "forceString": true}],
        "skipTests": true,
    });
    world.deliver("shop", "chart", &with(&value!({"helm": helm}))).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "front-settings", "colour"), "red");
    assert_eq!(data(&world, "front-settings", "count"), "shop,9");
    world.end().await;
}

#[tokio::test]
async fn a_value_file_outside_the_repository_is_not_read() {
    let world = World::new().await;
    commit(&world, &below("chart"));
    let helm = value!({"valueFiles": ["../../../etc/passwd"]});
    world.deliver("shop", "chart", &with(&value!({"helm": helm}))).await;
    world.until("what is wrong", |world| world.said("shop").contains("outside the repository root")).await;
    world.end().await;
}

#[tokio::test]
async fn a_template_that_fails_is_named_with_its_line() {
    let world = World::new().await;
    let mut files = below("chart");
    files.push(("chart/templates/broken.yaml".to_owned(), "a: 1\nb: {{ .Values.no.such }}\n".to_owned()));
    commit(&world, &files);
    world.deliver("shop", "chart", &automated()).await;
    world.until("what is wrong", |world| world.said("shop").contains("broken.yaml:2:")).await;
    let said = world.said("shop");
    assert!(said.contains("nil pointer evaluating interface {}.such"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn a_chart_comes_from_a_chart_repository_with_values_from_git() {
    let world = World::new().await;
    let shelf = Shelf::start().await;
    shelf.publish("web", "1.0.0", &files());
    shelf.publish(
        "web",
        "1.2.0",
        &files().map(|(name, text)| {
            (name, if name == "Chart.yaml" { "apiVersion: v2\nname: web\nversion: 1.2.0\n" } else { text })
        }),
    );
    world.commit(&[("env/eu.yaml", "colour: green\n")]);
    let sources = value!([
        {
            "repoURL": format!("http://{}/charts", shelf.host), "chart": "web", "targetRevision": "^1.0",
            "helm": {"valueFiles": ["$values/env/eu.yaml"]},
        },
        {"repoURL": world.repository(), "targetRevision": "main", "ref": "values"},
    ]);
    let mut more = automated();
    more.set(&["source"], Value::Null);
    more.set(&["sources"], sources);
    world.deliver("shop", "", &more).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "shop-settings", "colour"), "green");
    let revisions = world.application("shop").status.sync.revisions;
    assert_eq!(revisions.len(), 2);
    assert_eq!(revisions[0], "1.2.0");
    let indexes = shelf.asked().iter().filter(|path| path.ends_with("index.yaml")).count();
    assert!(indexes <= 2, "the index is not asked for at every look: {:?}", shelf.asked());
    world.end().await;
}

#[tokio::test]
async fn a_chart_comes_from_a_registry() {
    let world = World::new().await;
    let shelf = Shelf::start().await;
    shelf.publish("web", "1.0.0", &files());
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: registry\n  namespace: argocd\n  labels: {{argocd.argoproj.io/secret-type: \
         repository}}\nstringData:\n  type: helm\n  name: shelf\n  url: {}/charts\n  enableOCI: \"true\"\n  insecureOCIForceHttp: \"true\"\n",
        shelf.host
    );
    world.apply(&secret).await;
    let source = value!({
        "repoURL": format!("{}/charts", shelf.host), "chart": "web", "targetRevision": "1.0.0", "path": Value::Null,
    });
    world.deliver("shop", "", &with(&source)).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "shop-settings", "colour"), "blue");
    world.end().await;
}

#[tokio::test]
async fn an_artifact_of_a_registry_is_a_folder_of_manifests_or_a_chart() {
    let world = World::new().await;
    let shelf = Shelf::start().await;
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {colour: grey}\n";
    shelf.publish_artifact("team/plain", "1.0.0", &[("eu/config.yaml", plain), ("us/config.yaml", "{")]);
    shelf.publish("web", "1.0.0", &files());
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: registry\n  namespace: argocd\n  labels: {{argocd.argoproj.io/secret-type: \
         repo-creds}}\nstringData:\n  type: oci\n  url: oci://{}\n  insecureOCIForceHttp: \"true\"\n",
        shelf.host
    );
    world.apply(&secret).await;
    let source = |repository: &str, path: &str| value!({"repoURL": format!("oci://{}/{repository}", shelf.host), "targetRevision": "1.0.0", "path": path});
    world.deliver("plain", "", &with(&source("team/plain", "eu"))).await;
    world.deliver("shop", "", &with(&source("charts/web", "."))).await;
    world.until("the syncs", |world| ["plain", "shop"].iter().all(|name| world.state(name) == FINE)).await;
    assert_eq!(data(&world, "plain", "colour"), "grey");
    assert_eq!(data(&world, "shop-settings", "colour"), "blue");
    let revision = world.application("plain").status.sync.revision;
    assert!(revision.starts_with("sha256:"), "{revision}");
    world.end().await;
}

#[tokio::test]
async fn dependencies_that_are_not_there_are_fetched() {
    let world = World::new().await;
    let shelf = Shelf::start().await;
    shelf.publish("web", "1.0.0", &files());
    let chart = format!(
        "apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n- name: web\n  version: ~1.0\n  repository: \
         http://{}/charts\n",
        shelf.host
    );
    world.commit(&[("app/Chart.yaml", &chart), ("app/values.yaml", "web: {colour: black}\n")]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "shop-settings", "colour"), "black");
    world.end().await;
}

#[tokio::test]
async fn a_chart_that_is_told_the_revision_is_rendered_at_every_commit() {
    let world = World::new().await;
    commit(&world, &below("chart"));
    let parameters = value!([{"name": "colour", "value": "at-$ARGOCD_APP_REVISION"}]);
    world.deliver("shop", "chart", &with(&value!({"helm": {"parameters": parameters}}))).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let before = world.application("shop").status.sync.revision;
    assert_eq!(data(&world, "shop-settings", "colour"), format!("at-{before}"));
    world.commit(&[("elsewhere/readme.md", "hello")]);
    world
        .until("the new revision", |world| {
            let revision = world.application("shop").status.sync.revision;
            revision != before && data(world, "shop-settings", "colour") == format!("at-{revision}")
        })
        .await;
    world.end().await;
}

#[tokio::test]
async fn a_commit_that_does_not_touch_the_chart_renders_nothing_anew() {
    let world = World::new().await;
    let mut files = below("chart");
    // Were it rendered anew, it would not be the same.
    let random =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: random}\ndata: {colour: {{ randAlphaNum 20 }}}\n";
    files.push(("chart/templates/random.yaml".to_owned(), random.to_owned()));
    commit(&world, &files);
    world.deliver("shop", "chart", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let before = data(&world, "random", "colour");
    let revision = world.application("shop").status.sync.revision;
    world.commit(&[("elsewhere/readme.md", "hello")]);
    world.until("the new commit", |world| world.application("shop").status.sync.revision != revision).await;
    assert_eq!(world.state("shop"), FINE);
    assert_eq!(data(&world, "random", "colour"), before);
    world.end().await;
}
