//! How long a cluster takes to come to rest.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail by panicking")]

use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, value};
use lynceus_sim::clock::ManualClock;
use lynceus_sim::view::View;
use lynceus_sim::{Options, Sim, Stage};

/// Measures how long a cluster takes to get somewhere, from its start on. To take it down afterwards is a second for ten
/// thousand pods, in which nobody waits for anything: it is left out.
fn measure<F: Future<Output = Sim>>(bencher: &mut Bencher<'_>, run: impl Fn() -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.iter_custom(|rounds| {
        let one = |_| {
            let started = Instant::now();
            let sim = runtime.block_on(run());
            let taken = started.elapsed();
            drop(sim);
            taken
        };
        (0..rounds).map(one).sum::<Duration>()
    });
}

/// Deployments of `replicas` pods each, from nothing to all available.
async fn roll_out(nodes: usize, deployments: usize, replicas: usize) -> Sim {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let text = format!(
        "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\nnodePools: [{{name: general, count: {nodes}}}]"
    );
    let stage = Stage::read("bench.yaml", &text).unwrap();
    let options = Options { clock: Some(clock), seed: Some(1), stage, ..Options::default() };
    let sim = Sim::start(options).await.unwrap();
    let local = sim.local();
    sim.settle().await;
    for number in 0..deployments {
        let name = format!("web-{number}");
        let object = value!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "main", "image": "nginx"}]},
                },
            },
        });
        local.create("apps", "deployments", Object::new(object).unwrap()).await.unwrap();
    }
    sim.advance(SignedDuration::from_secs(5)).await;
    let available: i64 = local
        .list("apps", "deployments", None)
        .iter()
        .filter_map(|deployment| deployment.value().int_at(&["status", "availableReplicas"]))
        .sum();
    assert_eq!(available, (deployments * replicas) as i64);
    sim
}

/// A day in which a CronJob runs every minute, each Job with its pod.
async fn day_of_jobs() -> Sim {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let sim = Sim::start(Options { clock: Some(clock), seed: Some(1), ..Options::default() }).await.unwrap();
    let local = sim.local();
    sim.settle().await;
    let pod = value!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "task"}]}});
    let object = value!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "default"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": pod}}},
    });
    local.create("batch", "cronjobs", Object::new(object).unwrap()).await.unwrap();
    sim.advance(SignedDuration::from_hours(24)).await;
    let tick = local.get("batch", "cronjobs", "default", "tick").unwrap();
    assert_eq!(tick.value().str_at(&["status", "lastScheduleTime"]), Some("1970-01-02T00:00:00Z"));
    sim
}

fn day(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("day");
    group.sample_size(10);
    group.bench_function("1440 jobs of a cron job", |bencher| measure(bencher, day_of_jobs));
    group.finish();
}

fn settle(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("settle");
    group.sample_size(10);
    group.bench_function("1 deployment of 1000 pods", |bencher| measure(bencher, || roll_out(3, 1, 1000)));
    group.bench_function("200 deployments of 5 pods", |bencher| measure(bencher, || roll_out(3, 200, 5)));
    group.bench_function("100 deployments of 100 pods on 500 nodes", |bencher| {
        measure(bencher, || roll_out(500, 100, 100))
    });
    group.finish();
}

criterion_group!(benches, settle, day);
criterion_main!(benches);
