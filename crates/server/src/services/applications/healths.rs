//! How the objects in an Application's status are, for those who ask for one.
//!
//! The status in the cluster does not say it, because it changes all the time and a status is written for everybody: it
//! says `resourceHealthSource: appTree`, and whoever answers looks at the objects.

use lynceus_api::{ApplicationDestination, HealthStatusCode};
use lynceus_cluster::{Cluster, Link};
use lynceus_engine::{Checks, health_of};
use lynceus_object::{Object, ObjectKey, Value, typed, value};

use super::shown;
use crate::server::Server;

impl Server {
    /// What the healths in trees are judged by.
    pub(super) fn checks(&self) -> Checks {
        Checks { children: true, ..self.engine.checks() }
    }

    /// An Application as it is sent, with the health of its objects.
    pub(crate) fn shown_with_health(&self, application: &Object) -> Value {
        let mut shown = shown(application);
        if shown.str_at(&["status", "resourceHealthSource"]) == Some("appTree")
            && let Some(resources) = self.judged(&shown)
        {
            shown.set(&["status", "resources"], resources);
        }
        shown
    }

    /// The resources of a status with their health; none where their cluster cannot be seen.
    fn judged(&self, shown: &Value) -> Option<Value> {
        let wanted: ApplicationDestination = typed::to_typed(shown.at(&["spec", "destination"])?).ok()?;
        let Link::Up(cluster) = self.engine.fleet().find(&wanted).ok()?.link else { return None };
        let checks = self.checks();
        let resources = shown.items_at(&["status", "resources"]).iter();
        Some(resources.map(|resource| with_health(resource, &cluster, &checks)).collect())
    }
}

fn with_health(resource: &Value, cluster: &Cluster, checks: &Checks) -> Value {
    let text = |field: &str| resource.str_at(&[field]).unwrap_or_default();
    let key = ObjectKey::new(text("group"), text("kind"), text("namespace"), text("name"));
    let cache = cluster.cache();
    let (health, message) = match cache.get(&key) {
        // Of what nobody manages only the metadata is kept, which says nothing of how it is.
        Some(live) if cache.is_whole(&key) => match health_of(Some(&live), checks) {
            Some(health) => (health.status, health.message),
            None => return resource.clone(),
        },
        Some(_) => return resource.clone(),
        // A hook is there only while it runs, and what cannot be read may well be there.
        None if resource.bool_at(&["hook"]) == Some(true)
            || cache.errors().contains_key(&key.group_kind()) =>
        {
            return resource.clone();
        }
        None => (HealthStatusCode::Missing, "Resource has not been created".to_owned()),
    };
    let mut judged = resource.clone();
    judged.set(&["health"], value!({"status": health.to_string(), "message": message}));
    judged
}
