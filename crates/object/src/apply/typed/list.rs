//! How an item of a list is told apart from the others.

use crate::apply::set::order;
use crate::map::Map;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::{Str, Value};

/// The step that leads to an item, or why there is none.
pub(super) fn step(item: &Value, ty: TypeRef<'_>, list: &ListType) -> Result<Segment, String> {
    match list {
        ListType::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListType::Map(keys) => {
            let map = match item {
                Value::Map(map) => map,
                Value::Null => {
                    return Err("associative list with keys may not have a null element".to_owned());
                }
                _ => return Err("associative list with keys may not have non-map elements".to_owned()),
            };
            let mut key = Map::new();
            for name in keys {
                let default = || ty.field(name).and_then(|field| field.default());
                if let Some(value) = map.get(name).or_else(default) {
                    key.insert(name.clone(), value.clone());
                }
            }
            if key.is_empty() && !keys.is_empty() {
                let names: Vec<String> = keys.iter().map(|name| format!("{name:?}")).collect();
                return Err(format!(
                    "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                    names.join(" ")
                ));
            }
            Ok(Segment::Key(key))
        }
        ListType::Set => match item {
            Value::Map(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Seq(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(Segment::Value(scalar.clone())),
        },
    }
}

/// Whether there is a step that leads to an item.
pub(super) fn has_step(item: &Value, ty: TypeRef<'_>, list: &ListType) -> bool {
    match (list, item) {
        (ListType::Atomic, _) => false,
        (ListType::Map(keys), Value::Map(map)) => {
            let default = |name: &Str| ty.field(name).and_then(|field| field.default()).is_some();
            keys.is_empty() || keys.iter().any(|name| map.contains(name) || default(name))
        }
        (ListType::Map(_), _) => false,
        (ListType::Set, item) => !matches!(item, Value::Map(_) | Value::Seq(_) | Value::Null),
    }
}

/// How many items are compared with each other one by one.
const FEW: usize = 16;

/// Whether two lists beyond doubt have items with the same keys in the same places, each once.
pub(super) fn are_aligned(old: &[Value], new: &[Value], list: &ListType) -> bool {
    let ListType::Map(keys) = list else { return false };
    let is_alike = |a: &Value, b: &Value| keys.iter().all(|key| a.get(key) == b.get(key));
    let has_keys = |item: &Value| !keys.is_empty() && keys.iter().all(|key| item.get(key).is_some());
    old.len() == new.len()
        && old.len() <= FEW
        && new.iter().all(has_keys)
        && old.iter().zip(new).all(|(old, new)| is_alike(old, new))
        && (1..new.len()).all(|at| !new[..at].iter().any(|other| is_alike(other, &new[at])))
}

/// The items of a list by their steps, found without a walk through the list.
pub(super) struct Steps<'v> {
    /// In the order of the list; items without a step are passed over.
    pub(super) items: Vec<(Segment, &'v Value)>,
    /// Positions in `items`, in the order of their steps.
    sorted: Vec<usize>,
}

impl<'v> Steps<'v> {
    pub(super) fn new(items: &'v [Value], ty: TypeRef<'_>, list: &ListType) -> Self {
        let items: Vec<(Segment, &Value)> =
            items.iter().filter_map(|item| Some((step(item, ty, list).ok()?, item))).collect();
        let mut sorted: Vec<usize> = (0..items.len()).collect();
        sorted.sort_by(|a, b| order(&items[*a].0, &items[*b].0));
        Steps { items, sorted }
    }

    /// The items under a step; more than one if it is listed twice.
    pub(super) fn under(&self, step: &Segment) -> impl ExactSizeIterator<Item = &'v Value> + '_ {
        let start = self.sorted.partition_point(|at| order(&self.items[*at].0, step).is_lt());
        let count = self.sorted[start..].partition_point(|at| order(&self.items[*at].0, step).is_le());
        self.sorted[start..start + count].iter().map(|at| self.items[*at].1)
    }

    pub(super) fn has(&self, step: &Segment) -> bool {
        self.under(step).len() > 0
    }
}
