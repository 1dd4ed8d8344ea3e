//! A value as Go's `reflect` package sees it.

use crate::Value;
use crate::trace::Origin;
use crate::types::{self, Shape, Type};

/// A value, and whether it was reached through an `interface {}`.
///
/// The difference shows: an element of a map knows that it is an `interface {}` and fails where
/// the same value in a variable does not, and a nil that is none at all behaves unlike a nil in a map.
#[derive(Clone, Default)]
pub(crate) struct Dynamic {
    pub(crate) value: Value,
    pub(crate) boxed: bool,
    /// What fed it, if the render is traced.
    pub(crate) origin: Origin,
}

impl Dynamic {
    /// No value at all.
    pub(crate) fn invalid() -> Self {
        Self::default()
    }

    /// A value of its own type.
    pub(crate) fn concrete(value: Value) -> Self {
        Self { value, boxed: false, origin: Origin::NONE }
    }

    /// A value of a static type, such as the element of a map or the result of a function.
    pub(crate) fn of_type(value: Value, of: Type) -> Self {
        Self { value, boxed: matches!(of.shape, Shape::Any | Shape::Interface), origin: Origin::NONE }
    }

    pub(crate) fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.boxed || !self.value.is_nil()
    }

    /// The type's name as errors have it.
    pub(crate) fn type_name(&self) -> &'static str {
        if self.boxed { types::ANY.name } else { self.value.type_name() }
    }
}
