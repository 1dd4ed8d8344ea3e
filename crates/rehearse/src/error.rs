//! Why something could not be rehearsed at all.

use std::path::PathBuf;

use lynceus_cluster::ClusterError;
use lynceus_sim::StartError;
use lynceus_source::SourceError;

/// Why something could not be rehearsed at all. What is wrong with one application is told in its report.
#[derive(Debug, thiserror::Error)]
pub enum RehearseError {
    /// The directory or its repository cannot be read.
    #[error("cannot read {}", path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<SourceError>,
    },
    /// A revision is not in the repository.
    #[error("revision {revision:?} cannot be read")]
    Revision {
        /// As it was named.
        revision: String,
        /// What is wrong.
        #[source]
        source: Box<SourceError>,
    },
    /// A copy to play on cannot be made.
    #[error("cannot make a copy of the repository to play on")]
    Copy(#[source] Box<SourceError>),
    /// The files of the repository cannot be looked through.
    #[error("cannot look through the repository")]
    Files(#[source] lynceus_files::TreeError),
    /// There are too many of them.
    #[error("the repository has more than {limit} files")]
    TooManyFiles {
        /// The most that there may be.
        limit: usize,
    },
    /// There is nothing to play.
    #[error("there is no Application in {place}")]
    NoApplications {
        /// Where it was looked for.
        place: String,
    },
    /// The one that was asked for is not there.
    #[error("there is no Application {name:?} in {place}")]
    NoSuchApplication {
        /// As it was named.
        name: String,
        /// Where it was looked for.
        place: String,
        /// Those that look most like it.
        similar: Vec<String>,
    },
    /// Every Application is created by another one, so that nobody creates the first.
    #[error("applications create each other, and nobody creates the first: {}", names.join(" -> "))]
    Cycle {
        /// One after the other.
        names: Vec<String>,
    },
    /// A file that an overlay replaces cannot be written.
    #[error("cannot replace {path}")]
    Replace {
        /// The file.
        path: String,
        /// What is wrong.
        #[source]
        source: Box<SourceError>,
    },
    /// The embedded cluster did not start.
    #[error("cannot start the embedded cluster")]
    Start(#[source] Box<StartError>),
    /// The embedded cluster cannot be set up.
    #[error("cannot set the embedded cluster up: {what}")]
    SetUp {
        /// What could not be made.
        what: String,
        /// What it said.
        #[source]
        source: Box<ClusterError>,
    },
}
