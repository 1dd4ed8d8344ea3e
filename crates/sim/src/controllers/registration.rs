//! APIServices: what the API server says of each version of each group that it serves itself, and whether those that are
//! behind a Service are there. Nobody is asked: a Service with a ready endpoint counts as one that answers.

use lynceus_object::{Object, Str, Value};

use super::key::Key;
use super::kind::{API_SERVICE, DEFINITION, ENDPOINT_SLICE, SERVICE, is_among};
use super::steps::Steps;
use super::world::World;
use super::{Controller, Writer, condition};
use crate::store::{Event, Place};

/// Who keeps an object, and how: from the start only, or always.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
const AT_START: &str = "onstart";
const ALWAYS: &str = "true";

/// The priorities that definitions have: that of the group, and that of the version.
const OF_DEFINITIONS: (i64, i64) = (1000, 100);

/// Versions, each with its priority.
type Versions = &'static [(&'static str, i64)];

/// The priorities of the built-in groups, and of their versions.
const BUILT_IN: [(&str, i64, Versions); 21] = [
    ("", 18000, &[("v1", 1)]),
    ("apps", 17800, &[("v1", 15)]),
    ("events.k8s.io", 17750, &[("v1", 15)]),
    ("authentication.k8s.io", 17700, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("authorization.k8s.io", 17600, &[("v1", 15)]),
    ("autoscaling", 17500, &[("v2", 30), ("v1", 15)]),
    ("batch", 17400, &[("v1", 15)]),
    ("certificates.k8s.io", 17300, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("networking.k8s.io", 17200, &[("v1", 15), ("v1beta1", 9)]),
    ("policy", 17100, &[("v1", 15)]),
    ("rbac.authorization.k8s.io", 17000, &[("v1", 15)]),
    ("storage.k8s.io", 16800, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("apiextensions.k8s.io", 16700, &[("v1", 15)]),
    ("admissionregistration.k8s.io", 16700, &[("v1", 15), ("v1beta1", 12), ("v1alpha1", 9)]),
    ("scheduling.k8s.io", 16600, &[("v1", 15), ("v1alpha2", 2)]),
    ("coordination.k8s.io", 16500, &[("v1", 15), ("v1beta1", 13), ("v1alpha2", 12)]),
    ("node.k8s.io", 16300, &[("v1", 15)]),
    ("discovery.k8s.io", 16200, &[("v1", 15)]),
    ("resource.k8s.io", 16200, &[("v1", 21), ("v1beta2", 15), ("v1beta1", 9), ("v1alpha3", 1)]),
    ("flowcontrol.apiserver.k8s.io", 16100, &[("v1", 21)]),
    ("storagemigration.k8s.io", 15800, &[("v1beta1", 9)]),
];

/// Keeps the APIServices of what is served here.
pub(crate) struct Registrations;

impl Controller for Registrations {
    fn component(&self) -> &'static str {
        "kube-apiserver"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:apiserver", manager: "kube-apiserver" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[DEFINITION, API_SERVICE, SERVICE, ENDPOINT_SLICE], place)
    }

    fn begin(&mut self, world: &World<'_>, out: &mut Steps) {
        let registry = world.local.registry();
        for (group, rank, versions) in BUILT_IN {
            for (version, version_rank) in versions {
                let is_served = registry.of_version(group, version).next().is_some();
                if is_served && world.get(API_SERVICE, "", &name_of(group, version)).is_none() {
                    out.create(API_SERVICE, service(group, version, AT_START, (rank, *version_rank)));
                }
            }
        }
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if DEFINITION.is(&event.place) {
            let before = event.previous.iter().flat_map(versions);
            let names =
                before.chain(versions(&event.object)).map(|(group, version)| name_of(&group, &version));
            wake.extend(names.map(|name| Key::new(API_SERVICE, "", &name)));
        } else if API_SERVICE.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if let Some((namespace, name)) = service_of(event) {
            let behind = |one: &&Object| {
                let text = |field| one.value().str_at(&["spec", "service", field]);
                text("namespace") == Some(namespace) && text("name") == Some(name)
            };
            let services = world.list_all(API_SERVICE);
            wake.extend(services.iter().filter(behind).map(|one| Key::of(&API_SERVICE.place(), one)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let stored = world.find(key);
        let Some((version, group)) = key.name.split_once('.') else { return };
        let is_it = |(its_group, its_version): (Str, Str)| its_group == group && its_version == version;
        let is_defined = world
            .list_all(DEFINITION)
            .iter()
            .any(|definition| !definition.is_deleting() && versions(definition).into_iter().any(is_it));
        match stored {
            None if is_defined => {
                out.create(API_SERVICE, service(group, version, ALWAYS, OF_DEFINITIONS));
            }
            Some(stored) if is_elsewhere(&stored) => {
                let mut new = stored.clone();
                condition::replace(&mut new, availability(&stored, world));
                out.status_if_changed(API_SERVICE, &stored, new);
            }
            Some(stored) if !is_defined && stored.label(MANAGED) == Some(ALWAYS) => {
                out.delete(API_SERVICE, &stored);
            }
            _ => {}
        }
    }
}

/// The Service that a change is about: its namespace and name.
fn service_of(event: &Event) -> Option<(&str, &str)> {
    let object = &event.object;
    let name = match event.place.resource.as_str() {
        "services" => object.name(),
        _ => object.label(SERVICE_LABEL)?,
    };
    Some((object.namespace(), name))
}

const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// Whether a group is served by somebody else.
fn is_elsewhere(service: &Object) -> bool {
    service.at(&["spec", "service"]).is_some_and(|service| !service.is_null())
}

/// Whether the Service behind an APIService is there.
fn availability(service: &Object, world: &World<'_>) -> Value {
    let text = |field: &str| service.value().str_at(&["spec", "service", field]).unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let said = |status: &str, reason: &str, message: &str| {
        condition::new("Available", status, reason, message, world.now)
    };
    let Some(found) = world.get(SERVICE, namespace, name) else {
        return said("False", "ServiceNotFound", &format!("service/{name} in {namespace:?} is not present"));
    };
    if found.value().str_at(&["spec", "type"]) == Some("ClusterIP") {
        let port = service.value().int_at(&["spec", "service", "port"]).unwrap_or(443);
        let ports = found.value().items_at(&["spec", "ports"]);
        let Some(known) = ports.iter().find(|known| known.int_at(&["port"]) == Some(port)) else {
            let message = format!("service/{name} in {namespace:?} is not listening on port {port}");
            return said("False", "ServicePortError", &message);
        };
        let port = known.str_at(&["name"]).unwrap_or_default();
        let mut slices = world.list(ENDPOINT_SLICE, namespace);
        slices.retain(|slice| slice.label(SERVICE_LABEL) == Some(name));
        if slices.is_empty() {
            let message = format!("cannot find endpointslices for service/{name} in {namespace:?}");
            return said("False", "EndpointsNotFound", &message);
        }
        if !slices.iter().any(|slice| has_ready(slice, port)) {
            let message = format!(
                "endpointslices for service/{name} in {namespace:?} have no addresses with port name {port:?}"
            );
            return said("False", "MissingEndpoints", &message);
        }
    }
    said("True", "Passed", "all checks passed")
}

/// Whether somebody is ready behind a port.
fn has_ready(slice: &Object, port: &str) -> bool {
    let is_ready = |endpoint: &Value| endpoint.bool_at(&["conditions", "ready"]) != Some(false);
    let is_it = |known: &Value| {
        known.str_at(&["name"]).unwrap_or_default() == port && known.int_at(&["port"]).is_some()
    };
    slice.value().items_at(&["endpoints"]).iter().any(is_ready)
        && slice.value().items_at(&["ports"]).iter().any(is_it)
}

/// The versions that a definition serves, with its group.
fn versions(definition: &Object) -> Vec<(Str, Str)> {
    let group = definition.value().str_at(&["spec", "group"]).unwrap_or_default();
    let served = definition.value().items_at(&["spec", "versions"]).iter();
    served
        .filter(|version| version.bool_at(&["served"]) == Some(true))
        .filter_map(|version| Some((group.into(), version.str_at(&["name"])?.into())))
        .collect()
}

fn name_of(group: &str, version: &str) -> String {
    format!("{version}.{group}")
}

fn service(group: &str, version: &str, managed: &str, (group_rank, version_rank): (i64, i64)) -> Object {
    let mut service = API_SERVICE.named("", &name_of(group, version));
    service.set_label(MANAGED, managed);
    if !group.is_empty() {
        service.set(&["spec", "group"], group);
    }
    service.set(&["spec", "version"], version);
    service.set(&["spec", "groupPriorityMinimum"], group_rank);
    service.set(&["spec", "versionPriority"], version_rank);
    service
}
