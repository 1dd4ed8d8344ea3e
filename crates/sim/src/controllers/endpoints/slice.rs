//! EndpointSlices: the addresses of a Service, a hundred at a time.

use std::collections::BTreeMap;

use lynceus_object::{Object, Value, value};

use super::{
    backends, has_selector, is_headless, note_trigger, ports, reference, services_of, tolerates_unready,
};
use crate::controllers::key::Key;
use crate::controllers::kind::{ENDPOINT_SLICE, NODE, POD, SERVICE, is_among};
use crate::controllers::steps::Steps;
use crate::controllers::world::World;
use crate::controllers::{Controller, Writer, manager, pods};
use crate::store::{Event, Place};

/// The most addresses in one slice.
const MOST: usize = 100;
const SERVICE_LABEL: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const HEADLESS: &str = "service.kubernetes.io/headless";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Keeps the EndpointSlices of Services that select pods.
pub(crate) struct EndpointSlices;

impl Controller for EndpointSlices {
    fn component(&self) -> &'static str {
        "endpoint-slice-controller"
    }

    fn writer(&self) -> Writer {
        manager!("endpointslice-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[SERVICE, POD, ENDPOINT_SLICE], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        services_of(event, world, wake);
        if ENDPOINT_SLICE.is(&event.place)
            && event.object.label(MANAGED_BY) == Some(MANAGER)
            && let Some(service) = event.object.label(SERVICE_LABEL)
        {
            wake.push(Key::new(SERVICE, event.object.namespace(), service));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(service) = world.find(key) else { return };
        if service.is_deleting() || !has_selector(&service) {
            return;
        }
        let mine = |slice: &Object| {
            slice.label(SERVICE_LABEL) == Some(service.name()) && slice.label(MANAGED_BY) == Some(MANAGER)
        };
        let mut stored: Vec<Object> =
            world.list(ENDPOINT_SLICE, service.namespace()).into_iter().filter(mine).collect();
        for (ports, endpoints) in wanted(&service, world) {
            match take_for(&mut stored, &ports) {
                Some(old) => {
                    let mut new = fill(old.clone(), &service, &ports, endpoints);
                    if new != old {
                        note_trigger(&mut new, world);
                        out.update(ENDPOINT_SLICE, new);
                    }
                }
                None => {
                    let mut new = fill(empty(&service), &service, &ports, endpoints);
                    note_trigger(&mut new, world);
                    out.create(ENDPOINT_SLICE, new);
                }
            }
        }
        stored.iter().for_each(|slice| out.delete(ENDPOINT_SLICE, slice));
    }
}

/// The slices that a service should have: its pods by their ports, a hundred each.
fn wanted(service: &Object, world: &World<'_>) -> Vec<(Value, Vec<Value>)> {
    let mut by_ports: BTreeMap<String, (Value, Vec<Value>)> = BTreeMap::new();
    for pod in backends(service, world) {
        let ports = Value::from(ports(service, &pod));
        let key = serde_json::to_string(&ports).unwrap_or_default();
        let group = by_ports.entry(key).or_insert_with(|| (ports, Vec::new()));
        group.1.push(endpoint(service, &pod, world));
    }
    let mut out = Vec::new();
    for (ports, endpoints) in by_ports.into_values() {
        out.extend(endpoints.chunks(MOST).map(|chunk| (ports.clone(), chunk.to_vec())));
    }
    if out.is_empty() {
        // A service without pods has one slice without addresses.
        out.push((Value::Null, Vec::new()));
    }
    out
}

fn endpoint(service: &Object, pod: &Object, world: &World<'_>) -> Value {
    let ready = pods::is_ready(pod);
    let terminating = pod.is_deleting();
    let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
    let mut endpoint = value!({
        "addresses": [pod.value().str_at(&["status", "podIP"]).unwrap_or_default()],
        "conditions": {
            "ready": tolerates_unready(service) || (ready && !terminating),
            "serving": ready, "terminating": terminating,
        },
        "nodeName": node,
        "targetRef": reference(pod),
    });
    if let Some(zone) = world.get(NODE, "", node).and_then(|node| node.label(ZONE).map(str::to_owned)) {
        endpoint.set(&["zone"], zone);
    }
    let subdomain = pod.value().str_at(&["spec", "subdomain"]);
    if let Some(hostname) = pod.at(&["spec", "hostname"])
        && subdomain == Some(service.name())
    {
        endpoint.set(&["hostname"], hostname.clone());
    }
    endpoint
}

/// A slice to write to: one with the same ports if there is one.
fn take_for(stored: &mut Vec<Object>, ports: &Value) -> Option<Object> {
    let same = stored.iter().position(|slice| slice.at(&["ports"]).unwrap_or(&Value::Null) == ports);
    same.or(if stored.is_empty() { None } else { Some(0) }).map(|at| stored.remove(at))
}

fn empty(service: &Object) -> Object {
    let mut slice = ENDPOINT_SLICE.generated(service.namespace(), &format!("{}-", service.name()));
    slice.set(&["metadata", "ownerReferences"], vec![pods::controller_ref(service)]);
    let v6 = service.value().str_at(&["spec", "clusterIP"]).is_some_and(|ip| ip.contains(':'));
    slice.set(&["addressType"], if v6 { "IPv6" } else { "IPv4" });
    slice
}

fn fill(mut slice: Object, service: &Object, ports: &Value, endpoints: Vec<Value>) -> Object {
    slice.remove(&["metadata", "labels"]);
    for (key, value) in service.labels() {
        slice.set_label(key, value);
    }
    slice.set_label(SERVICE_LABEL, service.name());
    slice.set_label(MANAGED_BY, MANAGER);
    if is_headless(service) {
        slice.set_label(HEADLESS, "");
    }
    slice.set(&["ports"], ports.clone());
    // Go writes a list that was never filled as null.
    let endpoints = if endpoints.is_empty() { Value::Null } else { endpoints.into() };
    slice.set(&["endpoints"], endpoints);
    slice
}
