//! What a source is rendered for and with.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_files::{FilePath, ReadSet, Recorded, Tree};
use lynceus_object::Str;

use crate::SourceType;
use crate::charts::Charts;

/// One source, with everything that it is rendered with.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The files of its revision.
    pub tree: &'a dyn Tree,
    /// The source.
    pub source: &'a ApplicationSource,
    /// What it is for.
    pub setting: &'a Setting,
    /// The files of other sources that it may name.
    pub references: &'a References,
    /// What had to be got from elsewhere.
    pub fetched: &'a Fetched,
    /// What kustomizations needed from elsewhere.
    pub bases: &'a Bases,
    /// The charts that were loaded before.
    pub charts: &'a Charts,
}

/// The trees that a source may read, with a record of what it reads.
pub(crate) struct Trees<'a> {
    own: Recorded<'a>,
    others: BTreeMap<&'a Str, Recorded<'a>>,
}

impl<'a> Trees<'a> {
    pub(crate) fn new(job: &Job<'a>) -> Self {
        let others = job.references.iter().map(|(name, tree)| (name, Recorded::new(&**tree)));
        Trees { own: Recorded::new(job.tree), others: others.collect() }
    }

    /// The source's own files.
    pub(crate) fn own(&self) -> &dyn Tree {
        &self.own
    }

    /// Counts some of the source's own files as looked at, which were when something was made of them before.
    pub(crate) fn count(&self, read: &ReadSet) {
        self.own.count(read);
    }

    /// The files of another source.
    pub(crate) fn other(&self, name: &str) -> Option<&dyn Tree> {
        self.others.iter().find(|(other, _)| **other == name).map(|(_, tree)| tree as &dyn Tree)
    }

    /// What was looked at: of the source itself, and of others.
    pub(crate) fn read_sets(self) -> (ReadSet, BTreeMap<Str, ReadSet>) {
        let others = self.others.into_iter().map(|(name, tree)| (name.clone(), tree.read_set()));
        (self.own.read_set(), others.collect())
    }
}

/// What tools may know of the application and of the cluster that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The application's name.
    pub application: Str,
    /// The namespace that it is delivered to.
    pub namespace: Str,
    /// Its project.
    pub project: Str,
    /// The revision that is rendered.
    pub revision: Str,
    /// The version of the cluster's Kubernetes; empty for the one that Helm takes by itself.
    pub kube_version: Str,
    /// The APIs of the cluster, as `group/version` and `group/version/Kind`.
    pub api_versions: Arc<[Str]>,
    /// The schemes of URLs that value files may be read from.
    pub value_schemes: Vec<Str>,
    /// The flags that every kustomization is built with, as `kustomize.buildOptions` of `argocd-cm` has them.
    pub kustomize_options: Str,
    /// Whether config-management plugins can be asked.
    pub plugins: bool,
    /// The tools that may be used.
    pub tools: Tools,
    /// How many bytes the files of a directory may have together; not set, the usual bound holds.
    pub directory_bytes: Option<u64>,
}

/// The tools that may be used. What is for another is taken for a folder of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Charts are rendered.
    pub helm: bool,
    /// Kustomizations are built.
    pub kustomize: bool,
    /// Jsonnet is evaluated; if not, its files are passed over.
    pub jsonnet: bool,
}

impl Default for Tools {
    fn default() -> Self {
        Tools { helm: true, kustomize: true, jsonnet: true }
    }
}

impl Tools {
    /// Whether the tool for a sort of source may be used.
    pub(crate) fn allow(self, source_type: SourceType) -> bool {
        match source_type {
            SourceType::Helm => self.helm,
            SourceType::Kustomize => self.kustomize,
            SourceType::Directory | SourceType::Plugin => true,
        }
    }
}

/// The files of other sources, by the names that they go by in paths, without the `$`.
pub type References = BTreeMap<Str, Arc<dyn Tree>>;

/// Something that a source needs and that is not among its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A chart that another depends on, as its `Chart.yaml` or `Chart.lock` names it.
    Chart {
        /// The repository: a URL, or the name of one as `@name` or `alias:name`.
        repository: Str,
        /// The chart.
        name: Str,
        /// The version, or a range of them.
        version: Str,
    },
    /// A file of values somewhere else.
    Url(Str),
    /// What a kustomization names: a file, a repository or a chart.
    Base(lynceus_kustomize::Need),
    /// What a config-management plugin makes of the source: a stream of YAML.
    Plugin(PluginCall),
    /// The name of the plugin that says that the source is for it; nothing if none does. It is asked without a name.
    Discovery(PluginCall),
}

/// What a plugin is told, beside the files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginCall {
    /// The plugin; the one that says that the source is for it if this is empty.
    pub name: Str,
    /// The source's path.
    pub path: FilePath,
    /// The environment, in the order in which later entries win.
    pub environment: Vec<(Str, Str)>,
}

/// What has been got for a source, by what was needed.
pub type Fetched = BTreeMap<Need, Arc<[u8]>>;

/// What has been got for kustomizations, or why it could not be.
pub type Bases = lynceus_kustomize::Fetched;

/// What to call a need in front of a user.
impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Need::Chart { repository, name, version } => write!(f, "chart {name} {version} of {repository}"),
            Need::Url(url) => f.write_str(url),
            Need::Base(need) => need.fmt(f),
            Need::Plugin(PluginCall { name, path, .. }) if name.is_empty() => {
                write!(f, "the manifests of {path} from a plugin")
            }
            Need::Plugin(PluginCall { name, path, .. }) => {
                write!(f, "the manifests of {path} from plugin {name}")
            }
            Need::Discovery(PluginCall { path, .. }) => write!(f, "the plugin for {path}"),
        }
    }
}
