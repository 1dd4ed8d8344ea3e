//! Git, chart repositories and OCI registries: a reference to a revision to a tree, cached by content.
//!
//! A [`Book`] is read from Argo CD's Secrets and ConfigMaps and says how a project reaches a [`Repository`].
//! [`Sources`] resolves what a user asks for to a [`Revision`] and opens its files as a
//! [`Tree`](lynceus_files::Tree). A repository on this machine is read where it is; of a remote one a bare
//! mirror is kept that holds the commits that were asked for. No work tree is made and no program is run:
//! HTTP and SSH are spoken here, and every step on the network has a deadline.
//!
//! Of a chart repository the index is kept and asked about, and only the entries of the wanted chart are
//! read; of a registry the tags and manifests. Both give a [`ChartVersion`] and its archive, checked by its
//! digest; a registry also gives any other [`Artifact`] as a tree. Credentials go to the scheme, host and port
//! that the user named, and to a service for tokens that the registry there names, and nowhere else.
//!
//! A config-management plugin is asked over its socket, where the operator has named a directory of them: it gets the
//! files of a revision and answers with manifests. One that says that it wants them is offered the credentials of the
//! repository for the time of the call.
//!
//! Everything in a tree is read by the ids of its objects, so a tree never changes, whatever happens to the
//! branch that it was found by. [`DiskTree`] reads a plain directory with the same rules. [`compose`] makes
//! repositories.

mod aws_signature;
mod book;
mod call;
mod chart;
mod commit;
pub mod compose;
mod digest;
mod disk;
mod error;
mod file;
mod flight;
pub mod limits;
mod listing;
mod local;
mod mirror;
mod objects;
mod oci;
mod plugin;
mod poll;
mod protocol;
mod range;
mod remote;
mod repository;
mod revision;
mod scm;
mod secret;
mod settings;
mod signature;
mod sources;
mod submodule;
mod trace;
mod transport;
mod tree;
mod url;
mod verify;
mod version;
mod wishes;
mod work_tree;

pub use aws_signature::{AwsRequest, AwsSigner};
pub use book::{Book, DEFAULT_KNOWN_HOSTS};
pub use chart::ChartVersion;
pub use commit::Metadata;
pub use disk::DiskTree;
pub use error::{HostKeyProblem, Peer, RevisionKind, SourceError, Step};
pub use listing::{References, similar};
pub use oci::{Artifact, unpacked};
pub use plugin::{Announcement, PluginCall, PluginError};
pub use poll::Schedule;
pub use range::Range;
pub use repository::{Access, Repository, RepositoryKind};
pub use revision::{CommitId, Origin, Revision, Target};
pub use scm::{Aws, GithubApp, Scm, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository, ScmRules};
pub use secret::Secret;
pub use settings::Settings;
pub use signature::{Keyring, PublicKey, Signature, Verdict};
pub use sources::Sources;
pub use transport::tls_config;
pub use url::{HttpUrl, RepoUrl, SshUrl, identity, normalize, redact, same};
pub use version::Version;
pub use wishes::Wishes;
pub use work_tree::WorkTree;
