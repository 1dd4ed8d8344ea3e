//! Services: what a message looks like on the wire of each, one file for each.
//!
//! A [`Delivery`] is a conversation as a value: it says what to ask next, is told the answer, and ends with [`Next::Done`] or
//! an error. So a test can hold it without a network, and whoever sends knows nothing of any service.

mod alertmanager;
mod aws_identity;
mod awssqs;
mod conversation;
mod email;
mod gcppubsub;
mod github;
mod github_steps;
mod github_token;
mod googlechat;
mod grafana;
mod job;
mod jwt;
mod mattermost;
mod memory;
mod nats;
mod newrelic;
mod opsgenie;
mod pagerduty;
mod pagerdutyv2;
mod pushover;
mod request;
mod rocketchat;
mod slack;
mod surroundings;
mod teams;
mod teams_workflows;
mod telegram;
mod webex;
mod webhook;

use jiff::Timestamp;

pub use conversation::{Delivery, Next, Place, SendError};
pub use email::{Email, Envelope};
pub use memory::Memory;
pub use nats::{NatsServer, Publication};
pub use request::{Answer, AwsSignature, Request, Retry};

use crate::config::ServiceConfig;
use crate::message::Notification;
use crate::subscription::Destination;
use job::Job;

/// A service that messages can be sent through.
#[derive(Clone)]
pub struct Service {
    config: ServiceConfig,
}

/// The kinds of services that there are, in order.
pub const KINDS: [&str; 21] = [
    "alertmanager",
    "awssqs",
    "email",
    "gcppubsub",
    "github",
    "googlechat",
    "grafana",
    "mattermost",
    "nats",
    "newrelic",
    "opsgenie",
    "pagerduty",
    "pagerdutyv2",
    "pushover",
    "rocketchat",
    "slack",
    "teams",
    "teams-workflows",
    "telegram",
    "webex",
    "webhook",
];

impl Service {
    /// A service by its configuration. The error says what is missing, and no secret.
    pub fn new(config: &ServiceConfig) -> Result<Self, String> {
        if !KINDS.contains(&config.kind.as_str()) {
            return Err(format!(
                "services of the kind {} are not supported; these are: {}",
                config.kind,
                KINDS.join(", ")
            ));
        }
        Ok(Self { config: config.clone() })
    }

    /// What it is.
    pub fn kind(&self) -> &str {
        &self.config.kind
    }

    /// Begins to send a message to somebody.
    pub fn deliver(
        &self,
        notification: &Notification,
        to: &Destination,
        now: Timestamp,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Box<dyn Delivery>, SendError> {
        let ServiceConfig { options, is_operators, .. } = &self.config;
        let mut job = Job { options, is_operators: *is_operators, notification, to, now, random };
        match self.kind() {
            "alertmanager" => alertmanager::deliver(&job),
            "awssqs" => awssqs::deliver(&job),
            "email" => email::deliver(&mut job),
            "gcppubsub" => gcppubsub::deliver(&job),
            "github" => github::deliver(&job),
            "googlechat" => googlechat::deliver(&mut job),
            "grafana" => grafana::deliver(&job),
            "mattermost" => mattermost::deliver(&job),
            "nats" => nats::deliver(&job),
            "newrelic" => newrelic::deliver(&job),
            "opsgenie" => opsgenie::deliver(&job),
            "pagerduty" => pagerduty::deliver(&job),
            "pagerdutyv2" => pagerdutyv2::deliver(&job),
            "pushover" => pushover::deliver(&job),
            "rocketchat" => rocketchat::deliver(&job),
            "slack" => slack::deliver(&job),
            "teams" => teams::deliver(&job),
            "teams-workflows" => teams_workflows::deliver(&job),
            "telegram" => telegram::deliver(&job),
            "webex" => webex::deliver(&job),
            "webhook" => webhook::deliver(&job),
            other => Err(SendError::lasting(format!("services of the kind {other} are not supported"))),
        }
    }
}
