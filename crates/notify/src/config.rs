//! What the operator has configured, from `argocd-notifications-cm` and `argocd-notifications-secret`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Selector, Str, Value, yaml};

use crate::legacy;
use crate::redact::Redactor;

/// The two objects that a configuration is read from. Either may be missing.
#[derive(Clone, Copy, Default)]
pub struct Sources<'a> {
    /// The ConfigMap.
    pub config_map: Option<&'a Value>,
    /// The Secret.
    pub secret: Option<&'a Value>,
    /// The namespace of both, if it is not the installation's own: then the namespace's users have written them.
    pub self_service: Option<&'a str>,
}

/// A configuration. What is wrong in it is a fault beside the rest. It holds secrets, so it cannot be printed.
#[derive(Clone, Default)]
pub struct Config {
    /// The namespace whose users have written it, if that is not the operator.
    pub self_service: Option<Str>,
    /// The conditions of each trigger.
    pub triggers: BTreeMap<Str, Vec<Condition>>,
    /// The templates as they were written.
    pub templates: BTreeMap<Str, Value>,
    /// The services by name.
    pub services: BTreeMap<Str, ServiceConfig>,
    /// Who listens to every application that fits.
    pub subscriptions: Vec<DefaultSubscription>,
    /// The triggers of subscriptions that name none.
    pub default_triggers: Vec<Str>,
    /// The same for subscriptions to one service.
    pub service_default_triggers: BTreeMap<Str, Vec<Str>>,
    /// What templates see under `context`.
    pub context: BTreeMap<Str, Str>,
    /// What the Secret holds.
    pub secrets: BTreeMap<Str, Vec<u8>>,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// One condition of a trigger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The expression that has to be true.
    pub when: Str,
    /// The expression whose value the message is sent once for.
    pub once_per: Str,
    /// What the condition is about.
    pub description: Str,
    /// The templates of the message.
    pub send: Vec<Str>,
}

impl Condition {
    /// The condition as it is written in a ConfigMap.
    pub fn to_value(&self) -> Value {
        let mut value = Value::default();
        let fields = [("oncePer", &self.once_per), ("when", &self.when), ("description", &self.description)];
        for (name, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
            value.set(&[name], text.clone());
        }
        if !self.send.is_empty() {
            let send: Vec<Value> = self.send.iter().map(|name| Value::from(name.clone())).collect();
            value.set(&["send"], Value::from(send));
        }
        value
    }
}

/// A service with its options, in which the names of secrets are replaced by what they are.
#[derive(Clone)]
pub struct ServiceConfig {
    /// What it is: `slack`, `webhook` and the like.
    pub kind: Str,
    /// Its options.
    pub options: Value,
    /// Whether the operator has written it: then it may use what the controller is trusted with.
    pub is_operators: bool,
}

/// Somebody who listens to every application that fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefaultSubscription {
    /// `service:recipient`.
    pub recipients: Vec<Str>,
    /// The triggers; the default ones if there are none.
    pub triggers: Vec<Str>,
    /// The labels of the applications.
    pub selector: Selector,
}

