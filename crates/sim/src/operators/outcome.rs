//! What is done with an object: by server-side apply, so that who wrote a field can be told.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, Value, value};

use super::declaration::{Fault, Fields, split};
use crate::controllers::key::Key;
use crate::controllers::steps::{Announcement, Deletion, Step, Steps};
use crate::controllers::time::stamp;
use crate::controllers::world::World;
use crate::kinds::Resource;
use crate::view::View as _;

/// What a case or a script says, with all its values.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Fields of the status.
    pub(super) status: Option<Value>,
    /// Fields of the object itself.
    pub(super) set: Option<Value>,
    /// Other objects.
    pub(super) create: Vec<Value>,
    /// Objects that are not to be there.
    pub(super) delete: Vec<Doomed>,
    /// What is told when it becomes so.
    pub(super) events: Vec<News>,
    /// When the object is looked at again though nothing changes.
    pub(super) again: Option<SignedDuration>,
}

/// An object that is to be deleted.
#[derive(Debug)]
pub(super) struct Doomed {
    /// Its group and kind.
    kind: Str,
    /// Its namespace; that of the object itself if none is named.
    namespace: Option<Str>,
    name: Str,
}

#[derive(Debug)]
pub(super) struct News {
    pub(super) warning: bool,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Doomed {
    pub(super) const FIELDS: &[&str] = &["kind", "namespace", "name"];

    pub(super) fn read(named: &Value) -> Result<Self, Fault> {
        let fields = Fields::of(named, Self::FIELDS)?;
        Ok(Doomed {
            kind: fields.text("kind")?.into(),
            namespace: fields.optional_text("namespace")?.map(Str::from),
            name: fields.text("name")?.into(),
        })
    }

    /// Deletes it, if it is there: that of now, and no other one with its name.
    fn act(&self, object: &Object, world: &World<'_>, out: &mut Steps) {
        let (group, kind) = split(&self.kind);
        let Some(resource) = served(world, group, kind) else { return };
        let namespace = match (resource.namespaced, &self.namespace) {
            (true, Some(namespace)) => namespace.as_str(),
            (true, None) => object.namespace(),
            (false, _) => "",
        };
        let found = world.local.get(group, &resource.plural, namespace, &self.name);
        if let Some(found) = found.filter(|found| !found.is_deleting()) {
            let (key, uid) = (key(&resource, &found), found.uid().into());
            out.steps.push(Step::Delete { key, uid, how: Deletion::default() });
        }
    }
}

/// How a kind is served, in the version that it is kept in.
pub(super) fn served(world: &World<'_>, group: &str, kind: &str) -> Option<Arc<Resource>> {
    let registry = world.local.registry();
    let mut found = registry.resources().iter().filter(|one| one.group == group && one.kind == kind);
    found.find(|one| one.storage.version == one.version).cloned()
}

impl Outcome {
    /// Says what has to be done for it.
    pub(super) fn act(
        self,
        object: &Object,
        is_news: bool,
        world: &World<'_>,
        out: &mut Steps,
    ) -> Result<(), String> {
        for made in self.create {
            let mut made = Object::new(made).map_err(|_| "what is made is no object".to_owned())?;
            let Some(resource) = served(world, made.group(), made.kind()) else {
                return Err(format!("no {} of {} is served", made.kind(), made.api_version()));
            };
            if resource.namespaced && made.namespace().is_empty() {
                made.set(&["metadata", "namespace"], object.namespace());
            }
            let is_near = object.namespace().is_empty() || made.namespace() == object.namespace();
            if is_near && made.at(&["metadata", "ownerReferences"]).is_none() {
                made.set(&["metadata", "ownerReferences"], vec![owner(object)]);
            }
            push(&resource, "", made, out);
        }
        self.delete.iter().for_each(|doomed| doomed.act(object, world, out));
        let Some(resource) = served(world, object.group(), object.kind()) else { return Ok(()) };
        let part = |fields: Value| {
            let mut part = Object::named(&object.gvk(), object.namespace(), object.name());
            merge(part.value_mut(), fields);
            part
        };
        if let Some(set) = self.set {
            push(&resource, "", part(set), out);
        }
        if let Some(mut status) = self.status {
            date(&mut status, object.at(&["status"]), world.now);
            if resource.subresources.iter().any(|one| one.name == "status") {
                push(&resource, "status", part(value!({"status": status})), out);
            } else {
                let key = key(&resource, object);
                out.steps.push(Step::Merge { key, fields: value!({"status": replacing(status, object)}) });
            }
        }
        if let Some(at) = self.again.and_then(|again| world.now.checked_add(again).ok()) {
            out.again_at(at);
        }
        for news in self.events.into_iter().filter(|_| is_news) {
            let told = Announcement::normal(object, news.reason, news.message);
            out.announce(Announcement { warning: news.warning, ..told });
        }
        Ok(())
    }
}

/// Puts fields into a value, beside those that are there.
fn merge(into: &mut Value, fields: Value) {
    match fields {
        Value::Map(fields) => {
            let map = into.as_map_or_insert();
            for (name, field) in fields {
                match map.get_mut(&name) {
                    Some(known) => merge(known, field),
                    None => {
                        map.insert(name, field);
                    }
                }
            }
        }
        other => *into = other,
    }
}

fn key(resource: &Resource, object: &Object) -> Key {
    Key::of(&crate::store::Place::new(&resource.group, &resource.plural), object)
}

fn push(resource: &Resource, subresource: &'static str, object: Object, out: &mut Steps) {
    out.steps.push(Step::Apply { key: key(resource, &object), subresource, object });
}

/// A status that takes the place of the one that is there when both are merged.
fn replacing(mut status: Value, object: &Object) -> Value {
    for (name, _) in object.at(&["status"]).and_then(Value::as_map).into_iter().flat_map(|old| old.iter()) {
        if status.get(name).is_none() {
            status.set(&[name.as_str()], Value::Null);
        }
    }
    status
}

fn owner(object: &Object) -> Value {
    value!({
        "apiVersion": object.api_version(), "kind": object.kind(), "name": object.name(), "uid": object.uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Has every condition in a status say since when it is as it is: those of listeners and parents as well.
fn date(status: &mut Value, before: Option<&Value>, now: Timestamp) {
    match status {
        Value::Map(fields) => {
            for (name, field) in fields.iter_mut() {
                let before = before.and_then(|before| before.get(name));
                match field {
                    Value::Seq(conditions) if name == "conditions" => {
                        let known: Vec<Value> =
                            before.and_then(Value::as_seq).into_iter().flatten().cloned().collect();
                        for one in conditions.make_mut().iter_mut().filter(|one| one.get("type").is_some()) {
                            date_one(one, &known, now);
                        }
                    }
                    field => date(field, before, now),
                }
            }
        }
        Value::Seq(items) => {
            for (index, item) in items.make_mut().iter_mut().enumerate() {
                let before = before.and_then(Value::as_seq).and_then(|before| before.get(index));
                date(item, before, now);
            }
        }
        _ => {}
    }
}

fn date_one(condition: &mut Value, known: &[Value], now: Timestamp) {
    if condition.get("lastTransitionTime").is_some() {
        return;
    }
    let is_same = |before: &&Value| {
        before.get("type") == condition.get("type") && before.get("status") == condition.get("status")
    };
    let since = known.iter().find(is_same).and_then(|before| before.get("lastTransitionTime").cloned());
    condition.set(&["lastTransitionTime"], since.unwrap_or_else(|| Value::from(stamp(now))));
}

#[cfg(test)]
mod tests {
    use lynceus_object::{json, yaml};

    use super::*;

    #[test]
    fn conditions_wherever_they_are_keep_the_time_since_which_they_hold() {
        let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let before = yaml::parse_str(
            "{conditions: [{type: A, status: 'True', lastTransitionTime: x}, {type: B, status: 'True', \
             lastTransitionTime: y}], listeners: [{conditions: [{type: C, status: 'True', lastTransitionTime: z}]}]}",
        );
        let mut status = yaml::parse_str(
            "{conditions: [{type: B, status: 'False'}, {type: A, status: 'True'}], listeners: [{conditions: [{type: \
             C, status: 'True'}]}]}",
        )
        .unwrap();
        date(&mut status, before.ok().as_ref(), now);
        assert_eq!(
            json::to_string(&status),
            r#"{"conditions":[{"lastTransitionTime":"2026-01-02T00:00:00Z","status":"False","type":"B"},"#
                .to_owned()
                + r#"{"lastTransitionTime":"x","status":"True","type":"A"}],"#
                + r#""listeners":[{"conditions":[{"lastTransitionTime":"z","status":"True","type":"C"}]}]}"#
        );
    }
}
