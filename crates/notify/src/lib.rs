//! Notifications: what is to be told to whom, and in which words.
//!
//! A ConfigMap and a Secret become a [`Config`]. For an Application, [`Config::destinations`] says who listens to which
//! trigger, [`Triggers::run`] which of its conditions hold, and [`State`] what has been told already. A message is made by
//! [`Templates::fill`] and becomes a [`Delivery`]: the requests of one service, one after the other, each as a value. Nothing
//! here sends anything, reads a clock or asks anybody; what an expression needs to know is a [`Need`].

mod catalogue;
mod config;
mod details;
pub mod expr;
mod legacy;
pub mod limits;
mod message;
mod names;
mod redact;
mod repo_url;
mod root_cause;
pub mod service;
mod state;
mod subscription;
mod trigger;

pub use catalogue::{CATALOGUE, catalogue};
pub use config::{Condition, Config, DefaultSubscription, Fault, ServiceConfig, Sources};
pub use message::{Notification, Render, Templates};
pub use names::{Commit, Facts, Need, Subject};
pub use redact::Redactor;
pub use root_cause::{ROOT_CAUSE, RootCause};
pub use service::{
    Answer, AwsSignature, Delivery, Email, Envelope, Memory, NatsServer, Next, Place, Publication, Request,
    SendError, Service,
};
pub use state::{NOTIFIED_ANNOTATION, State, is_refreshed, state_key};
pub use subscription::{Destination, Destinations};
pub use trigger::{ConditionResult, Ran, Triggers};
