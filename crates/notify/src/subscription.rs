//! Who listens to which trigger of an application.

use std::collections::BTreeMap;

use lynceus_object::{Object, Str, Value, yaml};

use crate::config::{Config, Fault, texts};

/// Somebody to send a message to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destination {
    /// The name of the service.
    pub service: Str,
    /// Whom the service is to tell.
    pub recipient: Str,
}

impl Destination {
    /// From `service:recipient`, as subscriptions and commands have it.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split(':');
        let service = parts.next().unwrap_or_default().into();
        Destination { service, recipient: parts.next().unwrap_or_default().into() }
    }
}

/// Who listens, and which subscriptions cannot be read.
#[derive(Debug, Default)]
pub struct Destinations {
    /// The destinations of each trigger, each once.
    pub of_triggers: BTreeMap<Str, Vec<Destination>>,
    /// What is wrong with annotations.
    pub faults: Vec<Fault>,
}

const PREFIX: &str = "notifications.argoproj.io/subscribe.";
const LIST: &str = "notifications.argoproj.io/subscriptions";
const LEGACY: &str = "recipients.argocd-notifications.argoproj.io";

impl Config {
    /// Who listens to an application: by the configuration, by its own annotations, and by those of its project.
    pub fn destinations(&self, application: &Object, project: Option<&Object>) -> Destinations {
        let mut found = Found { config: self, destinations: Destinations::default() };
        found.global(application);
        for object in [Some(application), project].into_iter().flatten() {
            for (name, text) in object.annotations() {
                found.annotation(name, text);
            }
        }
        found.destinations
    }
}

struct Found<'a> {
    config: &'a Config,
    destinations: Destinations,
}

impl Found<'_> {
    fn add(&mut self, trigger: &str, destination: &Destination) {
        let known = self.destinations.of_triggers.entry(trigger.into()).or_default();
        if !known.contains(destination) {
            known.push(destination.clone());
        }
    }

    fn global(&mut self, application: &Object) {
        for subscription in &self.config.subscriptions {
            if !subscription.selector.matches_object(application) {
                continue;
            }
            let triggers = match subscription.triggers.as_slice() {
                [] => &self.config.default_triggers,
                _ => &subscription.triggers,
            };
            for trigger in triggers {
                for recipient in &subscription.recipients {
                    self.add(trigger, &Destination::parse(recipient));
                }
            }
        }
    }

    fn annotation(&mut self, name: &str, text: &str) {
        if let Some(of) = name.strip_prefix(PREFIX) {
            let parts: Vec<&str> = of.split('.').collect();
            let (trigger, service) = match parts.as_slice() {
                [service] => ("", *service),
                [trigger, service, ..] => (*trigger, *service),
                [] => return,
            };
            let recipients: Vec<&str> = match text {
                "" => vec![""],
                _ => text.split(';').map(str::trim).filter(|one| !one.is_empty()).collect(),
            };
            self.subscribe(trigger, service, &recipients);
        } else if name.starts_with(LIST) {
            self.list(name, text);
        } else if let Some(trigger) = name.strip_suffix(LEGACY) {
            self.legacy(trigger.trim_end_matches('.'), text);
        }
    }

    /// The triggers of a subscription that names one, or none.
    fn triggers(&self, trigger: &str, service: &str) -> Vec<Str> {
        match (trigger, self.config.service_default_triggers.get(service)) {
            ("", Some(triggers)) => triggers.clone(),
            ("", None) => self.config.default_triggers.clone(),
            _ => vec![trigger.into()],
        }
    }

    fn subscribe(&mut self, trigger: &str, service: &str, recipients: &[&str]) {
        for trigger in self.triggers(trigger, service) {
            for recipient in recipients {
                let destination = Destination { service: service.into(), recipient: (*recipient).into() };
                self.add(&trigger, &destination);
            }
        }
    }

    /// What stands in the annotation `subscriptions`: triggers, and destinations with recipients. What cannot be read is
    /// no subscription, and told; the rest counts.
    fn list(&mut self, name: &str, text: &str) {
        let (listed, faults) = listed(text);
        for Listed { trigger, service, recipients } in listed {
            let recipients: Vec<&str> = recipients.iter().map(Str::as_str).collect();
            self.subscribe(&trigger, &service, &recipients);
        }
        let faults = faults.into_iter().map(|message| Fault { place: name.to_owned(), message });
        self.destinations.faults.extend(faults);
    }

    fn legacy(&mut self, trigger: &str, text: &str) {
        for recipient in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let destination = Destination::parse(recipient);
            // The triggers of a service go before the one that is named, as in Argo CD.
            let triggers = match self.config.service_default_triggers.get(&destination.service) {
                Some(triggers) => triggers.clone(),
                None => self.triggers(trigger, ""),
            };
            for trigger in triggers {
                self.add(&trigger, &destination);
            }
        }
    }
}

/// One service of a list of subscriptions, for one trigger; without a name it is for the default ones.
struct Listed {
    trigger: Str,
    service: Str,
    recipients: Vec<Str>,
}

/// What a list says, and what in it says nothing.
fn listed(text: &str) -> (Vec<Listed>, Vec<String>) {
    let value = match yaml::parse_str(text) {
        Ok(value) => value,
        Err(error) => return (Vec::new(), vec![error.to_string()]),
    };
    let Some(items) = value.as_seq() else {
        return (Vec::new(), vec!["this has to be a list of trigger and destinations".to_owned()]);
    };
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let number = at + 1;
        if let Err(message) = item_of(item, &mut all) {
            faults.push(format!("number {number} is left out: {message}"));
        }
    }
    (all, faults)
}

/// One item of a list. Nothing of it counts if any of it is wrong: half of it would tell the wrong people.
fn item_of(item: &Value, all: &mut Vec<Listed>) -> Result<(), String> {
    let field = |name: &str, other: &str| item.get(name).or_else(|| item.get(other));
    let list = |name: &str, value: &Value| texts(value).map_err(|message| format!("{name}: {message}"));
    if item.as_map().is_none() {
        return Err(format!("it has to be a map of trigger and destinations, not {}", item.type_name()));
    }
    let mut triggers = field("trigger", "Trigger").map_or(Ok(Vec::new()), |value| list("trigger", value))?;
    if triggers.is_empty() {
        triggers.push(Str::default());
    }
    let destinations = match field("destinations", "Destinations") {
        Some(value) if !value.is_null() => value
            .as_seq()
            .ok_or_else(|| format!("destinations has to be a list, not {}", value.type_name()))?,
        _ => &[],
    };
    if destinations.is_empty() {
        return Err("it has no destinations, so nobody is told".to_owned());
    }
    let mut found = Vec::new();
    for destination in destinations {
        let service = destination.str_at(&["service"]).ok_or("a destination has no service")?;
        let recipients =
            destination.get("recipients").map_or(Ok(Vec::new()), |value| list("recipients", value))?;
        if recipients.is_empty() {
            return Err(format!(
                "the destination {service} has no recipients; write [\"\"] for a service that needs none"
            ));
        }
        found.extend(triggers.iter().map(|trigger| Listed {
            trigger: trigger.clone(),
            service: service.into(),
            recipients: recipients.clone(),
        }));
    }
    all.extend(found);
    Ok(())
}
