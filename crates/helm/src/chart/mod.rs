//! Charts: what is in them, and how they are read from a directory or an archive.

mod archive;
mod dependency;
mod directory;
mod ignore;
mod load;
mod metadata;
mod tar;

use std::sync::{Arc, OnceLock};

use lynceus_files::{FilePath, MemoryTree, ReadSet, Tree};
use lynceus_object::{Map, json};

pub use dependency::{Dependency, Lock};
pub use metadata::{Maintainer, Metadata};

use crate::engine::Parsed;
use crate::schema::Schema;
use crate::values::{UserValues, ValuesError};
use crate::warning::Warning;

/// A chart with its dependencies, as it was read. It can be shared and rendered many times.
#[derive(Debug)]
pub struct Chart {
    pub(crate) metadata: Metadata,
    pub(crate) lock: Option<Lock>,
    /// What `values.yaml` says.
    pub(crate) values: Map,
    pub(crate) schema: Option<Arc<[u8]>>,
    /// Every file, as it was found.
    pub(crate) raw: Vec<ChartFile>,
    pub(crate) templates: Vec<ChartFile>,
    /// What `.Files` shows.
    pub(crate) files: Vec<ChartFile>,
    /// The charts in `charts/`, in the order of their file names.
    pub(crate) dependencies: Vec<Arc<Chart>>,
    pub(crate) warnings: Vec<Warning>,
    /// The directories of the tree that the chart was read from.
    pub(crate) directories: Vec<FilePath>,
    /// The schema, read once.
    pub(crate) read_schema: OnceLock<Result<Schema, String>>,
    /// The templates, parsed, so that another rendering does not parse them again.
    pub(crate) parsed: Parsed,
}

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// The path inside of the chart.
    pub name: String,
    /// The content, without a byte-order mark.
    pub data: Arc<[u8]>,
    /// Where it is in the tree that the chart was read from; for what is in an archive, the archive.
    pub source: Option<FilePath>,
}

/// Why a chart could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// There is no `Chart.yaml`.
    #[error("unable to detect chart at {0}: open {0}: no such file or directory")]
    NotAChart(String),
    /// A symbolic link leads to something that is not there.
    #[error("error evaluating symlink {link}: lstat {missing}: no such file or directory")]
    DanglingLink {
        /// The link.
        link: FilePath,
        /// The first part of the way that is missing.
        missing: FilePath,
    },
    /// A file has something in it that its type has no room for, or is not YAML.
    #[error("cannot load {file}: {reason}")]
    Unreadable {
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The values are not YAML.
    #[error("cannot load values.yaml: {0}")]
    Values(#[from] ValuesError),
    /// The chart says that it is of a kind that does not exist.
    #[error("unsupported chart version")]
    UnsupportedVersion,
    /// There is no `Chart.yaml` among the files.
    #[error("Chart.yaml file is missing")]
    NoChartFile,
    /// `Chart.yaml` says something that it must not.
    #[error("validation: {0}")]
    Invalid(String),
    /// `.helmignore` cannot be read.
    #[error("{0}")]
    Ignore(String),
    /// A chart in `charts/` cannot be read.
    #[error("error unpacking subchart {name} in {parent}: {reason}")]
    Subchart {
        /// Its file or directory.
        name: String,
        /// The chart that holds it.
        parent: String,
        /// What is wrong with it.
        reason: Box<ChartError>,
    },
    /// An archive in `charts/` stands where a directory does.
    #[error("error unpacking subchart tar in {parent}: expected {expected}, got {found}")]
    SubchartArchive {
        /// The chart that holds it.
        parent: String,
        /// The archive's name.
        expected: String,
        /// What was found under that name.
        found: String,
    },
    /// The tree could not be read.
    #[error("{0}")]
    Tree(String),
    /// A file is larger than Helm takes.
    #[error("chart file {name:?} is larger than the maximum file size {limit}")]
    FileTooLarge {
        /// The file.
        name: String,
        /// How large it may be.
        limit: u64,
    },
    /// The archive is not one, or not one that is safe to read.
    #[error("{0}")]
    Archive(String),
    /// More of something than is taken in.
    #[error("the chart has {what}, and at most {limit} are read")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        limit: u64,
    },
}

impl ChartError {
    /// What is wrong, if the tree is a whole disk: its paths begin with a slash.
    pub fn on_disk(&self) -> String {
        match self {
            ChartError::NotAChart(path) => ChartError::NotAChart(format!("/{path}")).to_string(),
            ChartError::DanglingLink { link, missing } => {
                format!("error evaluating symlink /{link}: lstat /{missing}: no such file or directory")
            }
            error => error.to_string(),
        }
    }
}

