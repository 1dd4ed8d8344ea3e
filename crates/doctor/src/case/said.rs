//! What things say of themselves that is wrong: conditions, events, last words of containers, statuses of applications.
//!
//! Many troubles are told by one text wherever it stands, so all texts are collected once and every rule that knows a text looks
//! through the same list. Only what is not well now is heard: what was said before it was mended is no longer true.

use std::collections::BTreeMap;

use lynceus_api::{GROUP, OperationPhase};
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::{Case, last_seen};
use crate::finding::Evidence;
use crate::node::{AppName, Node};
use crate::words;

/// Something that was said.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    /// The cluster.
    pub(crate) server: &'a str,
    /// Who says it.
    pub(crate) voice: Voice,
    /// The object that it is said of; the Application where its status says it of all.
    pub(crate) about: ObjectKey,
    /// What waits for it in the graph: pods are what owns them.
    pub(crate) node: Node,
    /// The application whose status or object it is.
    pub(crate) app: Option<AppName>,
    /// What is said.
    pub(crate) text: &'a str,
    /// The same as evidence.
    pub(crate) evidence: Evidence,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A condition or another text of an object's status.
    Object,
    /// An event about an object.
    Event,
    /// A container: why it waits, or its last words.
    Container,
    /// A condition of an Application, or what its operation says.
    Application,
    /// What a sync says of one object.
    Sync,
}

/// Texts that kinds have beside conditions.
const TEXTS: [&str; 6] = ["message", "logSnippet", "error", "errorMessage", "failureMessage", "lastError"];

/// What conditions are called that are bad when they are true.
const BAD: [&str; 6] = ["Fail", "Error", "Degraded", "Stalled", "Invalid", "Unavailable"];

impl<'a> Case<'a> {
    /// Everything that is said, in the snapshot's order: applications first, then each cluster's objects.
    pub(crate) fn said(&self) -> &[Said<'a>] {
        &self.said
    }

    /// Collects it, once for all rules.
    pub(super) fn hear(&self) -> Vec<Said<'a>> {
        let mut said = Vec::new();
        self.by_applications(&mut said);
        for server in self.servers() {
            for object in self.objects(server) {
                self.by_object(server, object, &mut said);
            }
        }
        said
    }

    fn by_applications(&self, said: &mut Vec<Said<'a>>) {
        for app in self.apps().filter(|app| !app.is_fine()) {
            let about =
                ObjectKey::new(GROUP, "Application", app.name.namespace.clone(), app.name.name.clone());
            let failures = app.failures();
            let state = app.application().status.operation_state.as_ref();
            let ended = state.filter(|state| {
                state.phase.known().is_some_and(OperationPhase::is_unsuccessful) || state.retry_count > 0
            });
            let conditions = app.errors().map(|(kind, text)| (lynceus_api::Word::as_str(kind), text));
            let operation = ended.map(|state| ("operation", state.message.as_str()));
            for (kind, text) in conditions.chain(operation) {
                // What is said of an object is not said again of all.
                let is_repeated = !failures.is_empty() && matches!(kind, "operation" | "SyncError");
                if text.is_empty() || is_repeated {
                    continue;
                }
                said.push(Said {
                    server: app.server(),
                    voice: Voice::Application,
                    about: about.clone(),
                    node: app.node(),
                    app: Some(app.name.clone()),
                    text,
                    evidence: app.status(format!("{kind}: {text}")),
                });
            }
            for (key, text) in failures {
                said.push(Said {
                    server: app.server(),
                    voice: Voice::Sync,
                    node: self.node(app.server(), &key),
                    evidence: app.status(format!("{}: {text}", words::named(&key.kind, &key.name))),
                    about: key,
                    app: Some(app.name.clone()),
                    text,
                });
            }
        }
    }

    fn by_object(&self, server: &'a str, object: &'a Object, said: &mut Vec<Said<'a>>) {
        if (object.group(), object.kind()) == (GROUP, "Application") || !self.is_heard(server, object) {
            return;
        }
        let key = object.key();
        let (node, app) = (self.node(server, &key), self.owner(server, &key));
        let mut say = |voice, text: &'a str, evidence| {
            let (about, node, app) = (key.clone(), node.clone(), app.clone());
            said.push(Said { server, voice, about, node, app, text, evidence });
        };
        for (text, path) in of_status(object) {
            let value = words::quote(text);
            say(Voice::Object, text, Evidence::Field { object: object.key(), path, value });
        }
        for (text, path) in of_containers(object) {
            let value = words::quote(text);
            say(Voice::Container, text, Evidence::Field { object: object.key(), path, value });
        }
        for event in newest(self.events(server, &object.key())) {
            let text = message(event);
            let evidence = Evidence::Event {
                object: object.key(),
                reason: event.value().str_at(&["reason"]).unwrap_or_default().into(),
                message: words::quote(text),
                count: event.value().int_at(&["count"]).unwrap_or(1),
            };
            say(Voice::Event, text, evidence);
        }
    }

    /// Whether what an object says counts: it is not well itself, or what owns it is not.
    fn is_heard(&self, server: &str, object: &'a Object) -> bool {
        if self.is_unwell(object) {
            return true;
        }
        let is_old = object.kind() == "ReplicaSet" && object.value().int_at(&["spec", "replicas"]) == Some(0);
        let is_done =
            object.kind() == "Pod" && object.value().str_at(&["status", "phase"]) == Some("Succeeded");
        let is_ready = object.kind() == "Pod" && condition(object, "Ready") == Some("True");
        if is_old || is_done || is_ready || object.controller().is_none() {
            return false;
        }
        self.is_unwell(self.top(server, object))
    }
}

