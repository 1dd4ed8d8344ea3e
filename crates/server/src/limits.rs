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

/// How long somebody waits for an application to be looked at.
pub(crate) const REFRESH: Duration = Duration::from_secs(60);

/// How many logs are read for one question.
pub(crate) const LOG_STREAMS: usize = 50;

/// How long changes of a tree are gathered, in milliseconds.
pub(crate) const TREE_PAUSE: u64 = 200;

/// From how many bytes on an answer is worth being compressed.
pub(crate) const COMPRESSED: usize = 4 << 10;
