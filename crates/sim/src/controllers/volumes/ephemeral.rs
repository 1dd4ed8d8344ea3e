//! Claims that live and die with one pod.

use lynceus_object::Object;

use crate::controllers::key::Key;
use crate::controllers::kind::{CLAIM, POD, is_among};
use crate::controllers::steps::{Announcement, Step, Steps};
use crate::controllers::world::World;
use crate::controllers::{Controller, Refusal, Writer, manager, pods};
use crate::store::{Event, Place};

/// Makes the claims of pods whose volumes bring a template along.
pub(crate) struct EphemeralVolumes;

impl Controller for EphemeralVolumes {
    fn component(&self) -> &'static str {
        "ephemeral_volume"
    }

    fn writer(&self) -> Writer {
        manager!("ephemeral-volume-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[POD], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if POD.is(&event.place) && event.previous.is_none() && has_templates(&event.object) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key).filter(pods::is_active) else { return };
        for volume in pod.value().items_at(&["spec", "volumes"]) {
            let Some(template) = volume.at(&["ephemeral", "volumeClaimTemplate"]) else { continue };
            let name = format!("{}-{}", pod.name(), volume.str_at(&["name"]).unwrap_or_default());
            if world.get(CLAIM, pod.namespace(), &name).is_some() {
                continue;
            }
            let mut claim = CLAIM.named(pod.namespace(), &name);
            for field in ["labels", "annotations"] {
                if let Some(value) = template.at(&["metadata", field]) {
                    claim.set(&["metadata", field], value.clone());
                }
            }
            claim.set(&["metadata", "ownerReferences"], vec![pods::controller_ref(&pod)]);
            if let Some(spec) = template.get("spec") {
                claim.set(&["spec"], spec.clone());
            }
            out.create(CLAIM, claim);
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let Step::Create { object, .. } = why.step else { return };
        if let Some(pod) = world.find(key) {
            let volume = object.name().strip_prefix(pod.name()).unwrap_or_default().trim_start_matches('-');
            let message = format!("ephemeral volume {volume}: create PVC {}: {}", object.name(), why.error);
            out.announce(Announcement::warning(&pod, "FailedBinding", message));
        }
    }
}

fn has_templates(pod: &Object) -> bool {
    pod.value().items_at(&["spec", "volumes"]).iter().any(|volume| volume.get("ephemeral").is_some())
}
