//! Any source of an Application to manifests, with what was read and where each came from.
//!
//! [`render`] looks at the tree, chooses the tool as Argo CD does, and gives [`Rendered`]: the objects, their places in
//! Git, the files that were looked at, and diagnostics. A broken document is a diagnostic; the others are still there,
//! and whoever asked decides what that means (a sync must not prune what it could not read).

mod asked;
mod charts;
mod described;
mod directory;
mod environment;
mod explain;
mod glob;
mod helm;
mod job;
mod jsonnet;
mod kustomize;
pub mod limits;
mod overrides;
mod plugin;

use std::collections::BTreeMap;

use lynceus_api::{ApplicationSource, ApplicationSourceType, GlobError};
use lynceus_files::{Diagnostic, Entry, FilePath, PathError, ReadSet, Span, Tree, TreeError};
use lynceus_helm::World;
use lynceus_object::{Object, Str};

use asked::Asked;
pub use charts::Charts;
pub use described::{apps, describe};
pub use explain::{Field, FieldError, Reason, explain};
use job::Trees;
pub use job::{Bases, Fetched, Job, Need, PluginCall, References, Setting, Tools};
pub use lynceus_kustomize::IdlePatch;

/// What a source became.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The objects in the order of their files and documents.
    pub manifests: Vec<Manifest>,
    /// What was looked at: a change to any other file cannot change the result.
    pub read_set: ReadSet,
    /// What was looked at in the files of other sources, by their names.
    pub references: BTreeMap<Str, ReadSet>,
    /// What is wrong or looks wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// Which tool made it.
    pub source_type: SourceType,
    /// Whether the revision stands in it: the same files at another revision give something else.
    pub names_revision: bool,
    /// Whether it is for one application: the same source of another may give something else.
    pub names_setting: bool,
    /// Patches that are for nothing that is there, which Kustomize leaves out without a word.
    pub idle_patches: Vec<IdlePatch>,
    /// Whether a template asked for chance or the time: rendering again gives something else.
    pub is_by_chance: bool,
}

/// One object and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object.
    pub object: Object,
    /// The file and line that it starts at.
    pub span: Span,
    /// Which document of the file it is, from 0.
    pub document: usize,
}

/// Which tool renders a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceType {
    /// Plain manifests.
    #[default]
    Directory,
    /// A Helm chart.
    Helm,
    /// A kustomization.
    Kustomize,
    /// A config-management plugin.
    Plugin,
}

impl From<SourceType> for ApplicationSourceType {
    fn from(source_type: SourceType) -> Self {
        match source_type {
            SourceType::Directory => ApplicationSourceType::Directory,
            SourceType::Helm => ApplicationSourceType::Helm,
            SourceType::Kustomize => ApplicationSourceType::Kustomize,
            SourceType::Plugin => ApplicationSourceType::Plugin,
        }
    }
}

