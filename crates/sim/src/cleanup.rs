//! A definition that is deleted takes its instances with it.

use lynceus_object::Object;

use crate::clock;
use crate::core::Core;
use crate::crd;
use crate::store::{Expect, Place, Write};
use crate::view::View;

/// Deletes the instances of definitions that are being deleted, and then the definitions. Instances
/// with finalizers are marked, and looked at again when they go.
pub(crate) fn run(core: &Core, definitions: &Place) {
    let (stored, _) = core.store.read_all(definitions, None);
    for definition in stored.iter().filter(|definition| is_due(definition)) {
        let text = |path: &[&str]| definition.value().str_at(path).unwrap_or_default();
        let place = Place::new(text(&["spec", "group"]), text(&["spec", "names", "plural"]));
        for instance in core.store.list(&place.group, &place.resource, None) {
            remove(core, &place, instance);
        }
        if !core.store.list(&place.group, &place.resource, None).is_empty() {
            continue;
        }
        let mut cleaned = definition.clone();
        crd::mark_cleaned_up(&mut cleaned);
        let gone = cleaned.finalizers().next().is_none();
        write(core, definitions, cleaned, gone);
    }
}

fn is_due(definition: &Object) -> bool {
    definition.is_deleting() && definition.finalizers().any(|finalizer| finalizer == crd::CLEANUP)
}

fn remove(core: &Core, place: &Place, mut instance: Object) {
    if instance.finalizers().next().is_none() {
        write(core, place, instance, true);
    } else if !instance.is_deleting() {
        instance.set(&["metadata", "deletionTimestamp"], clock::text(core.now()));
        instance.set(&["metadata", "deletionGracePeriodSeconds"], 0);
        write(core, place, instance, false);
    }
}

/// Whoever was faster has had the same to do: it is looked at again after their write.
fn write(core: &Core, place: &Place, object: Object, delete: bool) {
    let Ok(revision) = object.resource_version().parse() else { return };
    let expect = Expect::Revision(revision);
    if let Err(error) = core.store.write(Write { place: place.clone(), object, expect, delete }) {
        tracing::debug!(%error, "cleaning up after a definition will be tried again");
    }
}
