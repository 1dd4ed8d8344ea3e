//! What does this cluster serve? One request per root, by aggregated discovery.

use lynceus_object::{Gvk, Value};

use crate::door::Door;
use crate::error::ClusterError;
use crate::kind::{Kind, Kinds};

/// Aggregated discovery, in the two versions that servers since 1.27 have.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Asks the cluster for everything that it serves.
pub(crate) async fn discover(door: &Door) -> Result<Kinds, ClusterError> {
    let mut kinds = Kinds::default();
    for root in ["/api", "/apis"] {
        read(&door.get_as(root, ACCEPT).await?, &mut kinds);
    }
    Ok(kinds)
}

/// Reads one `APIGroupDiscoveryList` into `kinds`.
fn read(list: &Value, kinds: &mut Kinds) {
    for group in list.items_at(&["items"]) {
        let name = group.str_at(&["metadata", "name"]).unwrap_or_default();
        for version in group.items_at(&["versions"]) {
            let number = version.str_at(&["version"]).unwrap_or_default();
            // An aggregated API whose server is down is listed as stale: its kinds are there, only not now.
            if version.str_at(&["freshness"]) == Some("Stale") {
                kinds.broken_groups.insert(
                    format!("{name}/{number}"),
                    "the server behind this aggregated API does not answer".to_owned(),
                );
            }
            for resource in version.items_at(&["resources"]) {
                if let Some(kind) = kind(name, number, resource) {
                    kinds.insert(kind);
                }
            }
        }
    }
}

fn kind(group: &str, version: &str, resource: &Value) -> Option<Kind> {
    let response = resource.get("responseKind")?;
    let verbs = resource.items_at(&["verbs"]);
    let has = |verb: &str| verbs.iter().any(|item| item.as_str() == Some(verb));
    let or = |field, default: &str| match response.str_at(&[field]) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => default.to_owned(),
    };
    Some(Kind {
        gvk: Gvk::new(or("group", group), or("version", version), response.str_at(&["kind"])?),
        plural: resource.str_at(&["resource"])?.into(),
        namespaced: resource.str_at(&["scope"]) == Some("Namespaced"),
        watchable: has("list") && has("watch"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn the_first_version_of_a_group_is_the_preferred_one() {
        let resource = value!({
            "resource": "widgets", "scope": "Namespaced", "verbs": ["get", "list", "watch"],
            "responseKind": {"group": "example.com", "version": "", "kind": "Widget"},
        });
        let list = value!({"items": [{"metadata": {"name": "example.com"}, "versions": [
            {"version": "v2", "resources": [resource]}, {"version": "v1", "resources": [resource]},
        ]}]});
        let mut kinds = Kinds::default();
        read(&list, &mut kinds);
        let watched: Vec<String> = kinds.watchable().map(|kind| kind.gvk.to_string()).collect();
        assert_eq!(watched, ["example.com/v2, Kind=Widget"]);
        assert!(kinds.get(&Gvk::new("example.com", "v1", "Widget")).is_some());
    }

    #[test]
    fn a_stale_group_is_remembered_as_broken() {
        let list = value!({"items": [{"metadata": {"name": "metrics.k8s.io"}, "versions": [
            {"version": "v1beta1", "freshness": "Stale"},
        ]}]});
        let mut kinds = Kinds::default();
        read(&list, &mut kinds);
        assert!(kinds.broken_groups.contains_key("metrics.k8s.io/v1beta1"));
    }
}
