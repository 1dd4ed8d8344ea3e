//! The embedded Kubernetes: store, watch, admission, apply, controllers, on a clock that is an argument.

mod error;
pub mod kinds;

pub use error::{ApiError, FieldError, FieldErrorKind};
