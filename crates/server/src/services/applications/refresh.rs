//! Having an application looked at now, and waiting for what comes of it.

use lynceus_api::annotations;
use lynceus_engine::AppKey;
use lynceus_object::{Object, value};
use tokio::sync::broadcast::error::RecvError;

use crate::call::Call;
use crate::limits;
use crate::refusal::{Code, Refusal};

/// The Application after it was looked at: whoever reconciles it takes the annotation away that asks for it.
pub(super) async fn refreshed(call: &Call, object: &Object, kind: &str) -> Result<Object, Refusal> {
    let kind = match kind {
        "hard" => "hard",
        "normal" | "true" => "normal",
        other => return Err(Refusal::invalid(format!("refresh cannot be {other:?}: it is normal or hard"))),
    };
    let key = AppKey::new(object.namespace(), object.name());
    let cache = call.server.engine.home().cache();
    let mut changes = cache.changes();
    let mut patch = value!({});
    patch.set(&["metadata", "annotations", annotations::REFRESH], kind);
    let mut last = call.patch_application(&key, &patch).await?;
    let wanted = key.object_key();
    let looked_at = async {
        loop {
            match changes.recv().await {
                Ok(change) if change.key == wanted => {}
                Ok(_) => continue,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Some(last),
            }
            let now = cache.get(&wanted)?;
            let is_newer = now.resource_version() != last.resource_version();
            if is_newer && now.annotation(annotations::REFRESH).is_none() {
                return Some(now);
            }
            last = now;
        }
    };
    match tokio::time::timeout(limits::REFRESH, looked_at).await {
        Ok(Some(object)) => Ok(object),
        Ok(None) => Err(super::absent(&key.name)),
        Err(_) => {
            let message = "nobody has looked at the application in time; is its controller running?";
            Err(Refusal::new(Code::DeadlineExceeded, message))
        }
    }
}
