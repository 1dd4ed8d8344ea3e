//! Quotes round what has to be a text.

use lynceus_doctor::AppName;
use lynceus_doctor::provenance::{Spot, Whose};
use lynceus_doctor::surgery::{Change, plain_at};
use lynceus_object::{FieldPath, ObjectKey, Value, json};

use super::MendError;
use super::desk::{Desk, read};
use crate::engine::Engine;

impl Engine {
    /// Has a field hold as a text what is written there without quotes; where that cannot be seen, what was read of it.
    pub(super) async fn quote(
        &self,
        desk: &mut Desk,
        name: &AppName,
        key: &ObjectKey,
        path: &FieldPath,
    ) -> Result<(), MendError> {
        let bench = self.bench(name).await?;
        let object = self.rendered(&bench, key).await?;
        let traced = self.traced(&bench, key, path).await?;
        let spot = self.spot(&bench, &traced, &object, key, (path, path), &Change::Remove).ok();
        let written = spot.and_then(|spot| {
            let tree = match &spot.whose {
                Whose::Reference(reference) => traced.references.get(reference)?,
                Whose::Source => &traced.tree,
                Whose::Application => return None,
            };
            let Spot::Field(cell) = &spot.spot else { return None };
            plain_at(&read(&**tree, &spot.file).ok()?, cell.document, &cell.path)
        });
        let read = || path.get(object.value()).map(json::to_string);
        let Some(text) = written.or_else(read) else {
            return Err(MendError::NoObject { application: name.clone(), object: key.clone() });
        };
        self.change_field(desk, name, key, path, &Change::Set(Value::from(text))).await
    }
}
