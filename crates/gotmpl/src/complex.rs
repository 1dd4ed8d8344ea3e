//! Complex numbers, which templates can write as constants and print.

use std::any::Any;

use crate::Object;
use crate::types::{self, Type};

/// A `complex128`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Complex {
    pub(crate) real: f64,
    pub(crate) imaginary: f64,
}

impl Object for Complex {
    fn go_type(&self) -> Type {
        &types::COMPLEX128
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn truth(&self) -> bool {
        self.real != 0.0 || self.imaginary != 0.0
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        other.as_any().downcast_ref::<Self>().map(|other| self == other)
    }
}
