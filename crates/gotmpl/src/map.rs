//! Go's maps with string keys.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use crate::memory::{self, Birth};
use crate::types::{self, Shape, Type};
use crate::{Str, Value};

/// A handle on a map. Clones share the contents; the keys are in the order in which Go prints and ranges.
#[derive(Clone)]
pub struct Map {
    items: Rc<Items>,
    of: Type,
}

struct Items {
    map: RefCell<BTreeMap<Str, Value>>,
    nil: bool,
    /// Whether another map stands in its place the next time.
    passing: bool,
    birth: Birth,
}

impl Map {
    /// A map of type `map[string]interface {}`.
    pub fn new(items: BTreeMap<Str, Value>) -> Self {
        Self::typed(&types::MAP, items)
    }

    /// A map of any map type.
    pub fn typed(of: Type, items: BTreeMap<Str, Value>) -> Self {
        Self { items: Rc::new(Items::new(items, false, false)), of }
    }

    /// A map in whose place another one stands the next time: what is computed from it is not remembered.
    pub fn passing(of: Type, items: BTreeMap<Str, Value>) -> Self {
        Self { items: Rc::new(Items::new(items, false, true)), of }
    }

    /// The nil map of a type: empty, and equal to nil.
    pub fn nil(of: Type) -> Self {
        Self { items: Rc::new(Items::new(BTreeMap::new(), true, false)), of }
    }

    /// The same contents seen as another type, as when `common.Values` becomes `map[string]interface {}`.
    pub fn as_type(&self, of: Type) -> Self {
        Self { items: Rc::clone(&self.items), of }
    }

    /// The Go type.
    pub fn go_type(&self) -> Type {
        self.of
    }

    /// The type of the values.
    pub fn element(&self) -> Type {
        match self.of.shape {
            Shape::Map(element) => element,
            _ => &types::ANY,
        }
    }

    /// Whether this is Go's nil map.
    pub fn is_nil(&self) -> bool {
        self.items.nil && self.is_empty()
    }

    /// What tells one map from another for as long as it lives.
    pub fn id(&self) -> usize {
        Rc::as_ptr(&self.items).addr()
    }

    /// How many handles there are.
    pub(crate) fn handles(&self) -> usize {
        Rc::strong_count(&self.items)
    }

    /// Whether two handles share their contents.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.items, &other.items)
    }

    /// The contents, to read. Do not run templates while holding it: they may want to write.
    pub fn read(&self) -> Ref<'_, BTreeMap<Str, Value>> {
        if self.items.passing {
            memory::unsteady();
        }
        self.items.map.borrow()
    }

    /// The contents, to change. Hold it shortly, and never while another handle may be read.
    pub fn write(&self) -> RefMut<'_, BTreeMap<Str, Value>> {
        self.items.birth.change();
        self.items.map.borrow_mut()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.read().get(key).cloned()
    }

    /// Whether there is a key.
    pub fn contains(&self, key: &str) -> bool {
        self.read().contains_key(key)
    }

    /// Sets a key and gives what was there.
    pub fn insert(&self, key: impl Into<Str>, value: Value) -> Option<Value> {
        self.write().insert(key.into(), value)
    }

    /// Puts a map that is [`Map::passing`] into the place of the one before it, which nothing remembered depends on.
    pub fn insert_passing(&self, key: impl Into<Str>, map: Map) {
        let before = self.items.map.borrow_mut().insert(key.into(), Value::Map(map));
        if !matches!(&before, Some(Value::Map(before)) if before.items.passing) {
            self.items.birth.change();
        }
    }

    /// Removes a key and gives what was there.
    pub fn remove(&self, key: &str) -> Option<Value> {
        self.write().remove(key)
    }

    /// The keys in order.
    pub fn keys(&self) -> Vec<Str> {
        self.read().keys().cloned().collect()
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> Vec<Value> {
        self.read().values().cloned().collect()
    }

    /// Keys and values as they are now: what `range` goes through, whatever happens to the map meanwhile.
    pub fn entries(&self) -> Vec<(Str, Value)> {
        self.read().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// A map that does not keep its contents alive.
pub(crate) struct WeakMap {
    items: Weak<Items>,
    of: Type,
}

impl Map {
    pub(crate) fn downgrade(&self) -> WeakMap {
        WeakMap { items: Rc::downgrade(&self.items), of: self.of }
    }
}

impl WeakMap {
    pub(crate) fn upgrade(&self) -> Option<Map> {
        Some(Map { items: self.items.upgrade()?, of: self.of })
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl FromIterator<(Str, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Str, Value)>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl Items {
    fn new(map: BTreeMap<Str, Value>, nil: bool, passing: bool) -> Self {
        Items { map: RefCell::new(map), nil, passing, birth: Birth::now() }
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        crate::nesting::drop_contents(std::mem::take(self.map.get_mut()).into_values());
    }
}

impl Map {
    /// The last handle's values, so that a deep value can be taken apart without recursion.
    pub(crate) fn dismantle(self) -> Option<Vec<Value>> {
        let mut items = Rc::try_unwrap(self.items).ok()?;
        Some(std::mem::take(items.map.get_mut()).into_values().collect())
    }
}