/// Why a source could not be rendered at all.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The path in the source leaves the repository.
    #[error("the source's path is not usable")]
    Path(#[from] PathError),
    /// The path is not in the revision.
    #[error("app path {0} does not exist")]
    NoPath(FilePath),
    /// The path is a file.
    #[error("app path {0} is not a directory")]
    NotADirectory(FilePath),
    /// Several tools are configured at once.
    #[error("multiple application sources defined: {}", .0.join(","))]
    Ambiguous(Vec<&'static str>),
    /// The source is for a plugin, and there are none to ask.
    #[error(
        "{path} is for a config-management plugin, and plugins are off; `lynceus controller --plugin-sockets DIR` turns \
         them on, with the directory that their sockets are in"
    )]
    PluginsOff {
        /// Where it is.
        path: FilePath,
    },
    /// The parameters of a plugin cannot be written down.
    #[error("the parameters of the plugin cannot be written down: {reason}")]
    PluginParameters {
        /// What is wrong with them.
        reason: String,
    },
    /// Parameters in the repository cannot be read.
    #[error("{file} cannot be used: {reason}")]
    Overrides {
        /// The file.
        file: FilePath,
        /// What is wrong with it.
        reason: String,
    },
    /// Helm does not render the chart, for the reason that it gives.
    #[error("Helm cannot render {path}")]
    Helm {
        /// Where the chart is.
        path: FilePath,
        /// What Helm says.
        #[source]
        source: Box<lynceus_helm::HelmError>,
    },
    /// Kustomize does not build the kustomization, for the reason that it gives.
    #[error("Kustomize cannot build {path}")]
    Kustomize {
        /// Where the kustomization is.
        path: FilePath,
        /// What Kustomize says.
        #[source]
        source: Box<lynceus_kustomize::KustomizeError>,
    },
    /// A flag of Kustomize that would have something executed.
    #[error(
        "{path} cannot be built with {option}: nothing is executed; take it out of kustomize.buildOptions"
    )]
    KustomizeOption {
        /// Where the kustomization is.
        path: FilePath,
        /// The flag.
        option: String,
    },
    /// The dependencies of a chart contradict each other.
    #[error("the dependencies of {path} cannot be resolved")]
    Dependencies {
        /// Where the chart is.
        path: FilePath,
        /// What is wrong.
        #[source]
        source: lynceus_helm::resolve::ResolveError,
    },
    /// The version of Kubernetes is not one.
    #[error("could not parse Kubernetes version {version}: {reason}")]
    KubeVersion {
        /// The version.
        version: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A value file cannot be had.
    #[error("value file {file} cannot be read: {reason}")]
    ValueFile {
        /// The file, as the Application names it.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A pattern of value files matches nothing.
    #[error("values file glob {0:?} matched no files")]
    NoValueFiles(String),
    /// A source of this name is not there.
    #[error("there is no source with the ref {0:?}")]
    NoReference(String),
    /// A value file is to come from a source that is not there.
    #[error("source referenced \"${name}\", {}", available(.known))]
    UnknownReference {
        /// The name that is asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Something has to be got first; see [`Job::fetched`].
    #[error("{} is needed first", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Needs(Vec<Need>),
    /// An include or exclude pattern cannot be read.
    #[error("the source's include or exclude is not usable")]
    Glob(#[from] GlobError),
    /// The directory is larger than may be rendered.
    #[error("the manifests below {path} have more than {limit} {unit}")]
    TooLarge {
        /// The directory.
        path: FilePath,
        /// The most there may be.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// The tree cannot be read.
    #[error("the repository cannot be read")]
    Tree(#[from] TreeError),
}

/// Which sources can be referred to.
fn available(known: &[String]) -> String {
    match known {
        [] => "but no source has a 'ref' field defined".to_owned(),
        known => format!("which is not one of the available sources (${})", known.join(", $")),
    }
}

/// What a tool made.
#[derive(Default)]
pub(crate) struct Made {
    manifests: Vec<Manifest>,
    diagnostics: Vec<Diagnostic>,
    names_revision: bool,
    names_setting: bool,
    idle_patches: Vec<IdlePatch>,
}

/// Renders one source from the tree of its revision. [`RenderError::Needs`] says what is to be got first.
pub fn render(job: &Job<'_>, world: &mut dyn World) -> Result<Rendered, RenderError> {
    let trees = Trees::new(job);
    let path = FilePath::new(&job.source.path)?;
    match entry(trees.own(), &path)? {
        Entry::Directory => {}
        _ => return Err(RenderError::NotADirectory(path)),
    }
    let source = overrides::merge(trees.own(), &path, job.source, &job.setting.application)?;
    let job = Job { source: &source, ..*job };
    let detected = detect(trees.own(), &path, &job)?;
    let mut asked = Asked::new(world);
    let world = &mut asked;
    let made = match detected.source_type {
        SourceType::Directory => directory::render(trees.own(), &path, &job),
        SourceType::Helm => helm::render(&trees, &path, &job, world),
        SourceType::Kustomize => kustomize::render(&trees, &path, &job, world),
        SourceType::Plugin => plugin::render(&path, &job, &detected.plugin),
    }?;
    let (read_set, references) = trees.read_sets();
    let Made { manifests, diagnostics, names_revision, names_setting, idle_patches } = made;
    Ok(Rendered {
        manifests,
        read_set,
        references,
        diagnostics,
        source_type: detected.source_type,
        names_revision,
        // A plugin was told who it is for before it said that the source is none of its.
        names_setting: names_setting || detected.was_discovered,
        idle_patches,
        is_by_chance: asked.is_asked(),
    })
}

/// The tool that was chosen.
pub(crate) struct Detected {
    source_type: SourceType,
    /// The plugin, if one was found.
    plugin: Str,
    /// Whether plugins were asked.
    was_discovered: bool,
}

impl From<SourceType> for Detected {
    fn from(source_type: SourceType) -> Self {
        Detected { source_type, plugin: Str::default(), was_discovered: false }
    }
}

/// Chooses the tool: what the source says, or else what a plugin says, or else what the directory holds.
pub(crate) fn detect(tree: &dyn Tree, path: &FilePath, job: &Job<'_>) -> Result<Detected, RenderError> {
    let tools = job.setting.tools;
    if let Some(chosen) = explicit(job.source)? {
        let chosen = if tools.allow(chosen) { chosen } else { SourceType::Directory };
        return Ok(chosen.into());
    }
    if !job.setting.plugins {
        return Ok(by_files(tree, path, tools)?.into());
    }
    let plugin = plugin::discover(path, job)?;
    let source_type = if plugin.is_empty() { by_files(tree, path, tools)? } else { SourceType::Plugin };
    Ok(Detected { source_type, plugin, was_discovered: true })
}

/// The tool that the source names.
fn explicit(source: &ApplicationSource) -> Result<Option<SourceType>, RenderError> {
    let mut explicit = Vec::new();
    if source.kustomize.is_some() {
        explicit.push(("Kustomize", SourceType::Kustomize));
    }
    if source.helm.is_some() || !source.chart.is_empty() {
        explicit.push(("Helm", SourceType::Helm));
    }
    if source.directory.is_some() {
        explicit.push(("Directory", SourceType::Directory));
    }
    if source.plugin.is_some() {
        explicit.push(("Plugin", SourceType::Plugin));
    }
    match explicit.as_slice() {
        [] => Ok(None),
        [(_, chosen)] => Ok(Some(*chosen)),
        many => Err(RenderError::Ambiguous(many.iter().map(|(name, _)| *name).collect())),
    }
}

/// The tool whose mark the directory has, of those that may be used.
fn by_files(tree: &dyn Tree, path: &FilePath, tools: Tools) -> Result<SourceType, RenderError> {
    let marks = [
        ("Chart.yaml", SourceType::Helm),
        ("kustomization.yaml", SourceType::Kustomize),
        ("kustomization.yml", SourceType::Kustomize),
        ("Kustomization", SourceType::Kustomize),
    ];
    for (name, source_type) in marks.into_iter().filter(|(_, source_type)| tools.allow(*source_type)) {
        match tree.entry(&path.join(name)?) {
            Ok(Entry::File | Entry::Link(_)) => return Ok(source_type),
            Ok(_) | Err(TreeError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(SourceType::Directory)
}

/// What stands at the source's path, links followed.
fn entry(tree: &dyn Tree, path: &FilePath) -> Result<Entry, RenderError> {
    match tree.entry(path) {
        // A link to a directory can be listed, one to a file cannot.
        Ok(Entry::Link(_)) => match tree.list(path) {
            Ok(_) => Ok(Entry::Directory),
            Err(TreeError::NotA(..)) => Ok(Entry::File),
            Err(TreeError::NotFound(_)) => Err(RenderError::NoPath(path.clone())),
            Err(error) => Err(error.into()),
        },
        Ok(entry) => Ok(entry),
        Err(TreeError::NotFound(_)) => Err(RenderError::NoPath(path.clone())),
        Err(error) => Err(error.into()),
    }
}
