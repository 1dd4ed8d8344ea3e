//! A cluster that is a map, and a transcript of what a sync does in it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lynceus_api::{HealthStatusCode, Word};
use lynceus_diff::{Change, ChangeSet, Pair, Verdict, pair};
use lynceus_object::{Gvk, Object, ObjectKey, Str, value};
use lynceus_sync::{
    Action, Admission, Deed, Done, Failure, Health, Input, Ledger, Method, Observed, OwnNamespace, Plan,
    Report, Run, Settings, Step, plan,
};

/// The namespace of the application under test.
pub(crate) const NAMESPACE: &str = "shop";

/// What a sync meets.
pub(crate) struct World {
    pub(crate) desired: Vec<Object>,
    pub(crate) live: BTreeMap<ObjectKey, Object>,
    pub(crate) settings: Settings,
    /// The health of objects by name; everything else is healthy.
    pub(crate) health: BTreeMap<Str, HealthStatusCode>,
    /// What writes answer, by name.
    pub(crate) write_errors: BTreeMap<Str, Str>,
    /// What dry runs answer, by name.
    pub(crate) dry_run_errors: BTreeMap<Str, Str>,
    /// What deletions answer, by name.
    pub(crate) delete_errors: BTreeMap<Str, Str>,
    /// What the removal of a finalizer answers, by name.
    pub(crate) release_errors: BTreeMap<Str, Str>,
    /// Objects that the cache still shows and the server does not have any more.
    pub(crate) stale: BTreeMap<ObjectKey, Object>,
    /// Objects that the server has and the cache does not show yet.
    pub(crate) unseen: BTreeSet<Str>,
    /// Kinds that the server does not know.
    pub(crate) unknown_kinds: BTreeSet<Str>,
    /// Names that the project does not permit.
    pub(crate) forbidden: BTreeSet<Str>,
    /// Names that the comparison found unchanged.
    pub(crate) unmodified: BTreeSet<Str>,
    pub(crate) own_namespace: Option<OwnNamespace>,
    pub(crate) now: Timestamp,
    run: Run,
}

impl World {
    /// A world from two lists of objects, one per line: `Kind name key=value…`.
    pub(crate) fn new(desired: &str, live: &str) -> Self {
        World::with(Settings { prune: true, ..Settings::default() }, desired, live)
    }

