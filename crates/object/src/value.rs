//! The value that every part of Lynceus passes around.
//!
//! A [`Value`] is 24 bytes. Strings of up to 15 bytes are held inline and longer ones are shared;
//! sequences and maps are copy-on-write, so `clone` costs a reference count and changing one field
//! of a clone copies only the containers on the way to it. That is what lets the live cache, the
//! comparison and the API server hold on to the same object without agreeing on who owns it.

use ecow::EcoVec;

use crate::map::Map;
use crate::word;

/// A string in an object: inline when short, shared when long.
pub type Str = ecow::EcoString;

/// A sequence in an object, shared until it is changed.
pub type Seq = EcoVec<Value>;

/// A JSON value with the number kinds that Kubernetes tells apart.
///
/// Integers that fit `i64` are [`Value::Int`]; everything else numeric is a [`Value::Float`], as in
/// Kubernetes' own unstructured objects.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// JSON `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number in the range of `i64`.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(Str),
    /// A list.
    Seq(Seq),
    /// A map with its keys in byte order.
    Map(Map),
}

impl Value {
    /// The field `key`, if this is a map that has it.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// The value at a path of map keys, if every step exists.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The value at a path of map keys, to change in place, if every step exists.
    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Value> {
        path.iter().try_fold(self, |value, key| match value {
            Value::Map(map) => map.get_mut(key),
            _ => None,
        })
    }

    /// The string at a path, if there is one.
    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).and_then(Value::as_str)
    }

    /// The integer at a path, if there is one.
    pub fn int_at(&self, path: &[&str]) -> Option<i64> {
        self.at(path).and_then(Value::as_int)
    }

    /// The boolean at a path, if there is one.
    pub fn bool_at(&self, path: &[&str]) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }

    /// The items of the sequence at a path; empty if there is none.
    pub fn items_at(&self, path: &[&str]) -> &[Value] {
        self.at(path).and_then(Value::as_seq).unwrap_or(&[])
    }

    /// Sets the value at a path, making the maps on the way; a step that is not a map is replaced.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        let mut here = self;
        for key in path {
            here = here.as_map_or_insert().entry(key);
        }
        *here = value.into();
    }

    /// Removes and returns the value at a path. Maps that become empty stay.
    pub fn remove(&mut self, path: &[&str]) -> Option<Value> {
        let (last, parents) = path.split_last()?;
        // Looking first keeps a shared object shared when there is nothing to remove.
        self.at(path)?;
        match self.at_mut(parents)? {
            Value::Map(map) => map.remove(last),
            _ => None,
        }
    }

    /// This value as a map to change, turning it into an empty map if it is anything else.
    pub fn as_map_or_insert(&mut self) -> &mut Map {
        if !matches!(self, Value::Map(_)) {
            *self = Value::Map(Map::new());
        }
        match self {
            Value::Map(map) => map,
            _ => unreachable!("made a map above"),
        }
    }

    /// This value as a sequence to change, turning it into an empty one if it is anything else.
    pub fn as_seq_or_insert(&mut self) -> &mut Seq {
        if !matches!(self, Value::Seq(_)) {
            *self = Value::Seq(Seq::new());
        }
        match self {
            Value::Seq(seq) => seq,
            _ => unreachable!("made a sequence above"),
        }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The integer, if this is one (or a float without a fraction).
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            Value::Float(f) if f.fract() == 0.0 && f.abs() < 9.0e15 => Some(*f as i64),
            _ => None,
        }
    }

    /// The number as a float, if this is a number.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Float(f) => Some(*f),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The map to change, if this is one.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if this is a sequence.
    pub fn as_seq(&self) -> Option<&[Value]> {
        match self {
            Value::Seq(seq) => Some(seq),
            _ => None,
        }
    }

    /// The items to change, if this is a sequence.
    pub fn as_seq_mut(&mut self) -> Option<&mut Seq> {
        match self {
            Value::Seq(seq) => Some(seq),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether this is `null`, or a map, sequence or string with nothing in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Str(s) => s.is_empty(),
            Value::Seq(seq) => seq.is_empty(),
            Value::Map(map) => map.is_empty(),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
        }
    }

    /// Whether this is beyond doubt the very same value: a scalar of the same kind and text, or a list or map that is
    /// shared. It is found out without a look inside, so that two equal maps may well not be the same.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => word::equals(a, b),
            (Value::Seq(a), Value::Seq(b)) => a.as_ptr() == b.as_ptr() && a.len() == b.len(),
            (Value::Map(a), Value::Map(b)) => a.is_same(b),
            _ => false,
        }
    }

    /// How many bytes this value holds outside of itself, shared or not, without the allocator's own.
    ///
    /// What a cache of objects costs is decided by this number; `docs/object-memory.md` has some.
    pub fn heap_size(&self) -> usize {
        match self {
            Value::Str(text) => str_heap_size(text),
            Value::Seq(items) => {
                let inner: usize = items.iter().map(Value::heap_size).sum();
                shared_block(items.capacity() * size_of::<Value>()) + inner
            }
            Value::Map(map) => map.heap_size(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 0,
        }
    }

    /// The JSON name of this value's type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Float(_) => "number",
            Value::Str(_) => "string",
            Value::Seq(_) => "array",
            Value::Map(_) => "object",
        }
    }
}

