//! What a rendering takes from outside: the time, which is given, and chance, which is the machine's.

use std::time::Duration;

use jiff::Timestamp;
use lynceus_helm::World;
use ring::rand::{SecureRandom as _, SystemRandom};

/// The time of a rendering, and the machine's random numbers.
pub struct Ambience {
    now: Timestamp,
    random: SystemRandom,
}

impl Ambience {
    /// For a rendering at a certain time.
    pub fn at(now: Timestamp) -> Self {
        Ambience { now, random: SystemRandom::new() }
    }
}

impl World for Ambience {
    fn now(&self) -> Duration {
        Duration::try_from(self.now.duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        // It fails on no system that we run on; keys made of zeros must not be a way to go on if it does.
        while self.random.fill(bytes).is_err() {}
    }
}
