//! Syncs from beginning to end, in a cluster that is a map: text in, text out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod hooks;
mod options;
mod order;
mod prune;
mod resume;
mod terminate;
mod waves;
mod world;