/// What a string holds outside of itself.
pub(crate) fn str_heap_size(text: &Str) -> usize {
    if text.len() <= Str::INLINE_LIMIT { 0 } else { shared_block(text.capacity()) }
}

/// The size of a shared block with its header: a reference count and a capacity.
pub(crate) fn shared_block(content: usize) -> usize {
    if content == 0 { 0 } else { 2 * size_of::<usize>() + content }
}

/// Numbers are equal when their values are, so that `1` from JSON and `1.0` from YAML do not differ.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => word::equals(a, b),
            (Value::Seq(a), Value::Seq(b)) => a.as_ptr() == b.as_ptr() && a.len() == b.len() || a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Value::Int(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Value::Int(value.into())
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Str(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Str(value.into())
    }
}

impl From<Str> for Value {
    fn from(value: Str) -> Self {
        Value::Str(value)
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Value::Map(value)
    }
}

impl From<Seq> for Value {
    fn from(value: Seq) -> Self {
        Value::Seq(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(value: Vec<T>) -> Self {
        value.into_iter().collect()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Value::Seq(items.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[test]
    fn a_value_is_small() {
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Str>(), 16);
    }

    #[test]
    fn changing_a_copy_leaves_the_original() {
        let original = value!({"a": {"b": [1, 2]}, "c": "x"});
        let mut copy = original.clone();
        copy.set(&["a", "d"], true);
        assert_eq!(original, value!({"a": {"b": [1, 2]}, "c": "x"}));
        assert_eq!(copy, value!({"a": {"b": [1, 2], "d": true}, "c": "x"}));
    }

    #[test]
    fn setting_makes_the_maps_on_the_way() {
        let mut value = value!({"a": 1});
        value.set(&["a", "b", "c"], "x");
        assert_eq!(value, value!({"a": {"b": {"c": "x"}}}));
    }

    #[test]
    fn removing_what_is_not_there_changes_nothing() {
        let mut value = value!({"a": {"b": 1}});
        assert_eq!(value.remove(&["a", "x"]), None);
        assert_eq!(value.remove(&["a", "b", "c"]), None);
        assert_eq!(value.remove(&["a", "b"]), Some(Value::Int(1)));
        assert_eq!(value, value!({"a": {}}));
    }

    #[test]
    fn numbers_are_compared_by_their_value() {
        assert_eq!(value!(1), value!(1.0));
        assert_ne!(value!(1), value!(1.5));
        assert_ne!(value!(1), value!("1"));
        assert_eq!(value!(3.0).as_int(), Some(3));
        assert_eq!(value!(3.5).as_int(), None);
    }

    #[test]
    fn what_is_shared_is_the_same_and_what_only_looks_alike_is_not() {
        let one = value!({"a": [1], "b": "x"});
        assert!(one.is_same(&one.clone()) && !one.is_same(&value!({"a": [1], "b": "x"})));
        let mut other = one.clone();
        other.set(&["b"], "y");
        assert!(!one.is_same(&other) && one.get("a").unwrap().is_same(other.get("a").unwrap()));
        assert!(value!(1).is_same(&value!(1)) && !value!(1).is_same(&value!(1.0)));
    }

    #[test]
    fn only_what_is_long_takes_room_elsewhere() {
        assert_eq!(value!("fifteen letters").heap_size(), 0);
        assert_eq!(value!("sixteen letters!").heap_size(), 32);
        assert_eq!(value!([]).heap_size(), 0);
        assert_eq!(value!({"a": 1}).heap_size(), 56);
    }
}
