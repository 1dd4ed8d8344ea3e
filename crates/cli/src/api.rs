//! Asking the methods of the API: of a server that one has logged in to, or, as `argocd --core` does, of the same code in
//! this process with a kubeconfig. No command knows which of the two it is.

mod connection;
mod here;
mod remote;

use std::sync::Arc;

use lynceus_object::Value;
use lynceus_server::{Answer, Refusal, Server};

pub(crate) use connection::{Connection, Destination, ServerFlags, arrange, known};
pub(crate) use here::server;
use remote::Remote;

use crate::exit::{Doing as _, Failure, Outcome};

/// Where questions are answered.
pub(crate) enum Api {
    /// A server, over HTTP.
    Remote(Box<Remote>),
    /// This process.
    Here(Arc<Server>),
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// It was refused.
    #[error("{0}")]
    Refused(Refusal),
    /// The cluster has no namespace for it, which is why it was refused.
    #[error("the cluster has no namespace {namespace}")]
    NotInstalled { namespace: String },
    /// Nobody answers.
    #[error("{server} cannot be reached: {reason}")]
    Unreachable { server: String, reason: String },
    /// Its certificate is not trusted.
    #[error("the certificate of {server} is not trusted: {reason}")]
    Untrusted { server: String, reason: String },
    /// It speaks without TLS.
    #[error("{server} does not speak TLS")]
    Plain { server: String },
    /// What answers is no server of this API.
    #[error("{server} answers with something else: {reason}")]
    Strange { server: String, reason: String },
    /// The connection cannot be made as it is asked for.
    #[error("{0}")]
    Unusable(String),
}

impl Api {
    /// The way to where a command is to be answered.
    pub(crate) async fn open(connection: &Connection) -> Outcome<Self> {
        match connection.destination()? {
            Some(destination) => Api::remote(&destination),
            None => Ok(Api::Here(server(connection).await?)),
        }
    }

    /// The way to a server.
    pub(crate) fn remote(destination: &Destination) -> Outcome<Self> {
        let failed = || format!("cannot connect to {}", destination.address);
        Ok(Api::Remote(Box::new(Remote::new(destination).doing(failed())?)))
    }

    /// The answer to a question; `doing` says what cannot be done without it.
    pub(crate) async fn call(&self, doing: &str, method: &str, message: Value) -> Outcome<Value> {
        self.try_call(method, message).await.doing(doing)
    }

    /// The same for those who want to know why not.
    pub(crate) async fn try_call(&self, method: &str, message: Value) -> Result<Value, ApiError> {
        match self {
            Api::Remote(remote) => remote.call(method, &message).await,
            Api::Here(server) => match server.ask(&owner(), method, message).await {
                Ok(Answer::One(value)) => Ok(value),
                Ok(Answer::List(list)) => Ok(list.whole()),
                Ok(Answer::Many(_)) => Err(ApiError::Unusable(format!("{method} is a stream"))),
                Err(refusal) => Err(here::refused(server, refusal).await),
            },
        }
    }

    /// The answers to a question, one after the other, until there are no more or `each` wants none.
    pub(crate) async fn stream(
        &self,
        doing: &str,
        method: &str,
        message: Value,
        mut each: impl FnMut(Value) -> Outcome<bool>,
    ) -> Outcome {
        match self {
            Api::Remote(remote) => {
                let mut lines = remote.stream(method, &message).await.doing(doing)?;
                while let Some(value) = lines.next().await.doing(doing)? {
                    if !each(value)? {
                        break;
                    }
                }
                Ok(())
            }
            Api::Here(server) => {
                let answer = match server.ask(&owner(), method, message).await {
                    Ok(answer) => answer,
                    Err(refusal) => return Err(here::refused(server, refusal).await).doing(doing),
                };
                here::drain(answer, doing, each).await
            }
        }
    }
}

/// The name under which somebody with a kubeconfig is written down.
fn owner() -> String {
    std::env::var("USER").unwrap_or_default()
}

/// A question that was refused, for hints.
pub(crate) fn refusal<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Refusal> {
    match error.downcast_ref::<ApiError>() {
        Some(ApiError::Refused(refusal)) => Some(refusal),
        _ => error.downcast_ref::<Refusal>(),
    }
}

/// Something that a command is not used for as it is meant.
pub(crate) fn misuse(message: impl Into<String>) -> Failure {
    Failure::new(crate::exit::Code::Other, message)
}