/// The status of a condition of an object.
pub(crate) fn condition<'v>(object: &'v Object, kind: &str) -> Option<&'v str> {
    let conditions = object.value().items_at(&["status", "conditions"]).iter();
    conditions.filter(|one| one.str_at(&["type"]) == Some(kind)).find_map(|one| one.str_at(&["status"]))
}

/// What an event says, in either form of events.
pub(crate) fn message(event: &Object) -> &str {
    let text = |field| event.value().str_at(&[field]).filter(|text: &&str| !text.is_empty());
    text("message").or_else(|| text("note")).unwrap_or_default()
}

/// The texts of an object's status that say that something is wrong.
fn of_status(object: &Object) -> Vec<(&str, FieldPath)> {
    let status = FieldPath::fields(["status"]);
    let conditions = object.value().items_at(&["status", "conditions"]).iter();
    let mut texts: Vec<(&str, FieldPath)> = conditions
        .filter(|one| is_bad(one))
        .filter_map(|one| one.str_at(&["message"]))
        .map(|text| (text, status.field("conditions")))
        .collect();
    if object.kind() != "Pod" {
        let found =
            TEXTS.iter().filter_map(|field| Some((object.value().str_at(&["status", field])?, field)));
        texts.extend(found.map(|(text, field)| (text, status.field(*field))));
    }
    texts.retain(|(text, _)| !text.is_empty());
    texts
}

fn is_bad(condition: &Value) -> bool {
    let kind = condition.str_at(&["type"]).unwrap_or_default();
    let is_true = condition.str_at(&["status"]) == Some("True");
    is_true == BAD.iter().any(|bad| kind.contains(bad))
}

/// Why the containers of a pod wait, and what they said last.
fn of_containers(pod: &Object) -> Vec<(&str, FieldPath)> {
    let mut texts = Vec::new();
    for field in ["initContainerStatuses", "containerStatuses"] {
        for (place, status) in pod.value().items_at(&["status", field]).iter().enumerate() {
            for state in [&["state", "waiting"], &["state", "terminated"], &["lastState", "terminated"]] {
                let text = status.at(state).and_then(|state| state.str_at(&["message"]));
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    let path = FieldPath::fields(["status", field]).index(place);
                    texts.push((text, path.field(state[0]).field(state[1]).field("message")));
                }
            }
        }
    }
    texts
}

/// The newest warning of each reason. One that was followed by success says nothing any more.
fn newest<'a>(events: &[&'a Object]) -> Vec<&'a Object> {
    let text = |event: &Object, field: &str| event.value().str_at(&[field]).unwrap_or_default().to_owned();
    let made = events
        .iter()
        .filter(|event| text(event, "reason") == "SuccessfulCreate")
        .map(|event| last_seen(event))
        .max();
    let mut found: BTreeMap<String, &'a Object> = BTreeMap::new();
    for event in events.iter().filter(|event| text(event, "type") != "Normal") {
        let reason = text(event, "reason");
        let is_over = reason == "FailedCreate" && made.is_some_and(|made| made > last_seen(event));
        let is_newer = found.get(&reason).is_none_or(|known| last_seen(known) <= last_seen(event));
        if is_newer && !is_over {
            found.insert(reason, event);
        }
    }
    found.into_values().collect()
}
