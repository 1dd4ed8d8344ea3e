//! The API described to clients.

use lynceus_object::{Value, value};

use crate::registry::Registry;

/// The document at `/openapi/v2`.
pub fn v2(_registry: &Registry) -> Value {
    value!({"swagger": "2.0", "paths": {}, "definitions": {}})
}

/// The index at `/openapi/v3`.
pub fn v3_index(_registry: &Registry) -> Value {
    value!({"paths": {}})
}

/// The document at `/openapi/v3/<path>`, such as `apis/apps/v1`.
pub fn v3_group(_registry: &Registry, _path: &str) -> Option<Value> {
    None
}
