//! Which fields differ, and who wrote them.

use lynceus_object::schema::{ListType, TypeRef};
use lynceus_object::{FieldPath, Map, Object, Segment, Value, json};

use crate::change::{FieldChange, Writer};
use crate::kinds::type_of;
use crate::limits;
use crate::origin::Clues;

/// Lists the fields in which two objects differ, in path order, with their writers.
///
/// The clues are of the live object with its managed fields, which the compared ones need not have.
pub(crate) fn differing(live: &Object, predicted: &Object, clues: &Clues<'_>) -> Vec<FieldChange> {
    let ty = type_of(live).unwrap_or_else(TypeRef::untyped);
    let mut walk = Walk { path: FieldPath::root(), clues, found: Vec::new() };
    walk.values(Some(live.value()), Some(predicted.value()), ty);
    walk.found
}

struct Walk<'a> {
    path: FieldPath,
    clues: &'a Clues<'a>,
    found: Vec<FieldChange>,
}

impl Walk<'_> {
    fn values(&mut self, live: Option<&Value>, desired: Option<&Value>, ty: TypeRef<'static>) {
        if live == desired {
            return;
        }
        match (live, desired) {
            (Some(Value::Map(live)), Some(Value::Map(desired))) if self.has_room() => {
                self.maps(live, desired, ty)
            }
            (Some(Value::Seq(live)), Some(Value::Seq(desired))) if self.has_room() => {
                self.lists(live, desired, ty)
            }
            _ => {
                let writer = writer(self.clues.live, &self.path);
                let origin = self.clues.origin(&self.path, writer.as_ref());
                self.found.push(FieldChange {
                    path: self.path.clone(),
                    desired: desired.cloned(),
                    live: live.cloned(),
                    writer,
                    origin,
                });
            }
        }
    }

    fn has_room(&self) -> bool {
        self.found.len() < limits::FIELDS
    }

    fn step(
        &mut self,
        segment: Segment,
        live: Option<&Value>,
        desired: Option<&Value>,
        ty: Option<TypeRef<'static>>,
    ) {
        self.path.push(segment);
        self.values(live, desired, ty.unwrap_or_else(TypeRef::untyped));
        self.path.pop();
    }

    fn maps(&mut self, live: &Map, desired: &Map, ty: TypeRef<'static>) {
        let mut keys: Vec<_> = live.keys().chain(desired.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            self.step(Segment::Field(key.clone()), live.get(key), desired.get(key), ty.child(key));
        }
    }

    fn lists(&mut self, live: &[Value], desired: &[Value], ty: TypeRef<'static>) {
        let keys =
            |items: &[Value]| items.iter().map(|item| item_key(item, ty)).collect::<Option<Vec<Map>>>();
        match (keys(live), keys(desired)) {
            (Some(mut keys), Some(others)) => {
                keys.extend(others);
                let mut seen: Vec<Map> = Vec::new();
                for key in keys {
                    if !seen.contains(&key) {
                        let segment = Segment::Key(key.clone());
                        let find = |items: &[Value]| {
                            items.iter().find(|item| item_key(item, ty).as_ref() == Some(&key)).cloned()
                        };
                        let (a, b) = (find(live), find(desired));
                        self.step(segment, a.as_ref(), b.as_ref(), ty.item());
                        seen.push(key);
                    }
                }
            }
            _ => {
                for at in 0..live.len().max(desired.len()) {
                    self.step(Segment::Index(at), live.get(at), desired.get(at), ty.item());
                }
            }
        }
    }
}

/// What tells an item of a list from the others, if the list's type says so.
fn item_key(item: &Value, ty: TypeRef<'_>) -> Option<Map> {
    let ListType::Map(keys) = ty.list_type() else { return None };
    let item = item.as_map()?;
    let key: Map = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
    (!key.is_empty()).then_some(key)
}

