//! A snapshot out of the objects of a cluster alone, such as those in a file.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_api::{AppProject, Application, GROUP, IN_CLUSTER_SERVER, Kind as _, ReadError};
use lynceus_object::{Object, Str};

use super::{ClusterView, Delivery, Partial, SETTINGS, Snapshot};

/// What was written down of one cluster.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Its objects, Applications among them.
    pub objects: Vec<Object>,
    /// Its version: `v1.36.3`.
    pub version: Str,
    /// What could not be read of it, a sentence for each.
    pub unseen: Vec<String>,
    /// The kinds of which objects are lacking for it.
    pub partial: Partial,
}

impl Snapshot {
    /// What can be seen from the objects of one cluster. What the applications want is not in it: of that there is what their
    /// statuses say.
    pub fn of_objects(recorded: Recorded, taken_at: Timestamp) -> Self {
        let Recorded { objects, version, unseen, partial } = recorded;
        let mut snapshot = Snapshot { taken_at, unseen, home: home(&objects), ..Snapshot::default() };
        for object in &objects {
            match (object.group(), object.kind()) {
                (GROUP, "Application") => snapshot.add_application(object),
                (GROUP, "AppProject") => match AppProject::from_object(object) {
                    Ok(project) => snapshot.projects.push(project),
                    Err(error) => snapshot.unseen.push(unreadable(&error)),
                },
                ("", "ConfigMap")
                    if SETTINGS.contains(&object.name()) && object.namespace() == snapshot.home =>
                {
                    snapshot.settings.push(object.clone());
                }
                _ => {}
            }
        }
        snapshot.unseen.push("what the applications want: their sources were not rendered".to_owned());
        let server = Str::from(IN_CLUSTER_SERVER);
        let name = "in-cluster".into();
        let view = ClusterView { server, name, version, objects, partial, ..ClusterView::default() };
        snapshot.clusters.push(view);
        snapshot
    }

    fn add_application(&mut self, object: &Object) {
        match Application::from_object(object) {
            Ok(application) => {
                let named = &application.spec.destination.server;
                // One that is named otherwise is another cluster, of which there are no objects here.
                let server = match (named.as_str(), application.spec.destination.name.as_str()) {
                    ("", "" | "in-cluster") => IN_CLUSTER_SERVER.into(),
                    ("", name) => name.into(),
                    (server, _) => server.into(),
                };
                self.applications.push(Delivery { application, server, ..Delivery::default() });
            }
            Err(error) => self.unseen.push(unreadable(&error)),
        }
    }
}

fn unreadable(error: &ReadError) -> String {
    format!("{error}: {}", error.source)
}

/// The namespace that most Applications are in.
fn home(objects: &[Object]) -> Str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects.iter().filter(|object| (object.group(), object.kind()) == (GROUP, "Application")) {
        *counts.entry(object.namespace()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or("argocd", |(namespace, _)| namespace).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn applications_and_their_home_are_found_among_the_objects() {
        let application = value!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": "shop", "namespace": "gitops"},
            "spec": {"project": "default", "destination": {"name": "in-cluster", "namespace": "shop"}},
        });
        let objects = vec![Object::new(application).unwrap()];
        let recorded = Recorded { objects, version: "v1.36.0".into(), ..Recorded::default() };
        let snapshot = Snapshot::of_objects(recorded, Timestamp::UNIX_EPOCH);
        assert_eq!(snapshot.home, "gitops");
        assert_eq!(snapshot.applications[0].server, IN_CLUSTER_SERVER);
        assert_eq!(snapshot.unseen.len(), 1);
    }
}
