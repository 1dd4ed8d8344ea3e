//! Endpoints: all addresses of a Service in one object.

use std::collections::BTreeMap;

use lynceus_object::{Object, Value, value};

use super::{
    backends, has_selector, is_headless, note_trigger, ports, reference, services_of, tolerates_unready,
};
use crate::controllers::key::Key;
use crate::controllers::kind::{ENDPOINTS, POD, SERVICE, is_among};
use crate::controllers::steps::Steps;
use crate::controllers::world::World;
use crate::controllers::{Controller, Writer, manager, pods};
use crate::store::{Event, EventKind, Place};

/// The most addresses in one object.
const MOST: usize = 1000;
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Keeps the Endpoints of Services that select pods.
pub(crate) struct Endpoints;

impl Controller for Endpoints {
    fn component(&self) -> &'static str {
        "endpoint-controller"
    }

    fn writer(&self) -> Writer {
        manager!("endpoint-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[SERVICE, POD, ENDPOINTS], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        services_of(event, world, wake);
        if ENDPOINTS.is(&event.place) && event.kind == EventKind::Deleted {
            wake.push(Key::new(SERVICE, event.object.namespace(), event.object.name()));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let stored = world.get(ENDPOINTS, &key.namespace, &key.name);
        let Some(service) = world.find(key) else {
            // Endpoints have no owner reference: they go with the service of the same name.
            if let Some(stored) = stored.filter(|stored| stored.label(MANAGED_BY).is_some()) {
                out.delete(ENDPOINTS, &stored);
            }
            return;
        };
        if service.is_deleting() || !has_selector(&service) {
            return;
        }
        let mut new = fill(
            stored.clone().unwrap_or_else(|| ENDPOINTS.named(&key.namespace, &key.name)),
            &service,
            world,
        );
        if stored.as_ref() == Some(&new) {
            return;
        }
        note_trigger(&mut new, world);
        match stored {
            None => out.create(ENDPOINTS, new),
            Some(_) => out.update(ENDPOINTS, new),
        }
    }
}

fn fill(mut endpoints: Object, service: &Object, world: &World<'_>) -> Object {
    endpoints.remove(&["metadata", "labels"]);
    for (key, value) in service.labels() {
        endpoints.set_label(key, value);
    }
    endpoints.set_label(MANAGED_BY, MANAGER);
    if is_headless(service) {
        endpoints.set_label(HEADLESS, "");
    }
    let subsets = subsets(service, world);
    if subsets.is_empty() {
        endpoints.remove(&["subsets"]);
    } else {
        endpoints.set(&["subsets"], subsets);
    }
    endpoints
}

#[derive(Default)]
struct Subset {
    ready: Vec<Value>,
    unready: Vec<Value>,
    ports: Vec<Value>,
}

fn subsets(service: &Object, world: &World<'_>) -> Vec<Value> {
    let mut by_ports: BTreeMap<String, Subset> = BTreeMap::new();
    for pod in backends(service, world).into_iter().filter(|pod| !pod.is_deleting()).take(MOST) {
        let ports: Vec<Value> = ports(service, &pod).into_iter().map(without_empty_name).collect();
        let key = serde_json::to_string(&Value::from(ports.clone())).unwrap_or_default();
        let subset = by_ports.entry(key).or_default();
        subset.ports = ports;
        let ready = tolerates_unready(service) || pods::is_ready(&pod);
        let list = if ready { &mut subset.ready } else { &mut subset.unready };
        list.push(value!({
            "ip": pod.value().str_at(&["status", "podIP"]).unwrap_or_default(),
            "nodeName": pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default(),
            "targetRef": reference(&pod),
        }));
    }
    by_ports.into_values().map(Subset::print).collect()
}

impl Subset {
    fn print(mut self) -> Value {
        let mut out = Value::default();
        for (field, mut list) in [("addresses", self.ready), ("notReadyAddresses", self.unready)] {
            if !list.is_empty() {
                list.sort_by(|a, b| a.str_at(&["ip"]).cmp(&b.str_at(&["ip"])));
                out.set(&[field], list);
            }
        }
        if !self.ports.is_empty() {
            self.ports.sort_by(|a, b| a.str_at(&["name"]).cmp(&b.str_at(&["name"])));
            out.set(&["ports"], self.ports);
        }
        out
    }
}

fn without_empty_name(mut port: Value) -> Value {
    if port.str_at(&["name"]) == Some("") {
        port.remove(&["name"]);
    }
    port
}
