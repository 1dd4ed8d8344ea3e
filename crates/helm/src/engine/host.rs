//! What Helm's functions know of the rendering that they are part of.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lynceus_gotmpl::{Environment, Str};
use lynceus_object::Value;

use crate::values::Warnings;
use crate::warning::Warning;

/// What a rendering takes from outside: time and chance.
pub trait World {
    /// The time now, since 1970 in UTC.
    fn now(&self) -> Duration;

    /// Fills a buffer with random bytes.
    fn random(&mut self, bytes: &mut [u8]);

    /// Hears what Helm says on the way. It is heard even if the chart cannot be rendered.
    fn tell(&mut self, warning: &Warning) {
        let _ = warning;
    }
}

/// A cluster for `lookup`, which finds nothing without one.
pub trait Lookup: Send + Sync {
    /// An object, or without a name a list of them; none if there is no such object.
    fn lookup(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, String>;
}

/// The state of one rendering.
#[derive(Default)]
pub(super) struct Host {
    /// How often each template is being included at the moment.
    pub(super) included: HashMap<Str, u32>,
    /// Whether the chart is only looked at: what is missing is then no error.
    pub(super) lint: bool,
    pub(super) lookup: Option<Arc<dyn Lookup>>,
    /// What templates have said that has not been told.
    pub(super) said: Warnings,
}

/// The world with the host in it, as the evaluator sees it.
pub(super) struct Surroundings<'a> {
    pub(super) world: &'a mut dyn World,
    pub(super) host: Host,
}

impl Environment for Surroundings<'_> {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.world.random(bytes);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.host
    }
}
