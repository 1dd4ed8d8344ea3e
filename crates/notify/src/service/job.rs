//! What a service is given to make its requests of.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use lynceus_gotmpl::sprig::moments;
use lynceus_object::{Str, Value, json};

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
    pub(super) fn option(&self, name: &str) -> Result<String, SendError> {
        match config::named(self.options, name).map(config::text) {
            None => Ok(String::new()),
            Some(Ok(value)) => Ok(value.to_string()),
            Some(Err(why)) => Err(self.refused(name, &why)),
        }
    }

    /// An option that cannot be what it is. Its value is not told: it may be a secret.
    pub(super) fn refused(&self, name: &str, why: &str) -> SendError {
        SendError::lasting(format!("the option {name} of service {} cannot be read: {why}", self.to.service))
    }

    /// An option that the service cannot do without.
    pub(super) fn required(&self, name: &str) -> Result<String, SendError> {
        match self.option(name)? {
            value if value.is_empty() => Err(SendError::lasting(format!(
                "the option {name} of service {} is not set",
                self.to.service
            ))),
            value => Ok(value),
        }
    }

    /// An option that has a usual value, without a slash at its end.
    pub(super) fn address(&self, name: &str, usual: &str) -> Result<String, SendError> {
        let value = self.option(name)?;
        let value = if value.is_empty() { usual } else { &value };
        Ok(value.trim_end_matches('/').to_owned())
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

    /// An option that is true or false; false if it is not set.
    pub(super) fn flag(&self, name: &str) -> Result<bool, SendError> {
        let Some(value) = config::named(self.options, name).filter(|value| !value.is_null()) else {
            return Ok(false);
        };
        let why = || format!("this has to be true or false, not {}", value.type_name());
        value.as_bool().ok_or_else(|| self.refused(name, &why()))
    }

    /// An option that is a whole number; none if it is not set.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, SendError> {
        let value = self.option(name)?;
        let why = "this has to be a whole number";
        (!value.is_empty()).then(|| value.parse().map_err(|_| self.refused(name, why))).transpose()
    }

    /// An option that is a duration, as Go writes it or in nanoseconds; none if it is not set or zero.
    pub(super) fn pause(&self, name: &str) -> Result<Option<Duration>, SendError> {
        let value = self.option(name)?;
        if value.is_empty() {
            return Ok(None);
        }
        let written = || moments::parse_duration(&value).ok().and_then(|length| moments::nanos_of(&length));
        let nanos = value.parse().ok().or_else(written).and_then(|nanos: i64| u64::try_from(nanos).ok());
        let why = "this has to be a duration such as 5s";
        let nanos = nanos.ok_or_else(|| self.refused(name, why))?;
        Ok((nanos > 0).then(|| Duration::from_nanos(nanos)))
    }

    /// The header of a name and a password, where the option has them.
    pub(super) fn basic_login(&self, name: &str) -> Result<Option<String>, SendError> {
        let Some(login) = config::named(self.options, name).filter(|login| !login.is_null()) else {
            return Ok(None);
        };
        let fields = config::text_map(login).map_err(|why| self.refused(name, &why))?;
        let part = |field: &str| fields.get(field).map(Str::as_str).unwrap_or_default();
        Ok(Some(format!("Basic {}", STANDARD.encode(format!("{}:{}", part("username"), part("password"))))))
    }

    /// Whether any certificate will do.
    pub(super) fn insecure(&self) -> Result<bool, SendError> {
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
