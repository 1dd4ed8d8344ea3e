//! How long it takes to plan a sync, and to run it in a cluster that answers at once.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]
#![allow(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use lynceus_diff::{Change, ChangeSet, Pair, Verdict};
use lynceus_object::{Gvk, Object};
use lynceus_sync::{Admission, Done, Input, Ledger, Observed, Plan, Report, Run, Settings, Step, plan};

const KINDS: [(&str, &str); 6] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("networking.k8s.io/v1", "Ingress"),
    ("cert-manager.io/v1", "Certificate"),
];

fn changes() -> ChangeSet {
    let changes = (0..1000).map(|number: usize| {
        let (api_version, kind) = KINDS[number % KINDS.len()];
        let gvk = Gvk::from_manifest(api_version, kind);
        let mut object = Object::named(&gvk, "shop", &format!("object-{number}"));
        object.set_annotation("argocd.argoproj.io/sync-wave", (number % 5).to_string());
        Change { pair: Pair::Missing(object), verdict: Verdict::Create }
    });
    ChangeSet { changes: changes.collect(), hooks: Vec::new() }
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

fn first_pass(plan: &Plan, settings: &Settings) -> Ledger {
    let mut run = Run::new(settings.clone(), "shop", Timestamp::UNIX_EPOCH, Ledger::default());
    let mut reports = Vec::new();
    loop {
        let observed = Observed { plan, health: &|_| Ok(None), reports: &reports };
        let Step::Do(actions) = run.next(&observed, Timestamp::UNIX_EPOCH) else { break };
        reports =
            actions.iter().map(|action| Report { id: action.id, outcome: Ok(Done::default()) }).collect();
    }
    run.ledger().clone()
}

fn thousand_tasks(criterion: &mut Criterion) {
    let (changes, settings) = (changes(), Settings::default());
    let plan = planned(&changes, &settings);
    let mut group = criterion.benchmark_group("1,000 tasks");
    group.sample_size(20);
    group.bench_function("plan", |bencher| bencher.iter(|| black_box(planned(&changes, &settings))));
    group.bench_function("first pass", |bencher| bencher.iter(|| black_box(first_pass(&plan, &settings))));
}

criterion_group!(benches, thousand_tasks);
criterion_main!(benches);
