//! What a function can ask of the running evaluator.

use std::any::Any;
use std::time::Duration;

use crate::{Failure, Str, Value};

/// What comes from outside of a render.
pub trait Environment {
    /// The time now, since 1970 in UTC.
    fn now(&self) -> Duration;

    /// Fills a buffer with random bytes.
    fn random(&mut self, bytes: &mut [u8]);

    /// Whatever the functions of the caller need: see [`Context::host`].
    fn host(&mut self) -> &mut dyn Any;
}

/// The running evaluator, as functions see it.
pub struct Context<'a> {
    environment: &'a mut dyn Environment,
}

impl<'a> Context<'a> {
    /// The time now, since 1970 in UTC.
    pub fn now(&self) -> Duration {
        self.environment.now()
    }

    /// Fills a buffer with random bytes.
    pub fn random(&mut self, bytes: &mut [u8]) {
        self.environment.random(bytes);
    }

    /// The caller's own state, if it is of this type.
    pub fn host<T: 'static>(&mut self) -> Option<&mut T> {
        self.environment.host().downcast_mut()
    }

    /// Counts bytes that a function is about to make. Call it before making anything large.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Failure> {
        let _ = bytes;
        Ok(())
    }

    /// Counts work that a function is about to do, one step for about a hundred instructions.
    pub fn step(&mut self, steps: usize) -> Result<(), Failure> {
        let _ = steps;
        Ok(())
    }

    /// Executes a template of the set that is being executed: what `include` does.
    pub fn execute(&mut self, name: &str, dot: Value) -> Result<Str, Failure> {
        let _ = dot;
        Err(Failure::new(format!("no template {name:?}")))
    }

    /// Parses a text into a copy of the set that is being executed and executes it: what `tpl` does.
    ///
    /// The text sees the templates of the set, and its own definitions are gone afterwards.
    pub fn execute_text(&mut self, name: &str, text: &Str, dot: Value) -> Result<Str, Failure> {
        let _ = (name, text, dot);
        Err(Failure::new("cannot run text"))
    }
}
