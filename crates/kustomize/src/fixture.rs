//! Resources from text and to text, for tests.

use std::sync::Arc;

use lynceus_object::yaml::{self, Options, Version};

use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::written::Written;

/// Reads resources; each needs a kind and a name.
pub(crate) fn load(text: &str) -> Result<Vec<Resource>, KustomizeError> {
    let stream: Arc<[u8]> = Arc::from(text.as_bytes());
    let mut out = Vec::new();
    for document in yaml::documents(text.as_bytes(), &Options::default().version(Version::V3)) {
        let value = document.result.map_err(|error| KustomizeError::new(error.to_string()))?;
        if value.is_empty() {
            continue;
        }
        let mut resource = Resource::new(value);
        if resource.kind_name().is_empty() || resource.name().is_empty() {
            return Err(KustomizeError::new("missing Resource metadata"));
        }
        resource.written = Written::document(stream.clone(), document.index);
        out.push(resource);
    }
    Ok(out)
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
