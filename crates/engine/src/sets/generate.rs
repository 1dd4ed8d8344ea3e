//! An ApplicationSet to what would be done for it.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::StreamExt as _;
use lynceus_api::{Application, ApplicationSet, Kind as _};
use lynceus_appset::plan::{Input, Settings as PlanSettings};
use lynceus_appset::rollout::{is_rolling, stop_automation};
use lynceus_appset::status::Report;
use lynceus_appset::{
    Fault, FaultKind, Generation, Invalid, Need, Outcome, Place, Plan, generate, plan, validate,
};
use lynceus_gotmpl::Environment;
use lynceus_helm::World as _;
use lynceus_object::{Object, Str, from_typed, json};

use super::memory::{Kept, Memory, answers};
use crate::ambience::Ambience;
use crate::engine::Engine;
use crate::key::{AppKey, application_kind};
use crate::limits;
use crate::queue::Freshness;

/// What an ApplicationSet generates now, and what would be done for it. Nothing of it is done yet.
#[derive(Clone)]
pub struct Preview {
    /// The Applications, with where each comes from.
    pub generation: Arc<Generation>,
    /// Those of them that cannot be.
    pub invalid: Vec<Invalid>,
    /// What would change.
    pub plan: Plan,
    /// All Applications in its namespace, whosever they are.
    pub existing: Vec<Application>,
    /// Which of the Applications would prune when they sync by themselves, where steps decide when they do.
    pub(crate) pruning: Vec<Str>,
}

impl Preview {
    /// The Applications that can be.
    pub fn applications(&self) -> Vec<Application> {
        let invalid: Vec<usize> = self.invalid.iter().map(|one| one.at).collect();
        let all = self.generation.applications.iter().enumerate();
        all.filter(|(at, _)| !invalid.contains(at)).map(|(_, one)| one.application.clone()).collect()
    }

    /// The Applications in the cluster that belong to the set, in the order of their names.
    pub fn own(&self, set: &ApplicationSet) -> Vec<Application> {
        let mut own: Vec<Application> =
            self.existing.iter().filter(|app| is_of(app, &set.metadata.name)).cloned().collect();
        own.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        own
    }

    /// How it went, for the conditions.
    pub(crate) fn report(&self, set: &ApplicationSet) -> Report {
        let invalid = self.invalid.iter().map(|one| &one.fault);
        let faults: Vec<Fault> =
            self.generation.faults.iter().chain(&self.plan.faults).chain(invalid).cloned().collect();
        let count = self.generation.fault_count + self.plan.faults.len() + self.invalid.len();
        match (self.confirmation(set), faults.is_empty()) {
            (Some(message), true) => Report::Held { message },
            _ => Report::of(&faults, count),
        }
    }

    /// Which deletions are held, and what confirms them.
    pub fn confirmation(&self, set: &ApplicationSet) -> Option<String> {
        let held = self.plan.held.as_ref()?;
        let (namespace, name) = (&set.metadata.namespace, &set.metadata.name);
        let mark = format!("{}={}", super::CONFIRM_DELETIONS, held.token);
        Some(format!(
            "{held}. Confirm with: kubectl annotate applicationset -n {namespace} {name} --overwrite {mark}"
        ))
    }

    /// The same with the Applications as they are now.
    pub(crate) fn looked_at_again(mut self, existing: Vec<Application>) -> Self {
        self.existing = existing;
        self
    }
}

/// The Applications of a namespace.
#[derive(Default)]
pub(super) struct Namespace {
    /// Those that can be read, in the order of their names.
    pub(super) applications: Vec<Application>,
    /// The others, and why they cannot. Nothing may be done to them, nor to what holds them.
    pub(super) unreadable: Vec<(Object, String)>,
}

/// Whether an Application belongs to the ApplicationSet of a name.
pub(super) fn is_of(app: &Application, set: &str) -> bool {
    app.metadata.owner_references.iter().any(|owner| {
        owner.controller == Some(true)
            && owner.kind == ApplicationSet::KIND
            && owner.api_version.split_once('/').is_some_and(|(group, _)| group == lynceus_api::GROUP)
            && owner.name == set
    })
}

