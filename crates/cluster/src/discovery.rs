//! What does this cluster serve? One request per root, by aggregated discovery; older servers are asked group by group.

use lynceus_object::{Gvk, Str, Value};

use crate::door::Door;
use crate::error::{ClusterError, chain};
use crate::kind::{Kind, Kinds};

/// Aggregated discovery, in the two versions that servers since 1.27 have, or else what every server has.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";

/// Asks the cluster for everything that it serves. The kinds of a group that cannot be asked for now stay as they were
/// in `before`: taking them for gone would make every object of theirs seem deleted.
pub(crate) async fn discover(door: &Door, before: &Kinds) -> Result<Kinds, ClusterError> {
    let mut kinds = Kinds::default();
    for root in ["/api", "/apis"] {
        let answer = door.get_as(root, ACCEPT).await?;
        let unclear = match answer.str_at(&["kind"]) {
            Some("APIVersions") => answer
                .items_at(&["versions"])
                .iter()
                .filter_map(|one| Some(one.as_str()?.to_owned()))
                .collect(),
            Some("APIGroupList") => group_versions(&answer),
            _ => read(&answer, &mut kinds),
        };
        for version in unclear {
            if let Err(error) = ask_group(door, &version, &mut kinds).await {
                kinds.keep(&version, before);
                kinds.broken_groups.insert(version, chain(&error));
            }
        }
    }
    // It is of use to charts alone, and no reason to know nothing else.
    let version = door.get("/version").await.ok();
    let version = version.as_ref().and_then(|version| version.str_at(&["gitVersion"]));
    kinds.version = version.map_or_else(|| before.version.clone(), Str::from);
    Ok(kinds)
}

/// Every version of every group in an `APIGroupList`, those that the server prefers first.
fn group_versions(list: &Value) -> Vec<String> {
    let mut versions = Vec::new();
    for group in list.items_at(&["groups"]) {
        let preferred = group.str_at(&["preferredVersion", "groupVersion"]).unwrap_or_default();
        let all = group.items_at(&["versions"]).iter().filter_map(|one| one.str_at(&["groupVersion"]));
        versions.extend(Some(preferred).filter(|one| !one.is_empty()).map(str::to_owned));
        versions.extend(all.filter(|one| *one != preferred).map(str::to_owned));
    }
    versions
}

/// Asks for the kinds of one version of one group, as every server can be asked.
async fn ask_group(door: &Door, version: &str, kinds: &mut Kinds) -> Result<(), ClusterError> {
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let list = door.get(&format!("{root}/{version}")).await?;
    for resource in list.items_at(&["resources"]) {
        if let Some(kind) = legacy_kind(version, resource) {
            kinds.insert(kind);
        }
    }
    Ok(())
}

/// Reads one `APIGroupDiscoveryList` into `kinds`, and gives the versions of groups of which it says nothing: an
/// aggregated API whose server is down is listed as stale.
fn read(list: &Value, kinds: &mut Kinds) -> Vec<String> {
    let mut unclear = Vec::new();
    for group in list.items_at(&["items"]) {
        let name = group.str_at(&["metadata", "name"]).unwrap_or_default();
        for version in group.items_at(&["versions"]) {
            let number = version.str_at(&["version"]).unwrap_or_default();
            if version.str_at(&["freshness"]) == Some("Stale") {
                unclear.push(Gvk::new(name, number, "").api_version().to_string());
                continue;
            }
            for resource in version.items_at(&["resources"]) {
                if let Some(kind) = kind(name, number, resource) {
                    kinds.insert(kind);
                }
            }
        }
    }
    unclear
}

fn kind(group: &str, version: &str, resource: &Value) -> Option<Kind> {
    let response = resource.get("responseKind")?;
    let or = |field, default: &str| match response.str_at(&[field]) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => default.to_owned(),
    };
    Some(Kind {
        gvk: Gvk::new(or("group", group), or("version", version), response.str_at(&["kind"])?),
        plural: resource.str_at(&["resource"])?.into(),
        namespaced: resource.str_at(&["scope"]) == Some("Namespaced"),
        watchable: is_watchable(resource),
    })
}

/// Reads one item of an `APIResourceList`; none for a subresource.
fn legacy_kind(version: &str, resource: &Value) -> Option<Kind> {
    let plural = resource.str_at(&["name"]).filter(|name| !name.contains('/'))?;
    Some(Kind {
        gvk: Gvk::from_manifest(version, resource.str_at(&["kind"])?),
        plural: plural.into(),
        namespaced: resource.bool_at(&["namespaced"]).unwrap_or_default(),
        watchable: is_watchable(resource),
    })
}

fn is_watchable(resource: &Value) -> bool {
    let verbs = resource.items_at(&["verbs"]);
    ["list", "watch"].iter().all(|verb| verbs.iter().any(|item| item.as_str() == Some(verb)))
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
    fn a_stale_group_has_to_be_asked_for_itself() {
        let list = value!({"items": [{"metadata": {"name": "metrics.k8s.io"}, "versions": [
            {"version": "v1beta1", "freshness": "Stale"},
        ]}]});
        assert_eq!(read(&list, &mut Kinds::default()), ["metrics.k8s.io/v1beta1"]);
    }

    #[test]
    fn the_preferred_version_of_a_group_comes_first() {
        let list = value!({"kind": "APIGroupList", "groups": [{
            "name": "apps", "versions": [{"groupVersion": "apps/v1beta1"}, {"groupVersion": "apps/v1"}],
            "preferredVersion": {"groupVersion": "apps/v1"},
        }]});
        assert_eq!(group_versions(&list), ["apps/v1", "apps/v1beta1"]);
    }
}
