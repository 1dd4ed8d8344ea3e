//! Why a host could not be asked.

use std::time::Duration;

/// Why a host could not be asked, or gave no answer. None of them holds a credential, nor what the host wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScmError {
    /// What was asked for is not there.
    #[error("{what}")]
    NotFound {
        /// What, as the host's API calls it.
        what: String,
    },
    /// The host does not know us, or does not let us see it.
    #[error("{host} answers {status} to {path}; check that the token is valid and may read this")]
    Refused {
        /// The host.
        host: String,
        /// What it answered.
        status: u16,
        /// The question.
        path: String,
    },
    /// We have asked too often.
    #[error(
        "{host} lets us ask no more until {until}; a larger requeueAfterSeconds or a token with its own limit helps"
    )]
    Limited {
        /// The host.
        host: String,
        /// When it will answer again.
        until: String,
    },
    /// It answered with something else than what was asked for.
    #[error("{host} answers {status} to {path}")]
    Status {
        /// The host.
        host: String,
        /// What it answered.
        status: u16,
        /// The question.
        path: String,
    },
    /// It could not be reached.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why.
        reason: String,
    },
    /// The answer cannot be read.
    #[error("the answer of {host} to {path} cannot be read: {reason}")]
    Malformed {
        /// The host.
        host: String,
        /// The question.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer is larger than anyone means.
    #[error("the answer of {host} has more than {limit}; ask for less")]
    TooMuch {
        /// The host.
        host: String,
        /// The bound.
        limit: String,
    },
    /// It took too long.
    #[error("it took longer than {} s", after.as_secs())]
    TooSlow {
        /// The bound.
        after: Duration,
    },
    /// The host may not be asked.
    #[error(
        "{host} is not among the allowed hosts; add it to applicationsetcontroller.allowed.scm.providers in \
         argocd-cmd-params-cm"
    )]
    NotAllowed {
        /// The host.
        host: String,
    },
    /// No host may be asked.
    #[error("no host may be asked: applicationsetcontroller.enable.scm.providers is false")]
    Disabled,
    /// The credentials, or the address, cannot be used.
    #[error("{what} cannot be used: {reason}")]
    Unusable {
        /// What.
        what: String,
        /// Why.
        reason: String,
    },
    /// There is no such way to clone.
    #[error("cloneProtocol {asked:?} is not known; use ssh or https")]
    Protocol {
        /// What was asked for.
        asked: String,
    },
    /// The generator names no host that is known here.
    #[error("the generator names no host that is known here")]
    NoHost,
}

impl ScmError {
    /// Whether the host says that what was asked for is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ScmError::NotFound { .. })
    }
}
