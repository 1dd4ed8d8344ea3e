//! What has been told already: the annotation by which Argo CD and we can take over from each other.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_object::{Object, Value, json};

use crate::config::Fault;
use crate::limits;
use crate::subscription::Destination;
use crate::trigger::ConditionResult;

/// The annotation of an Application that says what has been told.
pub const NOTIFIED_ANNOTATION: &str = "notified.notifications.argoproj.io";

/// What has been told, and when, in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(BTreeMap<String, i64>);

/// The name under which a message to somebody is written down. `namespace` is that of a configuration that is not the
/// operator's.
pub fn state_key(
    namespace: Option<&str>,
    trigger: &str,
    result: &ConditionResult,
    destination: &Destination,
) -> String {
    let Destination { service, recipient } = destination;
    let mut key = format!("{trigger}:{}:{service}:{recipient}", result.key);
    if let Some(namespace) = namespace {
        key = format!("{namespace}:{key}");
    }
    if result.once_per.is_empty() { key } else { format!("{}:{key}", result.once_per) }
}

impl State {
    /// Reads an annotation of an object by its name. What cannot be read says nothing, and is told again: that is a fault.
    /// Argo CD forgets all for one entry that is wrong, and tells all of it again without a word.
    pub fn of(object: &Object, name: &str) -> (Self, Option<Fault>) {
        let (state, wrong) = object.annotation(name).map(parse).unwrap_or_default();
        let fault = |what: String| {
            let message = format!(
                "{what}, so what it says has been told is told again; remove it, or put back what was there"
            );
            Fault { place: format!("annotation {name}"), message }
        };
        (state, wrong.map(fault))
    }

    /// What can be read of an annotation.
    pub fn read(annotation: Option<&str>) -> Self {
        annotation.map(parse).unwrap_or_default().0
    }

    /// Whether it has been told.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Writes down that it has been told. False if it was already.
    pub fn tell(&mut self, key: &str, now: Timestamp) -> bool {
        if self.has(key) {
            return false;
        }
        self.0.insert(key.to_owned(), now.as_second());
        true
    }

    /// Forgets that it has been told: it can be told again.
    pub fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Forgets what a trigger told of root causes that are over. Their names stand before that of the trigger.
    pub fn forget_causes(&mut self, namespace: Option<&str>, trigger: &str, is_over: impl Fn(&str) -> bool) {
        let of_trigger = match namespace {
            Some(namespace) => format!(":{namespace}:{trigger}:["),
            None => format!(":{trigger}:["),
        };
        self.0.retain(|key, _| match key.find(&of_trigger) {
            Some(end) => !is_over(&key[..end]),
            None => true,
        });
    }

    /// What was written down before a time.
    pub fn before(&self, time: Timestamp) -> Vec<String> {
        self.0.iter().filter(|(_, at)| **at < time.as_second()).map(|(key, _)| key.clone()).collect()
    }

    /// Whether nothing has been told.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the annotation says; none if there is nothing to say. Only the newest are kept.
    pub fn write(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut entries: Vec<(&String, i64)> = self.0.iter().map(|(key, time)| (key, *time)).collect();
        if entries.len() > limits::NOTIFIED {
            entries.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(right.0)));
            entries.truncate(limits::NOTIFIED);
        }
        let mut value = Value::default();
        let map = value.as_map_or_insert();
        for (key, time) in entries {
            map.insert(key.as_str(), Value::from(time));
        }
        Some(json::go_string(&value))
    }
}

/// What a text says, and what in it says nothing.
fn parse(text: &str) -> (State, Option<String>) {
    let value = match json::parse(text.as_bytes()) {
        Ok(value) => value,
        Err(_) if text.is_empty() => return Default::default(),
        Err(_) => return (State::default(), Some("it is no JSON".to_owned())),
    };
    let Some(map) = value.as_map() else {
        let wrong = (!value.is_null()).then(|| format!("it is no map but {}", value.type_name()));
        return (State::default(), wrong);
    };
    let known = map.iter().filter_map(|(key, time)| Some((key.to_string(), time.as_int()?)));
    let state = State(known.collect());
    let lost = map.len() - state.0.len();
    (state, (lost > 0).then(|| format!("{lost} of its times are no whole numbers")))
}

/// Whether the status of an Application is from after its last operation. While it is not, it would be told what is no longer
/// so; Argo CD waits for that as well.
pub fn is_refreshed(application: &Object) -> bool {
    let status =
        |path: &[&str]| application.value().str_at(path).and_then(|text| text.parse::<Timestamp>().ok());
    match application.value().str_at(&["status", "operationState", "phase"]) {
        Some("Failed" | "Error" | "Succeeded") => {
            let Some(finished) = status(&["status", "operationState", "finishedAt"]) else { return false };
            let seen = [status(&["status", "reconciledAt"]), status(&["status", "observedAt"])];
            seen.into_iter().flatten().any(|seen| finished <= seen)
        }
        _ => true,
    }
}
