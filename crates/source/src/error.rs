//! What can go wrong between a reference and its files.

use std::time::Duration;

use lynceus_files::{FilePath, TreeError};

use crate::plugin::PluginError;
use crate::revision::CommitId;

/// Why a revision or its files could not be had.
///
/// The variant is the step, the fields are the thing. URLs are without passwords, and the text that a
/// server or library gave is kept apart in `reason`, so that whoever shows the error chooses the words.
/// It can be cloned because several applications wait for one fetch and all learn how it ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The text is not the URL of a repository.
    #[error("{url:?} is not the URL of a repository: {reason}")]
    Url {
        /// The text.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The repository needs something that is not supported.
    #[error("{url} needs {what}, which is not supported")]
    Unsupported {
        /// The repository.
        url: String,
        /// What it needs.
        what: String,
    },
    /// The credentials themselves cannot be used.
    #[error("the {what} of {url} cannot be used: {reason}")]
    Credentials {
        /// The repository.
        url: String,
        /// Which part of them.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The host was not found, or nobody answers there.
    #[error("cannot reach {host}: {reason}")]
    Unreachable {
        /// The host, with its port.
        host: String,
        /// What the network said.
        reason: String,
    },
    /// The host's TLS certificate is not trusted.
    #[error("the certificate of {host} is not trusted: {reason}")]
    Certificate {
        /// The host, with its port.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The host's SSH key is not the expected one.
    #[error("the SSH key of {host} is not trusted: {problem}")]
    HostKey {
        /// The host, with its port.
        host: String,
        /// What is wrong with it.
        problem: HostKeyProblem,
    },
    /// The server did not accept the credentials, or wants some.
    #[error("authentication failed for {url}{}", if *.anonymous { ": it needs credentials and none are configured" } else { "" })]
    Authentication {
        /// The repository.
        url: String,
        /// Whether there were no credentials to send.
        anonymous: bool,
    },
    /// There is no repository at the URL, or it is hidden from these credentials.
    #[error("there is no repository at {url}")]
    RepositoryNotFound {
        /// The repository.
        url: String,
    },
    /// There is no file at the URL, or it is hidden from these credentials.
    #[error("there is no file at {url}")]
    FileNotFound {
        /// Where it should be.
        url: String,
    },
    /// The server answered, but not as a server of its kind.
    #[error("{url} does not answer like {peer}: {reason}")]
    Protocol {
        /// The repository.
        url: String,
        /// What it should be.
        peer: Peer,
        /// What it did instead.
        reason: String,
    },
    /// The repository has no such branch, tag or commit, or no tag in the range.
    #[error("{url} has no {kind} {revision:?}")]
    RevisionNotFound {
        /// The repository.
        url: String,
        /// What was asked for.
        revision: String,
        /// What was looked for.
        kind: RevisionKind,
        /// Names that look like it, best first.
        similar: Vec<String>,
    },
    /// The text cannot be the name of a chart.
    #[error("{chart:?} is not the name of a chart: {reason}")]
    ChartName {
        /// The text.
        chart: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The repository has no such chart.
    #[error("{url} has no chart {chart:?}")]
    ChartNotFound {
        /// The repository.
        url: String,
        /// The chart.
        chart: String,
        /// Names that look like it, best first.
        similar: Vec<String>,
    },
    /// The chart, or the artifact, has no such version.
    #[error("{url} has no version {version:?} of {chart}")]
    VersionNotFound {
        /// The repository.
        url: String,
        /// The chart, or the name in the registry.
        chart: String,
        /// What was asked for.
        version: String,
        /// Versions that exist and are near to it, best first.
        nearest: Vec<String>,
    },
    /// What arrived is not what was announced.
    #[error("{what} from {url} has the digest {found}, but {expected} was announced")]
    Digest {
        /// The repository.
        url: String,
        /// The thing.
        what: String,
        /// The digest that was announced.
        expected: String,
        /// The digest of what arrived.
        found: String,
    },
    /// The server asks for credentials to be sent where they must not go.
    #[error("the credentials of {url} may not be sent to {to}: {reason}")]
    CredentialsElsewhere {
        /// The repository.
        url: String,
        /// Where they should go.
        to: String,
        /// Why they may not.
        reason: &'static str,
    },
    /// The revision has no such path.
    #[error("revision {:?} has no path {path}", if revision.is_empty() { "HEAD" } else { revision })]
    PathNotFound {
        /// The revision as it was asked for.
        revision: String,
        /// The path.
        path: FilePath,
        /// A branch that has the path.
        found_on: Option<String>,
    },
    /// A network step did not end in time.
    #[error("{step} {url} took longer than {} s", .after.as_secs_f32())]
    Timeout {
        /// The repository.
        url: String,
        /// What was being done.
        step: Step,
        /// How long was waited.
        after: Duration,
    },
    /// What would be fetched is too large.
    #[error("{url} sends more than {limit} bytes")]
    TooLarge {
        /// The repository.
        url: String,
        /// The most that is accepted.
        limit: u64,
    },
    /// The repository's objects cannot be read.
    #[error("{url} is damaged: {reason}")]
    Corrupt {
        /// The repository.
        url: String,
        /// What was found.
        reason: String,
    },
    /// There is no room for the cache.
    #[error("no space left for the cache in {directory}")]
    DiskFull {
        /// The cache directory.
        directory: String,
    },
    /// The cache directory or a local repository cannot be read or written.
    #[error("cannot {action} {path}: {reason}")]
    Storage {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: String,
        /// What the operating system said.
        reason: String,
    },
    /// A file of the revision could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A config-management plugin did not do its work.
    #[error(transparent)]
    Plugin(#[from] PluginError),
}

/// What was looked for when a revision was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionKind {
    /// A branch or tag by its short name.
    Name,
    /// A reference by its full name.
    Reference,
    /// A commit by its id or the start of it.
    Commit,
    /// The start of an id that several commits share.
    Ambiguous,
    /// A tag whose version is in a range.
    Range,
    /// The default branch of a repository that has no commit yet.
    Head,
}

impl std::fmt::Display for RevisionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RevisionKind::Name => "branch or tag",
            RevisionKind::Reference => "reference",
            RevisionKind::Commit => "commit",
            RevisionKind::Ambiguous => "single commit that starts with",
            RevisionKind::Range => "tag in the range",
            RevisionKind::Head => "commit at",
        })
    }
}

