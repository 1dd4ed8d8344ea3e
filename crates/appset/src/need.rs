//! What lies outside of an ApplicationSet: asked for here, got by whoever calls.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lynceus_api::{LabelSelector, PullRequestGenerator, ScmProviderGenerator};
use lynceus_files::Tree;
use lynceus_object::{Map, Str, Value, from_typed, json};
use serde::Serialize;

/// The name of the cluster that Argo CD itself runs in.
pub const IN_CLUSTER_NAME: &str = "in-cluster";
/// Its address from inside.
pub const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";

/// Something that has to be got before an ApplicationSet can be generated.
#[derive(Clone, Debug)]
pub enum Need {
    /// All clusters that are registered: [`Answer::Clusters`].
    Clusters,
    /// The files of a repository: [`Answer::Tree`].
    Tree {
        /// The repository.
        repo: Str,
        /// The branch, tag or commit.
        revision: Str,
        /// The project whose credentials may be used; empty where its name is still a template, which leaves those of
        /// all projects.
        project: Str,
    },
    /// A ConfigMap in Argo CD's namespace: [`Answer::ConfigMap`].
    ConfigMap {
        /// Its name.
        name: Str,
    },
    /// Objects that choose clusters, in Argo CD's namespace: [`Answer::Objects`].
    Decisions {
        /// The API version of their kind.
        api_version: Str,
        /// The plural name of their kind: the ConfigMap calls it `kind`.
        resource: Str,
        /// The object's name, or empty to go by labels.
        name: Str,
        /// The labels.
        selector: LabelSelector,
    },
    /// What a plugin says: [`Answer::Parameters`]. Its ConfigMap has `baseUrl` and `token`; it is sent a POST to
    /// `api/v1/getparams.execute`.
    Plugin {
        /// The ConfigMap.
        config_map: Str,
        /// The body of the request, with `applicationSetName` and `input`.
        body: Value,
    },
    /// The repositories of an organisation, without its filters: [`Answer::Repositories`]. Each comes with its default
    /// branch.
    Repositories {
        /// Where to ask, with the references to its credentials.
        provider: Box<ScmProviderGenerator>,
    },
    /// The branches of one of them: [`Answer::Repositories`].
    Branches {
        /// Where to ask.
        provider: Box<ScmProviderGenerator>,
        /// The repository.
        repository: Repository,
    },
    /// Whether a branch has a path: [`Answer::Exists`].
    Path {
        /// Where to ask.
        provider: Box<ScmProviderGenerator>,
        /// The repository and its branch.
        repository: Repository,
        /// The path.
        path: Str,
    },
    /// Open pull requests, without the filters: [`Answer::PullRequests`].
    PullRequests {
        /// Where to ask, with the references to its credentials.
        provider: Box<PullRequestGenerator>,
    },
}

impl Need {
    /// What tells this need from others: two with the same text have the same answer.
    pub fn id(&self) -> String {
        match self {
            Need::Clusters => "clusters".to_owned(),
            Need::Tree { repo, revision, project } => format!("tree {repo} {revision} {project}"),
            Need::ConfigMap { name } => format!("configmap {name}"),
            Need::Decisions { api_version, resource, name, selector } => {
                format!("decisions {api_version} {resource} {name} {}", text(selector))
            }
            Need::Plugin { config_map, body } => format!("plugin {config_map} {}", json::to_string(body)),
            Need::Repositories { provider } => format!("repositories {}", scm(provider)),
            Need::Branches { provider, repository } => format!("branches {repository} {}", scm(provider)),
            Need::Path { provider, repository, path } => {
                format!("path {path} {repository} {} {}", repository.branch, scm(provider))
            }
            Need::PullRequests { provider } => format!("pulls {}", pulls(provider)),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Clusters => f.write_str("the registered clusters"),
            Need::Tree { repo, revision, .. } => write!(f, "{repo} at {revision}"),
            Need::ConfigMap { name } => write!(f, "the ConfigMap {name}"),
            Need::Decisions { api_version, resource, name, .. } => {
                write!(f, "{resource} of {api_version}")?;
                if name.is_empty() { Ok(()) } else { write!(f, " with the name {name}") }
            }
            Need::Plugin { config_map, .. } => {
                write!(f, "the answer of the plugin of ConfigMap {config_map}")
            }
            Need::Repositories { .. } => f.write_str("the repositories of the organisation"),
            Need::Branches { repository, .. } => write!(f, "the branches of {repository}"),
            Need::Path { repository, path, .. } => {
                write!(f, "whether {repository} has {path} on {}", repository.branch)
            }
            Need::PullRequests { .. } => f.write_str("the open pull requests"),
        }
    }
}

