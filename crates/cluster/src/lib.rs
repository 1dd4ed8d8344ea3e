//! The one door to a cluster: client, live cache, owner graph, and the only writes.
//!
//! [`Cluster`] holds the connection and a live picture of everything that can be watched ([`Cache`]). An
//! application's objects are changed through [`Cluster::apply`] and [`Cluster::delete`] alone, and only because
//! `sync` said so; Lynceus' own records have typed writes in `record`.

mod behalf;
mod cache;
mod clock;
mod cluster;
mod connect;
mod credential;
mod discovery;
mod door;
mod error;
mod fleet;
mod kind;
pub mod lease;
mod limits;
mod member;
mod options;
mod proxy;
mod record;
mod scope;
mod secret;
mod tree;
mod watch;
mod write;

pub use behalf::on_behalf_of;
pub use cache::{Cache, Change, KindErrors};
pub use clock::{Clock, SystemClock};
pub use cluster::Cluster;
pub use connect::{client, config};
pub use credential::CredentialError;
pub use door::FIELD_MANAGER;
pub use error::{ClusterError, Refusal};
pub use fleet::{Away, BySecret, Destination, DestinationError, Fleet, FleetOptions, Link, News, Reach};
pub use kind::{Kind, Kinds};
pub use options::{Options, RespectRbac};
pub use record::EventType;
pub use scope::{Scope, ScopeError};
pub use secret::{Access, Registration, SecretError};
pub use tree::{Node, tree};
pub use write::{Applied, ApplyOptions, Deletion, Strategy};
