//! The configuration of notifications, ready to be used.

use std::collections::BTreeMap;

use lynceus_cluster::Cache;
use lynceus_notify::{Config, Redactor, Service, Sources, Templates, Triggers};
use lynceus_object::{ObjectKey, Str};

/// Where it stands.
pub(super) const CONFIG_MAP: &str = "argocd-notifications-cm";
pub(super) const SECRET: &str = "argocd-notifications-secret";

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
    /// Reads it from the settings of a namespace.
    pub(super) fn read(cache: &Cache, namespace: &str) -> Self {
        let config_map = cache.get(&ObjectKey::new("", "ConfigMap", namespace, CONFIG_MAP));
        let secret = cache.get(&ObjectKey::new("", "Secret", namespace, SECRET));
        let config = Config::read(Sources {
            config_map: config_map.as_ref().map(|object| object.value()),
            secret: secret.as_ref().map(|object| object.value()),
            self_service: None,
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

    /// Whether there is nothing that could be told.
    pub(super) fn is_closed(&self) -> bool {
        self.config.triggers.is_empty() || self.services.is_empty()
    }
}
