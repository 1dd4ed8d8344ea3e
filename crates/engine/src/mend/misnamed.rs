//! Value files that are passed over because of their names, and what those that are meant would change.

use std::sync::Arc;

use lynceus_doctor::{Misnamed, PassedOver};
use lynceus_files::Tree;
use lynceus_object::{FieldPath, Object, ObjectKey};

use super::overrides::compare;
use crate::engine::Engine;

impl Engine {
    /// What an application would have otherwise with a file that it passes over; nothing if it cannot be rendered with it.
    pub(crate) async fn passed_over(&self, misnamed: &Misnamed) -> Option<PassedOver> {
        let Misnamed { application, source, number, near } = misnamed;
        let bench = self.bench(application).await.ok()?;
        let before = self.manifests(&bench, &[]).await.ok()?;
        let mut sources = bench.sources.clone();
        let files = &mut sources.get_mut(*source)?.helm.as_mut()?.value_files;
        *files.get_mut(*number)? = near.as_str().into();
        let trees: Vec<Option<Arc<dyn Tree>>> = vec![None; sources.len()];
        let after = self.manifests_of(&bench, &trees, &sources).await.ok()?;
        Some(PassedOver { source: *source, number: *number, changes: changes(&before, &after) })
    }
}

/// The fields that are others, whether they come, go or change; of objects that come or go everything.
fn changes(before: &[Object], after: &[Object]) -> Vec<(ObjectKey, FieldPath)> {
    let mut found: Vec<(ObjectKey, FieldPath)> = Vec::new();
    for (one, other) in [(before, after), (after, before)] {
        for object in one {
            let key = object.key();
            let mut fields = Vec::new();
            match other.iter().find(|other| other.key() == key) {
                Some(other) => compare(other.value(), object.value(), &FieldPath::root(), &mut fields),
                None => fields.push((FieldPath::root(), object.value().clone())),
            }
            found.extend(fields.into_iter().map(|(path, _)| (key.clone(), path)));
        }
    }
    found
}
