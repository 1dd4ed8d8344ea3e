//! What a build needs from elsewhere, and what has been got.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lynceus_files::Tree;
use lynceus_object::Str;

/// Something that a kustomization names and that is not among its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A file.
    File {
        /// Where it is.
        url: Str,
    },
    /// The files of a Git repository.
    Repository {
        /// What is cloned.
        url: Str,
        /// The branch, tag or commit; empty for what the repository takes by itself.
        reference: Str,
        /// Whether what the repository refers to comes with it.
        submodules: bool,
    },
    /// A chart, as an archive.
    Chart {
        /// The repository, or a registry as `oci://…`.
        repository: Str,
        /// The chart.
        name: Str,
        /// The version, or a range of them; empty for the latest.
        version: Str,
    },
}

/// What was got for a need.
#[derive(Clone)]
pub enum Got {
    /// The content of a file or of a chart's archive.
    Bytes(Arc<[u8]>),
    /// The files of a repository.
    Tree(Arc<dyn Tree>),
    /// Why it could not be had. A file that cannot be had may still be a repository.
    Failed(String),
}

/// What has been got for a build, by what was needed.
pub type Fetched = BTreeMap<Need, Got>;

/// What to call a need in front of a user.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::File { url } => write!(f, "file {url}"),
            Need::Repository { url, reference, .. } if reference.is_empty() => write!(f, "repository {url}"),
            Need::Repository { url, reference, .. } => write!(f, "repository {url} at {reference}"),
            Need::Chart { repository, name, version } if version.is_empty() => {
                write!(f, "chart {name} of {repository}")
            }
            Need::Chart { repository, name, version } => write!(f, "chart {name} {version} of {repository}"),
        }
    }
}

impl fmt::Debug for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Got::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Got::Tree(_) => f.write_str("tree"),
            Got::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}
