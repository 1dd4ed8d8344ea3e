//! Who somebody is, and what they may do.

use std::sync::Arc;

use axum::http::HeaderMap;
use lynceus_engine::Engine;

use crate::refusal::{Code, Refusal};
use crate::rights::{Resource, Right};

/// Knows accounts, sessions and policies.
pub(crate) struct Access {
    engine: Arc<Engine>,
}

impl Access {
    /// By what the cluster of an engine says.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Access { engine }
    }

    /// Who asks. Refuses those that are nobody where somebody is needed.
    pub(crate) async fn caller(&self, headers: &HeaderMap, right: &Right) -> Result<Caller, Refusal> {
        let _ = (&self.engine, headers);
        match right {
            Right::Open => Ok(Caller { name: String::new() }),
            _ => Err(Refusal::new(Code::Unauthenticated, "no session information")),
        }
    }
}

/// Somebody who asks.
pub(crate) struct Caller {
    name: String,
}

impl Caller {
    /// What they are called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether they may do something to an object, which is named as in policies.
    pub(crate) fn may(&self, resource: Resource, action: &str, object: &str) -> bool {
        let _ = (resource.word(), action, object);
        false
    }

    /// Refuses what they may not.
    pub(crate) fn need(&self, resource: Resource, action: &str, object: &str) -> Result<(), Refusal> {
        if self.may(resource, action, object) { Ok(()) } else { Err(Refusal::denied()) }
    }

    /// Refuses what they may not do to any object.
    pub(crate) fn need_some(&self, resource: Resource, action: &str) -> Result<(), Refusal> {
        let _ = (resource, action);
        Err(Refusal::denied())
    }
}
