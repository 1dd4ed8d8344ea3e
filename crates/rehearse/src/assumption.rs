//! What neither the repository nor a snapshot tells, and is taken to be there so that the rest can be seen.
//!
//! What the repository itself should bring is never assumed: not a definition that one of its files holds, not a Secret that a pod
//! names, not a namespace; nor a class, a project, a cluster or a kind that is called almost as one that it brings, which is a slip.
//! With a snapshot of a cluster, only what a snapshot does not tell is assumed.

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

use lynceus_api::{Application, IN_CLUSTER_SERVER};
use lynceus_cluster::Kinds;
use lynceus_doctor::near;
use lynceus_engine::{AppKey, RegisteredCluster};
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

impl Elsewhere {
    /// The cluster that an Application goes to, if it is not the installation's own.
    pub(crate) fn of(application: &Application) -> Option<Self> {
        let to = &application.spec.destination;
        match (to.server.trim_end_matches('/'), to.name.as_str()) {
            ("", "" | "in-cluster") | (IN_CLUSTER_SERVER, "") => None,
            ("", name) => {
                Some(Elsewhere { server: format!("https://{name}.invalid").into(), name: name.into() })
            }
            (server, _) => Some(Elsewhere { server: server.into(), name: server.into() }),
        }
    }
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
    /// The clusters that the Secrets of a snapshot register, whether anything goes there or not.
    pub(crate) registered: Vec<RegisteredCluster>,
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
    assumed.registered = crate::survey::registered(before);
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
pub(crate) struct There(BTreeMap<GroupKind, BTreeSet<Str>>);

impl There {
    fn new(surveys: &[&Survey], before: &[Object]) -> Self {
        let brought = surveys
            .iter()
            .flat_map(|survey| survey.rendered().chain(survey.roots.iter().map(|root| &root.object)));
        let mut there: BTreeMap<GroupKind, BTreeSet<Str>> = BTreeMap::new();
        for object in brought.chain(before) {
            there.entry(object.group_kind()).or_default().insert(object.name().into());
        }
        There(there)
    }

    pub(crate) fn has(&self, group: &str, kind: &str, name: &str) -> bool {
        self.of(group, kind).any(|one| one == name)
    }

    /// Whether something may come from elsewhere: nobody brings it, nor anything of its kind that is called almost so and must
    /// be what is meant.
    pub(crate) fn is_open(&self, group: &str, kind: &str, name: &str) -> bool {
        !self.has(group, kind, name) && near::slip(name, self.of(group, kind)).is_none()
    }

    fn of(&self, group: &str, kind: &str) -> impl Iterator<Item = &str> {
        self.0.get(&GroupKind::new(group, kind)).into_iter().flatten().map(Str::as_str)
    }
}

/// Every destination but the installation's own cluster is a cluster of its own, with nothing in it. One that is called almost as
/// a cluster that a file registers is none.
fn clusters(surveys: &[&Survey], assumed: &mut Assumed, needs: &mut Needs) {
    let registered: BTreeMap<&str, &str> = surveys
        .iter()
        .flat_map(|survey| &survey.registered)
        .map(|(name, server)| (name.as_str(), server.as_str()))
        .collect();
    let is_slip = |name: &str| {
        let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
        let known = registered.keys().copied().chain(["in-cluster"]);
        !registered.contains_key(name) && (registered.contains_key(bare) || near::slip(name, known).is_some())
    };
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        let Some(mut cluster) = Elsewhere::of(&one.application) else { continue };
        let to = &one.application.spec.destination;
        let fits = |known: &&RegisteredCluster| known.server == cluster.server || known.name == cluster.name;
        if let Some(known) = assumed.registered.iter().find(fits) {
            cluster = Elsewhere { server: known.server.clone(), name: known.name.clone() };
        } else if to.server.is_empty() && is_slip(&to.name) {
            continue;
        } else if let Some(server) = registered.get(cluster.name.as_str()).filter(|server| !server.is_empty())
        {
            // The file registers it anew, at the address that it says.
            cluster.server = (*server).into();
        }
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
            let is_given = matches!(project, "" | "default") || near::slip(project, ["default"]).is_some();
            if is_given || !there.is_open(lynceus_api::GROUP, "AppProject", project) {
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
