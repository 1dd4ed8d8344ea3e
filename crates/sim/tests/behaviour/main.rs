//! What controllers and kubelets make of objects, on a clock that is moved by hand: objects go in as YAML, and what became of
//! them comes out as lines.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

mod claims;
mod cluster;
mod containers;
mod eviction;
mod jobs;
mod nodes;
mod serving;
mod starting;
mod volumes;
