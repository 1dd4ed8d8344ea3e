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
            Right::Open => Ok(Caller::default()),
            _ => Err(Refusal::new(Code::Unauthenticated, "no session information")),
        }
    }
}

/// Somebody who asks.
#[derive(Default)]
pub(crate) struct Caller {
    name: String,
    /// What a test lets them do: resource, action and object, as globs.
    #[cfg(test)]
    granted: Vec<[String; 3]>,
}

#[cfg(test)]
impl Caller {
    /// Somebody with some rights, for tests: on each line a resource, an action and an object, as globs.
    pub(crate) fn granted(name: &str, rights: &str) -> Self {
        let lines = rights.lines().map(|line| line.split(',').map(|part| part.trim().to_owned()));
        let granted = lines.filter_map(|parts| parts.collect::<Vec<_>>().try_into().ok()).collect();
        Caller { name: name.to_owned(), granted }
    }

    fn is_granted(&self, resource: Resource, action: &str, object: Option<&str>) -> bool {
        let fits =
            |pattern: &str, text: &str| lynceus_api::Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
        self.granted.iter().any(|[resources, actions, objects]| {
            fits(resources, resource.word())
                && fits(actions, action)
                && object.is_none_or(|object| fits(objects, object))
        })
    }
}

impl Caller {
    /// What they are called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether they may do something to an object, which is named as in policies.
    pub(crate) fn may(&self, resource: Resource, action: &str, object: &str) -> bool {
        #[cfg(test)]
        return self.is_granted(resource, action, Some(object));
        #[cfg(not(test))]
        {
            let _ = (resource.word(), action, object);
            false
        }
    }

    /// Refuses what they may not.
    pub(crate) fn need(&self, resource: Resource, action: &str, object: &str) -> Result<(), Refusal> {
        if self.may(resource, action, object) { Ok(()) } else { Err(Refusal::denied()) }
    }

    /// Refuses what they may not do to any object.
    pub(crate) fn need_some(&self, resource: Resource, action: &str) -> Result<(), Refusal> {
        #[cfg(test)]
        if self.is_granted(resource, action, None) {
            return Ok(());
        }
        let _ = (resource, action);
        Err(Refusal::denied())
    }
}
