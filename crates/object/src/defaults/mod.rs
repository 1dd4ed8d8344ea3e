//! What an API server fills in when a client leaves it out.
//!
//! It is here, and not with the embedded API server, because a comparison has to know it too: what the server
//! would fill in is no difference.

mod autoscaling;
mod cluster;
mod core;
mod image;
mod pod;
mod workload;

use crate::{Gvk, Object, Value};

/// Fills in what the client left out, as it depends on nothing but the object itself.
///
/// Applying it twice changes nothing more. Values that depend on the cluster (addresses, the default
/// storage class, a pod's service account) are not set here.
pub fn fill_in(gvk: &Gvk, object: &mut Object) {
    let name = object.name().to_owned();
    let value = object.value_mut();
    match (gvk.group.as_str(), gvk.version.as_str(), gvk.kind.as_str()) {
        ("", _, kind) => core::fill_in(kind, &name, value),
        ("apps" | "batch", _, kind) => workload::fill_in(kind, value),
        ("autoscaling", version, "HorizontalPodAutoscaler") => autoscaling::fill_in(version, value),
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
