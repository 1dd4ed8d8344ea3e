//! What the rules of a kind may look at besides the object.

use jiff::Timestamp;
use lynceus_object::Str;

use crate::random::Random;
use crate::view::View;

/// The world around an object that is being written.
pub struct Context<'a> {
    /// The time of the request.
    pub now: Timestamp,
    /// What is stored.
    pub view: &'a dyn View,
    /// Chance, for names.
    pub random: &'a Random,
    /// Addresses and ports that Services take.
    pub allocators: &'a dyn Allocators,
    /// Whether nothing will be kept: then nothing may be taken either.
    pub dry_run: bool,
}

impl Context<'_> {
    /// The time of the request as it stands in an object.
    pub fn now_text(&self) -> Str {
        crate::clock::text(self.now)
    }
}

/// Hands out what only one object may have.
///
/// What is taken for a write that then fails is given back by the caller; what a stored Service has
/// is given back when it is deleted or lets go of it.
pub trait Allocators: Send + Sync {
    /// Takes an address for a Service: `wanted`, or any that is free. `v6` picks the family.
    fn cluster_ip(&self, wanted: Option<&str>, v6: bool) -> Result<String, AllocationError>;

    /// Takes a node port: `wanted`, or any that is free.
    fn node_port(&self, wanted: Option<u16>) -> Result<u16, AllocationError>;
}

/// Why nothing could be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Another object has it.
    #[error("provided {what} is already allocated", what = .0)]
    Taken(&'static str),
    /// The address is outside what may be handed out.
    #[error("the provided network does not match the current range")]
    NoSuchAddress,
    /// The port is outside what may be handed out.
    #[error("provided port is not in the valid range. The range of valid ports is 30000-32767")]
    NoSuchPort,
    /// Nothing is left.
    #[error("range is full")]
    Full,
}
