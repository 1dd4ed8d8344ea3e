//! The few built-in kinds that are served in more than one shape.

mod autoscaler;
mod event;

use lynceus_object::Object;

use super::resources::Resource;

/// Turns an object of the same kind in another version (or as it is stored) into `to`'s version.
pub fn convert(mut object: Object, to: &Resource) -> Object {
    let from = object.gvk();
    if from.kind == to.kind && (from.group != to.group || from.version != to.version) {
        match (to.kind.as_str(), to.group.as_str(), from.version.as_str(), to.version.as_str()) {
            ("HorizontalPodAutoscaler", _, "v1", "v2") => autoscaler::to_v2(object.value_mut()),
            ("HorizontalPodAutoscaler", _, "v2", "v1") => autoscaler::to_v1(object.value_mut()),
            ("Event", "events.k8s.io", ..) => event::to_events(object.value_mut()),
            ("Event", "", ..) => event::to_core(object.value_mut()),
            _ => {}
        }
    }
    object.set(&["apiVersion"], to.api_version());
    object.set(&["kind"], to.kind.clone());
    object
}
