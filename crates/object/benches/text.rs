//! Reading and printing values, and changing a copy of one.
//!
//! The text is made here: 5 MB of custom resource definitions, which is what the largest files of
//! GitOps repositories consist of.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lynceus_object::{Value, json, value, yaml};

/// A sentence of plain words, long enough to be folded, different for each `seed`.
fn description(seed: usize) -> String {
    const WORDS: [&str; 24] = [
        "the",
        "field",
        "specifies",
        "whether",
        "a",
        "controller",
        "should",
        "reconcile",
        "this",
        "resource",
        "when",
        "its",
        "status",
        "is",
        "unknown",
        "or",
        "defaults",
        "to",
        "zero",
        "More",
        "info:",
        "value",
        "must",
        "be",
    ];
    let words = (0..8 + seed % 40).map(|at| WORDS[(seed * 7 + at * at) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ").replace("info: ", "info - ")
}

fn schema(depth: usize, seed: usize) -> Value {
    if depth == 0 {
        return match seed % 4 {
            0 => {
                value!({"description": description(seed), "type": "string", "enum": ["Always", "Never", "OnFailure"]})
            }
            1 => {
                value!({"description": description(seed), "type": "integer", "format": "int32", "minimum": 0})
            }
            2 => value!({"description": description(seed), "type": "boolean", "default": false}),
            _ => {
                value!({"description": description(seed), "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"})
            }
        };
    }
    let properties: Vec<(String, Value)> = (0..6)
        .map(|at| (format!("field{}Name{at}", (seed + at) % 97), schema(depth - 1, seed * 5 + at)))
        .collect();
    let mut value = value!({"description": description(seed), "type": "object", "required": ["field1Name0"]});
    value.set(&["properties"], properties.into_iter().collect::<lynceus_object::Map>());
    value
}

fn definition(seed: usize) -> Value {
    let mut version = value!({"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}});
    version.set(&["schema", "openAPIV3Schema"], schema(3, seed));
    let mut object = value!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets{seed}.example.com"), "annotations": {"controller-gen.kubebuilder.io/version": "v0.16.1"}},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}},
    });
    object.set(&["spec", "versions"], vec![version]);
    object
}

fn definitions() -> Vec<Value> {
    let mut all = Vec::new();
    let mut size = 0;
    while size < 5_000_000 {
        all.push(definition(all.len() + 1));
        size += yaml::to_string(&all[all.len() - 1]).len();
    }
    all
}

/// A Deployment as charts make them.
fn deployment(seed: usize) -> Value {
    let labels = value!({"app.kubernetes.io/name": format!("web-{seed}"), "app.kubernetes.io/instance": "prod", "helm.sh/chart": "web-1.2.3"});
    let env: Vec<Value> = (0..6 + seed % 7)
        .map(|at| match at % 3 {
            0 => value!({"name": format!("VALUE_{at}"), "value": format!("{}", seed * at)}),
            1 => value!({"name": format!("URL_{at}"), "value": format!("https://web-{seed}.example.com:8443/{at}?a=b")}),
            _ => {
                value!({"name": format!("SECRET_{at}"), "valueFrom": {"secretKeyRef": {"name": format!("web-{seed}"), "key": "password"}}})
            }
        })
        .collect();
    let probe = value!({"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 5, "periodSeconds": 10});
    let container = value!({
        "name": "web", "image": format!("registry.example.com/team/web:1.{seed}.0"), "imagePullPolicy": "IfNotPresent",
        "args": ["--listen=:8080", "--verbose", format!("--shard={seed}")], "env": env,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "livenessProbe": probe.clone(), "readinessProbe": probe,
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web", "readOnly": true}],
    });
    let volumes =
        value!([{"name": "config", "configMap": {"name": format!("web-{seed}"), "defaultMode": 420}}]);
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": format!("web-{seed}"), "labels": labels.clone(), "annotations": {"checksum/config": format!("{seed:064x}")}},
        "spec": {
            "replicas": seed % 5, "selector": {"matchLabels": labels.clone()},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}},
        },
    })
}

/// A ConfigMap with a file in it.
fn config_map(seed: usize) -> Value {
    let file: String = (0..30)
        .map(|at| format!("[section-{at}]\nkey = \"value {seed}\"\nlist = [1, 2, {at}]\n\n"))
        .collect();
    value!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("web-{seed}")},
        "data": {"web.toml": file, "description": description(seed)},
    })
}

/// What Helm wants to know of a manifest.
struct Head;

impl yaml::Fields for Head {
    fn wanted(&self, key: &str) -> Option<yaml::Wanted<'_>> {
        match key {
            "apiVersion" | "kind" => Some(yaml::Wanted::All),
            "metadata" => Some(yaml::Wanted::Fields(&Metadata)),
            _ => None,
        }
    }
}

struct Metadata;

impl yaml::Fields for Metadata {
    fn wanted(&self, key: &str) -> Option<yaml::Wanted<'_>> {
        matches!(key, "name" | "annotations").then_some(yaml::Wanted::All)
    }
}

fn manifests(c: &mut Criterion) {
    let (mut texts, mut lines) = (Vec::new(), 0);
    while lines < 10_000 {
        for object in [deployment(texts.len()), config_map(texts.len())] {
            let text = yaml::to_string(&object);
            lines += text.lines().count();
            texts.push(text);
        }
    }
    let mut group = c.benchmark_group("manifests");
    group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
    group.bench_function("read 10,000 lines", |b| {
        b.iter(|| texts.iter().for_each(|text| drop(black_box(yaml::parse_str(text)))));
    });
    group.bench_function("read the heads of 10,000 lines", |b| {
        b.iter(|| texts.iter().for_each(|text| drop(black_box(yaml::parse_only(text.as_bytes(), &Head)))));
    });
    group.finish();
}

fn yaml_text(c: &mut Criterion) {
    let values = definitions();
    let text = yaml::to_string_many(&values);
    let mut group = c.benchmark_group("yaml");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    let options = yaml::Options::default();
    group.bench_function("parse 5 MB of definitions", |b| {
        b.iter(|| black_box(yaml::documents(text.as_bytes(), &options)));
    });
    group
        .bench_function("print 5 MB of definitions", |b| b.iter(|| black_box(yaml::to_string_many(&values))));
    group.finish();
}

fn json_text(c: &mut Criterion) {
    let all: Value = definitions().into_iter().collect();
    let text = json::to_vec(&all);
    let mut group = c.benchmark_group("json");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.bench_function("parse definitions", |b| b.iter(|| black_box(json::parse(&text))));
    group.bench_function("print definitions", |b| b.iter(|| black_box(json::to_vec(&all))));
    group.bench_function("parse definitions with serde_json", |b| {
        b.iter(|| black_box(serde_json::from_slice::<serde_json::Value>(&text)));
    });
    group.finish();
}

fn changes(c: &mut Criterion) {
    let object = definition(1);
    c.bench_function("clone and change one field", |b| {
        b.iter(|| {
            let mut copy = object.clone();
            copy.set(&["metadata", "resourceVersion"], "12345");
            black_box(copy)
        });
    });
    let plain = serde_json::Value::from(&object);
    c.bench_function("clone and change one field with serde_json", |b| {
        b.iter(|| {
            let mut copy = plain.clone();
            copy["metadata"]["resourceVersion"] = "12345".into();
            black_box(copy)
        });
    });
    c.bench_function("compare equal objects", |b| {
        let other = json::parse(&json::to_vec(&object)).ok();
        b.iter(|| black_box(other.as_ref() == Some(&object)));
    });
}

criterion_group!(benches, yaml_text, manifests, json_text, changes);
criterion_main!(benches);
