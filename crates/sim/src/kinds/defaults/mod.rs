//! What the server fills in when a client leaves it out.

mod autoscaling;
mod cluster;
mod core;
pub(crate) mod image;
pub(crate) mod pod;
mod workload;

use lynceus_object::{Object, Value};

use super::resources::Resource;

/// Fills in what the client left out, as it depends on nothing but the object itself.
///
/// Applying it twice changes nothing more. Values that depend on the cluster (addresses, the default
/// storage class, a pod's service account) are not set here.
pub fn default(resource: &Resource, object: &mut Object) {
    let name = object.name().to_owned();
    let value = object.value_mut();
    match (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str()) {
        ("", _, kind) => core::fill_in(kind, &name, value),
        ("apps" | "batch", _, kind) => workload::fill_in(kind, value),
        ("autoscaling", version, _) => autoscaling::fill_in(version, value),
        (_, _, kind) => cluster::fill_in(kind, value),
    }
}

/// Copies the labels of the template when the object has none of its own.
fn labels_from_template(value: &mut Value) {
    let own = value.at(&["metadata", "labels"]).is_some_and(|labels| !labels.is_empty());
    if let (false, Some(labels)) = (own, value.at(&["spec", "template", "metadata", "labels"]).cloned())
        && !labels.is_empty()
    {
        value.set(&["metadata", "labels"], labels);
    }
}
