//! What can go wrong at the door.

use std::time::Duration;

use lynceus_object::{ObjectKey, Value};

/// A step that failed, with the thing that it was about.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The kubeconfig, the in-cluster account or the address is not usable.
    #[error("cannot set up the connection to the cluster")]
    Configure(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The request did not reach the server, or its answer did not come back.
    #[error("cannot reach the cluster for {method} {path}")]
    Send {
        /// The HTTP method.
        method: &'static str,
        /// The path, without the query.
        path: String,
        /// What the transport said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server did not answer in time.
    #[error("the cluster did not answer {method} {path} within {seconds} s")]
    Timeout {
        /// The HTTP method.
        method: &'static str,
        /// The path, without the query.
        path: String,
        /// How long it was given.
        seconds: u64,
    },
    /// Another replica may be at work by now, so nothing was sent.
    #[error("the Lease that {method} {path} needs has run out")]
    NotHolder {
        /// The HTTP method.
        method: &'static str,
        /// The path, without the query.
        path: String,
    },
    /// The answer is not what the API promises.
    #[error("the cluster's answer to {path} cannot be read: {reason}")]
    Decode {
        /// The path, without the query.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server said no.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The server does not serve the kind.
    #[error(
        "the server could not find the requested resource: {kind} in {api_version}; \
         is its CustomResourceDefinition installed?"
    )]
    UnknownKind {
        /// The object's `apiVersion`.
        api_version: String,
        /// The object's kind.
        kind: String,
    },
    /// The connection only reads.
    #[error("the cluster is only observed: {method} {path} was not sent")]
    ReadOnly {
        /// The HTTP method.
        method: &'static str,
        /// The path, without the query.
        path: String,
    },
    /// The object is too large for the server.
    #[error("{message} ({hint})")]
    TooLarge {
        /// The object.
        key: ObjectKey,
        /// What the server said.
        message: String,
        /// What can be done about it.
        hint: String,
    },
    /// Server-side apply and force exclude each other: to make an object anew is kubectl's own doing, not the server's.
    #[error(
        "error validating options: --force cannot be used with --server-side \
         (take Force=true or ServerSideApply=true away, or add Replace=true)"
    )]
    ForcedServerSide,
    /// A patch could not be computed for an object.
    #[error("cannot compute the change of {key}: {reason}")]
    Patch {
        /// The object.
        key: ObjectKey,
        /// What is wrong.
        reason: String,
    },
}

/// The server's `Status`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refusal {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Reads an answer that is not a success.
    pub(crate) fn read(code: u16, body: Option<&Value>, text: &str) -> Self {
        let part = |field| body.and_then(|body| body.str_at(&[field])).unwrap_or_default().to_owned();
        let message = part("message");
        Refusal {
            code,
            reason: part("reason"),
            message: if message.is_empty() { text.trim().chars().take(500).collect() } else { message },
            retry_after: None,
        }
    }
}

impl ClusterError {
    /// The server's refusal, if that is what it is.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            ClusterError::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == 404)
    }

    /// Whether another writer was faster.
    pub fn is_conflict(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason == "Conflict")
    }

    /// Whether the server was not reached, or did not answer.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, ClusterError::Send { .. } | ClusterError::Timeout { .. })
    }

    /// Whether we are not allowed to ask.
    pub fn is_forbidden(&self) -> bool {
        self.refusal().is_some_and(|refusal| matches!(refusal.code, 401 | 403))
    }

    /// Whether a version or a page is too old, or from the future of a server that was set back.
    pub fn is_expired(&self) -> bool {
        self.refusal().is_some_and(|refusal| {
            refusal.code == 410
                || refusal.reason == "Expired"
                || refusal.message.contains("Too large resource version")
        })
    }

    /// Whether the object is larger than the server or its store takes.
    pub fn is_too_large(&self) -> bool {
        self.refusal()
            .is_some_and(|refusal| refusal.code == 413 || refusal.message.contains("request is too large"))
    }

    /// Whether the server refuses the object itself.
    pub fn is_invalid(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason == "Invalid")
    }
}

/// An error with what caused it, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