/// Something in the configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Fault {
    /// The key of the ConfigMap, or what else it is about.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl Config {
    /// Reads a configuration.
    pub fn read(sources: Sources<'_>) -> Self {
        let mut config = Config { self_service: sources.self_service.map(Str::from), ..Config::default() };
        if let Some(secret) = sources.secret {
            config.read_secrets(secret);
        }
        let data = sources.config_map.and_then(|map| map.get("data")).and_then(Value::as_map);
        for (key, text) in data.into_iter().flat_map(|data| data.iter()) {
            if let Err(message) = config.take(key, text.as_str().unwrap_or_default()) {
                config.fault(key, message);
            }
        }
        let old = data.and_then(|data| data.get("config.yaml")).and_then(Value::as_str).unwrap_or_default();
        legacy::apply(&mut config, old);
        config
    }

    /// Hides what the Secret holds in texts that people read.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.secrets.values())
    }

    pub(crate) fn fault(&mut self, place: &str, message: impl Into<String>) {
        let message = self.redactor().hide(&message.into());
        self.faults.push(Fault { place: place.to_owned(), message });
    }

    /// Reads what a Secret holds, from `data` and, as files may have it, from `stringData`. What is wrong is told by its key only.
    fn read_secrets(&mut self, secret: &Value) {
        let part =
            |name: &str| secret.get(name).and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        for (key, value) in part("data") {
            match value.as_str().and_then(|text| STANDARD.decode(text).ok()) {
                Some(bytes) => drop(self.secrets.insert(key.into(), bytes)),
                None if value.is_null() => {}
                None => self.fault(
                    "argocd-notifications-secret",
                    format!("data.{key} is not in base64, so ${key} is not known; encode it, or move it to stringData"),
                ),
            }
        }
        for (key, value) in part("stringData") {
            match text(value) {
                Ok(text) => drop(self.secrets.insert(key.into(), text.as_bytes().to_vec())),
                Err(message) => {
                    self.fault("argocd-notifications-secret", format!("stringData.{key}: {message}"))
                }
            }
        }
    }

    fn take(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key.split_once('.') {
            None if key == "subscriptions" => self.subscriptions = self.read_subscriptions(key, text)?,
            None if key == "defaultTriggers" => self.default_triggers = texts(&parse(text)?)?,
            None if key == "context" => self.context = text_map(&parse(text)?)?,
            Some(("defaultTriggers", service)) => {
                self.service_default_triggers.insert(service.into(), texts(&parse(text)?)?);
            }
            Some(("trigger", name)) => {
                self.triggers.insert(name.into(), conditions(&parse(text)?)?);
            }
            Some(("template", name)) => {
                let template = parse(text)?;
                if template.as_map().is_none() && !template.is_null() {
                    return Err("a template is a map with message and parts for services".to_owned());
                }
                self.templates.insert(name.into(), template);
            }
            Some(("service", name)) => self.take_service(key, name, text)?,
            _ => {}
        }
        Ok(())
    }

    fn take_service(&mut self, key: &str, name: &str, text: &str) -> Result<(), String> {
        let (kind, name) = match name.split('.').collect::<Vec<_>>().as_slice() {
            [kind] => (*kind, *kind),
            [kind, name] => (*kind, *name),
            _ => return Err("the key of a service is service.KIND or service.KIND.NAME".to_owned()),
        };
        let mut missing = Vec::new();
        let options = with_secrets(&parse(text)?, &self.secrets, &mut missing);
        for name in missing {
            let message = format!("${name} is not in the Secret; add it, or it is sent as it stands");
            self.fault(key, message);
        }
        self.serve(kind, name, options);
        Ok(())
    }

    pub(crate) fn serve(&mut self, kind: &str, name: &str, options: Value) {
        let is_operators = self.self_service.is_none();
        self.services.insert(name.into(), ServiceConfig { kind: kind.into(), options, is_operators });
    }

    fn read_subscriptions(&mut self, key: &str, text: &str) -> Result<Vec<DefaultSubscription>, String> {
        let value = parse(text)?;
        let mut subscriptions = Vec::new();
        for (at, item) in sequence(&value)?.iter().enumerate() {
            match subscription(item) {
                Ok(subscription) => subscriptions.push(subscription),
                Err(message) => self.fault(key, format!("number {}: {message}", at + 1)),
            }
        }
        Ok(subscriptions)
    }
}

pub(crate) fn subscription(item: &Value) -> Result<DefaultSubscription, String> {
    let list = |name: &str| item.get(name).map_or(Ok(Vec::new()), texts);
    let selector = item.str_at(&["selector"]).unwrap_or_default();
    let selector = Selector::parse(selector).map_err(|error| format!("selector {selector:?}: {error}"))?;
    Ok(DefaultSubscription { recipients: list("recipients")?, triggers: list("triggers")?, selector })
}

