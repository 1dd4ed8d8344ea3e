//! Events about an application, or about one of its objects.

use lynceus_object::{Gvk, Object, Value, value};

use super::resources::{Named, owned};
use crate::call::{Answer, Answered, Call};
use crate::refusal::Refusal;

pub(super) async fn list(call: &Call) -> Answered {
    let application = call.application_may("get", "name")?;
    let name = call.text("resourceName");
    let events = match name.is_empty() {
        true => about(&call.server.engine.home().clone(), application.namespace(), &application).await?,
        false => {
            let wanted = Named {
                uid: call.text("resourceUID"),
                namespace: call.text("resourceNamespace"),
                name,
                ..Named::default()
            };
            let (cluster, object) = owned(call, &wanted).await?;
            about(&cluster, object.namespace(), &object).await?
        }
    };
    Ok(Answer::One(value!({"metadata": {}, "items": events})))
}

/// The events about an object, in the order of time.
async fn about(
    cluster: &lynceus_cluster::Cluster,
    namespace: &str,
    object: &Object,
) -> Result<Value, Refusal> {
    // Events about what is in no namespace are in this one.
    let namespace = if namespace.is_empty() { "default" } else { namespace };
    let found = cluster.list(&Gvk::new("", "v1", "Event"), namespace).await?;
    let is_about = |event: &&Object| {
        let of =
            |field: &str| event.value().str_at(&["involvedObject", field]).unwrap_or_default().to_owned();
        of("uid") == object.uid()
            || (of("uid").is_empty() && of("kind") == object.kind() && of("name") == object.name())
    };
    let mut events: Vec<Object> = found.into_iter().filter(|event| is_about(&event)).collect();
    let time = |event: &Object| event.value().str_at(&["lastTimestamp"]).unwrap_or_default().to_owned();
    events.sort_by_cached_key(time);
    let clean = |mut event: Object| {
        event.remove(&["metadata", "managedFields"]);
        // The message has no place for them: what is in a list of events is one.
        event.remove(&["apiVersion"]);
        event.remove(&["kind"]);
        event.into_value()
    };
    Ok(events.into_iter().map(clean).collect())
}
