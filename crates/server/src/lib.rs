//! What Lynceus answers over HTTP.
//!
//! Both roles answer the questions that a kubelet and a monitoring system ask ([`Vitals`], [`probes`]); the server also
//! says what it is ([`api`]). [`listen`] serves either until it is told to stop.

mod api;
mod listen;
mod metrics;
mod page;
mod probe;

pub use api::api;
pub use listen::{listen, serve};
pub use metrics::Metrics;
pub use probe::{Vitals, probes};
