//! From a change set to a plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use lynceus_api::options::sync;
use lynceus_api::{HookType, SyncPhase, annotations, finalizers, hook, wave};
use lynceus_diff::{Change, ChangeSet, Verdict, Why};
use lynceus_object::{Gvk, Map, Object, ObjectKey, Str};

use crate::limits;
use crate::order::{defined_kind, is_namespace};
use crate::plan::Plan;
use crate::settings::{Settings, has_option};
use crate::task::{Fault, HookDeletion, Task, Work};

/// Everything that a plan is made from.
pub struct Input<'a> {
    /// What the comparison found.
    pub changes: &'a ChangeSet,
    /// The application's namespace, where objects go that name none.
    pub namespace: &'a str,
    /// The revision that is synced; it becomes part of the names of hooks that have none.
    pub revision: &'a str,
    /// When the operation started, for the same names.
    pub started_at: Timestamp,
    /// The settings of the operation.
    pub settings: &'a Settings,
    /// What the cluster and the project say to an object.
    pub admit: &'a dyn Fn(&Object) -> Admission,
    /// Which objects the operation is about.
    pub select: &'a dyn Fn(&ObjectKey, Option<&Object>) -> bool,
    /// The application's namespace, if the sync is to look after it.
    pub own_namespace: Option<OwnNamespace>,
}

/// What the cluster and the project say to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its kind is served and permitted.
    Welcome,
    /// Its kind is not served; the words are the server's.
    UnknownKind(Str),
    /// It is not permitted, or the server could not be asked.
    Refused(Str),
}

/// The application's namespace, when `CreateNamespace` is on.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnNamespace {
    /// The namespace as it is, or why that could not be found out.
    pub live: Result<Option<Object>, Str>,
    /// The labels and annotations that it is to have; `None` to leave an existing one alone.
    pub metadata: Option<NamespaceMetadata>,
}

/// What `managedNamespaceMetadata` asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespaceMetadata {
    /// Labels.
    pub labels: Map,
    /// Annotations.
    pub annotations: Map,
}

/// Makes the plan of a sync.
pub fn plan(input: &Input<'_>) -> Plan {
    let mut tasks = object_tasks(input);
    if !input.settings.skip_hooks {
        tasks.extend(hook_tasks(input));
    }
    tasks.extend(namespace_task(input));
    find_live(&mut tasks, input.changes);
    check(&mut tasks, input);
    turn_prune_waves(&mut tasks);
    prune_last(&mut tasks, input.settings);
    Plan::new(tasks)
}

/// One task per object of the source and per object to prune. Of two desired objects with one key the later counts.
fn object_tasks(input: &Input<'_>) -> Vec<Task> {
    let last: HashMap<ObjectKey, usize> =
        input.changes.changes.iter().enumerate().map(|(at, change)| (change.key(), at)).collect();
    let mut places: Vec<usize> = last.into_values().collect();
    places.sort_unstable();
    places.into_iter().filter_map(|at| object_task(&input.changes.changes[at], input)).collect()
}

fn object_task(change: &Change, input: &Input<'_>) -> Option<Task> {
    let object = change.pair.desired().or(change.pair.live())?;
    if hook::is_hook(object)
        || hook::is_skipped(object)
        || matches!(change.verdict, Verdict::Ignored(Why::Copied))
        || !(input.select)(&change.key(), change.pair.desired())
    {
        return None;
    }
    let work = match change.pair.desired() {
        Some(desired) => {
            Work::Apply { target: housed(desired, input.namespace), modified: change.modified() }
        }
        None => Work::Prune,
    };
    Some(Task {
        phase: SyncPhase::Sync,
        wave: wave(object),
        work,
        live: change.pair.live().cloned(),
        skip_dry_run: false,
        fault: None,
    })
}

/// One task per hook and phase.
fn hook_tasks(input: &Input<'_>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for object in &input.changes.hooks {
        if hook::is_skipped(object) {
            continue;
        }
        let phases: BTreeSet<SyncPhase> =
            hook::sync_types(object).into_iter().filter_map(HookType::phase).collect();
        for phase in phases {
            let target = hook_target(object, phase, input);
            tasks.push(Task {
                phase,
                wave: wave(object),
                live: None,
                work: Work::Hook { target, deletion: HookDeletion::of(object) },
                skip_dry_run: false,
                fault: None,
            });
        }
    }
    tasks
}

/// A hook as it is created: with a name that is the same on every pass of the operation, and with the finalizer
/// that keeps it until its outcome has been read.
fn hook_target(object: &Object, phase: SyncPhase, input: &Input<'_>) -> Object {
    let mut target = housed(object, input.namespace);
    if target.name().is_empty() {
        let cut = if input.revision.len() > limits::REVISION_IN_NAME {
            limits::REVISION_IN_NAME
        } else {
            usize::MAX
        };
        let revision: String = input.revision.chars().take(cut).collect();
        let suffix = format!("{revision}-{phase}-{}", input.started_at.as_second()).to_lowercase();
        let name = format!("{}{suffix}", object.meta_str("generateName"));
        target.set(&["metadata", "name"], name);
    }
    if !target.finalizers().any(|finalizer| finalizer == finalizers::HOOK) {
        let finalizers: Vec<Str> =
            target.finalizers().map(Str::from).chain([Str::from(finalizers::HOOK)]).collect();
        target.set(&["metadata", "finalizers"], finalizers);
    }
    target
}