/// What a server should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A Git server.
    Git,
    /// A chart repository.
    Charts,
    /// An OCI registry.
    Registry,
    /// Any web server.
    Files,
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Peer::Git => "a Git server",
            Peer::Charts => "a chart repository",
            Peer::Registry => "an OCI registry",
            Peer::Files => "a server of files",
        })
    }
}

/// What a network step was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Listing the references.
    List,
    /// Fetching a commit.
    Fetch,
    /// Reading the index of a chart repository.
    Index,
    /// Asking whether a registry is there and lets us in.
    Greeting,
    /// Listing the tags of a registry.
    Tags,
    /// Reading what a tag of a registry stands for.
    Manifest,
    /// Downloading a chart or an artifact.
    Download,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Step::List => "listing the references of",
            Step::Fetch => "fetching from",
            Step::Index => "reading the index of",
            Step::Greeting => "asking",
            Step::Tags => "listing the tags of",
            Step::Manifest => "reading a manifest of",
            Step::Download => "downloading from",
        })
    }
}

/// Why an SSH host key is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostKeyProblem {
    /// The known hosts do not name this host.
    #[error("the known hosts have no entry for it; it shows {algorithm} {fingerprint}")]
    Unknown {
        /// The kind of key.
        algorithm: String,
        /// The key's SHA256 fingerprint.
        fingerprint: String,
    },
    /// The known hosts have another key for this host.
    #[error("the known hosts have another key for it; it shows {algorithm} {fingerprint}")]
    Mismatch {
        /// The kind of key.
        algorithm: String,
        /// The key's SHA256 fingerprint.
        fingerprint: String,
    },
    /// The known hosts say that this key is revoked.
    #[error("the known hosts say that {algorithm} {fingerprint} is revoked")]
    Revoked {
        /// The kind of key.
        algorithm: String,
        /// The key's SHA256 fingerprint.
        fingerprint: String,
    },
    /// The host shows a certificate, which is not one that the known hosts accept.
    #[error("its certificate is not accepted: {reason}")]
    Certificate {
        /// What is wrong with it.
        reason: String,
    },
}

impl SourceError {
    /// A commit that the repository does not have.
    pub(crate) fn no_commit(url: &str, commit: CommitId) -> Self {
        SourceError::RevisionNotFound {
            url: url.to_owned(),
            revision: commit.to_string(),
            kind: RevisionKind::Commit,
            similar: Vec::new(),
        }
    }

    /// An error of the file system, with a full disk told apart from the rest.
    pub(crate) fn storage(action: &'static str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let path = path.display().to_string();
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                SourceError::DiskFull { directory: path }
            }
            _ => SourceError::Storage { action, path, reason: error.to_string() },
        }
    }

    /// Whether trying again later, with nothing changed here, may help.
    pub fn is_transient(&self) -> bool {
        match self {
            SourceError::Unreachable { .. } | SourceError::Timeout { .. } | SourceError::DiskFull { .. } => {
                true
            }
            SourceError::Plugin(error) => error.is_transient(),
            _ => false,
        }
    }
}
