//! Replays recorded runs of the real sync engine.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use jiff::Timestamp;
use lynceus_api::{HealthStatusCode, Wait, WaitFor, Word, hook};
use lynceus_diff::{Change, ChangeSet, Pair, Pairs, Verdict, pair};
use lynceus_object::{GroupKind, Object, ObjectKey, Str, Value};
use lynceus_sync::{
    Action, Admission, Deed, Done, Failure, Health, Input, Ledger, Observed, Plan, Record, Run, Settings,
    Step, Task, plan,
};

use super::{Report, cases, objects};

/// More passes than any recorded run has.
const PASSES: usize = 50;

/// Replays every case of `dir/sync/cases.jsonl.gz`.
pub fn run(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    for case in cases(&dir.join("sync/cases.jsonl.gz"))? {
        let case = case?;
        let world = World::new(&case);
        let reason = world.left_to_chance();
        let outcome = world.replay(&case);
        report.count_with(case.str_at(&["id"]).unwrap_or_default(), outcome, reason);
    }
    Ok(report)
}

/// A cluster that does at once what it is asked to.
struct World {
    namespace: Str,
    cluster_scoped: BTreeSet<Str>,
    desired: Vec<Object>,
    live: BTreeMap<ObjectKey, Object>,
    degraded: BTreeSet<Str>,
    errors: BTreeMap<Str, Str>,
    settings: Settings,
    now: Timestamp,
}

impl World {
    fn new(case: &Value) -> Self {
        let words = |field: &str| -> BTreeSet<Str> {
            case.items_at(&[field]).iter().filter_map(Value::as_str).map(Str::from).collect()
        };
        let is_on = |field: &str| case.bool_at(&[field]).unwrap_or(false);
        let errors = case.at(&["applyErrors"]).and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        let mut world = World {
            namespace: case.str_at(&["namespace"]).unwrap_or_default().into(),
            cluster_scoped: words("clusterScopedKinds"),
            desired: objects(case, "target"),
            live: BTreeMap::new(),
            degraded: words("degradedNames"),
            errors: errors.filter_map(|(name, why)| Some((name.clone(), why.as_str()?.into()))).collect(),
            settings: Settings {
                prune: is_on("prune"),
                prune_last: is_on("pruneLast"),
                skip_hooks: is_on("skipHooks"),
                ..Settings::default()
            },
            now: Timestamp::UNIX_EPOCH,
        };
        for object in objects(case, "live") {
            world.put(object);
        }
        world
    }

