//! The values that an expression works on.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use lynceus_object::Value;

/// A value: cheap to clone, and with a depth and a size that are known without walking it.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Arr(Rc<List>),
    Obj(Rc<Fields>),
    /// The place of something that is being deleted.
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) items: Vec<Val>,
    pub(super) depth: u32,
    pub(super) size: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Fields {
    pub(super) map: BTreeMap<Rc<str>, Val>,
    pub(super) depth: u32,
    pub(super) size: u64,
}

impl Val {
    pub(super) fn text(text: &str) -> Val {
        Val::Str(text.into())
    }

    pub(super) fn arr(items: Vec<Val>) -> Val {
        let depth = 1 + items.iter().map(Val::depth).max().unwrap_or(0);
        let size = items.iter().fold(1, |size: u64, item| size.saturating_add(item.size()));
        Val::Arr(Rc::new(List { items, depth, size }))
    }

    pub(super) fn obj(map: BTreeMap<Rc<str>, Val>) -> Val {
        let depth = 1 + map.values().map(Val::depth).max().unwrap_or(0);
        let size = map.values().fold(1, |size: u64, val| size.saturating_add(val.size()));
        Val::Obj(Rc::new(Fields { map, depth, size }))
    }

    /// An object of named fields.
    pub(super) fn record<const N: usize>(fields: [(&str, Val); N]) -> Val {
        Val::obj(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    pub(super) fn count(number: usize) -> Val {
        Val::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// How many lists and maps are in one another.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Val::Arr(list) => list.depth,
            Val::Obj(fields) => fields.depth,
            _ => 0,
        }
    }

    /// How many values are in it, or more. What is shared counts each time, as it does for those who walk it.
    pub(super) fn size(&self) -> u64 {
        match self {
            Val::Arr(list) => list.size,
            Val::Obj(fields) => fields.size,
            Val::Str(text) => 1 + text.len() as u64 / 64,
            _ => 1,
        }
    }

    /// What it takes to hold it, without what is inside of what it holds.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Val::Str(text) => 32 + text.len() as u64,
            Val::Arr(list) => 64 + 24 * list.items.len() as u64,
            Val::Obj(fields) => 64 + 72 * fields.map.len() as u64,
            _ => 0,
        }
    }

    pub(super) fn truth(&self) -> bool {
        !matches!(self, Val::Null | Val::Bool(false))
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Val::Null | Val::Gone => "null",
            Val::Bool(_) => "boolean",
            Val::Int(_) | Val::Float(_) => "number",
            Val::Str(_) => "string",
            Val::Arr(_) => "array",
            Val::Obj(_) => "object",
        }
    }

    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Val::Int(i) => Some(*i as f64),
            Val::Float(f) => Some(*f),
            _ => None,
        }
    }

    /// A number without its fraction, held to what fits.
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Val::Int(i) => Some(*i),
            // What is no number is the smallest, as Go has it.
            Val::Float(f) if f.is_nan() => Some(i64::MIN),
            Val::Float(f) => Some(*f as i64),
            _ => None,
        }
    }

    pub(super) fn int_above(&self) -> Option<i64> {
        match self {
            Val::Float(f) => Val::Float(f.ceil()).int(),
            other => other.int(),
        }
    }

    /// Whether it is the very value that a path led to, not one that was made.
    pub(super) fn is_same(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Int(a), Val::Int(b)) => a == b,
            (Val::Float(a), Val::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::Arr(a), Val::Arr(b)) => Rc::ptr_eq(a, b),
            (Val::Obj(a), Val::Obj(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Val::Null => 0,
            Val::Bool(false) => 1,
            Val::Bool(true) => 2,
            Val::Int(_) | Val::Float(_) => 3,
            Val::Str(_) => 4,
            Val::Arr(_) => 5,
            Val::Obj(_) => 6,
            Val::Gone => 7,
        }
    }
}

/// jq's order of all values.
pub(super) fn compare(a: &Val, b: &Val) -> Ordering {
    match (a, b) {
        (Val::Int(a), Val::Int(b)) => a.cmp(b),
        (Val::Str(a), Val::Str(b)) => a.cmp(b),
        (Val::Arr(a), Val::Arr(b)) if Rc::ptr_eq(a, b) && a.items.is_empty() => Ordering::Equal,
        (Val::Arr(a), Val::Arr(b)) => compare_lists(&a.items, &b.items),
        (Val::Obj(a), Val::Obj(b)) => {
            a.map.keys().cmp(b.map.keys()).then_with(|| all_equal(a.map.values().zip(b.map.values())))
        }
        _ => match (a.float(), b.float()) {
            // What is no number comes before all numbers, itself among them.
            (Some(a), Some(b)) => {
                a.partial_cmp(&b).unwrap_or(if a.is_nan() { Ordering::Less } else { Ordering::Greater })
            }
            _ => a.rank().cmp(&b.rank()),
        },
    }
}

pub(super) fn compare_lists(a: &[Val], b: &[Val]) -> Ordering {
    all_equal(a.iter().zip(b)).then(a.len().cmp(&b.len()))
}

fn all_equal<'v>(mut pairs: impl Iterator<Item = (&'v Val, &'v Val)>) -> Ordering {
    pairs.find_map(|(a, b)| Some(compare(a, b)).filter(|order| order.is_ne())).unwrap_or(Ordering::Equal)
}

/// An object of the cluster. Its numbers are never those of a literal, which is what Go's JSON makes of them.
pub(super) fn from_object(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(b) => Val::Bool(*b),
        Value::Int(i) => Val::Float(*i as f64),
        Value::Float(f) => Val::Float(*f),
        Value::Str(text) => Val::text(text),
        Value::Seq(items) => Val::arr(items.iter().map(from_object).collect()),
        Value::Map(map) => {
            Val::obj(map.iter().map(|(key, value)| (Rc::from(&**key), from_object(value))).collect())
        }
    }
}