/// Where repositories are asked for; filters, values and templates make no difference to the answer.
fn scm(provider: &ScmProviderGenerator) -> String {
    let asked = ScmProviderGenerator {
        filters: Vec::new(),
        values: BTreeMap::new(),
        template: Default::default(),
        requeue_after_seconds: None,
        ..provider.clone()
    };
    text(&asked)
}

fn pulls(provider: &PullRequestGenerator) -> String {
    let asked = PullRequestGenerator {
        filters: Vec::new(),
        values: BTreeMap::new(),
        template: Default::default(),
        requeue_after_seconds: None,
        continue_on_repo_not_found_error: false,
        ..provider.clone()
    };
    text(&asked)
}

/// What cannot be written as JSON is told apart all the same: two needs must never share an answer by mistake.
fn text(typed: &(impl Serialize + fmt::Debug)) -> String {
    from_typed(typed).map_or_else(|_| format!("{typed:?}"), |value| json::to_string(&value))
}

/// What was got.
#[derive(Clone)]
pub enum Answer {
    /// Clusters.
    Clusters(Vec<Cluster>),
    /// The files of a repository.
    Tree(Arc<dyn Tree>),
    /// The data of a ConfigMap.
    ConfigMap(BTreeMap<Str, Str>),
    /// Objects.
    Objects(Vec<Value>),
    /// Sets of parameters, each a map.
    Parameters(Vec<Map>),
    /// Repositories, each with a branch.
    Repositories(Vec<Repository>),
    /// Whether it is there.
    Exists(bool),
    /// Pull requests.
    PullRequests(Vec<PullRequest>),
    /// The repository, or whatever was asked for, is not there.
    NotFound(String),
    /// It could not be got, and why. Nothing is generated then, and so nothing deleted.
    Failed(String),
}

/// What was got so far, by the ids of the needs.
#[derive(Clone, Default)]
pub struct Answers {
    by_id: BTreeMap<String, Answer>,
}

impl Answers {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the answer to a need.
    pub fn give(&mut self, need: &Need, answer: Answer) {
        self.by_id.insert(need.id(), answer);
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Answer> {
        self.by_id.get(id)
    }
}

/// A cluster that is registered: what its Secret says, without the credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: Str,
    /// Its address.
    pub server: Str,
    /// The project that it is for, if it is for one.
    pub project: Str,
    /// The Secret's labels.
    pub labels: BTreeMap<Str, Str>,
    /// The Secret's annotations.
    pub annotations: BTreeMap<Str, Str>,
}

impl Cluster {
    /// The cluster that Argo CD itself runs in, where it has no Secret.
    pub(crate) fn local() -> Self {
        Cluster { name: IN_CLUSTER_NAME.into(), server: IN_CLUSTER_SERVER.into(), ..Cluster::default() }
    }
}

/// A repository and one of its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The organisation, group or project.
    pub organization: Str,
    /// Its name.
    pub repository: Str,
    /// Its id, where the host has one.
    pub id: Option<RepositoryId>,
    /// Where to clone it from.
    pub url: Str,
    /// The branch.
    pub branch: Str,
    /// The branch's commit.
    pub sha: Str,
    /// The repository's labels or topics.
    pub labels: Vec<Str>,
}

/// The id of a repository: some hosts count, others name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryId {
    /// A number.
    Number(i64),
    /// A text.
    Text(Str),
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.organization, self.repository)
    }
}

/// An open pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: i64,
    /// Its title.
    pub title: Str,
    /// The branch that it is made from.
    pub branch: Str,
    /// The branch that it is made for.
    pub target_branch: Str,
    /// Its newest commit.
    pub head_sha: Str,
    /// Its labels.
    pub labels: Vec<Str>,
    /// Who made it.
    pub author: Str,
}
