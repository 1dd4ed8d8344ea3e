//! Fields inside of a text that is itself JSON or YAML, such as a file in a ConfigMap.

use lynceus_object::{Str, Value};

use super::Copied;
use super::path::Create;

/// Sets a field inside of the text that a path leads through. `false` if there is no such text or field.
pub(super) fn set(_value: &mut Value, _steps: &[Str], _copied: &Copied, _create: Create) -> bool {
    false
}
