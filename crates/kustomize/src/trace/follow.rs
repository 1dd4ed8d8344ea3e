//! The same field before and after a change that may have moved the items of lists.

use lynceus_object::{FieldPath, Map, Segment, Str, Value};

/// The fields that tell the items of Kubernetes' lists apart.
const KEYS: [&str; 8] =
    ["name", "mountPath", "devicePath", "containerPort", "port", "key", "ip", "topologyKey"];

/// Where the field of `after` at a path of positions was in `before`, or would have been.
pub(super) fn back(after: &Value, before: &Value, path: &FieldPath) -> FieldPath {
    let (mut after, mut before) = (Some(after), Some(before));
    let mut former = FieldPath::root();
    for segment in path.segments() {
        let segment_before = match (segment, after, before) {
            (Segment::Index(at), Some(Value::Seq(after)), Some(Value::Seq(before))) => {
                Segment::Index(position(after, before, *at))
            }
            _ => segment.clone(),
        };
        after = after.and_then(|after| segment.get(after));
        before = before.and_then(|before| segment_before.get(before));
        former.push(segment_before);
    }
    former
}

/// Where an item was. One that was not there is given a position that does not exist.
fn position(after: &[Value], before: &[Value], at: usize) -> usize {
    let Some(item) = after.get(at) else { return at };
    if let Some(key) = key_of(item)
        && let Some(found) = before.iter().position(|other| other.get(key) == item.get(key))
    {
        return found;
    }
    if let Some(found) = before.iter().position(|other| other == item) {
        return found;
    }
    // It may be the item itself that changed.
    if before.len() == after.len() { at } else { usize::MAX }
}

fn key_of(item: &Value) -> Option<&'static str> {
    KEYS.into_iter().find(|key| item.get(key).is_some())
}

/// The same path with items named by what tells them apart, so that they are found in a patch too.
pub(super) fn keyed(value: &Value, path: &FieldPath) -> FieldPath {
    let mut here = Some(value);
    let mut keyed = FieldPath::root();
    for segment in path.segments() {
        let item = here.and_then(|here| segment.get(here));
        let named = match (segment, item) {
            (Segment::Index(_), Some(item @ Value::Map(_))) => key_of(item).and_then(|key| {
                let fields: Map = [(Str::from(key), item.get(key)?.clone())].into_iter().collect();
                Some(Segment::Key(fields))
            }),
            (Segment::Index(_), Some(item)) => Some(Segment::Value(item.clone())),
            _ => None,
        };
        keyed.push(named.unwrap_or_else(|| segment.clone()));
        here = item;
    }
    keyed
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn an_item_is_found_again_by_its_key_its_value_or_its_place() {
        let before =
            value!({"c": [{"name": "a", "x": 1}, {"name": "b", "x": 1}], "f": ["k"], "l": [{"r": {"n": 1}}]});
        let after = value!({"c": [{"name": "b", "x": 2}, {"name": "a", "x": 1}], "f": ["j", "k"], "l": [{"r": {"n": 2}}]});
        let back = |path: &str| back(&after, &before, &FieldPath::parse(path).unwrap()).to_string();
        assert_eq!(back("c[0].x"), "c[1].x");
        assert_eq!(back("f[1]"), "f[0]");
        assert_eq!(back("l[0].r.n"), "l[0].r.n");
        let new = FieldPath::parse("f[0]").unwrap();
        assert!(super::back(&after, &before, &new).get(&before).is_none());
    }
}