/// The manager that wrote the field, or what it is part of. Of several the one that wrote last.
fn writer(written: &Object, path: &FieldPath) -> Option<Writer> {
    let entries = written.value().items_at(&["metadata", "managedFields"]);
    let rated = entries.iter().filter_map(|entry| {
        let depth = depth(entry.get("fieldsV1")?, written.value(), path.segments());
        (depth > 0).then(|| {
            let text = |field: &str| entry.str_at(&[field]).unwrap_or_default().into();
            let writer = Writer {
                manager: text("manager"),
                operation: text("operation"),
                subresource: text("subresource"),
                time: text("time"),
            };
            (depth, writer)
        })
    });
    rated.max_by(|(a, x), (b, y)| (a, &x.time).cmp(&(b, &y.time))).map(|(_, writer)| writer)
}

/// How far a set of fields follows a path before it names a field as its own.
fn depth(fields: &Value, value: &Value, path: &[Segment]) -> usize {
    let (mut fields, mut value) = (fields, Some(value));
    let mut owned = 0;
    for (at, segment) in path.iter().enumerate() {
        value = value.and_then(|value| FieldPath::root().with(segment.clone()).get(value));
        let Some(below) = child(fields, segment, value) else { break };
        if below.as_map().is_some_and(|map| map.is_empty() || map.contains(".")) {
            owned = at + 1;
        }
        fields = below;
    }
    owned
}

fn child<'f>(fields: &'f Value, segment: &Segment, item: Option<&Value>) -> Option<&'f Value> {
    match segment {
        Segment::Field(name) => fields.get(&format!("f:{name}")),
        Segment::Value(value) => fields.get(&format!("v:{}", json::to_string(value))),
        Segment::Key(_) | Segment::Index(_) => {
            let has = |key: &Map| {
                key.iter().all(|(name, value)| item.and_then(|item| item.get(name)) == Some(value))
            };
            let parsed = |name: &str| json::parse(name.strip_prefix("k:")?.as_bytes()).ok();
            let mut entries = fields.as_map()?.iter();
            entries
                .find(|(name, _)| matches!(parsed(name), Some(Value::Map(key)) if has(&key)))
                .map(|(_, below)| below)
        }
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn object(value: Value) -> Object {
        Object::new(value).expect("a map")
    }

    #[test]
    fn items_with_keys_are_compared_by_key_and_every_field_names_its_writer() {
        let live = object(value!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "managedFields": [
                {"manager": "hpa", "operation": "Update", "subresource": "scale", "time": "2026-01-02T00:00:00Z",
                 "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "kubectl-edit", "operation": "Update", "time": "2026-01-01T00:00:00Z",
                 "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {
                    "k:{\"name\":\"web\"}": {".": {}, "f:image": {}}}}}}}},
            ]},
            "spec": {"replicas": 5, "template": {"spec": {"containers": [
                {"name": "side", "image": "s"}, {"name": "web", "image": "old"}]}}},
        }));
        let mut predicted = live.clone();
        predicted.set(&["spec", "replicas"], 3);
        predicted.set(
            &["spec", "template", "spec", "containers"],
            value!([{"name": "web", "image": "new"}, {"name": "side", "image": "s"}]),
        );
        let found: Vec<String> = differing(&live, &predicted, &Clues::new(&predicted, &live, false))
            .iter()
            .map(|change| {
                let show = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), json::to_string);
                let writer = change.writer.as_ref().map_or("nobody", |writer| &writer.manager);
                format!("{:#}: {} -> {} by {writer}", change.path, show(&change.live), show(&change.desired))
            })
            .collect();
        assert_eq!(
            found,
            [
                ".spec.replicas: 5 -> 3 by hpa",
                r#".spec.template.spec.containers[name="web"].image: "old" -> "new" by kubectl-edit"#,
            ]
        );
    }

    #[test]
    fn fields_on_one_side_only_are_told_as_such() {
        let live = object(value!({"kind": "X", "a": 1}));
        let predicted = object(value!({"kind": "X", "b": [1]}));
        let found = differing(&live, &predicted, &Clues::new(&predicted, &live, false));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].live.clone(), found[0].desired.clone()), (Some(value!(1)), None));
        assert_eq!((found[1].live.clone(), found[1].desired.clone()), (None, Some(value!([1]))));
    }
}
