//! What a service is given to make its requests of.

use jiff::Timestamp;
use lynceus_object::{Value, json};

use super::conversation::SendError;
use crate::config;
use crate::message::Notification;
use crate::subscription::Destination;

pub(super) struct Job<'a> {
    pub(super) options: &'a Value,
    /// Whether the operator has written the options, and not the users of a namespace.
    pub(super) is_operators: bool,
    pub(super) notification: &'a Notification,
    pub(super) to: &'a Destination,
    pub(super) now: Timestamp,
    pub(super) random: &'a mut dyn FnMut(&mut [u8]),
}

impl<'a> Job<'a> {
    /// An option; empty if it is not set. Numbers are taken as text.
    pub(super) fn option(&self, name: &str) -> String {
        self.options.get(name).and_then(|value| config::text(value).ok()).unwrap_or_default().to_string()
    }

    /// An option that the service cannot do without.
    pub(super) fn required(&self, name: &str) -> Result<String, SendError> {
        match self.option(name) {
            value if value.is_empty() => Err(SendError::lasting(format!(
                "the option {name} of service {} is not set",
                self.to.service
            ))),
            value => Ok(value),
        }
    }

    /// An option that has a usual value, without a slash at its end.
    pub(super) fn address(&self, name: &str, usual: &str) -> String {
        let value = self.option(name);
        let value = if value.is_empty() { usual } else { &value };
        value.trim_end_matches('/').to_owned()
    }

    /// Refuses to show who the controller is for somebody else's configuration.
    pub(super) fn may_look_around(&self) -> Result<(), SendError> {
        if self.is_operators {
            return Ok(());
        }
        Err(SendError::lasting(format!(
            "service {} of a namespace's own configuration cannot use the credentials of the controller; name its own",
            self.to.service
        )))
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.options.bool_at(&[name]).unwrap_or_default()
    }

    /// Whether any certificate will do.
    pub(super) fn insecure(&self) -> bool {
        self.flag("insecureSkipVerify")
    }

    /// What an option has for the recipient.
    pub(super) fn of_recipient(&self, option: &str) -> Result<String, SendError> {
        let recipient = self.to.recipient.as_str();
        let found = self.options.get(option).and_then(|map| map.get(recipient));
        match found.and_then(|value| config::text(value).ok()) {
            Some(value) if !value.is_empty() => Ok(value.to_string()),
            _ => Err(SendError::lasting(format!(
                "service {} knows no recipient {recipient}; add it to {option}",
                self.to.service
            ))),
        }
    }

    /// A text of the message's part for a kind of service.
    pub(super) fn text(&self, kind: &str, path: &[&str]) -> &'a str {
        self.notification.text(kind, path)
    }

    pub(super) fn part(&self, kind: &str) -> Option<&'a Value> {
        self.notification.parts.get(kind)
    }

    /// A text of the message that is JSON in itself; none if it is empty.
    pub(super) fn json(&self, kind: &str, field: &str) -> Result<Option<Value>, SendError> {
        let text = self.text(kind, &[field]).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let parsed = json::parse(text.as_bytes());
        parsed.map(Some).map_err(|error| {
            SendError::lasting(format!("what the template says under {kind}.{field} is no JSON: {error}"))
        })
    }

    /// A text of the message that is a list of maps in JSON; empty if there is none.
    pub(super) fn json_maps(&self, kind: &str, field: &str) -> Result<Vec<Value>, SendError> {
        let parsed = self.json(kind, field)?.unwrap_or_default();
        maps(&parsed)
            .map_err(|why| SendError::lasting(format!("what the template says under {kind}.{field} {why}")))
    }

    /// A random id in the usual form.
    pub(super) fn uuid(&mut self) -> String {
        let mut bytes = [0; 16];
        (self.random)(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }
}

/// The maps of a list. The error says what there is instead.
pub(super) fn maps(value: &Value) -> Result<Vec<Value>, String> {
    let items = match value.as_seq() {
        Some(items) => items,
        None if value.is_null() => &[],
        None => return Err(format!("is no list but {}", value.type_name())),
    };
    let wrong = items.iter().enumerate().find(|(_, item)| item.as_map().is_none() && !item.is_null());
    match wrong {
        Some((at, item)) => Err(format!("is no list of maps; number {} is {}", at + 1, item.type_name())),
        None => Ok(items.to_vec()),
    }
}

/// Sets a field unless the text is empty.
pub(super) fn set_text(value: &mut Value, path: &[&str], text: &str) {
    if !text.is_empty() {
        value.set(path, text);
    }
}
