//! The only writes to an application's objects: apply and delete.

use lynceus_api::annotations::LAST_APPLIED;
use lynceus_object::{Gvk, Object, Propagation, Value, json, patch, schema, value};
use tracing::{debug, warn};

use crate::cluster::Cluster;
use crate::door::{FIELD_MANAGER, PatchKind};
use crate::error::ClusterError;
use crate::kind::Kind;
use crate::{limits, migrate, rbac, size};

/// How an object is brought to what Git says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// As `kubectl apply` does: a three-way patch from what was last applied.
    #[default]
    ClientSide,
    /// As `kubectl apply --server-side --force-conflicts` does.
    ServerSide,
    /// As `kubectl replace` does; created if it is not there.
    Replace,
    /// As `kubectl create` does; an object that is there already is an error.
    Create,
}

/// The rest of what an apply has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyOptions {
    /// How.
    pub strategy: Strategy,
    /// Delete and create again where the object cannot be changed in place.
    pub force: bool,
    /// Refuse fields that the kind does not have.
    pub validate: bool,
    /// Write nothing. A server-side apply asks the server what it would say; the others only find out whether there is a
    /// request to make, because what an object depends on (its namespace, its quota) may come with it.
    pub dry_run: bool,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        ApplyOptions { strategy: Strategy::default(), force: false, validate: true, dry_run: false }
    }
}

/// What an apply did.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object as the server has it now.
    pub object: Object,
    /// What kubectl would print: `deployment.apps/web configured`.
    pub message: String,
}

/// How a deletion is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletion {
    /// What happens to what the object owns.
    pub propagation: Propagation,
    /// Delete only the object with this uid, not another of the same name; empty for any.
    pub uid: String,
    /// Delete it only in this version, and not after somebody has changed it; empty for any.
    pub version: String,
    /// Only ask the server what it would say.
    pub dry_run: bool,
}

impl Cluster {
    /// Brings one object to what `desired` says.
    pub async fn apply(&self, desired: &Object, options: ApplyOptions) -> Result<Applied, ClusterError> {
        let kind = self.kind(&desired.gvk()).await?;
        let target = Target { cluster: self, kind: &kind, desired, options };
        let result = match options.strategy {
            _ if desired.name().is_empty() => target.create(desired).await,
            Strategy::ClientSide => target.client_side().await,
            Strategy::ServerSide if options.force => return Err(ClusterError::ForcedServerSide),
            Strategy::ServerSide => target.server_side().await,
            Strategy::Replace => target.replace().await,
            Strategy::Create => target.create(desired).await,
        };
        match result.map_err(|error| size::explain(error, desired, options.strategy)) {
            Err(error)
                if options.force && !options.dry_run && (error.is_invalid() || error.is_conflict()) =>
            {
                target.recreate().await
            }
            other => other,
        }
    }

    /// What the server says that an apply on its side would make of an object. Nothing is written.
    pub async fn predict(&self, desired: &Object) -> Result<Object, ClusterError> {
        let kind = self.kind(&desired.gvk()).await?;
        let object = kind.object_path(desired.namespace(), desired.name());
        // Fields that a kind does not have are the sync's to complain about.
        let path =
            format!("{object}?fieldManager={FIELD_MANAGER}&fieldValidation=Ignore&dryRun=All&force=true");
        let answer = self.door.try_apply(&path, desired.value()).await?;
        Object::new(answer)
            .map_err(|_| ClusterError::Decode { path: object, reason: "it is no object".to_owned() })
    }

