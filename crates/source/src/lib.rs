//! Git: a reference to a revision to a tree, cached by content.

mod book;
mod commit;
pub mod compose;
mod disk;
mod error;
pub mod limits;
mod listing;
mod local;
mod objects;
mod poll;
mod range;
mod repository;
mod revision;
mod secret;
mod settings;
mod sources;
mod tree;
mod url;
mod version;

pub use book::{Book, DEFAULT_KNOWN_HOSTS};
pub use commit::Metadata;
pub use disk::DiskTree;
pub use error::{HostKeyProblem, RevisionKind, SourceError, Step};
pub use poll::Schedule;
pub use range::Range;
pub use repository::{Access, Repository, RepositoryKind};
pub use revision::{CommitId, Origin, Revision, Target};
pub use secret::Secret;
pub use settings::Settings;
pub use sources::Sources;
pub use url::{HttpUrl, RepoUrl, SshUrl, normalize, redact, same};
pub use version::Version;
