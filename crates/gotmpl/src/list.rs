//! Go's slices.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;

use crate::Value;
use crate::memory::Birth;
use crate::types::{self, Int, Shape, Type};

/// A handle on a list. Clones share the contents.
#[derive(Clone)]
pub struct List {
    items: Rc<Items>,
    of: Type,
}

enum Items {
    Values {
        items: RefCell<Vec<Value>>,
        nil: bool,
        birth: Birth,
    },
    /// `[]uint8`: files can be large, and a value per byte would be 24 times that.
    Bytes(Arc<[u8]>),
}

impl List {
    /// A list of type `[]interface {}`.
    pub fn new(items: Vec<Value>) -> Self {
        Self::typed(&types::LIST, items)
    }

    /// A list of any slice type.
    pub fn typed(of: Type, items: Vec<Value>) -> Self {
        Self { items: Rc::new(Items::values(items, false)), of }
    }

    /// A list of type `[]uint8`.
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { items: Rc::new(Items::Bytes(bytes.into())), of: &types::BYTES }
    }

    /// The nil slice of a type: empty, and equal to nil.
    pub fn nil(of: Type) -> Self {
        Self { items: Rc::new(Items::values(Vec::new(), true)), of }
    }

    /// The same contents seen as another type.
    pub fn as_type(&self, of: Type) -> Self {
        Self { items: Rc::clone(&self.items), of }
    }

    /// The Go type.
    pub fn go_type(&self) -> Type {
        self.of
    }

    /// The type of the elements.
    pub fn element(&self) -> Type {
        match self.of.shape {
            Shape::List(element) => element,
            _ => &types::ANY,
        }
    }

    /// Whether this is Go's nil slice.
    pub fn is_nil(&self) -> bool {
        matches!(&*self.items, Items::Values { items, nil: true, .. } if items.borrow().is_empty())
    }

    /// What tells one list from another for as long as it lives.
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

    /// The bytes, if this is a `[]uint8`.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &*self.items {
            Items::Bytes(bytes) => Some(bytes),
            Items::Values { .. } => None,
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match &*self.items {
            Items::Bytes(bytes) => bytes.len(),
            Items::Values { items, .. } => items.borrow().len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a position.
    pub fn get(&self, at: usize) -> Option<Value> {
        match &*self.items {
            Items::Bytes(bytes) => bytes.get(at).map(|&byte| byte_value(byte)),
            Items::Values { items, .. } => items.borrow().get(at).cloned(),
        }
    }

    /// The elements as they are now.
    pub fn to_vec(&self) -> Vec<Value> {
        match &*self.items {
            Items::Bytes(bytes) => bytes.iter().map(|&byte| byte_value(byte)).collect(),
            Items::Values { items, .. } => items.borrow().clone(),
        }
    }

    /// The elements, to read; `None` for a `[]uint8`. Do not run templates while holding it.
    pub fn read(&self) -> Option<Ref<'_, Vec<Value>>> {
        match &*self.items {
            Items::Bytes(_) => None,
            Items::Values { items, .. } => Some(items.borrow()),
        }
    }

    /// The elements, to change; `None` for a `[]uint8`, which never changes.
    pub fn write(&self) -> Option<RefMut<'_, Vec<Value>>> {
        match &*self.items {
            Items::Bytes(_) => None,
            Items::Values { items, birth, .. } => {
                birth.change();
                Some(items.borrow_mut())
            }
        }
    }

    /// The last handle's elements, so that a deep value can be taken apart without recursion.
    pub(crate) fn dismantle(self) -> Option<Vec<Value>> {
        match Rc::try_unwrap(self.items).ok()? {
            Items::Bytes(_) => None,
            Items::Values { ref mut items, .. } => Some(std::mem::take(items.get_mut())),
        }
    }
}

fn byte_value(byte: u8) -> Value {
    Value::Int(i64::from(byte), Int::U8)
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl Items {
    fn values(items: Vec<Value>, nil: bool) -> Self {
        Items::Values { items: RefCell::new(items), nil, birth: Birth::now() }
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if let Self::Values { items, .. } = self {
            crate::nesting::drop_contents(std::mem::take(items.get_mut()));
        }
    }
}
