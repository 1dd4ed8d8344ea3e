//! A Kubernetes object as a value: keys, paths, YAML and JSON, selectors, quantities, schemas, patches and apply.

pub mod apply;
pub mod defaults;
pub mod edit;
mod id;
pub mod json;
pub mod jsonpath;
pub mod limits;
mod literal;
pub mod manifest;
mod map;
mod object;
pub mod patch;
pub mod path;
mod pool;
mod propagation;
pub mod protobuf;
pub mod quantity;
pub mod schema;
pub mod selector;
pub mod typed;
mod value;
mod word;
pub mod yaml;

pub use id::{GroupKind, Gvk, Gvr, ObjectKey, join_api_version, split_api_version};
pub use map::Map;
pub use object::{Object, OwnerRef};
pub use path::{FieldPath, Segment};
pub use pool::Pool;
pub use propagation::Propagation;
pub use quantity::Quantity;
pub use selector::{FieldSelector, Selector};
pub use typed::{TypedError, from_typed, to_typed};
pub use value::{Seq, Str, Value};

/// What the macros of this crate expand to; not for direct use.
#[doc(hidden)]
pub mod private {
    pub use crate::literal::{fields, items, written};
}
