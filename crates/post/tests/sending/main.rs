//! Messages are sent to stand-ins on this machine, and what arrives is compared.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod bad_input;
mod identity;
mod line_stand_in;
mod mail;
mod nats;
mod services;
mod stand_in;

use jiff::Timestamp;
use lynceus_notify::{Destination, Notification, SendError, Service, ServiceConfig};
use lynceus_object::yaml;
use lynceus_post::{Options, Post};

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn post() -> Post {
    Post::new(Options { environment_proxy: false, ..Options::default() })
}

/// Sends a message by a service. `options` and `message` are YAML; the recipient stands behind the kind: `slack:general`.
async fn send(post: &Post, to: &str, options: &str, message: &str) -> Result<(), SendError> {
    let (kind, recipient) = to.split_once(':').unwrap();
    let (kind, name) = kind.split_once('.').unwrap_or((kind, kind));
    let options = yaml::parse_str(options).unwrap();
    let config = ServiceConfig { kind: kind.into(), options, is_operators: true };
    let to = Destination { service: name.into(), recipient: recipient.into() };
    let mut notification = Notification::default();
    let message = yaml::parse_str(message).unwrap();
    for (field, value) in message.as_map().unwrap().iter() {
        match value.as_str() {
            Some(text) if field == "message" => notification.message = text.to_owned(),
            _ => drop(notification.parts.insert(field.clone(), value.clone())),
        }
    }
    let delivery =
        Service::new(&config).unwrap().deliver(&notification, &to, now(), &mut |bytes| bytes.fill(7))?;
    post.send(delivery).await
}