    pub(crate) fn with(settings: Settings, desired: &str, live: &str) -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let mut world = World {
            desired: objects(desired),
            live: BTreeMap::new(),
            run: Run::new(settings.clone(), NAMESPACE, now, Ledger::default()),
            settings,
            health: BTreeMap::new(),
            write_errors: BTreeMap::new(),
            dry_run_errors: BTreeMap::new(),
            delete_errors: BTreeMap::new(),
            release_errors: BTreeMap::new(),
            stale: BTreeMap::new(),
            unseen: BTreeSet::new(),
            unknown_kinds: BTreeSet::new(),
            forbidden: BTreeSet::new(),
            unmodified: BTreeSet::new(),
            own_namespace: None,
            now,
        };
        for object in objects(live) {
            world.live.insert(housed(object.clone()).key(), housed(object));
        }
        world
    }

    pub(crate) fn plan(&self) -> Plan {
        let seen: Vec<Object> = self
            .live
            .values()
            .chain(self.stale.values())
            .filter(|object| !self.unseen.contains(object.name()))
            .cloned()
            .collect();
        let pairs = pair(&self.desired, &seen, NAMESPACE, &|kind| Some(!is_cluster_scoped(&kind.kind)));
        let changes = pairs.pairs.into_iter().map(|pair| {
            let verdict = match &pair {
                Pair::Missing(_) => Verdict::Create,
                Pair::Extra(_) => Verdict::Prune,
                Pair::Both { desired, .. } if self.unmodified.contains(desired.name()) => Verdict::Same,
                Pair::Both { desired, live } => Verdict::Update(lynceus_diff::Update {
                    live: live.clone(),
                    predicted: desired.clone(),
                    fields: Vec::new(),
                }),
            };
            Change { pair, verdict }
        });
        let changes = ChangeSet { changes: changes.collect(), hooks: pairs.hooks, ..ChangeSet::default() };
        plan(&Input {
            changes: &changes,
            namespace: NAMESPACE,
            revision: "FooBarBaz",
            started_at: "2026-01-01T00:00:00Z".parse().expect("a time"),
            settings: &self.settings,
            admit: &|object| {
                if self.unknown_kinds.contains(object.kind()) {
                    Admission::UnknownKind("the server could not find the requested resource".into())
                } else if self.forbidden.contains(object.name()) {
                    Admission::Refused(format!("{} is not permitted in project", object.name()).into())
                } else {
                    Admission::Welcome
                }
            },
            select: &|_, _| true,
            own_namespace: self.own_namespace.clone(),
        })
    }

    /// Goes to the next wait or the end, and tells what happened: what was done (dry runs aside), how the operation
    /// stands, and which records changed.
    pub(crate) fn pass(&mut self) -> String {
        let plan = self.plan();
        let before = self.run.ledger().clone();
        let mut lines: Vec<String> = Vec::new();
        let mut reports = Vec::new();
        loop {
            let health = self.health.clone();
            let assess = |object: &Object| -> Result<Option<Health>, Str> {
                let status = health.get(object.name()).copied().unwrap_or(HealthStatusCode::Healthy);
                Ok(Some(Health { status, message: Str::new() }))
            };
            match self.run.next(&Observed { plan: &plan, health: &assess, reports: &reports }, self.now) {
                Step::Do(actions) => {
                    reports = actions.into_iter().map(|action| self.act(action, &mut lines)).collect();
                }
                Step::Wait(wait) => {
                    self.now = wait.until.unwrap_or(self.now);
                    lines.push(format!("Running: {wait}"));
                    break;
                }
                Step::Done(outcome) => {
                    lines.push(format!("{}: {}", outcome.phase, outcome.message));
                    break;
                }
            }
        }
        let records = self.run.ledger().records().iter().enumerate();
        for (_, record) in records.filter(|(at, record)| before.records().get(*at) != Some(record)) {
            let status = record.status.map(Word::as_str).unwrap_or("-");
            let progress = record.progress.map(Word::as_str).unwrap_or("-");
            let line =
                format!("  {} {} {status} {progress} {}", record.phase, record.key.name, record.message);
            lines.push(line.trim_end().to_owned());
        }
        lines.join("\n")
    }

    /// Goes on until nothing more happens.
    pub(crate) fn finish(&mut self) -> String {
        let mut passes = Vec::new();
        for _ in 0..20 {
            passes.push(self.pass());
            if passes.last().is_some_and(|pass| !pass.contains("Running: "))
                || passes.len() > 1 && passes.last() == passes.get(passes.len() - 2)
            {
                break;
            }
        }
        passes.join("\n")
    }

    /// Kills the process: all that is left is what was stored.
    pub(crate) fn restart(&mut self) {
        let started = "2026-01-01T00:00:00Z".parse().expect("a time");
        self.run = Run::new(self.settings.clone(), NAMESPACE, started, self.run.ledger().clone());
    }

    /// Takes one step and lets the world change, but dies before the reports come back.
    pub(crate) fn die_after_acting(&mut self) -> String {
        let plan = self.plan();
        let assess = |_: &Object| Ok(None);
        let mut lines = Vec::new();
        let mut reports: Vec<Report> = Vec::new();
        // The dry run comes first and leaves nothing behind.
        loop {
            let Step::Do(actions) =
                self.run.next(&Observed { plan: &plan, health: &assess, reports: &reports }, self.now)
            else {
                panic!("there is something to do")
            };
            reports = actions.into_iter().map(|action| self.act(action, &mut lines)).collect();
            if !lines.is_empty() {
                break;
            }
        }
        self.restart();
        lines.join("\n")
    }

    /// Goes on with other settings.
    pub(crate) fn confirm(&mut self, settings: Settings) {
        self.settings = settings.clone();
        self.run.adjust(settings);
    }

    pub(crate) fn terminate(&mut self) {
        self.run.terminate();
    }

    fn act(&mut self, action: Action, lines: &mut Vec<String>) -> Report {
        let name: Str = action.object.name().into();
        let error = |errors: &BTreeMap<Str, Str>| {
            errors.get(&name).map(|message| Failure { not_found: false, message: message.clone() })
        };
        let outcome = match &action.deed {
            Deed::Write(write) if write.dry_run => {
                error(&self.dry_run_errors).map_or(Ok(Done::default()), Err)
            }
            Deed::Write(write) => {
                let word = match &write.method {
                    Method::Apply { force: false } => "apply".to_owned(),
                    Method::Apply { force: true } => "apply --force".to_owned(),
                    Method::ServerSideApply { manager, migrate_from, .. } => match migrate_from {
                        Some(from) => format!("apply --server-side as {manager} after {from}"),
                        None => format!("apply --server-side as {manager}"),
                    },
                    Method::Create => "create".to_owned(),
                    Method::Replace { force: false } => "replace".to_owned(),
                    Method::Replace { force: true } => "replace --force".to_owned(),
                    Method::Update { .. } => "update".to_owned(),
                };
                let validate = if write.validate { "" } else { " --validate=false" };
                lines.push(format!("{word}{validate} {name}"));
                match error(&self.write_errors) {
                    Some(failure) => Err(failure),
                    None => {
                        let mut object = housed(action.object.clone());
                        object.set(&["metadata", "creationTimestamp"], self.now.to_string());
                        self.live.insert(object.key(), object);
                        Ok(Done::default())
                    }
                }
            }
            Deed::Delete(propagation) | Deed::Prune(propagation) => {
                lines.push(format!("delete {name} {}", propagation.as_str()));
                match error(&self.delete_errors) {
                    Some(failure) => Err(failure),
                    None => self.delete(&action.object),
                }
            }
            Deed::RemoveHookFinalizer => {
                lines.push(format!("release {name}"));
                match error(&self.release_errors) {
                    Some(failure) => Err(failure),
                    None => {
                        if let Some(live) = self.live.get_mut(&action.object.key()) {
                            live.remove(&["metadata", "finalizers"]);
                        }
                        Ok(Done::default())
                    }
                }
            }
            Deed::Read => match self.live.get(&housed(action.object.clone()).key()) {
                Some(live) => Ok(Done { object: Some(live.clone()), ..Done::default() }),
                None => Err(Failure { not_found: true, message: "not found".into() }),
            },
        };
        Report { id: action.id, outcome }
    }

    /// What has a finalizer is only marked.
    fn delete(&mut self, object: &Object) -> Result<Done, Failure> {
        let key = housed(object.clone()).key();
        let Some(live) = self.live.get_mut(&key) else {
            return Err(Failure { not_found: true, message: "not found".into() });
        };
        if live.finalizers().next().is_some() {
            live.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
        } else {
            self.live.remove(&key);
        }
        Ok(Done::default())
    }
}

