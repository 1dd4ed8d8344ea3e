//! Whether a rendering asked for what is another thing the next time.

use std::cell::Cell;
use std::time::Duration;

use lynceus_helm::World;

/// Time and chance, and whether anybody asked for them.
pub(crate) struct Asked<'w> {
    world: &'w mut dyn World,
    is_asked: Cell<bool>,
}

impl<'w> Asked<'w> {
    pub(crate) fn new(world: &'w mut dyn World) -> Self {
        Asked { world, is_asked: Cell::new(false) }
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.get()
    }
}

impl World for Asked<'_> {
    fn now(&self) -> Duration {
        self.is_asked.set(true);
        self.world.now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.is_asked.set(true);
        self.world.random(bytes);
    }
}
