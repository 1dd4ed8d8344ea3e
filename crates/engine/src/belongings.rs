//! What is an application's in its cluster: what it manages, and everything that this owns.

use std::collections::BTreeSet;
use std::sync::Arc;

use lynceus_api::{AppProject, Application, ApplicationConditionType, ApplicationDestination};
use lynceus_cluster::{Cluster, Link, tree};
use lynceus_object::{Object, ObjectKey};

use crate::condition::Condition;
use crate::engine::Engine;
use crate::key::AppKey;
use crate::look::{Aim, Look, away, whole};
use crate::project;

/// The live objects of an application, and where they are.
pub struct Belongings {
    /// The cluster that they are in.
    pub cluster: Arc<Cluster>,
    /// The objects, each before those that it owns.
    pub objects: Vec<Belonging>,
    pub(crate) project: Arc<AppProject>,
    pub(crate) destination: ApplicationDestination,
}

/// One live object of an application. Of what is owned, only the metadata may be known.
#[derive(Clone, Debug)]
pub struct Belonging {
    /// The object.
    pub object: Object,
    /// Whether it is managed itself, and not only owned by something that is.
    pub managed: bool,
}

impl Engine {
    /// What an application has in its cluster, or why it may have nothing there.
    pub async fn belongings(&self, application: &Application) -> Result<Belongings, Vec<Condition>> {
        let look = self.look(application, &Aim::default()).await;
        self.belongings_in(application, look).await
    }

    /// The same for whoever has looked already.
    pub async fn belongings_in(
        &self,
        application: &Application,
        look: Look,
    ) -> Result<Belongings, Vec<Condition>> {
        let is_of_git = |condition: &Condition| condition.kind == ApplicationConditionType::ComparisonError;
        if !look.compared && (look.away || !look.errors().all(is_of_git)) {
            return Err(look.conditions);
        }
        let project = self.project(application).map_err(|condition| vec![condition])?;
        let found = self.fleet().find_settled(&application.spec.destination).await;
        let found = found.map_err(|error| vec![Condition::invalid_spec(error.to_string())])?;
        let Link::Up(cluster) = found.link.clone() else { return Err(vec![away(&found)]) };
        let destination = whole(&application.spec.destination, &found);
        let mut belongings = Belongings { cluster, objects: Vec::new(), project, destination };
        let managed = match look.compared {
            true => compared(&look),
            // A Deployment can be restarted while Git is away: its mark says whose it is.
            false => belongings.marked(&AppKey::of(application).tracked_as(&self.options().namespace)),
        };
        belongings.fill(managed);
        Ok(belongings)
    }
}

fn compared(look: &Look) -> Vec<Object> {
    look.changes.changes.iter().filter_map(|change| change.pair.live().cloned()).collect()
}

impl Belongings {
    /// The objects that the application manages itself.
    pub fn managed(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(|one| one.managed).map(|one| &one.object)
    }

    /// The objects that carry an application's mark, as a comparison would take them.
    fn marked(&self, tracked: &str) -> Vec<Object> {
        let watched = self.cluster.options();
        let is_its_own = |object: &Object| {
            !watched.scope.excludes(&object.group_kind(), &watched.server)
                && self.permits(object, !object.namespace().is_empty()).is_ok()
        };
        self.cluster.cache().of_application(tracked).into_iter().filter(is_its_own).collect()
    }

    fn fill(&mut self, mut managed: Vec<Object>) {
        // Git has an order of its own, and marks have none.
        managed.sort_by_cached_key(Object::key);
        let keys: BTreeSet<ObjectKey> = managed.iter().map(Object::key).collect();
        let nodes = tree(self.cluster.cache(), managed).into_iter();
        let belonging = |object: Object| Belonging { managed: keys.contains(&object.key()), object };
        self.objects = nodes.map(|node| belonging(node.object)).collect();
    }

    /// Whether the application may have an object, with the reason if not.
    pub(crate) fn permits(&self, object: &Object, namespaced: bool) -> Result<(), String> {
        project::permits_object(&self.project, object, namespaced, &self.destination)
    }
}
