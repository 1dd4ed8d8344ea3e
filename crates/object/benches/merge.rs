//! Patches, server-side apply and protobuf on a typical Deployment.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a benchmark: criterion's macro has no docs, and a failure may panic"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use lynceus_object::apply::{self, FieldSet, Options};
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Object, Value, patch, protobuf, value};

fn deployment(image: &str, replicas: i64) -> Value {
    let env: Vec<serde_json::Value> = (0..12)
        .map(|n| serde_json::json!({"name": format!("SETTING_{n}"), "value": format!("value {n}")}))
        .collect();
    let container = |name: &str| {
        serde_json::json!({
            "name": name, "image": image, "env": env, "imagePullPolicy": "IfNotPresent",
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"},
                {"containerPort": 9090, "name": "metrics", "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10},
            "volumeMounts": [{"mountPath": "/config", "name": "config"}, {"mountPath": "/data", "name": "data"}],
        })
    };
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "front"},
            "annotations": {"example.org/owner": "team-shop"}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web", "tier": "front"}},
                "spec": {
                    "containers": [container("web"), container("sidecar")],
                    "volumes": [{"name": "config", "configMap": {"name": "web"}}, {"name": "data", "emptyDir": {}}],
                    "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "shop", "effect": "NoSchedule"}],
                },
            },
        },
    })
}

fn ty() -> TypeRef<'static> {
    schema::builtin().of_manifest("apps/v1", "Deployment").expect("Deployment")
}

fn printed(value: Value) -> Object {
    let mut value = value;
    schema::round_trip(&mut value, ty());
    Object::new(value).expect("map")
}

fn patches(c: &mut Criterion) {
    let live = printed(deployment("shop/web:1", 2)).into_value();
    let wanted = deployment("shop/web:2", 3);
    let last = deployment("shop/web:1", 2);
    let change = patch::create::three_way(&last, &wanted, &live, ty()).expect("patch");
    c.bench_function("strategic merge: make a three-way patch", |b| {
        b.iter(|| patch::create::three_way(&last, &wanted, &live, ty()));
    });
    c.bench_function("strategic merge: apply it", |b| b.iter(|| patch::strategic(&live, &change, ty())));
}

fn server_side_apply(c: &mut Criterion) {
    let reset = FieldSet::of_fields(&[&["status"]]);
    let options = Options {
        manager: "argocd",
        ty: ty(),
        api_version: "apps/v1",
        subresource: "",
        reset: &reset,
        now: "2026-01-02T03:04:05Z".parse().expect("time"),
    };
    let config = Object::new(deployment("shop/web:1", 2)).expect("map");
    let changed = Object::new(deployment("shop/web:2", 3)).expect("map");
    let live = printed(apply::apply(None, &config, &options, false).expect("apply").into_value());
    c.bench_function("server-side apply: nothing changed", |b| {
        b.iter(|| apply::apply(Some(&live), &config, &options, false));
    });
    c.bench_function("server-side apply: two fields changed", |b| {
        b.iter(|| apply::apply(Some(&live), &changed, &options, false));
    });
    let new = printed(deployment("shop/web:2", 3));
    c.bench_function("track an update of two fields", |b| {
        b.iter(|| {
            let mut new = new.clone();
            apply::track_update(Some(&live), &mut new, &options);
            new
        });
    });
}

fn encodings(c: &mut Criterion) {
    let object = printed(deployment("shop/web:1", 2));
    let bytes = protobuf::encode(&object).expect("encode");
    c.bench_function("protobuf: decode", |b| b.iter(|| protobuf::decode(&bytes)));
    c.bench_function("protobuf: encode", |b| b.iter(|| protobuf::encode(&object)));
    c.bench_function("schema: check", |b| b.iter(|| schema::check(object.value(), ty())));
    c.bench_function("schema: round trip", |b| {
        b.iter(|| {
            let mut value = object.value().clone();
            schema::round_trip(&mut value, ty());
            value
        });
    });
}

criterion_group!(benches, patches, server_side_apply, encodings);
criterion_main!(benches);
