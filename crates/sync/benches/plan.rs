//! How long it takes to plan a sync, and to run it in a cluster that answers at once.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]
#![allow(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use lynceus_diff::{Change, ChangeSet, Pair, Verdict};
use lynceus_object::{Gvk, Object};
use lynceus_sync::{
    Admission, Done, Input, Ledger, Observed, Outcome, Plan, Report, Run, Settings, Step, plan,
};

const KINDS: [(&str, &str); 6] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("networking.k8s.io/v1", "Ingress"),
    ("cert-manager.io/v1", "Certificate"),
];

const WAVES: usize = 5;

fn objects(count: usize) -> impl Iterator<Item = Object> {
    (0..count).map(|number| {
        let (api_version, kind) = KINDS[number % KINDS.len()];
        let gvk = Gvk::from_manifest(api_version, kind);
        let mut object = Object::named(&gvk, "shop", &format!("object-{number}"));
        object.set_annotation("argocd.argoproj.io/sync-wave", (number % WAVES).to_string());
        object
    })
}

fn changes(count: usize) -> ChangeSet {
    let missing = |object| Change { pair: Pair::Missing(object), verdict: Verdict::Create };
    ChangeSet { changes: objects(count).map(missing).collect(), ..ChangeSet::default() }
}

/// The same, once everything has been applied.
fn applied(count: usize) -> ChangeSet {
    let both = |object: Object| Change {
        pair: Pair::Both { desired: object.clone(), live: object },
        verdict: Verdict::Same,
    };
    ChangeSet { changes: objects(count).map(both).collect(), ..ChangeSet::default() }
}

fn planned(changes: &ChangeSet, settings: &Settings) -> Plan {
    plan(&Input {
        changes,
        namespace: "shop",
        revision: "0123456789abcdef",
        started_at: Timestamp::UNIX_EPOCH,
        settings,
        admit: &|_| Admission::Welcome,
        select: &|_, _| true,
        own_namespace: None,
    })
}

/// Plans anew for every wave, as the engine does.
fn to_the_end(first: &ChangeSet, then: &ChangeSet, settings: &Settings) -> Outcome {
    let mut run = Run::new(settings.clone(), "shop", Timestamp::UNIX_EPOCH, Ledger::default());
    let mut now = Timestamp::UNIX_EPOCH;
    let mut plan = planned(first, settings);
    let mut reports = Vec::new();
    loop {
        let observed = Observed { plan: &plan, health: &|_| Ok(None), reports: &reports };
        match run.next(&observed, now) {
            Step::Do(actions) => {
                let done =
                    |action: &lynceus_sync::Action| Report { id: action.id, outcome: Ok(Done::default()) };
                reports = actions.iter().map(done).collect();
            }
            Step::Wait(wait) => {
                now = wait.until.unwrap_or(now);
                plan = planned(then, settings);
                reports = Vec::new();
            }
            Step::Done(outcome) => return outcome,
        }
    }
}

fn many_tasks(criterion: &mut Criterion) {
    for count in [1_000, 5_000] {
        let (first, then, settings) = (changes(count), applied(count), Settings::default());
        assert_eq!(to_the_end(&first, &then, &settings).message, "successfully synced (all tasks run)");
        let mut group = criterion.benchmark_group(format!("{count} tasks"));
        group.sample_size(10);
        group.bench_function("plan", |bencher| bencher.iter(|| black_box(planned(&first, &settings))));
        group.bench_function("run", |bencher| bencher.iter(|| to_the_end(&first, &then, &settings)));
    }
}

criterion_group!(benches, many_tasks);
criterion_main!(benches);
