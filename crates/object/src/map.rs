//! Maps with their keys in byte order, as Kubernetes prints them.

use std::cmp::Ordering;

use ecow::EcoVec;

use crate::value::{Str, Value, shared_block, str_heap_size};
use crate::word;

/// A map from field name to value: one shared, sorted slice.
///
/// Objects have few keys per level, so a search in a sorted slice beats a tree in both time and space.
#[derive(Clone, Debug, Default)]
pub struct Map(EcoVec<(Str, Value)>);

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        // Versions of an object share what did not change between them.
        self.is_same(other) || self.0 == other.0
    }
}

/// How many fields are looked through one by one. Names differ in their lengths more often than not, so that to ask a few
/// whether they are it is faster than to ask which comes first.
const FEW: usize = 16;

impl Map {
    /// A map with nothing in it; it allocates nothing.
    pub const fn new() -> Self {
        Map(EcoVec::new())
    }

    /// A map of fields whose keys are strictly ascending.
    pub(crate) fn from_sorted(fields: impl Iterator<Item = (Str, Value)>) -> Self {
        let map = Map(fields.collect());
        debug_assert!(map.0.windows(2).all(|pair| pair[0].0 < pair[1].0), "keys must ascend");
        map
    }

    /// A map of a few fields in any order; later ones win over earlier ones of the same name.
    pub(crate) fn from_array<const N: usize>(mut fields: [(Str, Value); N]) -> Self {
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        if fields.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return fields.into_iter().collect();
        }
        Map(fields.into())
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the two share their fields; see [`Value::is_same`].
    pub fn is_same(&self, other: &Map) -> bool {
        self.0.as_ptr() == other.0.as_ptr() && self.0.len() == other.0.len()
    }

    /// Whether nobody else has these fields, so that to change them copies nothing.
    pub(crate) fn is_unique(&mut self) -> bool {
        self.0.is_unique()
    }

    /// Whether the two are equal when one field is left out.
    pub(crate) fn equals_but_for(&self, other: &Map, key: &str) -> bool {
        let rest = |map: &Map| map.contains(key);
        let lengths = self.len() - usize::from(rest(self)) == other.len() - usize::from(rest(other));
        lengths && self.iter().all(|(name, value)| name == key || other.get(name) == Some(value))
    }

    /// The fields of two maps beside each other, in key order.
    pub(crate) fn pairs<'m>(&'m self, other: &'m Map) -> Pairs<'m> {
        Pairs { left: &self.0, right: &other.0 }
    }

    /// The fields, each with the value of the same name in another map: that of an earlier version of an object, say, which
    /// is found without a search because both are in order.
    pub fn beside<'m>(
        &'m self,
        other: Option<&'m Map>,
    ) -> impl Iterator<Item = (&'m Str, &'m Value, Option<&'m Value>)> {
        let mut rest = other.map_or(&[][..], |other| &other.0);
        self.iter().map(move |(name, value)| {
            while let [(first, theirs), after @ ..] = rest {
                if word::equals(first, name) {
                    rest = after;
                    return (name, value, Some(theirs));
                }
                if word::order(first, name).is_gt() {
                    break;
                }
                rest = after;
            }
            (name, value, None)
        })
    }

    /// The value of `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        if self.0.len() <= FEW {
            return self.0.iter().find(|(name, _)| word::equals(name, key)).map(|(_, value)| value);
        }
        let at = self.position(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The value of a key that is a mark and a name, without making one text of them.
    pub(crate) fn get_marked(&self, mark: &str, name: &str) -> Option<&Value> {
        let is_it = |key: &str| {
            key.len() == mark.len() + name.len()
                && key.strip_prefix(mark).is_some_and(|rest| word::equals(rest, name))
        };
        self.0.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value)
    }

    /// The value of `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let at = self.find(key)?;
        self.0.make_mut().get_mut(at).map(|(_, value)| value)
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// The value of `key`, inserted as `null` if it was not there.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        let at = match self.position(key) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (key.into(), Value::Null));
                at
            }
        };
        &mut self.0.make_mut()[at].1
    }

    /// Sets `key` and returns what it was.
    pub fn insert(&mut self, key: impl Into<Str>, value: impl Into<Value>) -> Option<Value> {
        let key = key.into();
        let value = value.into();
        match self.position(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0.make_mut()[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Removes `key` and returns what it was.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.find(key)?;
        Some(self.0.remove(at).1)
    }

    /// The same with these names spelled as they are here: Go finds the field of a struct whatever the case of its name, and
    /// some programs write them all small.
    pub fn spelled(&self, names: &[&str]) -> Map {
        let spelled = |key: &Str| match names.iter().find(|name| name.eq_ignore_ascii_case(key)) {
            Some(name) => Str::from(*name),
            None => key.clone(),
        };
        self.iter().map(|(key, value)| (spelled(key), value.clone())).collect()
    }

    /// Keeps the fields for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// The fields in key order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> + DoubleEndedIterator + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The fields in key order, their values to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Str, &mut Value)> {
        self.0.make_mut().iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Str> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in key order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many bytes the fields hold, shared or not; see [`Value::heap_size`].
    pub fn heap_size(&self) -> usize {
        let fields = shared_block(self.0.capacity() * size_of::<(Str, Value)>());
        let inner = |(key, value): &(Str, Value)| str_heap_size(key) + value.heap_size();
        fields + self.0.iter().map(inner).sum::<usize>()
    }

    /// Where a field is, if it is there.
    fn find(&self, key: &str) -> Option<usize> {
        if self.0.len() <= FEW {
            return self.0.iter().position(|(name, _)| word::equals(name, key));
        }
        self.position(key).ok()
    }

    /// Where a field is, or where it belongs.
    fn position(&self, key: &str) -> Result<usize, usize> {
        // Most maps are built in order, so that appending has to be cheap.
        if self.0.last().is_some_and(|(last, _)| word::order(last, key).is_lt()) {
            return Err(self.0.len());
        }
        self.0.binary_search_by(|(probe, _)| word::order(probe, key))
    }
}

/// The fields of two maps; see [`Map::pairs`].
pub(crate) struct Pairs<'m> {
    left: &'m [(Str, Value)],
    right: &'m [(Str, Value)],
}