impl Engine {
    /// What an ApplicationSet generates now and what would be done for it, whether it is in the cluster or not.
    pub async fn preview_set(&self, set: &ApplicationSet) -> Preview {
        self.plan_set(set, Freshness::Latest, false).await
    }

    /// The same for one that is in the cluster, as its controller sees it: hosts are asked only for what is not known.
    pub async fn preview_of_set(&self, key: &AppKey) -> Option<Result<(ApplicationSet, Preview), String>> {
        let object = self.home().cache().get(&super::set_object_key(key))?;
        Some(match ApplicationSet::from_object(&object) {
            Ok(set) => {
                let preview = self.plan_set(&set, Freshness::Recent, true).await;
                Ok((set, preview))
            }
            Err(error) => Err(crate::words(&error)),
        })
    }

    /// The Applications of a namespace, in the order of their names.
    pub(super) fn applications_in(&self, namespace: &str) -> Namespace {
        let mut found = Namespace::default();
        for object in self.home().cache().of_kind(&application_kind()) {
            if object.namespace() != namespace {
                continue;
            }
            match Application::from_object(&object) {
                Ok(app) => found.applications.push(app),
                Err(error) => found.unreadable.push((object, crate::words(&error))),
            }
        }
        found.applications.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        found
    }

    pub(super) async fn plan_set(
        &self,
        set: &ApplicationSet,
        freshness: Freshness,
        remembers: bool,
    ) -> Preview {
        let mut generation = self.generation_of(set, freshness, remembers).await;
        let settings = self.settings();
        let mut pruning = Vec::new();
        if settings.sets.rolling && is_rolling(set) {
            let mut stopped = (*generation).clone();
            for one in &mut stopped.applications {
                if stop_automation(&mut one.application) {
                    pruning.push(one.application.metadata.name.clone());
                }
            }
            generation = Arc::new(stopped);
        }
        let destinations = self.known_destinations();
        let mut invalid = validate(&generation, &destinations);
        let Namespace { applications: existing, unreadable } = self.applications_in(&set.metadata.namespace);
        invalid.extend(untouchable(&generation, &unreadable));
        let plan_settings = PlanSettings {
            confirmed: set.metadata.annotations.get(super::CONFIRM_DELETIONS).cloned(),
            ..settings.sets.plan()
        };
        let input = Input {
            set,
            generation: &generation,
            invalid: &invalid,
            existing: &existing,
            settings: &plan_settings,
        };
        let plan = plan(&input).dropping_finalizers(|name| self.has_cluster(&existing, name));
        Preview { generation, invalid, plan, existing, pruning }
    }

    /// Whether the cluster that an Application is on is still registered.
    fn has_cluster(&self, existing: &[Application], name: &str) -> bool {
        let found = existing.iter().find(|app| app.metadata.name == name);
        found.is_none_or(|app| self.fleet().find(&app.spec.destination).is_ok())
    }

    /// What a set generates: what it generated last where nothing has changed that it was made of.
    async fn generation_of(
        &self,
        set: &ApplicationSet,
        freshness: Freshness,
        remembers: bool,
    ) -> Arc<Generation> {
        let key = AppKey::new(set.metadata.namespace.clone(), set.metadata.name.clone());
        let wish = match wish(set) {
            Ok(wish) => wish,
            Err(message) => return Arc::new(failed(message)),
        };
        let before = self.sets.memory().get(&key).filter(|_| remembers).cloned();
        let known = before.as_ref().map(|memory| memory.kept.clone()).unwrap_or_default();
        let needs: Vec<Need> = known.values().map(|kept| kept.need.clone()).collect();
        let mut pool = BTreeMap::new();
        self.gather(&mut pool, set, needs, &known, freshness).await;
        if let Some(memory) = before.as_ref().filter(|memory| memory.holds(&wish, &pool)) {
            let generation = memory.generation.clone();
            let memory = Memory { kept: pool, ..memory.clone() };
            self.sets.memory().insert(key, memory);
            return generation;
        }
        let (generation, kept) = self.generate(set, pool, freshness).await;
        let generation = Arc::new(generation);
        self.sets.generations.fetch_add(1, Ordering::Relaxed);
        if remembers {
            let brought = before.map(|memory| memory.still_brought(&generation)).unwrap_or_default();
            let memory = Memory { wish, kept, generation: generation.clone(), brought };
            self.sets.memory().insert(key, memory);
        }
        generation
    }

