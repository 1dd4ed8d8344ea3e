//! What neither the repository nor a snapshot tells, and is taken to be there so that the rest can be seen.
//!
//! What the repository itself should bring is never assumed: not a definition that one of its files holds, not a Secret that a pod
//! names, not a namespace. With a snapshot of a cluster, only what a snapshot does not tell is assumed.

mod class;
mod definition;
mod image;
mod maker;
mod node;
mod operator;
mod pod;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use lynceus_api::IN_CLUSTER_SERVER;
use lynceus_cluster::Kinds;
use lynceus_engine::AppKey;
use lynceus_object::{GroupKind, Object, Str, Value, value};
use lynceus_sim::Stage;
use lynceus_sim::operators::Operator;
use serde::Serialize;

use crate::limits;
use crate::survey::Survey;

/// Something that is taken to be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Assumption {
    /// What sort of thing it is.
    pub sort: Sort,
    /// The thing.
    pub what: String,
    /// Some of the applications that need it.
    pub needed_by: Vec<String>,
    /// How many there are.
    pub needed_by_count: usize,
}

/// What sort of thing is taken to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Sort {
    /// A cluster beside the one of the installation.
    Cluster,
    /// An AppProject in which everything is permitted.
    Project,
    /// The definition of a kind, with whoever makes its objects healthy.
    Definition,
    /// Machines that pods fit on.
    Nodes,
    /// A storage class that provisions.
    StorageClass,
    /// A priority class.
    PriorityClass,
    /// A runtime class.
    RuntimeClass,
    /// An ingress class with a controller.
    IngressClass,
    /// An image that can be pulled.
    Image,
    /// A Secret, made by something that nobody plays.
    Secret,
}

impl Sort {
    /// What several of it are called.
    pub fn plural(self) -> &'static str {
        match self {
            Sort::Cluster => "clusters",
            Sort::Project => "projects",
            Sort::Definition => "definitions, with whoever serves them",
            Sort::Nodes => "nodes",
            Sort::StorageClass => "storage classes",
            Sort::PriorityClass => "priority classes",
            Sort::RuntimeClass => "runtime classes",
            Sort::IngressClass => "ingress classes, with a controller",
            Sort::Image => "images",
            Sort::Secret => "secrets, made by what is not played",
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plural())
    }
}

/// A cluster that is to be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Elsewhere {
    pub(crate) server: Str,
    pub(crate) name: Str,
}

/// What has to be made so that what is assumed is there.
#[derive(Default)]
pub(crate) struct Assumed {
    pub(crate) told: Vec<Assumption>,
    /// Objects for every cluster.
    pub(crate) objects: Vec<Object>,
    /// Projects for the installation.
    pub(crate) projects: Vec<Object>,
    pub(crate) operators: Vec<Arc<Operator>>,
    pub(crate) clusters: BTreeSet<Elsewhere>,
    pub(crate) stage: Stage,
}

/// Who needs what, by sort and name.
#[derive(Default)]
pub(crate) struct Needs(BTreeMap<(Sort, String), BTreeSet<AppKey>>);

impl Needs {
    pub(crate) fn add(&mut self, sort: Sort, what: impl Into<String>, by: &AppKey) {
        self.0.entry((sort, what.into())).or_default().insert(by.clone());
    }

    fn told(self) -> Vec<Assumption> {
        let of = |((sort, what), by): ((Sort, String), BTreeSet<AppKey>)| Assumption {
            sort,
            what,
            needed_by: by.iter().take(limits::NAMED).map(|key| key.name.to_string()).collect(),
            needed_by_count: by.len(),
        };
        self.0.into_iter().map(of).collect()
    }
}

/// Finds what has to be assumed for surveys, given what the cluster is like and serves.
pub(crate) fn assume(
    surveys: &[&Survey],
    stage: &Stage,
    kinds: &Kinds,
    operators: &[Arc<Operator>],
) -> Assumed {
    let mut assumed = Assumed { stage: stage.clone(), ..Assumed::default() };
    let mut needs = Needs::default();
    let snapshot = stage.snapshot.clone();
    let before = snapshot.as_deref().map_or(&[][..], |snapshot| &snapshot.objects);
    let there = There::new(surveys, before);
    clusters(surveys, &mut assumed, &mut needs);
    image::assume(surveys, &mut assumed, &mut needs);
    maker::assume(surveys, (&there, before), operators, &mut assumed, &mut needs);
    if snapshot.is_none() {
        projects(surveys, &there, &mut assumed, &mut needs);
        definition::assume(surveys, kinds, &mut assumed, &mut needs);
        node::assume(surveys, &mut assumed, &mut needs);
        class::assume(surveys, &there, &mut assumed, &mut needs);
    }
    assumed.told = needs.told();
    assumed
}

/// What is brought by somebody, or was there.
pub(crate) struct There(BTreeSet<(GroupKind, Str)>);

impl There {
    fn new(surveys: &[&Survey], before: &[Object]) -> Self {
        let brought = surveys
            .iter()
            .flat_map(|survey| survey.rendered().chain(survey.roots.iter().map(|root| &root.object)));
        There(brought.chain(before).map(|object| (object.group_kind(), object.name().into())).collect())
    }

    pub(crate) fn has(&self, group: &str, kind: &str, name: &str) -> bool {
        self.0.contains(&(GroupKind::new(group, kind), name.into()))
    }
}

/// Every destination but the installation's own cluster is a cluster of its own, with nothing in it.
fn clusters(surveys: &[&Survey], assumed: &mut Assumed, needs: &mut Needs) {
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        let to = &one.application.spec.destination;
        let server = to.server.trim_end_matches('/');
        let cluster = match (server, to.name.as_str()) {
            ("", "" | "in-cluster") | (IN_CLUSTER_SERVER, "") => continue,
            ("", name) => Elsewhere { server: format!("https://{name}.invalid").into(), name: name.into() },
            (server, _) => Elsewhere { server: server.into(), name: server.into() },
        };
        needs.add(Sort::Cluster, cluster.name.as_str(), key);
        assumed.clusters.insert(cluster);
    }
}

/// Projects are part of the installation, which a repository need not hold.
fn projects(surveys: &[&Survey], there: &There, assumed: &mut Assumed, needs: &mut Needs) {
    let mut made: BTreeSet<&str> = BTreeSet::new();
    for survey in surveys {
        for (key, one) in &survey.applications {
            let project = one.application.spec.project.as_str();
            if matches!(project, "" | "default") || there.has(lynceus_api::GROUP, "AppProject", project) {
                continue;
            }
            needs.add(Sort::Project, project, key);
            if made.insert(project) {
                assumed.projects.push(open_project(project, &survey.home));
            }
        }
    }
}

fn open_project(name: &str, home: &str) -> Object {
    let value = value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
        "metadata": {"name": name, "namespace": home},
        "spec": {
            "sourceRepos": ["*"],
            "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        },
    });
    Object::new(value).unwrap_or_default()
}

/// Every map within a value, itself included.
pub(crate) fn maps<'a>(value: &'a Value, then: &mut impl FnMut(&'a Value)) {
    match value {
        Value::Map(map) => {
            then(value);
            map.values().for_each(|value| maps(value, then));
        }
        Value::Seq(items) => items.iter().for_each(|item| maps(item, then)),
        _ => {}
    }
}
