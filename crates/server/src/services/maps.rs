//! The ConfigMaps that settings, certificates and keys are kept in.

use lynceus_object::{Gvk, Object, ObjectKey, Value};

use crate::refusal::Refusal;
use crate::server::Server;

/// A ConfigMap of the installation's namespace; an empty one if there is none.
pub(crate) fn get(server: &Server, name: &str) -> Object {
    server
        .engine
        .home()
        .cache()
        .get(&ObjectKey::new("", "ConfigMap", server.namespace(), name))
        .unwrap_or_default()
}

/// The texts of a ConfigMap, in the order of their keys.
pub(crate) fn entries(map: &Object) -> Vec<(String, String)> {
    let data = map.at(&["data"]).and_then(Value::as_map).into_iter().flat_map(|data| data.iter());
    data.filter_map(|(key, text)| Some((key.to_string(), text.as_str()?.to_owned()))).collect()
}

/// Writes entries of a ConfigMap, and takes those out that are none. What others wrote into other entries stays.
pub(crate) async fn write(
    server: &Server,
    name: &str,
    changes: Vec<(String, Option<String>)>,
) -> Result<(), Refusal> {
    let home = server.engine.home();
    let gvk = Gvk::new("", "v1", "ConfigMap");
    let mut known = get(server, name);
    if known.name().is_empty() {
        known = Object::named(&gvk, server.namespace(), name);
        known.set(&["metadata", "labels", "app.kubernetes.io/part-of"], "argocd");
        match home.create_record(&known).await {
            Err(error) if error.refusal().is_none_or(|refusal| refusal.reason != "AlreadyExists") => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    let mut patch = Value::default();
    for (key, text) in changes {
        patch.set(&["data", &key], text.map_or(Value::Null, Value::from));
    }
    // Two that add to one entry must not lose each other's part.
    if !known.resource_version().is_empty() {
        patch.set(&["metadata", "resourceVersion"], known.resource_version());
    }
    home.patch_record(&gvk, server.namespace(), name, &patch).await?;
    Ok(())
}
