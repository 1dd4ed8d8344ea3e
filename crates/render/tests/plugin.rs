//! Config-management plugins: what a source asks of one, and what the answer becomes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::ApplicationSource;
use lynceus_object::{to_typed, yaml};
use lynceus_render::{Bases, Charts, Fetched, Job, Need, References, RenderError, Rendered, Setting};

mod given;

use given::{Still, tree};

/// Renders a source with what was got, for a cluster with plugins or without.
fn render(source: &str, files: &str, fetched: &Fetched, plugins: bool) -> Result<Rendered, RenderError> {
    let source: ApplicationSource = to_typed(&yaml::parse(source.as_bytes()).unwrap()).unwrap();
    let setting = Setting {
        application: "shop".into(),
        namespace: "prod".into(),
        project: "default".into(),
        revision: "0123456789".into(),
        kube_version: "v1.34.2-cloud.1".into(),
        api_versions: ["v1".into(), "apps/v1/Deployment".into()].into(),
        plugins,
        ..Setting::default()
    };
    let tree = tree(files);
    let job = Job {
        tree: &tree,
        source: &source,
        setting: &setting,
        references: &References::new(),
        fetched,
        bases: &Bases::new(),
        charts: &Charts::none(),
    };
    lynceus_render::render(&job, &mut Still)
}

/// What a source needs, of which there must be one thing.
fn needed(source: &str, files: &str, fetched: &Fetched) -> Need {
    match render(source, files, fetched, true) {
        Err(RenderError::Needs(mut needs)) if needs.len() == 1 => needs.remove(0),
        other => panic!("{other:?}"),
    }
}

const FILES: &str = "=== app/cdk.json\n{}\n";

#[test]
fn without_plugins_a_source_for_one_says_how_to_turn_them_on() {
    let error =
        render("{repoURL: r, path: app, plugin: {name: cdk}}", FILES, &Fetched::new(), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "app is for a config-management plugin, and plugins are off; `lynceus controller --plugin-sockets DIR` turns \
         them on, with the directory that their sockets are in"
    );
}

#[test]
fn a_plugin_is_told_what_argo_cd_tells_it() {
    let source = "
repoURL: https://example.com/r
path: app
targetRevision: main
plugin:
  name: cdk-v1
  env:
  - {name: TIER, value: $ARGOCD_APP_NAME-$KUBE_VERSION-$NONE-$$}
  parameters:
  - {name: size, string: <big>}
  - {name: my-map, map: {a.b: '1', c: '2'}}
  - {name: list, array: [x, z]}
";
    let Need::Plugin(call) = needed(source, FILES, &Fetched::new()) else { panic!("a plugin is needed") };
    assert_eq!((call.name.as_str(), call.path.as_str()), ("cdk-v1", "app"));
    let told: Vec<String> = call.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        told.join("\n"),
        "ARGOCD_APP_NAME=shop\nARGOCD_APP_NAMESPACE=prod\nARGOCD_APP_PROJECT_NAME=default\n\
         ARGOCD_APP_REVISION=0123456789\nARGOCD_APP_REVISION_SHORT=0123456\nARGOCD_APP_REVISION_SHORT_8=01234567\n\
         ARGOCD_APP_SOURCE_REPO_URL=https://example.com/r\nARGOCD_APP_SOURCE_PATH=app\n\
         ARGOCD_APP_SOURCE_TARGET_REVISION=main\nKUBE_VERSION=1.34.2\nKUBE_API_VERSIONS=v1,apps/v1/Deployment\n\
         ARGOCD_ENV_TIER=shop-1.34.2--$\n\
         ARGOCD_APP_PARAMETERS=[{\"name\":\"size\",\"string\":\"\\u003cbig\\u003e\"},\
         {\"map\":{\"a.b\":\"1\",\"c\":\"2\"},\"name\":\"my-map\"},{\"array\":[\"x\",\"z\"],\"name\":\"list\"}]\n\
         PARAM_SIZE=<big>\nPARAM_MY_MAP_A_B=1\nPARAM_MY_MAP_C=2\nPARAM_LIST_0=x\nPARAM_LIST_1=z"
    );
}

#[test]
fn the_answer_becomes_objects_and_diagnostics() {
    let source = "{repoURL: r, path: app, plugin: {}}";
    let need = needed(source, FILES, &Fetched::new());
    assert_eq!(need.to_string(), "the manifests of app from a plugin");
    let answer = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: List\nitems:\n\
                  - {apiVersion: v1, kind: Pod, metadata: {name: b}}\n---\nnot: a manifest\n";
    let fetched = Fetched::from([(need, answer.as_bytes().into())]);
    let rendered = render(source, FILES, &fetched, true).unwrap();
    let names: Vec<&str> = rendered.manifests.iter().map(|made| made.object.name()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(rendered.diagnostics[0].to_text().lines().next(), Some("error: document 3 has no kind"));
    assert!(rendered.names_setting && rendered.names_revision);
}

#[test]
fn plugins_are_asked_before_files_are_looked_at_unless_the_source_names_its_tool() {
    let chart = "=== app/Chart.yaml\nname: x\nversion: 1.0.0\napiVersion: v2\n";
    let source = "{repoURL: r, path: app}";
    let discovery = needed(source, chart, &Fetched::new());
    assert_eq!(discovery.to_string(), "the plugin for app");
    // One says that it is for it.
    let found = Fetched::from([(discovery.clone(), b"cdk".as_slice().into())]);
    let Need::Plugin(call) = needed(source, chart, &found) else { panic!("a plugin is needed") };
    assert_eq!(call.name, "cdk");
    // The Application says nothing to it.
    assert_eq!(call.environment.last().map(|(name, _)| name.as_str()), Some("KUBE_API_VERSIONS"));
    // None does.
    let nobody = Fetched::from([(discovery, b"".as_slice().into())]);
    let rendered = render(source, chart, &nobody, true).unwrap();
    assert_eq!(rendered.source_type, lynceus_render::SourceType::Helm);
    // A source that names its tool asks nobody.
    assert!(
        render("{repoURL: r, path: app, directory: {recurse: true}}", FILES, &Fetched::new(), true).is_ok()
    );
    assert!(render(source, FILES, &Fetched::new(), false).is_ok());
}