/// Compares a transcript with what is expected, which may be indented.
pub(crate) fn expect(got: &str, want: &str) {
    let indent = want
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min();
    let plain = |line: &str| line.get(indent.unwrap_or(0)..).unwrap_or_default().trim_end().to_owned();
    let want: Vec<String> = want.lines().map(plain).skip_while(String::is_empty).collect();
    let want = want.join("\n");
    assert_eq!(got.trim_end(), want.trim_end(), "\n--- got ---\n{got}\n--- want ---\n{want}");
}

fn is_cluster_scoped(kind: &str) -> bool {
    matches!(kind, "Namespace" | "CustomResourceDefinition" | "ClusterRole")
}

/// The object where the server would put it.
fn housed(mut object: Object) -> Object {
    if is_cluster_scoped(object.kind()) {
        object.remove(&["metadata", "namespace"]);
    } else if object.namespace().is_empty() {
        object.set(&["metadata", "namespace"], NAMESPACE);
    }
    object
}

fn objects(text: &str) -> Vec<Object> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(object).collect()
}

/// Reads `Kind name wave=1 hook=PreSync policy=HookFailed options=Replace=true`.
fn object(line: &str) -> Object {
    let mut words = line.split_whitespace();
    let kind = words.next().expect("a kind");
    let name = words.next().expect("a name");
    let api_version = match kind {
        "Job" => "batch/v1",
        "Deployment" => "apps/v1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        "ClusterRole" => "rbac.authorization.k8s.io/v1",
        "Widget" => "x.io/v1",
        _ => "v1",
    };
    let mut object = Object::named(&Gvk::from_manifest(api_version, kind), "", name.trim_matches('-'));
    if kind == "CustomResourceDefinition" {
        object.set(&["spec"], value!({"group": "x.io", "names": {"kind": "Widget"}}));
    }
    if name == "-" {
        object.remove(&["metadata", "name"]);
    }
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "wave" => object.set_annotation("argocd.argoproj.io/sync-wave", value),
            "hook" => object.set_annotation("argocd.argoproj.io/hook", value),
            "policy" => object.set_annotation("argocd.argoproj.io/hook-delete-policy", value),
            "options" => object.set_annotation("argocd.argoproj.io/sync-options", value),
            "prefix" => object.set(&["metadata", "generateName"], value),
            "namespace" => object.set(&["metadata", "namespace"], value),
            "held" => object.set(&["metadata", "finalizers"], value!([lynceus_api::finalizers::HOOK])),
            "stuck" => object.set(&["metadata", "finalizers"], value!(["x.io/stuck"])),
            "deleting" => object.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z"),
            "csa" => object.set(
                &["metadata", "managedFields"],
                value!([{"manager": "kubectl-client-side-apply", "operation": value}]),
            ),
            other => panic!("what is {other}?"),
        }
    }
    object
}
