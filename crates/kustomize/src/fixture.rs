//! Resources from text and to text, for tests.

use lynceus_object::yaml;

use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;

/// Reads resources; each needs a kind and a name.
pub(crate) fn load(text: &str) -> Result<Vec<Resource>, KustomizeError> {
    crate::read::resources(text.as_bytes(), None)
}

/// Reads resources that are known to be right.
pub(crate) fn resources(text: &str) -> Resources {
    Resources { list: load(text).unwrap() }
}

/// Prints resources.
pub(crate) fn print(resources: &Resources) -> String {
    let printed: Vec<String> =
        resources.list.iter().map(|resource| yaml::to_string(&resource.value)).collect();
    printed.join("---\n")
}
