//! What belongs to a set, and what happened to it.

use lynceus_engine::application_kind;
use lynceus_object::{Gvk, Object, Value, value};

use super::find;
use crate::call::{Answered, Call};

/// The Applications of a set as nodes of a tree, in the order of their names.
pub(super) fn tree(call: &Call) -> Answered {
    let set = find(call, "get")?;
    let parent = value!({
        "group": set.group(), "kind": set.kind(), "namespace": set.namespace(), "name": set.name(), "uid": set.uid(),
    });
    let mut own: Vec<Object> = call.server.engine.home().cache().of_kind(&application_kind());
    own.retain(|app| {
        app.namespace() == set.namespace()
            && app.controller().is_some_and(|owner| owner.kind == set.kind() && owner.name == set.name())
    });
    own.sort_by(|one, other| one.name().cmp(other.name()));
    let node = |app: &Object| {
        let mut node = value!({
            "group": app.group(), "version": lynceus_api::VERSION, "kind": app.kind(), "namespace": app.namespace(),
            "name": app.name(), "uid": app.uid(), "resourceVersion": app.resource_version(),
            "parentRefs": [parent.clone()],
        });
        if let Some(health) = app.value().str_at(&["status", "health", "status"]) {
            node.set(&["health", "status"], health);
        }
        if let Some(created) = app.value().str_at(&["metadata", "creationTimestamp"]) {
            node.set(&["createdAt"], created);
        }
        node
    };
    let nodes: Vec<Value> = own.iter().map(node).collect();
    Ok(value!({"nodes": nodes}).into())
}

/// The events about a set, in the order of time.
pub(super) async fn events(call: &Call) -> Answered {
    let set = find(call, "get")?;
    let found = call.server.engine.home().list(&Gvk::new("", "v1", "Event"), set.namespace()).await?;
    let of = |event: &Object, field: &str| {
        event.value().str_at(&["involvedObject", field]).unwrap_or_default().to_owned()
    };
    let mut events: Vec<Object> = found.into_iter().filter(|event| of(event, "uid") == set.uid()).collect();
    events
        .sort_by_cached_key(|event| event.value().str_at(&["lastTimestamp"]).unwrap_or_default().to_owned());
    let clean = |mut event: Object| {
        event.remove(&["metadata", "managedFields"]);
        event.remove(&["apiVersion"]);
        event.remove(&["kind"]);
        event.into_value()
    };
    let items: Vec<Value> = events.into_iter().map(clean).collect();
    Ok(value!({"metadata": {}, "items": items}).into())
}
