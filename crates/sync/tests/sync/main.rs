//! Syncs from beginning to end, in a cluster that is a map: text in, text out.

mod hooks;
mod options;
mod order;
mod prune;
mod resume;
mod terminate;
mod waves;
mod world;
