//! What an Application may point to: projects and clusters.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::labels;
use lynceus_appset::{Cluster, Destinations};
use lynceus_cluster::Registration;
use lynceus_object::{GroupKind, Object, Str, Value};

use crate::engine::Engine;
use crate::key::project_kind;

/// The projects and clusters that there are.
pub(crate) struct Known {
    projects: BTreeSet<Str>,
    clusters: Vec<Cluster>,
}

impl Destinations for Known {
    fn has_project(&self, name: &str) -> bool {
        self.projects.contains(name)
    }

    fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }
}

impl Engine {
    /// What Applications may point to now.
    pub(crate) fn known_destinations(&self) -> Known {
        let home = &self.options().namespace;
        let projects = self.home().cache().of_kind(&project_kind()).into_iter();
        let projects = projects.filter(|project| project.namespace() == home.as_str());
        let (clusters, _) = self.registered_clusters();
        Known { projects: projects.map(|project| project.name().into()).collect(), clusters }
    }

    /// The registered clusters by their names, and what is wrong with Secrets that do not even say where a cluster is.
    pub(crate) fn registered_clusters(&self) -> (Vec<Cluster>, Vec<String>) {
        let home = &self.options().namespace;
        let secrets = self.home().cache().of_kind(&GroupKind::new("", "Secret"));
        let (mut clusters, mut problems) = (Vec::new(), Vec::new());
        for secret in
            secrets.iter().filter(|one| one.namespace() == home.as_str() && Registration::is_one(one))
        {
            match registered_cluster(secret) {
                Ok(cluster) => clusters.push(cluster),
                Err(problem) => problems.push(problem),
            }
        }
        clusters.sort_by(|one, other| (&one.name, &one.server).cmp(&(&other.name, &other.server)));
        problems.sort();
        (clusters, problems)
    }
}

/// A cluster as its Secret describes it. Credentials that cannot be used do not matter here.
pub fn registered_cluster(secret: &Object) -> Result<Cluster, String> {
    let (name, server, project) = match Registration::read(secret) {
        Ok(read) => (read.name, read.server, read.project),
        Err(error) => {
            let field = |field| super::keys::decoded(secret, field).map(|text| text.trim().to_owned());
            let server = field("server").map(|server| server.trim_end_matches('/').to_owned());
            let Some(server) = server.filter(|server| !server.is_empty()) else {
                return Err(format!("the cluster Secret {} cannot be read: {error}", secret.name()));
            };
            let name = field("name").filter(|name| !name.is_empty()).unwrap_or_else(|| server.clone());
            (name.into(), server.into(), field("project").unwrap_or_default().into())
        }
    };
    Ok(Cluster {
        name,
        server,
        project,
        labels: texts(secret, "labels"),
        annotations: texts(secret, "annotations"),
    })
}

fn texts(secret: &Object, field: &str) -> BTreeMap<Str, Str> {
    let map = secret.at(&["metadata", field]).and_then(Value::as_map);
    let pairs = map.into_iter().flat_map(|map| map.iter());
    pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.into()))).collect()
}

/// The label by which Secrets are those of hosts of repositories, where only such may be used.
pub(crate) fn is_for_hosts(secret: &Object) -> bool {
    secret.label(labels::SECRET_TYPE) == Some(labels::SECRET_TYPE_SCM_CREDS)
}
