//! `lynceus helm template --dry-run=server`: the chart sees the cluster of the kubeconfig.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_object::{Gvk, Object, value};
use support::Home;

fn write(home: &Home, path: &str, text: &str) {
    let path = home.folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// What a template that says something else begins with: the cluster has to know what it is.
const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata:\n";

/// Renders a chart with one template for the cluster, and gives the data that it printed.
fn look(home: &Home, data: &str, more: &[&str]) -> String {
    render(home, &format!("{HEAD}{data}"), more).replace(HEAD, "")
}

/// Renders the chart with one template for the cluster, and gives what it printed without the head of the document.
fn render(home: &Home, template: &str, more: &[&str]) -> String {
    write(home, "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n");
    write(home, "chart/templates/a.yaml", template);
    let arguments = ["helm", "template", "x", "chart", "--kubeconfig", "data/kubeconfig"];
    let output = home.run(&[&arguments[..], more].concat());
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    text.replace("---\n# Source: chart/templates/a.yaml\n", "")
}

fn config_map(name: &str) -> Object {
    let mut object = Object::named(&Gvk::new("", "v1", "ConfigMap"), "default", name);
    object.set(&["data"], value!({"key": name}));
    object
}

#[tokio::test]
async fn lookup_and_capabilities_are_those_of_the_cluster() {
    let home = Home::new();
    let up = home.up(&[]).await;
    for name in ["one", "two"] {
        up.create(&config_map(name)).await;
    }
    let server = &["--dry-run=server"][..];
    assert_eq!(
        render(&home, "a: 1", server),
        "Error: unable to build kubernetes objects from release manifest: error validating \"\": error validating data: \
         [apiVersion not set, kind not set]\n"
    );
    let one = "  a: {{ (lookup \"v1\" \"ConfigMap\" \"default\" \"one\").data.key }}";
    assert_eq!(look(&home, one, server), "  a: one\n");
    let absent = "  a: {{ lookup \"v1\" \"ConfigMap\" \"default\" \"three\" | toJson }}";
    assert_eq!(look(&home, absent, server), "  a: {}\n");
    assert_eq!(look(&home, absent.replace("three", "one").as_str(), &[]), "  a: {}\n", "nobody is asked");
    let list = "{{ range (lookup \"v1\" \"ConfigMap\" \"default\" \"\").items }}{{ if .data.key }}  {{ .metadata.name }}: \
                {{ .apiVersion }} {{ .kind }}\n{{ end }}{{ end }}";
    assert_eq!(look(&home, list, server), "  one: v1 ConfigMap\n  two: v1 ConfigMap\n");
    let unknown = look(&home, "  a: {{ lookup \"example.com/v9\" \"Thing\" \"\" \"\" }}", server);
    let words = "error calling lookup: unable to get apiresource from unstructured: example.com/v9, Kind=Thing: the \
                 server could not find the requested resource";
    assert!(unknown.contains(words), "{unknown}");
    let version = "  minor: {{ .Capabilities.KubeVersion.Minor }}\n  kinds: {{ .Capabilities.APIVersions.Has \
                   \"apps/v1/Deployment\" }}\n";
    assert_eq!(look(&home, version, server), "  minor: 36\n  kinds: true\n");
    assert_eq!(look(&home, version, &[]), "  minor: 36\n  kinds: false\n");
    up.kill();
    let gone = look(&home, one, server);
    assert!(
        gone.starts_with("Error: cluster reachability check failed: kubernetes cluster unreachable: "),
        "{gone}"
    );
}

#[tokio::test]
async fn what_stands_in_the_way_of_an_installation_is_told() {
    let home = Home::new();
    let up = home.up(&[]).await;
    up.create(&config_map("one")).await;
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n";
    let server = &["--dry-run=server"][..];
    assert_eq!(
        render(&home, template, server),
        "Error: unable to continue with install: ConfigMap \"one\" in namespace \"default\" exists and cannot be imported \
         into the current release: invalid ownership metadata; label validation error: missing key \
         \"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation error: missing key \
         \"meta.helm.sh/release-name\": must be set to \"x\"; annotation validation error: missing key \
         \"meta.helm.sh/release-namespace\": must be set to \"default\"\n"
    );
    for more in [&["--dry-run=server", "--take-ownership"][..], &["--dry-run=server", "--is-upgrade"], &[]] {
        assert_eq!(render(&home, template, more), template, "{more:?}");
    }
    let unknown = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: one\n";
    assert_eq!(
        render(&home, unknown, server),
        "Error: unable to build kubernetes objects from release manifest: resource mapping not found for name: \"one\" \
         namespace: \"\" from \"\": no matches for kind \"Thing\" in version \"example.com/v1\"\nensure CRDs are \
         installed first\n"
    );
}
