//! Git: a reference to a revision to a tree, cached by content.
//!
//! A [`Book`] is read from Argo CD's Secrets and ConfigMaps and says how a project reaches a [`Repository`].
//! [`Sources`] resolves what a user asks for to a [`Revision`] and opens its files as a
//! [`Tree`](lynceus_files::Tree). A repository on this machine is read where it is; of a remote one a bare
//! mirror is kept that holds the commits that were asked for. No work tree is made and no program is run:
//! HTTP and SSH are spoken here, and every step on the network has a deadline.
//!
//! Everything in a tree is read by the ids of its objects, so a tree never changes, whatever happens to the
//! branch that it was found by. [`DiskTree`] reads a plain directory with the same rules. [`compose`] makes
//! repositories.

mod book;
mod call;
mod commit;
pub mod compose;
mod disk;
mod error;
mod flight;
pub mod limits;
mod listing;
mod local;
mod mirror;
mod objects;
mod poll;
mod protocol;
mod range;
mod remote;
mod repository;
mod revision;
mod secret;
mod settings;
mod sources;
mod submodule;
mod transport;
mod tree;
mod url;
mod version;

pub use book::{Book, DEFAULT_KNOWN_HOSTS};
pub use commit::Metadata;
pub use disk::DiskTree;
pub use error::{HostKeyProblem, RevisionKind, SourceError, Step};
pub use listing::References;
pub use poll::Schedule;
pub use range::Range;
pub use repository::{Access, Repository, RepositoryKind};
pub use revision::{CommitId, Origin, Revision, Target};
pub use secret::Secret;
pub use settings::Settings;
pub use sources::Sources;
pub use url::{HttpUrl, RepoUrl, SshUrl, normalize, redact, same};
pub use version::Version;
