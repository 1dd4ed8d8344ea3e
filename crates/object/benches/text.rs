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

criterion_group!(benches, yaml_text, json_text, changes);
criterion_main!(benches);
