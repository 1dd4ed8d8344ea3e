//! The triggers and templates that everybody needs, under the names of Argo CD's catalogue.

use lynceus_object::{Value, yaml};

/// A ConfigMap that can be applied as it is.
pub const CATALOGUE: &str = include_str!("../data/catalogue.yaml");

/// The same as a value.
pub fn catalogue() -> Value {
    yaml::parse_str(CATALOGUE).unwrap_or_default()
}
