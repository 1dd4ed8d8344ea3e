//! The one door to a cluster: client, live cache, owner graph, and the only writes.
//!
//! [`Cluster`] holds the connection and a live picture of everything that can be watched ([`Cache`]). An
//! application's objects are changed through [`Cluster::apply`] and [`Cluster::delete`], because `sync` said so, and through
//! [`Cluster::change`] and [`Cluster::create`], because a user did; Lynceus' own records have typed writes in `record`.

mod cache;
mod clock;
mod cluster;
mod connect;
mod credential;
mod discovery;
mod door;
mod edit;
mod error;
mod fleet;
mod guise;
mod keep;
mod keeper;
mod kind;
pub mod lease;
mod limits;
mod log;
mod member;
mod migrate;
mod options;
mod owner;
mod pause;
mod plain;
mod proxy;
mod rbac;
mod record;
mod rows;
mod scope;
mod secret;
mod size;
mod trace;
mod tree;
mod turn;
mod watch;
mod weather;
mod write;

pub use cache::{Cache, Change, KindError, KindErrors};
pub use clock::{Clock, SystemClock};
pub use cluster::Cluster;
pub use connect::{client, config};
pub use credential::CredentialError;
pub use door::FIELD_MANAGER;
pub use edit::Trial;
pub use error::{ClusterError, Refusal};
pub use fleet::{Away, BySecret, Destination, DestinationError, Fleet, FleetOptions, Link, News, Reach};
pub use guise::in_the_name_of;
pub use kind::{Kind, Kinds};
pub use log::{Log, LogOptions};
pub use options::{Options, RespectRbac};
pub use record::EventType;
pub use scope::{Scope, ScopeError};
pub use secret::{Access, Registration, SecretError};
pub use tree::{Node, tree};
pub use turn::{Behalf, Rate, on_behalf_of};
pub use weather::Outage;
pub use write::{Applied, ApplyOptions, Deletion, Strategy};
