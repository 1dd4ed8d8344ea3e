//! Objects that are made one like the other: what their maker manages is worked out for the first of them.

use super::set::key_text;
use super::typed::{Alike, is_alike};
use super::{MANAGED_FIELDS, Options, empty_object, track_update};
use crate::map::Map;
use crate::object::Object;
use crate::path::Segment;
use crate::schema;
use crate::schema::scalar::print_time;
use crate::value::{Seq, Value};

/// An object that was made, and what its maker came to manage by that.
#[derive(Clone, Debug)]
pub struct Precedent {
    /// The object as it was sent.
    object: Value,
    /// What it was compared with.
    empty: Value,
    /// The one entry of its `managedFields`.
    entry: Value,
}

/// Notes in a new object what its maker manages, as [`track_update`] does. Says what is to be known of it for the next one
/// of its kind from the same maker, if that is anything else than the precedent that there was.
pub fn track_create(
    new: &mut Object,
    precedent: Option<&Precedent>,
    options: &Options<'_>,
) -> Option<Precedent> {
    // What a custom resource may be can change, and an entry that was sent has to be read.
    if !schema::builtin().has(options.ty) || new.at(&MANAGED_FIELDS).is_some() {
        track_update(None, new, options);
        return None;
    }
    if let Some(entry) = precedent.and_then(|precedent| precedent.entry_for(new, options)) {
        new.set(&MANAGED_FIELDS, Seq::from([entry]));
        return None;
    }
    let object = new.value().clone();
    track_update(None, new, options);
    match new.value().items_at(&MANAGED_FIELDS) {
        [entry] => {
            let empty = empty_object(new, options.ty);
            Some(Precedent { object, empty, entry: entry.clone() })
        }
        _ => None,
    }
}

impl Precedent {
    /// The entry of an object that is like this one: the same but for its time, and for the names of its owners and the like.
    fn entry_for(&self, new: &Object, options: &Options<'_>) -> Option<Value> {
        let mut alike = Alike::default();
        if !is_alike(&self.object, new.value(), Some(&self.empty), options.ty, &mut alike) {
            return None;
        }
        let mut entry = self.entry.clone();
        // From the innermost, so that the ways still lead where they did.
        for (way, before, after) in alike.renamed.iter().rev() {
            rename(entry.at_mut(&["fieldsV1"])?.as_map_mut()?, way, before, after)?;
        }
        let now = print_time(options.now);
        if entry.str_at(&["time"]) != Some(&now) {
            entry.set(&["time"], now);
        }
        Some(entry)
    }
}

/// Renames a step at the end of a way through the form of a set. None where the form has no such step.
fn rename(fields: &mut Map, way: &[Segment], before: &Segment, after: &Segment) -> Option<()> {
    match way.split_first() {
        Some((first, rest)) => rename(fields.get_mut(&key_text(first))?.as_map_mut()?, rest, before, after),
        None => {
            let below = fields.remove(&key_text(before))?;
            fields.insert(key_text(after), below);
            Some(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::FieldSet;
    use crate::schema::builtin;
    use crate::value;

    /// Tracks objects one after the other, each with the precedent of those before, and compares with what tracking finds
    /// without. Says for each whether the precedent held.
    fn check(objects: &[Value]) -> Vec<bool> {
        let reset = FieldSet::of_fields(&[&["status"]]);
        let mut precedent = None;
        let mut held = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            let object = Object::new(object.clone()).unwrap();
            let api_version = object.api_version().to_owned();
            let options = Options {
                manager: "maker",
                ty: builtin().of(&object.gvk()).unwrap(),
                api_version: &api_version,
                subresource: "",
                reset: &reset,
                now: jiff::Timestamp::from_second(number as i64).unwrap(),
            };
            let (mut with, mut without) = (object.clone(), object);
            let set = track_create(&mut with, precedent.as_ref(), &options);
            track_update(None, &mut without, &options);
            assert_eq!(with, without);
            held.push(set.is_none());
            precedent = set.or(precedent);
        }
        held
    }

    fn pod(owner: &str, labels: Value, containers: Value) -> Value {
        let metadata = value!({
            "generateName": "web-", "namespace": "shop", "labels": labels,
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": owner}],
        });
        value!({
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": {"containers": containers, "restartPolicy": "Never"}, "status": {},
        })
    }

    #[test]
    fn an_object_like_the_last_is_tracked_by_its_precedent() {
        let containers = value!([{"name": "main", "image": "a", "ports": [{"containerPort": 80}]}]);
        let other = value!([{"name": "side", "image": "b", "ports": [{"containerPort": 81}]}]);
        let held = check(&[
            pod("one", value!({"app": "a"}), containers.clone()),
            pod("one", value!({"app": "b"}), containers.clone()),
            pod("two", value!({"app": "b"}), containers.clone()),
            pod("two", value!({"app": "b"}), other),
            pod("two", value!({"app": "b", "tier": "x"}), containers),
        ]);
        assert_eq!(held, [false, true, true, true, false]);
    }

    #[test]
    fn what_is_the_zero_of_its_type_is_not_managed_and_no_precedent_for_what_is_not() {
        let event = |instance: &str, count: i64| {
            value!({
                "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a", "namespace": "shop"},
                "count": count, "eventTime": null, "firstTimestamp": null, "lastTimestamp": "2026-01-01T00:00:00Z",
                "involvedObject": {"kind": "Pod"}, "message": "m", "reportingComponent": "c",
                "reportingInstance": instance, "source": {"component": "c"},
            })
        };
        let held = check(&[event("", 1), event("", 2), event("node", 2), event("other", 3), event("", 1)]);
        assert_eq!(held, [false, true, false, true, false]);
    }

    #[test]
    fn one_item_may_have_another_name_and_several_may_not() {
        let claim = |finalizers: Value, modes: Value| {
            value!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {"name": "a", "finalizers": finalizers},
                "spec": {"accessModes": modes, "resources": {}}, "status": {},
            })
        };
        let held = check(&[
            claim(value!(["a/b"]), value!(["ReadWriteOnce"])),
            claim(value!(["a/b"]), value!(["ReadOnlyMany", "ReadWriteOnce"])),
            claim(value!(["a/c"]), value!(["ReadWriteOnce"])),
            claim(value!(["a/c", "a/d"]), value!(["ReadWriteOnce"])),
            claim(value!(["a/c", "a/e"]), value!(["ReadWriteOnce"])),
            claim(value!([]), value!(["ReadWriteOnce"])),
        ]);
        assert_eq!(held, [false, true, true, false, false, false]);
    }
}
