//! From client-side to server-side apply: fields that were written by updates become ours.
//!
//! Fields that nobody's configuration owns stay for ever when they leave Git. So the entries of those who applied from
//! the client's side are united with our own, as client-go's `csaupgrade` does it.

use lynceus_api::annotations::LAST_APPLIED;
use lynceus_object::apply::FieldSet;
use lynceus_object::{Object, Value, value};

use crate::cluster::Cluster;
use crate::door::{FIELD_MANAGER, PatchKind};
use crate::error::ClusterError;
use crate::limits;

impl Cluster {
    /// Hands the fields that `from` wrote by updates over to our own manager, so that server-side apply can remove
    /// those that are no longer wanted.
    pub async fn migrate_manager(&self, object: &Object, from: &str) -> Result<(), ClusterError> {
        let (gvk, namespace, name) = (object.gvk(), object.namespace(), object.name());
        for attempt in 1.. {
            let Some(live) = self.get(&gvk, namespace, name).await? else { break };
            match self.hand_over(&live, &[from]).await {
                Err(error) if error.is_conflict() && attempt < limits::CONFLICT_TRIES => {}
                other => return other.map(drop),
            }
        }
        Ok(())
    }

    /// Hands over what these managers of an object wrote by updates; gives whether there was anything.
    pub(crate) async fn hand_over(&self, live: &Object, from: &[&str]) -> Result<bool, ClusterError> {
        let before = live.value().items_at(&["metadata", "managedFields"]);
        let after = from.iter().fold(before.to_vec(), |entries, manager| united(entries, manager));
        if before == after {
            return Ok(false);
        }
        let patch = value!({
            "metadata": {"managedFields": after, "resourceVersion": live.resource_version()},
        });
        let kind = self.kind(&live.gvk()).await?;
        let path = kind.object_path(live.namespace(), live.name());
        self.door.patch(&path, PatchKind::Merge, &patch).await.map(|_| true)
    }
}

/// Those who applied an object from the client's side: they wrote the annotation that says what was last applied.
pub(crate) fn client_side_managers(object: &Object) -> Vec<&str> {
    let annotation = FieldSet::of_fields(&[&["metadata", "annotations", LAST_APPLIED]]);
    let owns = |entry: &&Value| {
        let fields = entry.get("fieldsV1").and_then(|fields| FieldSet::from_value(fields).ok());
        entry.str_at(&["operation"]) == Some("Update")
            && fields.is_some_and(|fields| annotation.difference(&fields).is_empty())
    };
    let entries = object.value().items_at(&["metadata", "managedFields"]);
    entries.iter().filter(owns).filter_map(|entry| entry.str_at(&["manager"])).collect()
}

/// The entries with those of `from` for updates united with our own.
fn united(mut entries: Vec<Value>, from: &str) -> Vec<Value> {
    let is = |entry: &Value, manager: &str, operation: &str| {
        entry.str_at(&["manager"]) == Some(manager)
            && entry.str_at(&["operation"]) == Some(operation)
            && entry.str_at(&["subresource"]).is_none_or(str::is_empty)
    };
    let theirs = |entry: &Value| is(entry, from, "Update");
    let ours = match entries.iter().position(|entry| is(entry, FIELD_MANAGER, "Apply")) {
        Some(at) => at,
        None => {
            let Some(at) = entries.iter().position(theirs) else { return entries };
            entries[at].set(&["manager"], FIELD_MANAGER);
            entries[at].set(&["operation"], "Apply");
            at
        }
    };
    let version = entries[ours].str_at(&["apiVersion"]).map(str::to_owned);
    let same_version = |entry: &&Value| theirs(entry) && entry.str_at(&["apiVersion"]) == version.as_deref();
    let fields = |entry: &Value| {
        entry.get("fieldsV1").and_then(|fields| FieldSet::from_value(fields).ok()).unwrap_or_default()
    };
    if let Some(other) = entries.iter().find(same_version) {
        let union = fields(&entries[ours]).union(&fields(other));
        entries[ours].set(&["fieldsV1"], union.to_value());
    }
    entries.retain(|entry| !theirs(entry));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        value!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
    }

    fn told(entries: &[Value]) -> Vec<String> {
        let text = |entry: &Value| {
            let field = |name| entry.str_at(&[name]).unwrap_or_default().to_owned();
            let fields = entry.get("fieldsV1").map(lynceus_object::json::to_string).unwrap_or_default();
            format!("{} {} {fields}", field("manager"), field("operation"))
        };
        entries.iter().map(text).collect()
    }

    #[test]
    fn the_first_time_their_entry_becomes_ours() {
        let entries = vec![
            entry("kubectl-client-side-apply", "Update", value!({"f:data": {"f:a": {}}})),
            entry("other", "Update", value!({"f:data": {"f:b": {}}})),
        ];
        assert_eq!(
            told(&united(entries, "kubectl-client-side-apply")),
            [r#"argocd-controller Apply {"f:data":{"f:a":{}}}"#, r#"other Update {"f:data":{"f:b":{}}}"#,]
        );
    }

    #[test]
    fn later_their_fields_are_added_to_ours() {
        let mut status = entry("kubectl-client-side-apply", "Update", value!({"f:status": {}}));
        status.set(&["subresource"], "status");
        let entries = vec![
            entry("kubectl-client-side-apply", "Update", value!({"f:data": {"f:a": {}}})),
            entry("argocd-controller", "Apply", value!({"f:data": {"f:b": {}}})),
            status,
        ];
        assert_eq!(
            told(&united(entries, "kubectl-client-side-apply")),
            [
                r#"argocd-controller Apply {"f:data":{"f:a":{},"f:b":{}}}"#,
                r#"kubectl-client-side-apply Update {"f:status":{}}"#,
            ]
        );
    }

    #[test]
    fn who_wrote_the_annotation_applied_from_the_clients_side() {
        let annotation = format!("f:{LAST_APPLIED}");
        let mut wrote = Value::default();
        wrote.set(&["f:metadata", "f:annotations", &annotation], value!({}));
        let mut object = Object::new(value!({"apiVersion": "v1", "kind": "ConfigMap"})).unwrap();
        object.set(
            &["metadata", "managedFields"],
            vec![
                entry("argocd-controller", "Update", wrote.clone()),
                entry("someone", "Update", value!({"f:data": {"f:b": {}}})),
                entry("third", "Apply", wrote),
            ],
        );
        assert_eq!(client_side_managers(&object), ["argocd-controller"]);
    }
}
