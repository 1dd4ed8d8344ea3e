//! What the targets share: a world that never changes, files made of text, and one way to try a chart or a kustomization.

use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_helm::{
    Capabilities, Chart, LintOptions, Options, Output, Release, Show, UserValues, World, lint, render, show,
};

/// A clock that stands still, and a dice that falls the same way in each run.
pub struct Still(pub u64);

impl World for Still {
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 33) as u8;
        }
    }
}

/// The files of a text in which `==> name` begins each, as in the charts that the tests have. Commands and what has no
/// name that a file could have are left out.
pub fn tree(text: &[u8]) -> MemoryTree {
    let mut tree = MemoryTree::new();
    let text = [b"\n", text].concat();
    for section in split(&text, b"\n==> ").skip(1) {
        let end = section.iter().position(|byte| *byte == b'\n').unwrap_or(section.len());
        let (name, body) = section.split_at(end);
        let name = String::from_utf8_lossy(name);
        if let Ok(path) = FilePath::new(&name) {
            tree.insert(path, [body.get(1..).unwrap_or_default(), b"\n"].concat());
        }
    }
    tree
}

fn split<'a>(text: &'a [u8], mark: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let at = text.windows(mark.len()).position(|window| window == mark);
        rest = at.map(|at| &text[at + mark.len()..]);
        Some(&text[..at.unwrap_or(text.len())])
    })
}

/// Some resources to patch and to copy from.
pub const RESOURCES: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: web, image: 'nginx:1', args: [a], ports: [{containerPort: 80}], env: [{name: A, value: '1'}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: source}
data: {url: 'https://a.example.com/x', json: '{\"a\": {\"b\": 1}}', yaml: 'a: {b: 1}'}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
spec: {list: [{name: a}, {name: b}], map: {x: 1}, nothing: null}
";

/// A tree of some files and one more, `fuzzed.yaml`.
pub fn with(files: &[(&str, &[u8])], fuzzed: &[u8]) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for (name, content) in files.iter().copied().chain([("fuzzed.yaml", fuzzed)]) {
        if let Ok(path) = FilePath::new(name) {
            tree.insert(path, content.to_vec());
        }
    }
    tree
}

/// Builds a kustomization and prints it. That it is refused is as good as anything.
pub fn try_build(tree: &dyn Tree, directory: &FilePath) {
    let options = lynceus_kustomize::Options::default();
    let fetched = lynceus_kustomize::Fetched::new();
    match lynceus_kustomize::build(tree, directory, &options, &fetched, &mut Still(1)) {
        Ok(build) => drop(build.to_yaml()),
        Err(error) => drop(error.to_string()),
    }
}

/// Renders a chart with its own values and prints it. That it is refused is as good as anything.
pub fn try_chart(chart: Chart) {
    for what in [Show::All, Show::Values, Show::Crds] {
        let _ = show(&chart, what, None);
    }
    let (values, options, capabilities) =
        (UserValues::default(), Options::default(), Capabilities::default());
    let _ = chart.read_set(&values);
    let release = Release::new("release", "default");
    let rendering = render(&Arc::new(chart), &values, &release, &capabilities, &options, &mut Still(1));
    match rendering {
        Ok(rendering) => {
            let output = Output { include_crds: true, ..Output::default() };
            let _ = output.print(&rendering);
        }
        Err(error) => {
            let _ = error.on_command_line();
        }
    }
}

/// Looks a chart over as `lint` does.
pub fn try_lint(tree: &dyn Tree, directory: &FilePath) {
    let options = LintOptions {
        directory: directory.to_string(),
        namespace: "default".to_owned(),
        kube_version: None,
        skip_schema_validation: false,
    };
    for finding in lint(tree, directory, &UserValues::default(), &options, &mut Still(1)) {
        let _ = finding.to_string();
    }
}
