//! How fast the API server is: from start to the first answer, and create, get, list and watch in
//! process.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Instant;

use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use http_body_util::{BodyExt, Full};
use lynceus_sim::attributes::User;
use lynceus_sim::http::Service;
use lynceus_sim::{Options, Sim};
use tokio::runtime::Runtime;
use tower::ServiceExt;

const PODS: &str = "/api/v1/namespaces/default/pods";
const COUNT: usize = 5000;

fn options() -> Options {
    Options { without_controllers: true, ..Options::default() }
}

fn pod(name: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","labels":{{"app":"web","tier":"front"}}}},"spec":{{"containers":[{{"name":"web","image":"nginx:1.29","ports":[{{"containerPort":80}}],"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"2"}}],"resources":{{"requests":{{"cpu":"100m","memory":"64Mi"}}}}}}]}}}}"#
    )
}

async fn send(service: &Service, method: &str, path: &str, body: String) -> Bytes {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("user-agent", "bench/1")
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{} {method} {path}", response.status());
    response.into_body().collect().await.unwrap().to_bytes()
}

fn start(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let mut group = criterion.benchmark_group("start to first answer");
    group.sample_size(10);
    group.bench_function("in memory", |bencher| {
        bencher.to_async(&runtime).iter(|| async {
            let sim = Sim::start(options()).await.unwrap();
            send(&sim.service(User::admin()), "GET", "/api/v1/namespaces", String::new()).await
        });
    });
    let directory = std::env::temp_dir().join(format!("lynceus-bench-{}", std::process::id()));
    group.bench_function("empty data directory", |bencher| {
        bencher.to_async(&runtime).iter_custom(|rounds| {
            let directory = directory.clone();
            async move {
                let mut total = std::time::Duration::ZERO;
                for _ in 0..rounds {
                    let _ = std::fs::remove_dir_all(&directory);
                    let started = Instant::now();
                    let options = Options { data_dir: Some(directory.clone()), ..options() };
                    let sim = Sim::start(options).await.unwrap();
                    send(&sim.service(User::admin()), "GET", "/api/v1/namespaces", String::new()).await;
                    total += started.elapsed();
                }
                total
            }
        });
    });
    let _ = std::fs::remove_dir_all(&directory);
    group.finish();
}

fn requests(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let sim = runtime.block_on(Sim::start(options())).unwrap();
    let service = sim.service(User::admin());
    let mut number = 0_u64;
    let mut group = criterion.benchmark_group("requests");
    group.throughput(Throughput::Elements(1));
    group.bench_function("create a pod", |bencher| {
        bencher.to_async(&runtime).iter_batched(
            || {
                number += 1;
                pod(&format!("created-{number}"))
            },
            |body| send(&service, "POST", PODS, body),
            BatchSize::SmallInput,
        );
    });
    let sim = runtime.block_on(Sim::start(options())).unwrap();
    let service = sim.service(User::admin());
    runtime.block_on(async {
        for number in 0..COUNT {
            send(&service, "POST", PODS, pod(&format!("pod-{number}"))).await;
        }
    });
    group.bench_function("get a pod", |bencher| {
        bencher
            .to_async(&runtime)
            .iter(|| send(&service, "GET", "/api/v1/namespaces/default/pods/pod-77", String::new()));
    });
    group.throughput(Throughput::Elements(COUNT as u64));
    group.sample_size(10);
    group.bench_function("list 5,000 pods", |bencher| {
        bencher.to_async(&runtime).iter(|| send(&service, "GET", PODS, String::new()));
    });
    group.bench_function("list 5,000 pods by a label that none has", |bencher| {
        let path = format!("{PODS}?labelSelector=app%3Dnone");
        bencher.to_async(&runtime).iter(|| send(&service, "GET", &path, String::new()));
    });
    group.finish();
}

/// One change that a hundred watchers are told of.
fn watch(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let sim = runtime.block_on(Sim::start(options())).unwrap();
    let service = sim.service(User::admin());
    let mut group = criterion.benchmark_group("watch");
    group.throughput(Throughput::Elements(100));
    runtime.block_on(send(&service, "POST", PODS, pod("watched")));
    let mut bodies: Vec<_> = runtime.block_on(async {
        let mut bodies = Vec::new();
        for _ in 0..100 {
            let path = format!("{PODS}?watch=true");
            let request = http::Request::get(path).body(Full::new(Bytes::new())).unwrap();
            let mut body = service.clone().oneshot(request).await.unwrap().into_body();
            body.frame().await.unwrap().unwrap();
            bodies.push(body);
        }
        bodies
    });
    let mut number = 0_u64;
    group.bench_function("a change told to 100 watchers", |bencher| {
        bencher.iter(|| {
            number += 1;
            let patch = format!(r#"{{"metadata":{{"annotations":{{"n":"{number}"}}}}}}"#);
            runtime.block_on(async {
                let request = http::Request::patch(format!("{PODS}/watched"))
                    .header("content-type", "application/merge-patch+json")
                    .body(Full::new(Bytes::from(patch)))
                    .unwrap();
                let response = service.clone().oneshot(request).await.unwrap();
                assert!(response.status().is_success());
                for body in &mut bodies {
                    body.frame().await.unwrap().unwrap();
                }
            });
        });
    });
    group.finish();
}

criterion_group!(benches, start, requests, watch);
criterion_main!(benches);
