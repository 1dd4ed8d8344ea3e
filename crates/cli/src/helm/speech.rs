//! What Helm says beside its output, on standard error and in the lines of its log.

use std::time::Duration;

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_helm::{Warning, World};

/// The world of a rendering in which everything that Helm says is heard at once.
pub(super) struct Aloud(Ambience);

impl Aloud {
    pub(super) fn now() -> Self {
        Aloud(Ambience::at(Timestamp::now()))
    }
}

impl World for Aloud {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.0.random(bytes);
    }

    fn tell(&mut self, warning: &Warning) {
        say(warning);
    }
}

/// Writes Helm's line.
pub(super) fn say(warning: &Warning) {
    eprintln!("{}", warning.line());
}
