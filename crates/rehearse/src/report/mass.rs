//! Deletions of many objects at once.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{Application, ApplicationDestination, Kind as _};
use lynceus_cluster::Link;
use lynceus_engine::AppKey;
use lynceus_object::{ObjectKey, Str};

use super::MassDeletion;
use crate::limits;
use crate::world::World;

/// An object of some cluster.
type Held = (Str, ObjectKey);

/// What applications have.
#[derive(Default)]
pub(crate) struct Holdings(BTreeMap<AppKey, BTreeSet<Held>>);

impl Holdings {
    /// What applications have now.
    pub(crate) fn of(world: &World) -> Self {
        let mut holdings = BTreeMap::new();
        for object in world.stored_applications() {
            let Ok(application) = Application::from_object(&object) else { continue };
            let held = held(world, &application);
            holdings.insert(AppKey::of(&application), held);
        }
        Holdings(holdings)
    }

    pub(crate) fn applications(&self) -> impl Iterator<Item = &AppKey> {
        self.0.keys()
    }

    /// What of it is no longer there, where that is much.
    pub(crate) fn lost(&self, world: &World) -> Vec<MassDeletion> {
        let mut found = Vec::new();
        let all: BTreeSet<&Held> = self.0.values().flatten().collect();
        let lost: BTreeSet<&Held> = all.iter().filter(|one| !is_there(world, one)).copied().collect();
        found.extend(mass(None, &lost, all.len(), limits::MASS_OF_ALL));
        for (key, held) in &self.0 {
            let lost: BTreeSet<&Held> = held.iter().filter(|one| lost.contains(one)).collect();
            found.extend(mass(Some(key.name.to_string()), &lost, held.len(), limits::MASS_OF_APPLICATION));
        }
        found
    }
}

fn mass(
    application: Option<String>,
    lost: &BTreeSet<&Held>,
    of: usize,
    percent: usize,
) -> Option<MassDeletion> {
    let is_mass = lost.len() >= limits::MASS_LEAST && lost.len() * 100 > of * percent;
    let shown = |(_, key): &&Held| format!("{} {}", key.kind, place(key));
    is_mass.then(|| MassDeletion {
        application,
        deleted: lost.len(),
        of,
        objects: lost.iter().take(limits::FIELDS).map(shown).collect(),
    })
}

fn place(key: &ObjectKey) -> String {
    if key.namespace.is_empty() { key.name.to_string() } else { format!("{}/{}", key.namespace, key.name) }
}

fn held(world: &World, application: &Application) -> BTreeSet<Held> {
    let found = world.engine().fleet().find(&application.spec.destination);
    let Ok(server) = found.map(|found| found.server) else { return BTreeSet::new() };
    let resources = application.status.resources.iter().filter(|one| !one.hook);
    let key = |one: &lynceus_api::ResourceStatus| {
        ObjectKey::new(one.group.clone(), one.kind.clone(), one.namespace.clone(), one.name.clone())
    };
    resources.map(|one| (server.clone(), key(one))).filter(|one| is_there(world, one)).collect()
}

/// Whether an object is in its cluster, and not on its way out.
fn is_there(world: &World, (server, key): &Held) -> bool {
    let wanted = ApplicationDestination { server: server.clone(), ..ApplicationDestination::default() };
    let Ok(found) = world.engine().fleet().find(&wanted) else { return false };
    let Link::Up(cluster) = found.link else { return false };
    cluster.cache().get(key).is_some_and(|object| !object.is_deleting())
}
