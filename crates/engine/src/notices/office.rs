//! The configuration of notifications, ready to be used.

use std::collections::BTreeMap;

use lynceus_cluster::{Cache, Cluster};
use lynceus_notify::{Config, Redactor, Service, Sources, Templates, Triggers};
use lynceus_object::{Gvk, Object, ObjectKey, Str};

/// Where it stands.
pub(super) const CONFIG_MAP: &str = "argocd-notifications-cm";
pub(super) const SECRET: &str = "argocd-notifications-secret";

fn keys(namespace: &str) -> [ObjectKey; 2] {
    [("ConfigMap", CONFIG_MAP), ("Secret", SECRET)]
        .map(|(kind, name)| ObjectKey::new("", kind, namespace, name))
}

#[derive(Default)]
pub(super) struct Office {
    pub(super) config: Config,
    pub(super) triggers: Triggers,
    pub(super) templates: Templates,
    pub(super) services: BTreeMap<Str, Service>,
    pub(super) redactor: Redactor,
    /// What is wrong, without secrets.
    pub(super) faults: Vec<String>,
}

impl Office {
    /// The operator's, from the settings of the installation's namespace.
    pub(super) fn of_operator(cache: &Cache, namespace: &str) -> Self {
        let [config_map, secret] = keys(namespace).map(|key| cache.get(&key));
        Self::new(config_map.as_ref(), secret.as_ref(), None)
    }

    /// That of the users of a namespace. What cannot be read is a fault, and nothing is told by it.
    pub(super) async fn of_namespace(home: &Cluster, namespace: &str) -> Self {
        let mut found = [None, None];
        for (key, place) in keys(namespace).iter().zip(&mut found) {
            match home.live(key, &Gvk::new("", "v1", key.kind.as_str())).await {
                Ok(object) => *place = object,
                Err(error) => {
                    let faults = vec![format!("{key} cannot be read: {}", crate::words(&error))];
                    return Office { faults, ..Office::default() };
                }
            }
        }
        let [config_map, secret] = &found;
        Self::new(config_map.as_ref(), secret.as_ref(), Some(namespace))
    }

    fn new(config_map: Option<&Object>, secret: Option<&Object>, self_service: Option<&str>) -> Self {
        let config = Config::read(Sources {
            config_map: config_map.map(|object| object.value()),
            secret: secret.map(|object| object.value()),
            self_service,
        });
        let redactor = config.redactor();
        let (triggers, of_triggers) = Triggers::new(&config);
        let (templates, of_templates) = Templates::new(&config);
        let mut services = BTreeMap::new();
        let mut faults: Vec<String> = config
            .faults
            .iter()
            .chain(&of_triggers)
            .chain(&of_templates)
            .map(|fault| redactor.hide(&fault.to_string()))
            .collect();
        for (name, service) in &config.services {
            match Service::new(service) {
                Ok(service) => drop(services.insert(name.clone(), service)),
                Err(message) => faults.push(redactor.hide(&format!("service {name}: {message}"))),
            }
        }
        Office { config, triggers, templates, services, redactor, faults }
    }

    /// Whether it counts for the applications of a namespace.
    pub(super) fn serves(&self, namespace: &str) -> bool {
        self.config.self_service.as_ref().is_none_or(|own| own == namespace)
    }

    /// Whether there is nothing that could be told.
    pub(super) fn is_closed(&self) -> bool {
        self.config.triggers.is_empty() || self.services.is_empty()
    }
}
