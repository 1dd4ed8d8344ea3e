//! The built-in kinds: which there are, and what the server does to their objects before it keeps them.

mod resources;

pub use resources::{ALL_VERBS, PART_VERBS, Resource, Subresource, resource_of, resources};
