//! What the health of ten thousand objects costs.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lynceus_object::{Object, Value, value};

const OBJECTS: usize = 10_000;

/// Deployments, pods, certificates, claims of Crossplane, routes, and things without a check, in turn.
fn objects() -> Vec<Object> {
    let conditions = value!([
        {"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "message": "up to date"},
        {"type": "Ready", "status": "True", "reason": "Available", "message": "all is well"},
    ]);
    let kinds = [
        ("apps/v1", "Deployment"),
        ("v1", "Pod"),
        ("cert-manager.io/v1", "Certificate"),
        ("rds.aws.crossplane.io/v1", "DBInstance"),
        ("gateway.networking.k8s.io/v1", "HTTPRoute"),
        ("v1", "ConfigMap"),
    ];
    (0..OBJECTS)
        .filter_map(|index| {
            let (api_version, kind) = kinds[index % kinds.len()];
            let mut object = value!({
                "apiVersion": api_version, "kind": kind,
                "metadata": {"name": format!("thing-{index}"), "namespace": "shop", "generation": 2},
                "spec": {"replicas": 3, "restartPolicy": "Always"},
                "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "phase": "Running"},
            });
            object.set(&["status", "conditions"], conditions.clone());
            object.set(&["status", "parents"], value!([{"parentRef": {"name": "gateway"}}]));
            if let Some(Value::Seq(parents)) = object.at_mut(&["status", "parents"]) {
                parents.make_mut()[0].set(&["conditions"], conditions.clone());
            }
            Object::new(object).ok()
        })
        .collect()
}

fn health(criterion: &mut Criterion) {
    let objects = objects();
    let mut group = criterion.benchmark_group("health");
    group.throughput(Throughput::Elements(OBJECTS as u64));
    group.bench_function("ten thousand objects", |bencher| {
        bencher.iter(|| objects.iter().filter_map(lynceus_health::assess).count());
    });
}

criterion_group!(benches, health);
criterion_main!(benches);
