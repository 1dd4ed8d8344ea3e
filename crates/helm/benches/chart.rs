//! Loading a chart, rendering it for the first time, and rendering one that was rendered before.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{Capabilities, Chart, Options, Release, UserValues, World, render};

const HELPERS: &str = r#"{{- define "name" }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 }}{{ end }}
{{- define "labels" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}
"#;

const TEMPLATE: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "name" . }}-NUMBER
  labels:
    {{- include "labels" . | nindent 4 }}
data:
  {{- range $key, $value := .Values.settings }}
  {{ $key }}: {{ $value | quote }}
  {{- end }}
  all: |
    {{- toYaml .Values.nested | nindent 4 }}
"#;

const VALUES: &str = "settings: {a: one, b: two, c: 3, d: 4.5}\n\
                      nested: {list: [1, two, {three: 3}], map: {x: y, z: [a, b]}}\n";

struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A chart of twenty templates.
fn tree() -> MemoryTree {
    let mut files = vec![
        ("Chart.yaml".to_owned(), "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("values.yaml".to_owned(), VALUES.to_owned()),
        ("templates/_helpers.tpl".to_owned(), HELPERS.to_owned()),
    ];
    files.extend((0..20).map(|number| {
        (format!("templates/map-{number}.yaml"), TEMPLATE.replace("NUMBER", &number.to_string()))
    }));
    let mut tree = MemoryTree::new();
    for (name, text) in files {
        match FilePath::new(&name) {
            Ok(path) => tree.insert(path, text.into_bytes()),
            Err(error) => panic!("{error}"),
        }
    }
    tree
}

fn load(tree: &MemoryTree) -> Arc<Chart> {
    match Chart::from_tree(tree, &FilePath::root()) {
        Ok(chart) => Arc::new(chart),
        Err(error) => panic!("{error}"),
    }
}

fn rendered(chart: &Arc<Chart>) -> usize {
    let (values, release) = (UserValues::default(), Release::new("bench", "default"));
    match render(chart, &values, &release, &Capabilities::default(), &Options::default(), &mut Still) {
        Ok(rendering) => rendering.manifests.len(),
        Err(error) => panic!("{error}"),
    }
}

fn charts(criterion: &mut Criterion) {
    let tree = tree();
    let warm = load(&tree);
    rendered(&warm);
    let mut group = criterion.benchmark_group("chart");
    group.bench_function("load", |bencher| bencher.iter(|| black_box(load(&tree))));
    group.bench_function("render the first time", |bencher| {
        bencher.iter_batched(|| load(&tree), |chart| black_box(rendered(&chart)), BatchSize::SmallInput);
    });
    group.bench_function("render again", |bencher| bencher.iter(|| black_box(rendered(&warm))));
    group.finish();
}

criterion_group!(benches, charts);
criterion_main!(benches);