    /// Deletes one object. One that is gone already is no error.
    pub async fn delete(
        &self,
        gvk: &Gvk,
        namespace: &str,
        name: &str,
        deletion: &Deletion,
    ) -> Result<(), ClusterError> {
        let kind = self.kind(gvk).await?;
        let mut options = value!({
            "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": deletion.propagation.as_str(),
        });
        if !deletion.uid.is_empty() {
            options.set(&["preconditions", "uid"], deletion.uid.as_str());
        }
        if !deletion.version.is_empty() {
            options.set(&["preconditions", "resourceVersion"], deletion.version.as_str());
        }
        if deletion.dry_run {
            options.set(&["dryRun"], vec!["All"]);
        }
        match self.door.delete(&kind.object_path(namespace, name), &options).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a finalizer from an object, if it has it.
    pub async fn remove_finalizer(&self, object: &Object, finalizer: &str) -> Result<(), ClusterError> {
        if !object.finalizers().any(|have| have == finalizer) {
            return Ok(());
        }
        let left: Vec<&str> = object.finalizers().filter(|have| *have != finalizer).collect();
        let patch = value!({
            "metadata": {"finalizers": left, "resourceVersion": object.resource_version()},
        });
        let kind = self.kind(&object.gvk()).await?;
        let path = kind.object_path(object.namespace(), object.name());
        match self.door.patch(&path, PatchKind::Merge, &patch).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// One object on its way to the server.
struct Target<'a> {
    cluster: &'a Cluster,
    kind: &'a Kind,
    desired: &'a Object,
    options: ApplyOptions,
}

impl Target<'_> {
    async fn client_side(&self) -> Result<Applied, ClusterError> {
        let modified = with_last_applied(self.desired);
        if self.options.dry_run {
            return self.try_client_side(&modified).await;
        }
        for _ in 0..limits::CONFLICT_TRIES {
            let Some(live) = self.read().await? else { return self.create(&modified).await };
            if rbac::binds_another_role(&live, self.desired) {
                return self.recreate().await;
            }
            let (kind, change) = self.three_way(&modified, &live)?;
            if change.is_empty() {
                return Ok(self.applied(live, "unchanged"));
            }
            match self.cluster.door.patch(&self.path(""), kind, &change).await {
                Ok(value) => return self.done(value, "configured"),
                Err(error) if error.is_conflict() => {
                    debug!(%error, "another writer was faster; reading again")
                }
                // It went away between our read and our patch.
                Err(error) if error.is_not_found() => return self.create(&modified).await,
                Err(error) => return Err(error),
            }
        }
        let Some(live) = self.read().await? else { return self.create(&modified).await };
        let (kind, change) = self.three_way(&modified, &live)?;
        let value = self.cluster.door.patch(&self.path(""), kind, &change).await?;
        self.done(value, "configured")
    }

    /// Makes the change and does not send it.
    async fn try_client_side(&self, modified: &Object) -> Result<Applied, ClusterError> {
        let Some(live) = self.read().await? else { return self.create(modified).await };
        let (_, change) = self.three_way(modified, &live)?;
        Ok(self.applied(live, if change.is_empty() { "unchanged" } else { "configured" }))
    }

    /// The change from the live object to the desired one, with what was last applied telling which fields to
    /// remove. Built-in kinds have merge keys; custom resources are merged as JSON.
    fn three_way(&self, modified: &Object, live: &Object) -> Result<(PatchKind, Value), ClusterError> {
        let failed = |reason: String| ClusterError::Patch { key: self.desired.key(), reason };
        let original = match live.annotation(LAST_APPLIED) {
            Some(text) => json::parse(text.as_bytes())
                .map_err(|error| failed(format!("the annotation {LAST_APPLIED} cannot be read: {error}")))?,
            None => Value::Null,
        };
        match schema::builtin().of(&self.desired.gvk()) {
            Some(kind) => patch::create::three_way(&original, modified.value(), live.value(), kind)
                .map(|change| (PatchKind::Strategic, rbac::reconciled(change, self.desired, live)))
                .map_err(|error| failed(error.to_string())),
            None => patch::create::merge_three_way(&original, modified.value(), live.value())
                .map(|change| (PatchKind::Merge, change))
                .map_err(|error| failed(error.to_string())),
        }
    }

    /// Applies on the server's side. Who had applied from the client's side is found in the answer; what it wrote is
    /// ours from then on, so the second apply removes what is no longer wanted.
    async fn server_side(&self) -> Result<Applied, ClusterError> {
        let path = self.path("&force=true");
        let apply = async || self.cluster.door.patch(&path, PatchKind::Apply, self.desired.value()).await;
        let applied = self.done(apply().await?, "serverside-applied")?;
        if self.options.dry_run {
            return Ok(applied);
        }
        match self.take_over(&applied.object).await {
            Ok(true) => self.done(apply().await?, "serverside-applied"),
            Ok(false) => Ok(applied),
            // What was wanted is done; fields that should go only stay a little longer.
            Err(error) => {
                warn!(object = %self.desired.key(), %error, "fields applied from the client's side cannot be taken over");
                Ok(applied)
            }
        }
    }

    async fn take_over(&self, applied: &Object) -> Result<bool, ClusterError> {
        let mut live = Some(applied.clone());
        for attempt in 1.. {
            let Some(object) = live else { break };
            let managers = migrate::client_side_managers(&object);
            match self.cluster.hand_over(&object, &managers).await {
                Err(error) if error.is_conflict() && attempt < limits::CONFLICT_TRIES => {}
                other => return other,
            }
            live = self.read().await?;
        }
        Ok(false)
    }

    /// Replaces the object, which gets no annotation of what was applied: nothing will be merged with it.
    async fn replace(&self) -> Result<Applied, ClusterError> {
        if self.options.force && !self.options.dry_run {
            return self.recreate().await;
        }
        let Some(live) = self.read().await? else { return self.create(self.desired).await };
        if self.options.dry_run {
            return Ok(self.applied(live, "replaced"));
        }
        let mut desired = self.desired.clone();
        desired.set(&["metadata", "resourceVersion"], live.resource_version());
        let value = self.cluster.door.put(&self.path(""), desired.value()).await?;
        self.done(value, "replaced")
    }

    /// Deletes the object, waits until it is gone, and creates it anew. If that is refused, the old one comes back.
    async fn recreate(&self) -> Result<Applied, ClusterError> {
        let (namespace, name) = (self.desired.namespace(), self.desired.name());
        let before = self.read().await?;
        self.cluster.delete(&self.kind.gvk, namespace, name, &Deletion::default()).await?;
        let gone = async {
            let mut changes = self.cluster.cache().changes();
            while self.read().await?.is_some() {
                // Whatever changes may be the deletion; a quiet cluster is asked again after a moment.
                let _ = tokio::time::timeout(limits::RETRY_MIN, changes.recv()).await;
            }
            Ok::<(), ClusterError>(())
        };
        tokio::time::timeout(limits::REQUEST, gone).await.map_err(|_| ClusterError::Timeout {
            method: "DELETE",
            path: self.kind.object_path(namespace, name),
            seconds: limits::REQUEST.as_secs(),
        })??;
        let created = match self.options.strategy {
            Strategy::ClientSide => self.create(&with_last_applied(self.desired)).await,
            Strategy::ServerSide | Strategy::Replace | Strategy::Create => self.create(self.desired).await,
        };
        if let (Err(_), Some(mut before)) = (&created, before) {
            for field in ["resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"] {
                before.remove(&["metadata", field]);
            }
            if let Err(error) = self.create(&before).await {
                warn!(object = %before.key(), %error, "an object that could not be made anew cannot be put back");
            }
        }
        created
    }

    async fn create(&self, object: &Object) -> Result<Applied, ClusterError> {
        if self.options.dry_run {
            return Ok(self.applied(object.clone(), "created"));
        }
        let path = format!("{}?{}", self.kind.collection_path(object.namespace()), self.query());
        let value = self.cluster.door.post(&path, object.value()).await?;
        self.done(value, "created")
    }

    async fn read(&self) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(&self.kind.gvk, self.desired.namespace(), self.desired.name()).await
    }

