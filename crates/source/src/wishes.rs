//! What an operator may change while sources are in use.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::settings::Settings;

/// What is wished otherwise than the settings have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// How long listing the references of a Git repository may take; zero for as long as a fetch.
    pub git_list_timeout: Option<Duration>,
    /// Whether submodules are fetched and put in their place.
    pub submodules: Option<bool>,
}

/// The wishes of the moment, over the settings that they change.
#[derive(Clone, Default)]
pub(crate) struct Wished(Arc<RwLock<Wishes>>);

impl Wished {
    pub(crate) fn replace(&self, wishes: Wishes) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = wishes;
    }

    pub(crate) fn git_list_timeout(&self, settings: &Settings) -> Duration {
        match self.now().git_list_timeout {
            Some(Duration::ZERO) => settings.fetch_timeout,
            wished => wished.unwrap_or(settings.list_timeout),
        }
    }

    pub(crate) fn submodules(&self, settings: &Settings) -> bool {
        self.now().submodules.unwrap_or(settings.submodules)
    }

    fn now(&self) -> Wishes {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
