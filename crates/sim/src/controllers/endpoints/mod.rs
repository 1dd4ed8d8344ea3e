//! Where the traffic of Services goes: EndpointSlices, and Endpoints for those that still read them.

mod legacy;
mod slice;

use lynceus_object::{Object, Value, value};

use super::key::Key;
use super::kind::{POD, SERVICE};
use super::pods;
use super::selector;
use super::world::World;
use crate::store::Event;

pub(crate) use legacy::Endpoints;
pub(crate) use slice::EndpointSlices;

/// The services to look at because of a change of a pod or of a service.
fn services_of(event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
    let object = &event.object;
    if SERVICE.is(&event.place) {
        wake.push(Key::of(&event.place, object));
    } else if POD.is(&event.place) {
        let mut services = world.list(SERVICE, object.namespace());
        services.retain(has_selector);
        if services.is_empty() || !matters(event) {
            return;
        }
        let before = event.previous.as_ref();
        for service in services {
            if selects(&service, object) || before.is_some_and(|pod| selects(&service, pod)) {
                wake.push(Key::of(&SERVICE.place(), &service));
            }
        }
    }
}

/// Most of what happens to a pod does not change where traffic goes.
fn matters(event: &Event) -> bool {
    let Some(before) = &event.previous else { return true };
    let now = &event.object;
    let same = |path: &[&str]| before.at(path) == now.at(path);
    event.kind == crate::store::EventKind::Deleted
        || !same(&["metadata", "labels"])
        || !same(&["status", "podIP"])
        || !same(&["status", "phase"])
        || before.is_deleting() != now.is_deleting()
        || pods::is_ready(before) != pods::is_ready(now)
}

fn has_selector(service: &Object) -> bool {
    service.at(&["spec", "selector"]).is_some_and(|selector| !selector.is_empty())
        && service.value().str_at(&["spec", "type"]) != Some("ExternalName")
}

fn selects(service: &Object, pod: &Object) -> bool {
    has_selector(service)
        && selector::has_all(service.at(&["spec", "selector"]), pod.at(&["metadata", "labels"]))
}

/// The pods that a service sends traffic to, or will, or did.
fn backends(service: &Object, world: &World<'_>) -> Vec<Object> {
    let with_address =
        |pod: &Object| pod.value().str_at(&["status", "podIP"]).is_some_and(|ip| !ip.is_empty());
    world
        .list(POD, service.namespace())
        .into_iter()
        .filter(|pod| selects(service, pod) && with_address(pod) && !pods::is_finished(pod))
        .collect()
}

/// The ports of a service as a pod has them: a name in the pod is a number there.
fn ports(service: &Object, pod: &Object) -> Vec<Value> {
    let mut out = Vec::new();
    for port in service.value().items_at(&["spec", "ports"]) {
        let target = port.get("targetPort").or_else(|| port.get("port"));
        let Some(number) = target.and_then(|target| port_number(target, pod)) else { continue };
        let mut entry = value!({
            "port": number, "protocol": port.str_at(&["protocol"]).unwrap_or("TCP"),
            "name": port.str_at(&["name"]).unwrap_or_default(),
        });
        if let Some(protocol) = port.get("appProtocol") {
            entry.set(&["appProtocol"], protocol.clone());
        }
        out.push(entry);
    }
    out
}

fn port_number(target: &Value, pod: &Object) -> Option<i64> {
    if let Some(number) = target.as_int() {
        return Some(number);
    }
    let name = target.as_str()?;
    pod.value()
        .items_at(&["spec", "containers"])
        .iter()
        .flat_map(|container| container.items_at(&["ports"]))
        .find(|port| port.str_at(&["name"]) == Some(name))
        .and_then(|port| port.int_at(&["containerPort"]))
}

/// Writes down when the change happened that is being written, for those who measure how long it took.
fn note_trigger(object: &mut Object, world: &World<'_>) {
    let now = super::time::stamp(world.now);
    object.set_annotation("endpoints.kubernetes.io/last-change-trigger-time", now);
}

fn reference(pod: &Object) -> Value {
    value!({"kind": "Pod", "namespace": pod.namespace(), "name": pod.name(), "uid": pod.uid()})
}

fn is_headless(service: &Object) -> bool {
    service.value().str_at(&["spec", "clusterIP"]) == Some("None")
}

/// Whether traffic is to be sent to a pod although it is not ready.
fn tolerates_unready(service: &Object) -> bool {
    service.value().bool_at(&["spec", "publishNotReadyAddresses"]) == Some(true)
}
