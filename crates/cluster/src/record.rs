//! Lynceus' own records: Applications, projects, the Secrets and ConfigMaps of its settings, and Events.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use lynceus_object::{Gvk, Object, Propagation, Str, Value, value};

use crate::cluster::Cluster;
use crate::door::PatchKind;
use crate::error::ClusterError;
use crate::plain::plain;
use crate::write::Deletion;

/// Whether an event is about something that went as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// It did.
    Normal,
    /// It did not.
    Warning,
}

impl Cluster {
    /// Changes one of Lynceus' own objects by a merge patch. With a `resourceVersion` in the patch, the server
    /// refuses it if another writer was faster.
    pub async fn patch_record(
        &self,
        gvk: &Gvk,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Object, ClusterError> {
        let kind = self.kind(gvk).await?;
        let path = format!("{}?fieldManager={}", kind.object_path(namespace, name), crate::FIELD_MANAGER);
        let value = self.door.patch(&path, PatchKind::Merge, patch).await?;
        let object = Object::new(value)
            .map_err(|_| ClusterError::Decode { path, reason: "it is no object".into() })?;
        // Taking it now keeps the next look from deciding on what was before our own write.
        Ok(self.cache().learn(object))
    }

    /// Changes the status of one of Lynceus' own objects, of a kind that keeps it apart from the rest. Where it does not,
    /// the status is a field as any other.
    pub async fn patch_status(
        &self,
        gvk: &Gvk,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Object, ClusterError> {
        let kind = self.kind(gvk).await?;
        let place = kind.object_path(namespace, name);
        let path = format!("{place}/status?fieldManager={}", crate::FIELD_MANAGER);
        let value = match self.door.patch(&path, PatchKind::Merge, patch).await {
            Ok(value) => value,
            Err(error) if error.is_not_found() => {
                return self.patch_record(gvk, namespace, name, patch).await;
            }
            Err(error) => return Err(error),
        };
        let object = Object::new(value)
            .map_err(|_| ClusterError::Decode { path, reason: "it is no object".into() })?;
        Ok(self.cache().learn(object))
    }

    /// Creates one of Lynceus' own objects, or one that the user asked for by name.
    pub async fn create_record(&self, object: &Object) -> Result<Object, ClusterError> {
        let kind = self.kind(&object.gvk()).await?;
        let path =
            format!("{}?fieldManager={}", kind.collection_path(object.namespace()), crate::FIELD_MANAGER);
        let value = self.door.post(&path, object.value()).await?;
        let object = Object::new(value)
            .map_err(|_| ClusterError::Decode { path, reason: "it is no object".into() })?;
        Ok(self.cache().learn(object))
    }

    /// Deletes one of Lynceus' own objects, if it is still the one that is meant. One that is gone already is no error.
    pub async fn delete_record(&self, object: &Object) -> Result<(), ClusterError> {
        // It owns nothing that would have to go first.
        let propagation = Propagation::Background;
        let deletion = Deletion { uid: object.uid().into(), propagation, ..Deletion::default() };
        self.delete(&object.gvk(), object.namespace(), object.name(), &deletion).await?;
        // One that others still hold by a finalizer stays until the watch tells of its end.
        if object.finalizers().next().is_none() {
            self.cache().remove(object);
        }
        Ok(())
    }

    /// Replaces one of Lynceus' own objects; the server refuses it if another writer was faster.
    pub async fn replace_record(&self, object: &Object) -> Result<Object, ClusterError> {
        let kind = self.kind(&object.gvk()).await?;
        let path = format!(
            "{}?fieldManager={}",
            kind.object_path(object.namespace(), object.name()),
            crate::FIELD_MANAGER
        );
        let value = self.door.put(&path, object.value()).await?;
        let object = Object::new(value)
            .map_err(|_| ClusterError::Decode { path, reason: "it is no object".into() })?;
        Ok(self.cache().learn(object))
    }

    /// Records an event about an object, with labels of its own.
    pub async fn record_event(
        &self,
        about: &Object,
        labels: &BTreeMap<Str, Str>,
        kind: EventType,
        reason: &str,
        message: &str,
        now: Timestamp,
    ) -> Result<(), ClusterError> {
        let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let namespace = if about.namespace().is_empty() { "default" } else { about.namespace() };
        let mut event = value!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": format!("{}.{:x}", about.name(), moment(now)),
                "namespace": namespace,
            },
            "involvedObject": {
                "apiVersion": about.api_version(), "kind": about.kind(), "namespace": about.namespace(),
                "name": about.name(), "uid": about.uid(), "resourceVersion": about.resource_version(),
            },
            "type": if kind == EventType::Normal { "Normal" } else { "Warning" },
            "reason": reason,
            "message": message,
            "firstTimestamp": time, "lastTimestamp": time, "count": 1,
            "source": {"component": crate::FIELD_MANAGER},
        });
        if !labels.is_empty() {
            let labels = labels.iter().map(|(name, value)| (name.clone(), Value::Str(value.clone())));
            event.set(&["metadata", "labels"], Value::Map(labels.collect()));
        }
        self.door.post(&format!("/api/v1/namespaces/{}/events", plain(namespace)), &event).await.map(drop)
    }
}

/// A number for a time that no other event has. A clock may be coarse, or stand still.
fn moment(now: Timestamp) -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = i64::try_from(now.as_nanosecond()).unwrap_or_default();
    let later = |last: i64| Some(now.max(last.saturating_add(1)));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).unwrap_or_else(|last| last);
    now.max(last.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_events_of_one_moment_have_two_names() {
        let now = Timestamp::UNIX_EPOCH;
        assert_ne!(moment(now), moment(now));
    }
}
