//! How long a comparison takes when nothing has changed, which is what it finds most of the time.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]
#![allow(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lynceus_diff::{Pair, Pairs, Settings, compare_all};
use lynceus_object::{Object, Value, defaults, value};

fn deployment(number: usize) -> Pair {
    let name = format!("web-{number}");
    let desired = value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{
                "name": "web", "image": "registry.example/web:1.2.3",
                "ports": [{"containerPort": 8080, "name": "http"}],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
                "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}},
            }]},
        }},
    });
    pair(desired)
}

fn config_map(number: usize) -> Pair {
    let name = format!("settings-{number}");
    pair(value!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"},
        "data": {"a.properties": "x=1\ny=2\n", "b.yaml": "list:\n- one\n- two\n"},
    }))
}

fn custom(number: usize) -> Pair {
    let name = format!("cert-{number}");
    pair(value!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"secretName": name, "dnsNames": ["a.example", "b.example"], "issuerRef": {"name": "ca"}},
    }))
}

/// A desired object and what a server made of it.
fn pair(desired: Value) -> Pair {
    let desired = Object::new(desired).expect("a map");
    let mut live = desired.clone();
    defaults::fill_in(&desired.gvk(), &mut live);
    live.set(&["metadata", "uid"], "7c5f1f0e-8c1c-4a7e-9f43-0d9b6f1d8c11");
    live.set(&["metadata", "resourceVersion"], "12345");
    live.set(&["metadata", "creationTimestamp"], "2026-01-01T00:00:00Z");
    live.set(&["status"], value!({"observedGeneration": 1, "replicas": 3}));
    Pair::Both { desired, live }
}

fn unchanged(criterion: &mut Criterion) {
    let mixed: Vec<Pair> = (0..1000)
        .map(|number| match number % 3 {
            0 => deployment(number),
            1 => config_map(number),
            _ => custom(number),
        })
        .collect();
    let settings = Settings::default();
    let deployments: Vec<Pair> = (0..1000).map(deployment).collect();
    let mut group = criterion.benchmark_group("compare 1,000 unchanged objects");
    group.sample_size(20);
    for (name, pairs) in [("mixed", mixed), ("deployments", deployments)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let pairs = Pairs { pairs: pairs.clone(), hooks: Vec::new() };
                let changes = compare_all(pairs, &settings, &|_| true);
                assert!(changes.in_sync());
                black_box(changes)
            });
        });
    }
}

criterion_group!(benches, unchanged);
criterion_main!(benches);
