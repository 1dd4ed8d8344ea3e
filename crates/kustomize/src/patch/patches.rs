//! The field `patches`: patches of either sort, for what they name themselves or for what a target selects.

use lynceus_object::Value;

use super::json;
use super::strategic::StrategicPatch;
use super::targets::{Targets, at_patch, check_ids, drop_deleted};
use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;
use crate::selector::{Matcher, Selector};

/// The options of a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchOptions {
    /// Whether it may change the name of what it patches.
    pub(crate) allow_name_change: bool,
    /// Whether it may change the kind of what it patches.
    pub(crate) allow_kind_change: bool,
}

/// One item of `patches`.
#[derive(Debug)]
pub(crate) struct Patch {
    content: Content,
    /// What to call it in messages.
    source: String,
    target: Option<Selector>,
}

#[derive(Debug)]
enum Content {
    Strategic(Vec<Resource>),
    Json(Value),
}

impl Patch {
    /// A patch that stands in the kustomization itself. `load` reads resources from a text.
    pub(crate) fn inline(
        text: &str,
        target: Option<Selector>,
        options: PatchOptions,
        load: impl Fn(&str) -> Result<Vec<Resource>, KustomizeError>,
    ) -> Result<Self, KustomizeError> {
        let text = text.trim();
        Patch::read(text, "[patch in the kustomization]".to_owned(), target, options, load)
    }

    /// A patch from a file, called `path` in the kustomization.
    pub(crate) fn file(
        path: &str,
        text: &str,
        target: Option<Selector>,
        options: PatchOptions,
        load: impl Fn(&str) -> Result<Vec<Resource>, KustomizeError>,
    ) -> Result<Self, KustomizeError> {
        Patch::read(text, format!("[path: {path:?}]"), target, options, load)
    }

    /// What sort of patch it is shows in whether its text can be read as one.
    fn read(
        text: &str,
        source: String,
        target: Option<Selector>,
        options: PatchOptions,
        load: impl Fn(&str) -> Result<Vec<Resource>, KustomizeError>,
    ) -> Result<Self, KustomizeError> {
        let content = match (load(text), json::read(text)) {
            (Ok(patches), Ok(Value::Seq(operations))) if !patches.is_empty() && !operations.is_empty() => {
                return Err(KustomizeError::new(format!(
                    "illegally qualifies as both an SM and JSON patch: {source}"
                )));
            }
            (Ok(mut patches), _) => {
                for patch in &mut patches {
                    patch.may_rename = options.allow_name_change;
                    patch.may_change_kind = options.allow_kind_change;
                }
                Content::Strategic(patches)
            }
            (Err(_), Ok(operations)) => Content::Json(operations),
            (Err(strategic), Err(json)) => {
                return Err(KustomizeError::new(format!("unable to parse SM or JSON patch from {source}"))
                    .hint(format!(
                        "as a strategic merge patch: {}; as a JSON patch: {json}",
                        strategic.message
                    )));
            }
        };
        Ok(Patch { content, source, target })
    }

    fn apply(
        &self,
        resources: &mut Resources,
        targets: &mut Targets,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        match (&self.content, &self.target) {
            (Content::Strategic(patches), Some(target)) => match patches.as_slice() {
                [] => Ok(()),
                [patch] => self.apply_selective(patch, target, resources, targets, schema),
                _ => Err(KustomizeError::new(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field: {}",
                    self.source
                ))
                .hint("give each patch an entry of its own")),
            },
            (Content::Strategic(patches), None) => {
                for patch in patches {
                    let id = patch.original_id(schema.is_cluster_scoped(&patch.kind()));
                    let at = targets.find(&id, resources, schema).map_err(|error| {
                        let error = error.context(format!("no resource matches strategic merge patch \"{id}\""));
                        at_patch(error, patch)
                    })?;
                    let resource = &mut resources.list[at];
                    StrategicPatch::new(patch, false).apply(resource, schema)?;
                    targets.renamed(at, resource);
                }
                Ok(())
            }
            (Content::Json(Value::Null), _) => Ok(()),
            (Content::Json(_), None) => Err(KustomizeError::new(format!(
                "must specify a target for JSON patch {}",
                self.source
            ))),
            (Content::Json(operations), Some(target)) => {
                let matcher = Matcher::new(target)?;
                for (at, resource) in resources.list.iter_mut().enumerate() {
                    if !resource.value.is_empty() && matcher.targets(resource, schema) {
                        resource.remember_id(schema.is_cluster_scoped(&resource.kind()));
                        let id = resource.id(false);
                        json::apply(resource, operations)
                            .map_err(|error| error.add_hint(format!("the patch is {} on {id}", self.source)))?;
                        targets.renamed(at, resource);
                    }
                }
                Ok(())
            }
        }
    }

    fn apply_selective(
        &self,
        patch: &Resource,
        target: &Selector,
        resources: &mut Resources,
        targets: &mut Targets,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        let matcher = Matcher::new(target).map_err(|error| {
            error.context(format!("unable to find patch target \"{target}\" in `resources`"))
        })?;
        let ready = StrategicPatch::new(patch, true);
        // Which are meant is known before any is changed.
        let selected: Vec<usize> = resources
            .list
            .iter()
            .enumerate()
            .filter(|(_, resource)| !resource.value.is_empty() && matcher.targets(resource, schema))
            .map(|(at, _)| at)
            .collect();
        for at in selected {
            let resource = &mut resources.list[at];
            ready.apply(resource, schema)?;
            targets.renamed(at, resource);
        }
        if patch.may_rename || patch.may_change_kind { check_ids(resources, schema) } else { Ok(()) }
    }
}

/// Applies `patches` one after the other.
pub(crate) fn apply_patches(
    patches: &[Patch],
    resources: &mut Resources,
    schema: &Schema,
) -> Result<(), KustomizeError> {
    let mut targets = Targets::default();
    for patch in patches {
        patch.apply(resources, &mut targets, schema)?;
    }
    drop_deleted(resources);
    Ok(())
}
