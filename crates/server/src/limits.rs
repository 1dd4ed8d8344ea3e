//! How much of anything is accepted.

use std::time::Duration;

/// The largest body of a request, in bytes. An Application may be 1.5 MB in a cluster; a patch of one is less.
pub(crate) const BODY: usize = 8 << 20;

/// The largest question that is a stream, in bytes: local manifests that are sent to be compared.
pub(crate) const STREAMED_BODY: usize = 100 << 20;

/// How long somebody may take to send a request.
pub(crate) const RECEIVE: Duration = Duration::from_secs(60);

/// How deep the fields of a query may be nested.
pub(crate) const QUERY_DEPTH: usize = 16;

/// How often something is sent on a stream on which nothing happens, so that those between keep it open.
pub(crate) const BEAT: Duration = Duration::from_secs(15);

/// How many tokens a role of a project may have: each stands in the project, which a cluster stores whole.
pub(crate) const TOKENS: usize = 1_000;

/// How long a repository or a cluster has to answer when somebody wants to know whether it can be reached.
pub(crate) const TRIAL: Duration = Duration::from_secs(15);

/// How many clusters are asked at the same time for one answer.
pub(crate) const CLUSTERS_AT_ONCE: usize = 16;

/// How many repositories are tried at the same time for one answer.
pub(crate) const REPOSITORIES_AT_ONCE: usize = 8;

/// How long it is remembered that a repository could be reached.
pub(crate) const REACHED: Duration = Duration::from_secs(600);

/// How long it is remembered that a repository could not be reached.
pub(crate) const UNREACHED: Duration = Duration::from_secs(30);

/// How many attempts to reach a repository are remembered.
pub(crate) const TRIALS: usize = 10_000;

/// How many charts of a repository are listed, and how many versions of each.
pub(crate) const CHARTS: usize = 5_000;

/// How many directories of a repository are looked through for applications.
pub(crate) const DIRECTORIES: usize = 20_000;

/// The largest file of a repository that is read to describe it, in bytes.
pub(crate) const DESCRIBED_FILE: u64 = 4 << 20;

/// The largest webhook, in bytes, where `webhook.maxPayloadSizeMB` says nothing.
pub(crate) const WEBHOOK: usize = 50 << 20;

/// The largest webhook that can be asked for, in megabytes.
pub(crate) const WEBHOOK_MEGABYTES: usize = 500;

/// How many webhooks are received at the same time; the others are asked to come again.
pub(crate) const WEBHOOKS_AT_ONCE: usize = 8;

/// How many changed files and commits of a webhook are looked at. Beyond that everything counts as changed.
pub(crate) const CHANGED_FILES: usize = 20_000;

/// The largest number of certificates or host keys that are added at once.
pub(crate) const CERTIFICATES: usize = 1_000;

/// How long a repository may take to be read when somebody looks into it.
pub(crate) const READING: Duration = Duration::from_secs(60);

/// How long somebody waits for an application to be looked at.
pub(crate) const REFRESH: Duration = Duration::from_secs(60);

/// How many logs are read for one question.
pub(crate) const LOG_STREAMS: usize = 50;

/// How long changes of a tree are gathered, in milliseconds.
pub(crate) const TREE_PAUSE: u64 = 200;

/// From how many bytes on an answer is worth being compressed.
pub(crate) const COMPRESSED: usize = 4 << 10;