impl Chart {
    /// Reads the chart in a directory of a tree.
    pub fn from_tree(tree: &dyn Tree, directory: &FilePath) -> Result<Self, ChartError> {
        directory::read(tree, directory)
    }

    /// Reads a chart from the bytes of a `.tgz`.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, ChartError> {
        archive::read(bytes, None)
    }

    /// The chart with further dependencies, as if they were in `charts/`.
    #[must_use]
    pub fn with_dependencies(mut self, charts: impl IntoIterator<Item = Arc<Chart>>) -> Self {
        self.dependencies.extend(charts);
        self
    }

    /// The files of a chart's `.tgz`, for whoever needs more of them than the chart.
    pub fn unpack(bytes: &[u8]) -> Result<MemoryTree, ChartError> {
        archive::unpack(bytes)
    }

    /// What the chart says about itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The chart's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The schema of the values, or why it cannot be used.
    pub(crate) fn schema(&self) -> Option<&Result<Schema, String>> {
        let data = self.schema.as_ref()?;
        Some(self.read_schema.get_or_init(|| Schema::read(data)))
    }

    /// What was locked.
    pub fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    /// The charts in `charts/`.
    pub fn dependencies(&self) -> &[Arc<Chart>] {
        &self.dependencies
    }

    /// Every file of the chart but those of its dependencies, as they were found.
    pub fn raw(&self) -> &[ChartFile] {
        &self.raw
    }

    /// Which files and directories of the tree the chart's rendering depends on: a change to any other changes
    /// nothing. What only `.Files` shows is left out if no template and no value speaks of it.
    pub fn read_set(&self, values: &UserValues) -> ReadSet {
        let shows_files =
            self.speaks_of_files() || speaks_of_files(&json::to_vec(&values.values.clone().into()));
        let mut set =
            ReadSet { directories: self.directories.iter().cloned().collect(), ..ReadSet::default() };
        if let Some(ignore) = self.directories.first().and_then(|root| root.join(".helmignore").ok()) {
            set.files.insert(ignore);
        }
        self.note_files(shows_files, &mut set);
        set
    }

    fn note_files(&self, shows_files: bool, set: &mut ReadSet) {
        let counts = |file: &&ChartFile| {
            let is_shown_only = file.name != "requirements.yaml" && self.files.iter().any(|one| one == *file);
            shows_files || file.is_crd() || !is_shown_only
        };
        set.files.extend(self.raw.iter().filter(counts).filter_map(|file| file.source.clone()));
        self.dependencies.iter().for_each(|inner| inner.note_files(shows_files, set));
    }

    fn speaks_of_files(&self) -> bool {
        let texts = self.templates.iter().chain(self.raw.iter().filter(|file| file.name == "values.yaml"));
        texts.map(|file| &file.data).any(|data| speaks_of_files(data))
            || self.dependencies.iter().any(|inner| inner.speaks_of_files())
    }

    /// About how many bytes the chart takes once its templates are parsed, those below it included.
    pub fn weight(&self) -> usize {
        /// What a byte of a template or of values takes once it is read.
        const READ: usize = 16;
        let raw: usize = self.raw.iter().map(|file| file.data.len() + file.name.len() + READ).sum();
        let is_read = |file: &&ChartFile| matches!(file.name.as_str(), "values.yaml" | "values.schema.json");
        let read = self.templates.iter().chain(self.raw.iter().filter(is_read));
        let read: usize = read.map(|file| file.data.len() * READ).sum();
        raw + read + self.dependencies.iter().map(|inner| inner.weight()).sum::<usize>()
    }

    /// What Helm says while it reads the chart.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Which dependencies `Chart.yaml` names that are not in `charts/`.
    pub fn missing_dependencies(&self) -> Vec<String> {
        let there = |name: &str| self.dependencies.iter().any(|chart| chart.name() == name);
        let wanted = self.metadata.dependencies.iter();
        wanted.filter(|wanted| !there(&wanted.name)).map(|wanted| wanted.name.clone()).collect()
    }
}

fn speaks_of_files(text: &[u8]) -> bool {
    text.windows(b"Files".len()).any(|part| part == b"Files")
}

impl ChartFile {
    /// Whether the file is one of those that `crds/` holds.
    pub(crate) fn is_crd(&self) -> bool {
        let extension = crate::go::path::extension(&self.name).to_ascii_lowercase();
        self.name.starts_with("crds/") && matches!(extension.as_str(), ".yaml" | ".yml" | ".json")
    }
}