    /// Why the real engine's own answer depends on the order of a hash map.
    fn left_to_chance(&self) -> Option<&'static str> {
        let claims =
            |object: &Object| self.cluster_scoped.contains(object.kind()) && !object.namespace().is_empty();
        if self.desired.iter().any(claims) {
            return Some(
                "a cluster-scoped object that claims a namespace has two keys, either of which is found first",
            );
        }
        let plan = self.plan();
        let mut by_name: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
        for task in plan.tasks() {
            by_name.entry(task.object().name()).or_default().push(task);
        }
        let ties = |a: &Task, b: &Task| a.ties_with(b) && a.object().namespace() != b.object().namespace();
        let tied = |tasks: &Vec<&Task>| tasks.iter().any(|a| tasks.iter().any(|b| ties(a, b)));
        let makes_namespaces = self.desired.iter().any(|object| object.kind() == "Namespace");
        (makes_namespaces && by_name.values().any(tied))
            .then_some("objects of one rank in two namespaces stand in either order, and pull their namespaces with them")
    }

    fn put(&mut self, mut object: Object) {
        if !self.cluster_scoped.contains(object.kind()) && object.namespace().is_empty() {
            object.set(&["metadata", "namespace"], self.namespace.clone());
        }
        self.live.insert(object.key(), object);
    }

    fn create(&mut self, mut object: Object) {
        if self.cluster_scoped.contains(object.kind()) {
            object.remove(&["metadata", "namespace"]);
        }
        self.put(object);
    }

    /// Pairs what is desired with what is live. The recording took a cluster-scoped object that claims a namespace
    /// at its word.
    fn pairs(&self) -> Pairs {
        let claims = |object: &Object| {
            self.cluster_scoped.contains(object.kind())
                && !object.namespace().is_empty()
                && !hook::is_hook(object)
        };
        let (odd, desired): (Vec<Object>, Vec<Object>) = self.desired.iter().cloned().partition(claims);
        let mut live = self.live.clone();
        let odd: Vec<Pair> = odd
            .into_iter()
            .map(|desired| match live.remove(&desired.key()) {
                Some(live) => Pair::Both { desired, live },
                None => Pair::Missing(desired),
            })
            .collect();
        let scope = |kind: &GroupKind| Some(!self.cluster_scoped.contains(&kind.kind));
        let live: Vec<Object> = live.into_values().collect();
        let mut pairs = pair(&desired, &live, &self.namespace, &scope);
        pairs.pairs.extend(odd);
        pairs
    }

    fn replay(mut self, case: &Value) -> Result<(), String> {
        let messages = case.str_at(&["expected", "compare"]) != Some("no-messages");
        let expected = case.items_at(&["expected", "steps"]);
        let first = self.plan();
        compare_plan(&first, case.items_at(&["expected", "plan"]))?;
        let mut run = Run::new(self.settings.clone(), self.namespace.clone(), self.now, Ledger::default());
        let mut before = Ledger::default();
        for pass in 0..PASSES {
            let (phase, message, others) = self.pass(&mut run);
            let step =
                expected.get(pass).ok_or_else(|| format!("pass {pass} too many: {phase} {message}"))?;
            expect("phase", pass, &phase, step.str_at(&["phase"]).unwrap_or_default())?;
            let wanted = step.str_at(&["message"]).unwrap_or_default();
            if messages && !others.iter().any(|other| other == wanted) {
                expect("message", pass, &message, wanted)?;
            }
            compare_results(pass, changes(&before, run.ledger()), step.items_at(&["changed"]).to_vec())?;
            before = run.ledger().clone();
            if phase != "Running" {
                return expect("passes", pass, &(pass + 1).to_string(), &expected.len().to_string());
            }
            if expected.len() == pass + 1 {
                return Ok(());
            }
        }
        Err(format!("not over after {PASSES} passes"))
    }

    fn plan(&self) -> Plan {
        let pairs = self.pairs();
        let changes = ChangeSet {
            changes: pairs.pairs.into_iter().map(change).collect(),
            hooks: pairs.hooks,
            ..ChangeSet::default()
        };
        plan(&Input {
            changes: &changes,
            namespace: &self.namespace,
            revision: "abcdef0123456789",
            started_at: self.now,
            settings: &self.settings,
            admit: &|_| Admission::Welcome,
            select: &|_, _| true,
            own_namespace: None,
        })
    }

    /// Runs one pass and gives the operation's phase and message at its end, and the messages that would do as well.
    fn pass(&mut self, run: &mut Run) -> (String, String, Vec<String>) {
        let plan = self.plan();
        let degraded = self.degraded.clone();
        let health = |object: &Object| {
            Ok(Some(if degraded.contains(object.name()) {
                Health { status: HealthStatusCode::Degraded, message: "test".into() }
            } else {
                Health { status: HealthStatusCode::Healthy, message: Str::new() }
            }))
        };
        let mut reports = Vec::new();
        loop {
            match run.next(&Observed { plan: &plan, health: &health, reports: &reports }, self.now) {
                Step::Do(actions) => reports = actions.into_iter().map(|action| self.act(action)).collect(),
                Step::Wait(wait) => {
                    self.now = wait.until.unwrap_or(self.now).max(self.now);
                    return ("Running".into(), wait.to_string(), ties(&wait));
                }
                Step::Done(outcome) => return (outcome.phase.to_string(), outcome.message, Vec::new()),
            }
        }
    }

    fn act(&mut self, action: Action) -> lynceus_sync::Report {
        let outcome = match action.deed {
            Deed::Write(write) if write.dry_run => Ok(Done::default()),
            Deed::Write(_) => match self.errors.get(action.object.name()) {
                Some(why) => Err(Failure { not_found: false, message: why.clone() }),
                None => {
                    self.create(action.object);
                    Ok(Done::default())
                }
            },
            Deed::Delete(_) | Deed::Prune(_) => {
                self.live.remove(&action.object.key());
                Ok(Done::default())
            }
            Deed::RemoveHookFinalizer => Ok(Done::default()),
            Deed::Read => Ok(Done { object: Some(action.object), ..Done::default() }),
        };
        lynceus_sync::Report { id: action.id, outcome }
    }
}