    fn path(&self, more: &str) -> String {
        let object = self.kind.object_path(self.desired.namespace(), self.desired.name());
        format!("{object}?{}{more}", self.query())
    }

    fn query(&self) -> String {
        let validation = if self.options.validate { "Strict" } else { "Ignore" };
        let dry_run = if self.options.dry_run { "&dryRun=All" } else { "" };
        format!("fieldManager={FIELD_MANAGER}&fieldValidation={validation}{dry_run}")
    }

    fn done(&self, value: Value, verb: &str) -> Result<Applied, ClusterError> {
        let object = Object::new(value).map_err(|_| ClusterError::Decode {
            path: self.path(""),
            reason: "it is no object".to_owned(),
        })?;
        Ok(self.applied(object, verb))
    }

    fn applied(&self, object: Object, verb: &str) -> Applied {
        let group = &self.kind.gvk.group;
        let dot = if group.is_empty() { "" } else { "." };
        let dry_run = match (self.options.dry_run, self.options.strategy) {
            (false, _) => "",
            (true, Strategy::ServerSide) => " (server dry run)",
            (true, Strategy::ClientSide | Strategy::Replace | Strategy::Create) => " (dry run)",
        };
        let kind = self.kind.gvk.kind.to_lowercase();
        let name = format!("{kind}{dot}{group}/{}", object.name());
        let reconciled = match self.options.strategy == Strategy::ClientSide && rbac::applies_to(self.desired)
        {
            true => format!("{name} reconciled{dry_run}. "),
            false => String::new(),
        };
        let message = format!("{reconciled}{name} {verb}{dry_run}");
        let object = match self.options.dry_run {
            true => object,
            false => self.cluster.cache().learn(object),
        };
        Applied { object, message }
    }
}

/// The object with itself in the annotation that the next three-way patch starts from.
fn with_last_applied(object: &Object) -> Object {
    let mut bare = object.clone();
    bare.remove(&["metadata", "annotations", LAST_APPLIED]);
    // kubectl writes the map even when it is empty, and ends the text with a line feed.
    if bare.at(&["metadata", "annotations"]).is_none_or(Value::is_null) {
        bare.set(&["metadata", "annotations"], value!({}));
    }
    let text = format!("{}\n", json::go_string(bare.value()));
    let mut object = bare;
    object.set_annotation(LAST_APPLIED, text);
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_applied_annotation_holds_the_object_without_itself() {
        let object = Object::new(value!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "annotations": {LAST_APPLIED: "old"}},
            "data": {"html": "<b>"},
        }))
        .unwrap();
        assert_eq!(
            with_last_applied(&object).annotation(LAST_APPLIED).unwrap(),
            concat!(
                r#"{"apiVersion":"v1","data":{"html":"\u003cb\u003e"},"kind":"ConfigMap","#,
                r#""metadata":{"annotations":{},"name":"a"}}"#,
                "\n"
            )
        );
    }
}