pub(crate) fn parse(text: &str) -> Result<Value, String> {
    yaml::parse_str(text).map_err(|error| error.to_string())
}

/// A field by its name, or by a name that differs in nothing but capital letters: Argo CD reads both, and its own examples have both.
pub(crate) fn named<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).or_else(|| {
        let mut fields = value.as_map()?.iter();
        fields.find(|(field, _)| field.as_str().eq_ignore_ascii_case(name)).map(|(_, found)| found)
    })
}

pub(crate) fn conditions(value: &Value) -> Result<Vec<Condition>, String> {
    let condition = |item: &Value| {
        if item.as_map().is_none() {
            return Err("a condition is a map with when and send".to_owned());
        }
        let field = |name: &str| named(item, name).map_or(Ok(Str::default()), text);
        Ok(Condition {
            when: field("when")?,
            once_per: field("oncePer")?,
            description: field("description")?,
            send: named(item, "send").map_or(Ok(Vec::new()), texts)?,
        })
    };
    sequence(value)?.iter().map(condition).collect()
}

fn sequence(value: &Value) -> Result<&[Value], String> {
    match value.as_seq() {
        Some(items) => Ok(items),
        None if value.is_null() => Ok(&[]),
        None => Err(format!("this has to be a list, not {}", value.type_name())),
    }
}

/// A scalar as a text, as Kubernetes' YAML gives it to a field that holds text.
pub(crate) fn text(value: &Value) -> Result<Str, String> {
    if let Some(text) = value.as_str() {
        return Ok(text.into());
    }
    match (value.as_bool(), value.as_int(), value.as_float()) {
        (Some(truth), ..) => Ok(truth.to_string().into()),
        (_, Some(number), _) => Ok(number.to_string().into()),
        (_, _, Some(number)) => Ok(number.to_string().into()),
        _ if value.is_null() => Ok(Str::default()),
        _ => Err(format!("this has to be a text, not {}", value.type_name())),
    }
}

pub(crate) fn texts(value: &Value) -> Result<Vec<Str>, String> {
    sequence(value)?.iter().map(text).collect()
}

pub(crate) fn text_map(value: &Value) -> Result<BTreeMap<Str, Str>, String> {
    match value.as_map() {
        Some(map) => map.iter().map(|(key, item)| Ok((Str::from(key), text(item)?))).collect(),
        None if value.is_null() => Ok(BTreeMap::new()),
        None => Err(format!("this has to be a map, not {}", value.type_name())),
    }
}

/// A value in whose texts every `$name` is what the Secret has under that name.
fn with_secrets(value: &Value, secrets: &BTreeMap<Str, Vec<u8>>, missing: &mut Vec<String>) -> Value {
    if let Some(text) = value.as_str() {
        return Value::from(replace(text, secrets, missing));
    }
    if let Some(items) = value.as_seq() {
        let items: Vec<Value> = items.iter().map(|item| with_secrets(item, secrets, missing)).collect();
        return Value::from(items);
    }
    let Some(map) = value.as_map() else { return value.clone() };
    let mut replaced = Value::default();
    let into = replaced.as_map_or_insert();
    for (key, item) in map.iter() {
        into.insert(Str::from(replace(key, secrets, missing)), with_secrets(item, secrets, missing));
    }
    replaced
}

fn replace(text: &str, secrets: &BTreeMap<Str, Vec<u8>>, missing: &mut Vec<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        result.push_str(before);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = after[1..].find(|c| !is_name(c)).map_or(after.len(), |end| end + 1);
        let (name, tail) = after.split_at(end);
        match secrets.get(&name[1..]) {
            Some(bytes) => result.push_str(&String::from_utf8_lossy(bytes)),
            None => {
                if end > 1 {
                    missing.push(name[1..].to_owned());
                }
                result.push_str(name);
            }
        }
        rest = tail;
    }
    result.push_str(rest);
    result
}