impl<'m> Iterator for Pairs<'m> {
    type Item = (&'m Str, Option<&'m Value>, Option<&'m Value>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.left.first(), self.right.first()) {
            (Some((left, _)), Some((right, _))) if word::equals(left, right) => Ordering::Equal,
            (Some((left, _)), Some((right, _))) => word::order(left, right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let left = if order.is_le() { self.left.split_off_first() } else { None };
        let right = if order.is_ge() { self.right.split_off_first() } else { None };
        let name = left.or(right).map(|(name, _)| name)?;
        Some((name, left.map(|(_, value)| value), right.map(|(_, value)| value)))
    }
}

/// Later fields win over earlier ones of the same name.
impl<K: Into<Str>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        if let Some(most) = fields.size_hint().1.filter(|most| *most <= FEW) {
            let mut map = Map(EcoVec::with_capacity(most));
            map.extend(fields);
            return map;
        }
        let mut fields: Vec<(Str, Value)> = fields.map(|(key, value)| (key.into(), value.into())).collect();
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut out: EcoVec<(Str, Value)> = EcoVec::with_capacity(fields.len());
        for (key, value) in fields {
            match out.last() {
                Some((last, _)) if *last == key => {
                    let at = out.len() - 1;
                    out.make_mut()[at].1 = value;
                }
                _ => out.push((key, value)),
            }
        }
        Map(out)
    }
}

impl<K: Into<Str>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, fields: I) {
        for (key, value) in fields {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Map {
    type Item = (Str, Value);
    type IntoIter = ecow::vec::IntoIter<(Str, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_byte_order_however_they_come() {
        let map = Map::from_iter([("b", 1), ("a", 2), ("C", 3), ("b", 4)]);
        let fields: Vec<String> =
            map.iter().map(|(key, value)| format!("{key}={}", value.as_int().unwrap())).collect();
        assert_eq!(fields, ["C=3", "a=2", "b=4"]);
    }

    #[test]
    fn inserting_gives_back_what_was_there() {
        let mut map = Map::new();
        assert_eq!(map.insert("a", 1), None);
        assert_eq!(map.insert("a", 2), Some(Value::Int(1)));
        assert_eq!(map.remove("a"), Some(Value::Int(2)));
        assert_eq!(map.remove("a"), None);
        assert!(map.is_empty());
    }

    #[test]
    fn an_entry_is_made_where_there_is_none() {
        let mut map = Map::from_iter([("a", 1), ("c", 3)]);
        *map.entry("b") = Value::Int(2);
        assert_eq!(map.keys().map(|key| key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(map.contains("b") && !map.contains("d"));
    }

    #[test]
    fn two_maps_are_walked_beside_each_other() {
        let (one, other) = (Map::from_iter([("a", 1), ("c", 3)]), Map::from_iter([("b", 2), ("c", 4)]));
        let pairs: Vec<_> = one
            .pairs(&other)
            .map(|(key, left, right)| {
                (key.as_str(), left.and_then(Value::as_int), right.and_then(Value::as_int))
            })
            .collect();
        assert_eq!(pairs, [("a", Some(1), None), ("b", None, Some(2)), ("c", Some(3), Some(4))]);
    }

    #[test]
    fn each_field_is_found_beside_that_of_another_map() {
        let (one, other) = (
            Map::from_iter([("b", 1), ("c", 2), ("e", 3)]),
            Map::from_iter([("a", 4), ("c", 5), ("d", 6), ("e", 7)]),
        );
        let found = |other| {
            let beside =
                one.beside(other).map(|(key, _, theirs)| (key.as_str(), theirs.and_then(Value::as_int)));
            beside.collect::<Vec<_>>()
        };
        assert_eq!(found(Some(&other)), [("b", None), ("c", Some(5)), ("e", Some(7))]);
        assert_eq!(found(None), [("b", None), ("c", None), ("e", None)]);
    }

    #[test]
    fn one_field_may_be_left_out_of_a_comparison() {
        let one = Map::from_iter([("a", 1), ("time", 2)]);
        assert!(one.equals_but_for(&Map::from_iter([("a", 1), ("time", 3)]), "time"));
        assert!(one.equals_but_for(&Map::from_iter([("a", 1)]), "time"));
        assert!(!one.equals_but_for(&Map::from_iter([("a", 2), ("time", 2)]), "time"));
        assert!(!one.equals_but_for(&Map::from_iter([("b", 1), ("time", 2)]), "time"));
    }

    #[test]
    fn retaining_keeps_order() {
        let mut map = Map::from_iter([("a", 1), ("b", 2), ("c", 3)]);
        map.retain(|_, value| value.as_int() != Some(2));
        assert_eq!(map, Map::from_iter([("a", 1), ("c", 3)]));
    }
}
