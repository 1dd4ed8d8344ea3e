//! The field `patchesJson6902`: operations on JSON for what a target selects.

use lynceus_object::Value;

use super::json;
use crate::error::KustomizeError;
use crate::resources::Resources;
use crate::schema::Schema;
use crate::selector::{Matcher, Selector};

/// One item of the field.
#[derive(Debug)]
pub(crate) struct JsonPatch {
    target: Selector,
    operations: Value,
}

impl JsonPatch {
    /// Reads an item. `path` is the name of the file that `text` is from; none if it stands in the kustomization itself.
    pub(crate) fn read(
        target: Option<Selector>,
        path: Option<&str>,
        text: &str,
    ) -> Result<Self, KustomizeError> {
        let Some(target) = target.filter(|target| !target.name.is_empty()) else {
            return Err(KustomizeError::new("must specify the target name"));
        };
        if text.is_empty() {
            return Err(KustomizeError::new(match path {
                Some(path) => format!("patch file '{path}' empty seems to be empty"),
                None => "empty file path and empty jsonOp".to_owned(),
            }));
        }
        let operations =
            json::read(text).map_err(|why| KustomizeError::new(format!("decoding the patch: {why}")))?;
        if operations.is_empty() {
            let path = path.unwrap_or_default();
            return Err(KustomizeError::new(format!("patch appears to be empty; file={path}")));
        }
        Ok(JsonPatch { target, operations })
    }

    /// Carries out the operations on every resource that the target selects.
    pub(crate) fn apply(&self, resources: &mut Resources, schema: &Schema) -> Result<(), KustomizeError> {
        let matcher = Matcher::new(&self.target)?;
        for resource in &mut resources.list {
            if matcher.targets(resource, schema) {
                json::apply(resource, &self.operations)?;
            }
        }
        Ok(())
    }
}
