//! What a user asks for beside syncing: to change one object, or to create one.
//!
//! An action of a resource is worked out elsewhere; what comes of it is written here. Nothing is merged with what Git says
//! and nothing is noted as applied, so that the next sync sees the change as anybody else's.

use lynceus_object::{Object, Value, patch, value};

use crate::cluster::Cluster;
use crate::door::PatchKind;
use crate::error::ClusterError;

/// Who such changes are from in managedFields: the part of Argo CD that makes them there. Under the name that syncs have,
/// a sync that begins to apply on the server's side would take the fields for its own, and remove them.
const EDITOR: &str = "argocd-server";

/// Whether something is done, or only asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The server says what it would do.
    Only,
    /// It is done.
    No,
}

impl Cluster {
    /// Sends what differs between an object as it is and as it should be, and nothing else, so that what others write at
    /// the same time stays. Gives the object afterwards, or `None` if there was nothing to change.
    pub async fn change(&self, live: &Object, wanted: &Object) -> Result<Option<Object>, ClusterError> {
        let mut rest = patch::create::merge_two_way(live.value(), wanted.value())
            .map_err(|error| ClusterError::Patch { key: live.key(), reason: error.to_string() })?;
        if rest.is_empty() {
            return Ok(None);
        }
        let kind = self.kind(&live.gvk()).await?;
        let path = kind.object_path(live.namespace(), live.name());
        let mut answer = Value::Null;
        if let Some(status) = rest.get("status").cloned() {
            let place = format!("{path}/status?fieldManager={EDITOR}");
            match self.door.patch(&place, PatchKind::Merge, &value!({"status": status})).await {
                Ok(value) => {
                    answer = value;
                    rest.remove(&["status"]);
                }
                // The kind keeps its status like any other field, and it goes with them.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        if !rest.is_empty() {
            let place = format!("{path}?fieldManager={EDITOR}");
            answer = self.door.patch(&place, PatchKind::Merge, &rest).await?;
        }
        self.taken(answer, path).map(Some)
    }

    /// Creates an object that a user asked for, or asks whether the server would.
    pub async fn create(&self, object: &Object, trial: Trial) -> Result<Object, ClusterError> {
        let kind = self.kind(&object.gvk()).await?;
        let path = kind.collection_path(object.namespace());
        let dry_run = if trial == Trial::Only { "&dryRun=All" } else { "" };
        let place = format!("{path}?fieldManager={EDITOR}{dry_run}");
        let answer = self.door.post(&place, object.value()).await?;
        match trial {
            Trial::No => self.taken(answer, path),
            Trial::Only => read(answer, path),
        }
    }

    /// The object in an answer, which the cache has from now on as well.
    fn taken(&self, answer: Value, path: String) -> Result<Object, ClusterError> {
        let object = read(answer, path)?;
        Ok(self.cache().learn(object))
    }
}

fn read(answer: Value, path: String) -> Result<Object, ClusterError> {
    Object::new(answer).map_err(|_| ClusterError::Decode { path, reason: "it is no object".to_owned() })
}