    /// Gets what a set needs until it needs nothing more, from what was got already where it is among that. Gives what was
    /// used as well: what is no longer asked for is forgotten.
    async fn generate(
        &self,
        set: &ApplicationSet,
        mut pool: BTreeMap<String, Kept>,
        freshness: Freshness,
    ) -> (Generation, BTreeMap<String, Kept>) {
        let mut kept = BTreeMap::new();
        for _ in 0..limits::SET_ROUNDS {
            let (owned, got, now) = (set.clone(), answers(&kept), self.clock().now());
            let work = move || generate(&owned, &got, &mut Surroundings(Ambience::at(now)));
            let needs = match tokio::task::spawn_blocking(work).await {
                Ok(Outcome::Done(generation)) => return (generation, kept),
                Ok(Outcome::Needs(needs)) => needs,
                Err(error) => return (failed(format!("generating has ended early: {error}")), kept),
            };
            let mut missing = Vec::new();
            for need in needs {
                match pool.remove_entry(&need.id()) {
                    Some((id, got)) => {
                        kept.insert(id, got);
                    }
                    None => missing.push(need),
                }
            }
            self.gather(&mut kept, set, missing, &BTreeMap::new(), freshness).await;
        }
        (failed("it needs more and more, and never ends".to_owned()), kept)
    }

    /// Gets answers, some at the same time.
    async fn gather(
        &self,
        kept: &mut BTreeMap<String, Kept>,
        set: &ApplicationSet,
        needs: Vec<Need>,
        known: &BTreeMap<String, Kept>,
        freshness: Freshness,
    ) {
        let namespace = &set.metadata.namespace;
        let got = futures::stream::iter(needs)
            .map(|need| async move {
                let id = need.id();
                let answer = self.answer(namespace, &need, known.get(&id), freshness).await;
                (id, answer)
            })
            .buffered(limits::SET_QUESTIONS)
            .collect::<Vec<_>>()
            .await;
        kept.extend(got);
    }
}

/// The generated Applications whose names are those of Applications that cannot be read: whose those are and what is in them
/// is not known, so they are left alone.
fn untouchable(generation: &Generation, unreadable: &[(Object, String)]) -> Vec<Invalid> {
    let mut found = Vec::new();
    for (at, one) in generation.applications.iter().enumerate() {
        let name = one.application.metadata.name.as_str();
        if let Some((_, why)) = unreadable.iter().find(|(object, _)| object.name() == name) {
            let message = format!("the Application {name} is there and cannot be read: {why}");
            let fault = Fault { kind: FaultKind::Validation, place: one.place.clone(), message };
            found.push(Invalid { at, fault });
        }
    }
    found
}

/// What a set is generated from, besides the answers.
fn wish(set: &ApplicationSet) -> Result<String, String> {
    let spec = from_typed(&set.spec).map_err(|error| format!("its spec cannot be written down: {error}"))?;
    let (namespace, name) = (&set.metadata.namespace, &set.metadata.name);
    Ok(format!("{namespace}/{name} {}", json::to_string(&spec)))
}

fn failed(message: String) -> Generation {
    let fault = Fault { kind: FaultKind::Parameters, place: Place::of("spec.generators"), message };
    Generation { faults: vec![fault], fault_count: 1, ..Generation::default() }
}

/// Time and chance for templates.
pub(super) struct Surroundings(pub(super) Ambience);

impl Environment for Surroundings {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.0.random(bytes);
    }

    fn host(&mut self) -> &mut dyn Any {
        self
    }
}
