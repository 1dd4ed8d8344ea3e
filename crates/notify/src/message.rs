//! Messages: the templates of a trigger filled for somebody.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::{Functions, sprig};
use lynceus_object::{Str, Value};

use crate::config::{Config, Fault, named, text};
use crate::limits;
use crate::names::{Need, Outside, Subject, names};
use crate::subscription::Destination;

/// A message, with the parts that are for one service each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notification {
    /// What every service can tell.
    pub message: String,
    /// What is for one kind of service.
    pub parts: BTreeMap<Str, Value>,
}

impl Notification {
    /// A text of the part for a service; empty if there is none.
    pub fn text(&self, service: &str, path: &[&str]) -> &str {
        let part = self.parts.get(service);
        let found = part.and_then(|part| path.iter().try_fold(part, |part, name| named(part, name)));
        found.and_then(Value::as_str).unwrap_or_default()
    }

    /// The message as it is printed by commands.
    pub fn to_value(&self) -> Value {
        let mut value = Value::default();
        if !self.message.is_empty() {
            value.set(&["message"], self.message.as_str());
        }
        for (service, part) in &self.parts {
            value.set(&[service.as_str()], part.clone());
        }
        value
    }
}

/// What came of filling templates.
pub enum Render {
    /// A message.
    Filled(Notification),
    /// Something has to be found out first.
    Needs(Vec<Need>),
}

/// All templates of a configuration.
#[derive(Default)]
pub struct Templates {
    templates: BTreeMap<Str, Value>,
}

static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
    let mut all = sprig::functions();
    for name in ["env", "expandenv", "getHostByName"] {
        all.remove(name);
    }
    Arc::new(all)
});

/// The fields that a part has even if nobody wrote them.
const DEFAULTS: [(&str, &str, &str); 6] = [
    ("github", "repoURLPath", "{{.app.spec.source.repoURL}}"),
    ("github", "revisionPath", "{{.app.status.operationState.syncResult.revision}}"),
    ("newrelic", "revision", "{{.app.status.operationState.syncResult.revision}}"),
    ("newrelic", "changelog", "{{(call .repo.GetCommitMetadata .app.status.sync.revision).Message}}"),
    ("newrelic", "user", "{{(call .repo.GetCommitMetadata .app.status.sync.revision).Author}}"),
    ("alertmanager", "generatorURL", "{{.app.spec.source.repoURL}}"),
];

impl Templates {
    /// Takes the templates of a configuration. What is no template is a fault, and tells what is wrong with it when used.
    pub fn new(config: &Config) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        for (name, template) in &config.templates {
            let set = gotmpl::Templates::new(name.as_str(), Arc::clone(&FUNCTIONS));
            let mut check = |text: &str| {
                if let Err(error) = set.read(&name.as_str().into(), &text.into()) {
                    faults.push(Fault { place: format!("template.{name}"), message: error.to_string() });
                }
                Ok(text.to_owned())
            };
            if let Err(message) = filled(template, &mut check) {
                faults.push(Fault { place: format!("template.{name}"), message });
            }
        }
        (Self { templates: config.templates.clone() }, faults)
    }

    /// Fills templates for somebody; what a later one says goes before what an earlier one said.
    pub fn fill(
        &self,
        wanted: &[Str],
        subject: Subject<'_>,
        to: &Destination,
        now: Timestamp,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Render, Fault> {
        let mut outside = Outside::new(subject, now, random);
        let names = names(subject, &to.service);
        if let gotmpl::Value::Map(map) = &names {
            map.insert("serviceType", gotmpl::Value::str(to.service.as_str()));
            map.insert("recipient", gotmpl::Value::str(to.recipient.as_str()));
        }
        let mut notification = Notification::default();
        let mut result = Ok(());
        for name in wanted {
            result = self.add(&mut notification, name, &names, &mut outside);
            if result.is_err() {
                break;
            }
        }
        let needs = outside.needs();
        if !needs.is_empty() {
            return Ok(Render::Needs(needs));
        }
        result.map(|()| Render::Filled(notification))
    }

    fn add(
        &self,
        notification: &mut Notification,
        name: &str,
        names: &gotmpl::Value,
        outside: &mut Outside<'_>,
    ) -> Result<(), Fault> {
        let fault = |message: String| Fault { place: format!("template.{name}"), message };
        let template =
            self.templates.get(name).ok_or_else(|| fault("there is no such template".to_owned()))?;
        let set = Arc::new(gotmpl::Templates::new(name, Arc::clone(&FUNCTIONS)));
        let options = gotmpl::Options { limits: limits::TEMPLATE, ..gotmpl::Options::default() };
        let mut context = gotmpl::Context::new(set, outside, options);
        let mut size = 0;
        let mut fill = |text: &str| -> Result<String, String> {
            let text = if text.contains("{{") {
                let parsed =
                    context.parse_text(&name.into(), &text.into()).map_err(|error| error.to_string())?;
                let filled =
                    context.execute_text(&parsed, names.clone()).map_err(|error| error.to_string())?;
                String::from_utf8_lossy(&filled.bytes()).into_owned()
            } else {
                text.to_owned()
            };
            size += text.len();
            if size > limits::MESSAGE_BYTES {
                return Err(format!("the message has more than {} bytes", limits::MESSAGE_BYTES));
            }
            Ok(text)
        };
        let filled = filled(&with_defaults(name, template), &mut fill).map_err(fault)?;
        for (field, value) in filled.as_map().into_iter().flat_map(|map| map.iter()) {
            if field == "message" {
                let message = text(value).map_err(fault)?;
                if !message.is_empty() {
                    notification.message = message.to_string();
                }
            } else {
                overlay(notification.parts.entry(field.into()).or_default(), value);
            }
        }
        Ok(())
    }
}

/// A template with the fields that its parts have by themselves.
fn with_defaults(name: &str, template: &Value) -> Value {
    let mut template = template.clone();
    for (part, field, text) in DEFAULTS {
        let Some(found) = template.get(part).filter(|found| found.as_map().is_some()) else { continue };
        if found.str_at(&[field]).unwrap_or_default().is_empty() {
            template.set(&[part, field], text);
        }
    }
    if template.at(&["alertmanager", "labels"]).is_some_and(|labels| labels.get("alertname").is_none()) {
        template.set(&["alertmanager", "labels", "alertname"], name);
    }
    template
}

/// A value all of whose texts went through a function.
fn filled(value: &Value, fill: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<Value, String> {
    if let Some(text) = value.as_str() {
        return Ok(Value::from(fill(text)?));
    }
    if let Some(items) = value.as_seq() {
        let items: Result<Vec<Value>, String> = items.iter().map(|item| filled(item, fill)).collect();
        return Ok(Value::from(items?));
    }
    let Some(map) = value.as_map() else { return Ok(value.clone()) };
    let mut result = Value::default();
    let into = result.as_map_or_insert();
    for (key, item) in map.iter() {
        into.insert(key, filled(item, fill)?);
    }
    Ok(result)
}

/// Puts what a template says over what another said; an empty text says nothing.
fn overlay(onto: &mut Value, value: &Value) {
    let Some(map) = value.as_map() else {
        if value.as_str() != Some("") || onto.is_null() {
            *onto = value.clone();
        }
        return;
    };
    let into = onto.as_map_or_insert();
    for (key, item) in map.iter() {
        let mut held = into.get(key).cloned().unwrap_or_default();
        overlay(&mut held, item);
        into.insert(key, held);
    }
}
