//! The one door to a cluster: client, live cache, owner graph, and the only writes.
//!
//! [`Cluster`] holds the connection and a live picture of everything that can be watched ([`Cache`]). An
//! application's objects are changed through [`Cluster::apply`] and [`Cluster::delete`] alone, and only because
//! `sync` said so; Lynceus' own records have typed writes in `record`.

mod cache;
mod cluster;
mod connect;
mod discovery;
mod door;
mod error;
mod kind;
mod limits;
mod record;
mod tree;
mod watch;
mod write;

pub use cache::{Cache, Change, KindErrors};
pub use cluster::Cluster;
pub use connect::client;
pub use door::FIELD_MANAGER;
pub use error::{ClusterError, Refusal};
pub use kind::{Kind, Kinds};
pub use record::EventType;
pub use tree::{Node, tree};
pub use write::{Applied, ApplyOptions, Deletion, Strategy};
