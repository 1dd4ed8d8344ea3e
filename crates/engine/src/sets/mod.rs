//! ApplicationSets: what they need is got, what they generate is planned, and the plan is carried out.
//!
//! [`Engine::reconcile_set`] is the whole path for one set. [`edge`] answers what the pure crate asks for, [`memory`] knows
//! what the last generation was made of, so that a set is generated again only where that has changed, [`carry`] writes
//! Applications, [`roll`] tells those to sync whose turn it is, and [`record`] writes down how it went. [`follow`] says
//! which sets a change in the cluster concerns.

mod carry;
mod destinations;
mod due;
mod edge;
mod finalize;
mod follow;
mod foresee;
mod generate;
mod keys;
mod memory;
mod record;
mod roll;
mod step;
mod watched;
mod work;

pub use destinations::registered_cluster;
pub use foresee::{Foreseen, Outlook, foresee};
pub use generate::Preview;

pub(crate) use follow::{SetWishes, owner};
pub(crate) use work::work;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lynceus_api::{ApplicationSet, GROUP, Kind as _, VERSION, annotations, parse_bool};
use lynceus_appset::status::Report;
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey};
use lynceus_source::{Aws, Scm, Sources};
use tracing::{info, warn};

use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::limits;
use crate::queue::{Freshness, Queue};
use memory::Memory;

/// The annotation on an ApplicationSet that confirms deletions which wait: its value is what the condition names.
pub const CONFIRM_DELETIONS: &str = "lynceus.dev/confirm-deletions";

/// The kind of ApplicationSets.
pub fn set_kind() -> GroupKind {
    GroupKind::new(GROUP, ApplicationSet::KIND)
}

/// The kind of ApplicationSets, in the version that we write.
pub fn set_gvk() -> Gvk {
    Gvk::new(GROUP, VERSION, ApplicationSet::KIND)
}

/// An ApplicationSet as an object; they are named as Applications are.
pub(crate) fn set_object_key(key: &AppKey) -> ObjectKey {
    ObjectKey::new(GROUP, ApplicationSet::KIND, key.namespace.clone(), key.name.clone())
}

/// Whether nobody is to look at an ApplicationSet, as with Applications. Its deletion is not held up by it.
fn is_skipped(object: &Object) -> bool {
    let is_set = object.annotation(annotations::SKIP_RECONCILE).and_then(parse_bool) == Some(true);
    is_set && !object.is_deleting()
}

/// What is kept about ApplicationSets. All of it may be lost.
pub(crate) struct Sets {
    pub(crate) queue: Queue,
    memory: Mutex<HashMap<AppKey, Memory>>,
    scm: Scm,
    /// How often a set was generated, and not only looked at.
    generations: std::sync::atomic::AtomicU64,
}

impl Sets {
    pub(crate) fn new(sources: &Sources) -> Self {
        Sets {
            queue: Queue::default(),
            memory: Mutex::default(),
            scm: sources.scm(Aws::from_environment()),
            generations: Default::default(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<AppKey, Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Asks for an ApplicationSet to be looked at soon.
    pub fn refresh_set(&self, key: AppKey, freshness: Freshness) {
        self.sets.queue.add(key, self.clock().monotonic() + limits::SETTLE, freshness);
    }

    /// Asks for all ApplicationSets to be looked at.
    pub fn refresh_sets(&self, freshness: Freshness) {
        for object in self.home().cache().of_kind(&set_kind()) {
            self.refresh_set(AppKey::new(object.namespace(), object.name()), freshness);
        }
    }

    /// How often ApplicationSets were generated so far. Those of which nothing had changed do not count.
    pub fn generations(&self) -> u64 {
        self.sets.generations.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Whether ApplicationSets are worked on here.
    pub(crate) fn works_on_sets(&self) -> bool {
        !self.options().observe && self.settings().sets.enabled.unwrap_or(self.options().sets)
    }

    /// Works on one ApplicationSet: its deletion, its Applications, and its status.
    pub async fn reconcile_set(&self, key: &AppKey, freshness: Freshness) -> Result<(), EngineError> {
        let found = self.home().cache().get(&set_object_key(key));
        let takes = self.settings().takes_sets_from(&key.namespace, &self.options().namespace);
        let is_wanted = |object: &Object| takes && self.works_on_sets() && !is_skipped(object);
        let Some(object) = found.filter(is_wanted) else {
            self.sets.queue.forget(key);
            self.sets.memory().remove(key);
            return Ok(());
        };
        let mut set = match ApplicationSet::from_object(&object) {
            Ok(set) => set,
            Err(error) => return self.refuse_set(&object, &crate::words(&error)).await,
        };
        if object.is_deleting() {
            return self.finalize_set(&set).await;
        }
        let asked = set.metadata.annotations.contains_key(annotations::APPLICATION_SET_REFRESH);
        let freshness = if asked { freshness.max(Freshness::Anew) } else { freshness };
        self.keep_finalizer(&mut set).await?;
        self.bring_about(key, &mut set, freshness).await?;
        if asked {
            self.forget_request(key).await?;
        }
        self.schedule_set(key, &set);
        Ok(())
    }

    /// Generates, plans, writes and reports.
    async fn bring_about(
        &self,
        key: &AppKey,
        set: &mut ApplicationSet,
        freshness: Freshness,
    ) -> Result<(), EngineError> {
        let preview = self.plan_set(set, freshness, true).await;
        let report = preview.report(set);
        if let Report::Failed { message, .. } = &report {
            warn!(applicationset = %key, error = message, "not all Applications are as they should be");
        }
        if self.settings().sets.dry_run {
            info!(applicationset = %key, plan = %preview.plan, "nothing is written");
            return self.store_set(set, &preview, &report, None).await;
        }
        // What is written about a step has to stand before the sync that it is about.
        let rollout = self.roll(set, &preview);
        self.look_after(key, set, rollout.as_ref());
        self.store_set(set, &preview, &report, rollout.as_ref()).await?;
        let done = self.carry_out(set, &preview).await?;
        if let Some(rollout) = &rollout {
            self.start_syncs(set, &preview, rollout).await?;
        }
        if done.is_empty() {
            return Ok(());
        }
        self.tell_of_set(set, &done).await;
        // The Applications that were made or are gone count from now on.
        let preview = preview.looked_at_again(self.applications_in(&key.namespace).applications);
        self.store_set(set, &preview, &report, rollout.as_ref()).await
    }
}
