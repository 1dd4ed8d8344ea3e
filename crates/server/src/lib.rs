//! What Lynceus answers over HTTP.
//!
//! Both roles answer the questions that a kubelet and a monitoring system ask ([`Vitals`], [`probes`]). The server also
//! answers Argo CD's API ([`api`]): REST, gRPC and gRPC-web are three ways to the same methods, which stand in one table
//! with what each takes, answers and needs to be allowed. [`listen`] serves either until it is told to stop. Programs of our
//! own ask over HTTP with [`question`], or in the same process with [`Server::ask`].

mod access;
mod api;
mod ask;
mod auth;
mod badge;
mod body;
mod call;
mod cookie;
mod fields;
mod grpc;
mod initial;
mod limits;
mod listen;
mod method;
mod metrics;
mod openapi;
mod origin;
mod page;
mod patience;
mod pieces;
mod probe;
mod refusal;
mod request;
mod rest;
mod rights;
mod server;
mod services;
mod shape;
#[cfg(test)]
mod stage;
mod streams;
mod telemetry;
mod tls;
mod webhook;

pub use access::{hash, policy_allows};
pub use api::api;
pub use ask::{Question, question};
pub use call::{Answer, List};
pub use initial::initial_password;
pub use listen::{listen, serve, serve_tls};
pub use metrics::Metrics;
pub use probe::{Vitals, metrics, probes};
pub use refusal::{Code, Refusal};
pub use server::Server;
pub use services::{ACTIONS, RESOURCES};
pub use telemetry::{Collector, Courier, Telemetry};
pub use tls::Tls;
