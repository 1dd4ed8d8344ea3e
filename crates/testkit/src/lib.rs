//! Fixtures as text, a fake clock, and Given/When/Then over the embedded Kubernetes.

pub mod conformance;
pub mod example;
pub mod fixture;
pub mod fleet;
pub mod ledger;
pub mod mixture;
pub mod requests;
pub mod shelf;
pub mod webhook;
pub mod world;
