//! Who manages which field: `metadata.managedFields` on every write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lynceus_object::apply::{self, ApplyError, Conflicts, FieldSet, Managers, Options, Precedent};
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Gvk, Object, Str, Value, value};

use super::Call;
use crate::core::Core;
use crate::hash::QuickMap;
use crate::kinds::Resource;
use crate::{ApiError, limits, strategy};

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Records what this call changed between `old` and `new`.
pub(super) fn track(core: &Core, call: &Call, old: Option<&Object>, new: &mut Object) {
    // The real server keeps this number in a field of its own, which it reads from and writes to the
    // annotation: whoever writes a DaemonSet has it.
    if call.resource.is("apps", "daemonsets") && new.annotation(TEMPLATE_GENERATION).is_none() {
        let number = old.and_then(|old| old.annotation(TEMPLATE_GENERATION)).unwrap_or("0");
        new.set_annotation(TEMPLATE_GENERATION, number);
    }
    with_options(core, call, |options| match old {
        None if call.subresource.is_empty() => core.precedents.track(&call.resource, new, options),
        old => apply::track_update(old, new, options),
    });
}

/// By kind and maker, what the last object came to that was made like that.
#[derive(Debug, Default)]
pub(crate) struct Precedents(Mutex<QuickMap<(Gvk, Str), Arc<Precedent>>>);

impl Precedents {
    fn track(&self, resource: &Resource, new: &mut Object, options: &Options<'_>) {
        let key = (resource.gvk(), options.manager.into());
        let known = self.lock().get(&key).cloned();
        if let Some(set) = apply::track_create(new, known.as_deref(), options) {
            let mut precedents = self.lock();
            if precedents.len() >= limits::PRECEDENTS {
                precedents.clear();
            }
            precedents.insert(key, Arc::new(set));
        }
    }

    fn lock(&self) -> MutexGuard<'_, QuickMap<(Gvk, Str), Arc<Precedent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records in `object` who wrote its number of replicas through its Scale.
pub(super) fn track_scale(
    core: &Core,
    call: &Call,
    before: &Object,
    after: &mut Object,
    object: &mut Object,
) {
    let replicas = strategy::replicas_path(&call.resource);
    let parent = Managers::of(object).unwrap_or_default();
    let mut before = before.clone();
    apply::scale_to_subresource(&parent, &replicas).write(&mut before);
    after.remove(&["metadata", "managedFields"]);
    let gvk = Gvk::new("autoscaling", "v1", "Scale");
    let options = Options {
        manager: &call.options.manager,
        ty: schema::builtin().of(&gvk).unwrap_or_else(TypeRef::untyped),
        api_version: &gvk.api_version(),
        subresource: "scale",
        reset: &FieldSet::of_fields(&[&["status"]]),
        now: core.now(),
    };
    if before.at(&["spec", "replicas"]) == after.at(&["spec", "replicas"]) {
        return;
    }
    apply::track_update(Some(&before), after, &options);
    let scale = Managers::of(after).unwrap_or_default();
    after.remove(&["metadata", "managedFields"]);
    let api_version = call.resource.api_version();
    apply::scale_to_parent(&parent, &scale, &replicas, &api_version).write(object);
    // The real server forgets the time on the way.
    let entries = object.value_mut().at_mut(&["metadata", "managedFields"]).and_then(Value::as_seq_mut);
    for entry in entries.into_iter().flat_map(|entries| entries.make_mut()) {
        if entry.str_at(&["subresource"]) == Some("scale") {
            entry.remove(&["time"]);
        }
    }
}

/// Notes what a part of the control plane changed in the status of an object.
pub(crate) fn track_status(core: &Core, resource: &Resource, manager: &str, old: &Object, new: &mut Object) {
    let options = Options {
        manager,
        ty: strategy::schema(resource),
        api_version: &resource.api_version(),
        subresource: "status",
        reset: &FieldSet::of_fields(&[&["spec"]]),
        now: core.now(),
    };
    apply::track_update(Some(old), new, &options);
}

/// The object after a server-side apply of `config`, with its managers. It still wants its defaults.
pub(super) fn apply(
    core: &Core,
    call: &Call,
    current: Option<&Object>,
    config: &Object,
) -> Result<Object, ApiError> {
    let force = call.options.force;
    with_options(core, call, |options| apply::apply(current, config, options, force)).map_err(|error| {
        match error {
            ApplyError::Conflicts(conflicts) => conflict(&conflicts),
            ApplyError::BadRequest(message) => ApiError::bad_request(message),
            ApplyError::Failed(message) => ApiError::new(500, "", message),
        }
    })
}

fn with_options<T>(core: &Core, call: &Call, run: impl FnOnce(&Options<'_>) -> T) -> T {
    let resource = &call.resource;
    let has_status = resource.subresource("status").is_some();
    let kind = resource.gvk().group_kind();
    let reset: FieldSet =
        apply::reset_fields(&kind, &call.subresource, has_status, resource.custom.is_none());
    run(&Options {
        manager: &call.options.manager,
        ty: strategy::schema(resource),
        api_version: &resource.api_version(),
        subresource: &call.subresource,
        reset: &reset,
        now: core.now(),
    })
}

fn conflict(conflicts: &Conflicts) -> ApiError {
    let causes: Vec<Value> = conflicts
        .0
        .iter()
        .map(|conflict| {
            value!({
                "reason": "FieldManagerConflict", "message": conflict.message(), "field": conflict.field(),
            })
        })
        .collect();
    ApiError::new(409, "Conflict", conflicts.to_string()).with_details(value!({"causes": causes}))
}
