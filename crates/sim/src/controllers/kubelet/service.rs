//! The Services that programs need.

use lynceus_object::{Object, Str};

use super::program::Program;
use super::scene::Scene;
use crate::controllers::kind::{ENDPOINT_SLICE, SERVICE};
use crate::store::Event;

const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// Remembers what a pod needs, so that it is looked at when that comes or goes.
pub(super) fn note(scene: &mut Scene<'_>, program: &Program) {
    if let Some(need) = &program.needs {
        let namespace = need.namespace.clone().unwrap_or_else(|| scene.pod.namespace().into());
        scene.memory.needs.push((namespace, need.service.clone()));
    }
}

/// Whether a program has the Service that it needs: one with a ready endpoint, and with the port.
pub(super) fn is_there(scene: &Scene<'_>, program: &Program) -> bool {
    let Some(need) = &program.needs else { return true };
    let namespace = need.namespace.as_deref().unwrap_or_else(|| scene.pod.namespace());
    let Some(service) = scene.world.get(SERVICE, namespace, &need.service) else { return false };
    let spec = |path: &str| service.value().items_at(&["spec", path]);
    if need.port.is_some_and(|port| !spec("ports").iter().any(|known| known.int_at(&["port"]) == Some(port)))
    {
        return false;
    }
    if service.value().str_at(&["spec", "type"]) == Some("ExternalName") {
        return true;
    }
    let slices = scene.world.list(ENDPOINT_SLICE, namespace);
    slices.iter().filter(|slice| slice.label(SERVICE_LABEL) == Some(&need.service)).any(has_ready)
}

fn has_ready(slice: &Object) -> bool {
    let endpoints = slice.value().items_at(&["endpoints"]);
    endpoints.iter().any(|endpoint| endpoint.bool_at(&["conditions", "ready"]) != Some(false))
}

/// The Service that a change is about: its namespace and name.
pub(super) fn changed(event: &Event) -> Option<(Str, Str)> {
    let name = if SERVICE.is(&event.place) {
        event.object.name()
    } else if ENDPOINT_SLICE.is(&event.place) {
        event.object.label(SERVICE_LABEL)?
    } else {
        return None;
    };
    Some((event.object.namespace().into(), name.into()))
}
