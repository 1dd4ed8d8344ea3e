//! How long a comparison takes when nothing has changed, which is what it finds most of the time.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]
#![allow(clippy::expect_used, reason = "a benchmark may stop")]

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{Ignore, Pair, Pairs, Settings, compare_all, sides};
use sample::{Applied, deployments, unchanged as mixed};

const COUNT: usize = 10_000;

fn unchanged(criterion: &mut Criterion) {
    let rule = ResourceIgnoreDifferences {
        group: "apps".into(),
        kind: "Deployment".into(),
        json_pointers: vec!["/spec/replicas".into()],
        ..ResourceIgnoreDifferences::default()
    };
    let rules = Settings { ignore: Ignore::new([&rule]).0, ..Settings::default() };
    let mut group = criterion.benchmark_group("compare 10,000 unchanged objects");
    group.sample_size(20).throughput(Throughput::Elements(COUNT as u64));
    for (name, pairs, settings) in [
        ("several kinds", mixed(COUNT, Applied::ClientSide), Settings::default()),
        (
            "several kinds, applied on the server's side",
            mixed(COUNT, Applied::ServerSide),
            Settings::default(),
        ),
        ("Deployments", deployments(COUNT, Applied::ClientSide), Settings::default()),
        ("Deployments, with a rule for a field", deployments(COUNT, Applied::ClientSide), rules),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || Pairs { pairs: pairs.clone(), hooks: Vec::new() },
                |pairs| {
                    let changes = compare_all(pairs, &settings, &|_| true);
                    assert!(changes.in_sync());
                    black_box(changes)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// What it costs where the short way does not do.
fn in_full(criterion: &mut Criterion) {
    let pairs = deployments(100, Applied::ClientSide);
    let settings = Settings::default();
    criterion.bench_function("compare 100 Deployments in full", |bencher| {
        bencher.iter(|| {
            for pair in &pairs {
                let Pair::Both { desired, live } = pair else { continue };
                black_box(sides(Some(desired), Some(live), &settings).expect("they can be compared"));
            }
        });
    });
}

criterion_group!(benches, unchanged, in_full);
criterion_main!(benches);