fn change(pair: Pair) -> Change {
    let verdict = match pair {
        Pair::Missing(_) => Verdict::Create,
        Pair::Both { .. } => Verdict::Same,
        Pair::Extra(_) => Verdict::Prune,
    };
    Change { pair, verdict }
}

/// Compares plans in order, but for the tasks whose order the real engine leaves to chance.
fn compare_plan(plan: &Plan, want: &[Value]) -> Result<(), String> {
    let tasks: Vec<&Task> = plan.tasks().collect();
    expect("tasks", 0, &tasks.len().to_string(), &want.len().to_string())?;
    let mut at = 0;
    for group in tasks.chunk_by(|a, b| a.ties_with(b)) {
        let got = group.iter().map(|task| described(task)).collect();
        let wanted = want.iter().skip(at).take(group.len()).cloned().collect();
        compare(&format!("plan from {at}"), &sorted(got), &sorted(wanted))?;
        at += group.len();
    }
    Ok(())
}

fn described(task: &Task) -> Value {
    let key = task.key();
    lynceus_object::value!({
        "phase": task.phase.as_str(), "wave": task.wave, "group": key.group, "kind": key.kind, "name": key.name,
        "ns": key.namespace, "hook": task.is_hook(), "prune": task.is_prune(),
    })
}

fn changes(before: &Ledger, after: &Ledger) -> Vec<Value> {
    // A record keeps its place for as long as the run lasts.
    let news =
        after.records().iter().enumerate().filter(|(at, record)| before.records().get(*at) != Some(record));
    let shown = |record: &Record| {
        let key = &record.key;
        lynceus_object::value!({
            "key": format!("{}/{}/{}", key.group, key.kind, key.name),
            "ns": key.namespace,
            "syncPhase": record.phase.as_str(),
            "hookType": record.hook.map(Word::as_str).unwrap_or_default(),
            "hookPhase": record.progress.map(Word::as_str).unwrap_or_default(),
            "status": record.status.map(Word::as_str).unwrap_or_default(),
            "message": record.message,
        })
    };
    news.map(|(_, record)| shown(record)).collect()
}

/// The messages of a wait that names another object of the same name first: which one is left to chance.
fn ties(wait: &Wait) -> Vec<String> {
    let name = |item: &WaitFor| item.object().map(|key| key.name.clone());
    let turned = |at: usize| {
        let mut wait = wait.clone();
        wait.for_.swap(0, at);
        wait.to_string()
    };
    let first = wait.for_.first().and_then(name);
    (1..wait.for_.len()).filter(|at| name(&wait.for_[*at]) == first).map(turned).collect()
}

/// Compares what changed in a pass. The recording tells objects of one kind and name apart by nothing else, so that
/// of several only one is shown.
fn compare_results(pass: usize, got: Vec<Value>, want: Vec<Value>) -> Result<(), String> {
    let name = |value: &Value| format!("{:?} {:?}", value.str_at(&["key"]), value.str_at(&["syncPhase"]));
    let mut spaces: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for value in got.iter().chain(&want) {
        spaces.entry(name(value)).or_default().insert(value.str_at(&["ns"]).unwrap_or_default().to_owned());
    }
    let unique =
        |values: Vec<Value>| values.into_iter().filter(|value| spaces[&name(value)].len() < 2).collect();
    compare(&format!("results of pass {pass}"), &sorted(unique(got)), &sorted(unique(want)))
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_cached_key(|value| serde_json::to_string(value).unwrap_or_default());
    values
}

fn compare(what: &str, got: &[Value], want: &[Value]) -> Result<(), String> {
    let differs = |at: &usize| got.get(*at) != want.get(*at);
    match (0..got.len().max(want.len())).find(differs) {
        None => Ok(()),
        Some(at) => {
            let show = |value: Option<&Value>| value.and_then(|value| serde_json::to_string(value).ok());
            Err(format!("{what}, item {at}: got {:?}, want {:?}", show(got.get(at)), show(want.get(at))))
        }
    }
}

fn expect(what: &str, pass: usize, got: &str, want: &str) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what} of pass {pass}: got {got:?}, want {want:?}")) }
}
