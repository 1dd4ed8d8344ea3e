//! What is added beside something that is there.

use lynceus_doctor::AppName;
use lynceus_kustomize::Cause;
use lynceus_object::{FieldPath, ObjectKey, Value, yaml};
use lynceus_render::Reason;

use super::desk::Desk;
use super::{Bench, MendError, document};
use crate::engine::Engine;

impl Engine {
    /// Adds an object in a file of its own beside another one.
    pub(super) async fn add_object(
        &self,
        desk: &mut Desk,
        name: &AppName,
        beside: &ObjectKey,
        object: &Value,
    ) -> Result<(), MendError> {
        let bench = self.bench(name).await?;
        let traced = self.traced(&bench, beside, &FieldPath::fields(["metadata", "name"])).await?;
        let missing = || MendError::NoObject { application: name.clone(), object: beside.clone() };
        let source = bench.sources.get(traced.number).ok_or_else(missing)?;
        let file = document::file_of(&traced.reason, &source.path).ok_or_else(missing)?;
        let new = document::name_beside(&file, object).ok_or_else(missing)?;
        let mut object = object.clone();
        let is_near = object.str_at(&["metadata", "namespace"]) == Some(beside.namespace.as_str());
        if is_near && self.is_placed_by_others(&bench, beside).await {
            object.remove(&["metadata", "namespace"]);
        }
        // Those who share a file share its mending.
        if desk.create(&source.repo_url, &new, yaml::to_string(&object)) {
            document::list(desk, &source.repo_url, &*traced.tree, &file, &new)?;
        }
        Ok(())
    }

    /// Whether the file of an object leaves its namespace to those who take the file in. What is put beside it comes into the same one
    /// then; with a namespace it would be that of one of them for all.
    async fn is_placed_by_others(&self, bench: &Bench, key: &ObjectKey) -> bool {
        let Ok(object) = self.rendered(bench, key).await else { return false };
        if object.namespace().is_empty() {
            return true;
        }
        let traced = self.traced(bench, key, &FieldPath::fields(["metadata", "namespace"])).await;
        match traced.map(|traced| traced.reason) {
            Ok(Reason::Kustomization(explanation)) => !matches!(explanation.last, Cause::Written(_)),
            Ok(Reason::Template(_)) => bench.application.spec.destination.namespace == key.namespace,
            Ok(Reason::File(_)) | Err(_) => false,
        }
    }
}