/// The object with the application's namespace if it names none. That holds for cluster-scoped kinds too, so that
/// nothing can end up in a namespace by accident of the client's default.
fn housed(object: &Object, namespace: &str) -> Object {
    let mut object = object.clone();
    if object.namespace().is_empty() && !namespace.is_empty() {
        object.set(&["metadata", "namespace"], namespace);
    }
    object
}

/// Finds the live objects of hooks, which are not paired.
fn find_live(tasks: &mut [Task], changes: &ChangeSet) {
    let index = LiveIndex::new(changes);
    for task in tasks.iter_mut().filter(|task| task.live.is_none()) {
        task.live = task.target().and_then(|target| index.find(target));
    }
}

/// The live objects of the application by kind and name.
struct LiveIndex<'a>(BTreeMap<(&'a str, &'a str, &'a str), Vec<&'a Object>>);

impl<'a> LiveIndex<'a> {
    fn new(changes: &'a ChangeSet) -> Self {
        let mut index: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for live in changes.changes.iter().filter_map(|change| change.pair.live()) {
            index.entry((live.group(), live.kind(), live.name())).or_default().push(live);
        }
        LiveIndex(index)
    }

    /// A live cluster-scoped object has no namespace, whatever the desired one says.
    fn find(&self, target: &Object) -> Option<Object> {
        let found = self.0.get(&(target.group(), target.kind(), target.name()))?;
        let here = |live: &&&Object| live.namespace().is_empty() || live.namespace() == target.namespace();
        found.iter().find(here).map(|live| (*live).clone())
    }
}

/// The task that creates or labels the application's namespace, unless the source describes it itself.
fn namespace_task(input: &Input<'_>) -> Option<Task> {
    let own = input.own_namespace.as_ref().filter(|_| !input.namespace.is_empty())?;
    let mut desired = input.changes.changes.iter().filter_map(|change| change.pair.desired());
    if desired.any(|object| is_own_namespace(object, input.namespace)) {
        return None;
    }
    let mut target = Object::named(&Gvk::new("", "v1", "Namespace"), "", input.namespace);
    let (live, fault) = match &own.live {
        Ok(live) => (live.clone(), None),
        Err(why) => (None, Some(Fault::Failed(format!("namespace auto creation failed: {why}").into()))),
    };
    match &own.metadata {
        Some(metadata) => manage(&mut target, metadata),
        None if live.is_some() => return None,
        None => {}
    }
    Some(Task {
        phase: SyncPhase::PreSync,
        wave: wave(&target),
        work: Work::Apply { target, modified: None },
        live,
        skip_dry_run: false,
        fault,
    })
}

/// Server-side apply leaves the labels and annotations alone that others put on the namespace.
fn manage(target: &mut Object, metadata: &NamespaceMetadata) {
    if !metadata.labels.is_empty() {
        target.set(&["metadata", "labels"], metadata.labels.clone());
    }
    target.set(&["metadata", "annotations"], metadata.annotations.clone());
    target.set_annotation(annotations::SYNC_OPTIONS, sync::SERVER_SIDE_APPLY);
}

pub(crate) fn is_own_namespace(object: &Object, namespace: &str) -> bool {
    is_namespace(object) && object.name() == namespace
}

/// Asks the cluster and the project about every task.
fn check(tasks: &mut [Task], input: &Input<'_>) {
    let desired = input.changes.changes.iter().filter_map(|change| change.pair.desired());
    let defined: BTreeSet<(Str, Str)> = desired
        .chain(&input.changes.hooks)
        .filter_map(defined_kind)
        .map(|(group, kind)| (group.into(), kind.into()))
        .collect();
    for task in tasks {
        match (input.admit)(task.object()) {
            Admission::Welcome => {}
            Admission::UnknownKind(_) if may_come_later(task, &defined, input.settings) => {
                task.skip_dry_run = true
            }
            Admission::UnknownKind(why) | Admission::Refused(why) => task.fault = Some(Fault::Invalid(why)),
        }
    }
}

/// Whether the kind of an object may appear in the course of the sync.
fn may_come_later(task: &Task, defined: &BTreeSet<(Str, Str)>, settings: &Settings) -> bool {
    let object = task.object();
    settings.skip_dry_run_on_missing_resource
        || task.target().is_some_and(|target| has_option(target, sync::SKIP_DRY_RUN_ON_MISSING_RESOURCE))
        || defined.contains(&(object.group().into(), object.kind().into()))
}

/// Prunes in the reverse order of creation, by exchanging the waves of prune tasks end for end.
fn turn_prune_waves(tasks: &mut [Task]) {
    let waves: BTreeSet<i64> = tasks.iter().filter(|task| task.is_prune()).map(|task| task.wave).collect();
    let turned: BTreeMap<i64, i64> = waves.iter().copied().zip(waves.iter().rev().copied()).collect();
    for task in tasks.iter_mut().filter(|task| task.is_prune()) {
        task.wave = turned.get(&task.wave).copied().unwrap_or(task.wave);
    }
}

/// Moves what is to be pruned last into a wave of its own behind all others.
fn prune_last(tasks: &mut [Task], settings: &Settings) {
    let sync_waves = tasks.iter().filter(|task| task.phase == SyncPhase::Sync).map(|task| task.wave);
    let last = sync_waves.max().unwrap_or(0).max(0).saturating_add(1);
    for task in tasks.iter_mut().filter(|task| task.is_prune()) {
        if settings.prune_last || task.either_has(sync::PRUNE_LAST) {
            task.wave = last;
        }
    }
}
