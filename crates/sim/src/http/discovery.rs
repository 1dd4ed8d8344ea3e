//! Which groups, versions and resources there are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use lynceus_object::{Gvk, Map, Str, Value, json, value};
use sha2::{Digest, Sha256};

use super::negotiate::Accept;
use super::output::{json_response, page_not_found, plain, type_of};
use super::{Body, full};
use crate::ApiError;
use crate::core::Core;
use crate::kinds::{self, Resource, Subresource};
use crate::registry::Registry;

/// Answers `/api`, `/apis` and below.
pub(super) fn answer(
    core: &Core,
    path: &str,
    parts: &Parts,
    accept: &Accept,
) -> Result<Response<Body>, ApiError> {
    let registry = core.registry();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    match segments.as_slice() {
        ["api" | "apis"] => {
            if let Some(version) = aggregated_version(accept) {
                return Ok(aggregated(&registry, segments == ["api"], version, parts));
            }
            Ok(match segments == ["api"] {
                true => json_response(&versions(parts), "APIVersions"),
                false => json_response(&groups(&registry), "APIGroupList"),
            })
        }
        ["api", version] => resources(&registry, "", version),
        ["apis", group] => Ok(match registry.groups().into_iter().find(|(known, _)| known == group) {
            Some((group, versions)) => {
                let mut value = api_group(&group, &versions);
                value.set(&["kind"], "APIGroup");
                value.set(&["apiVersion"], "v1");
                json_response(&value, "APIGroup")
            }
            None => page_not_found(),
        }),
        ["apis", group, version] => resources(&registry, group, version),
        _ => Ok(page_not_found()),
    }
}

fn versions(parts: &Parts) -> Value {
    let host = parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default();
    value!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}],
    })
}

fn groups(registry: &Registry) -> Value {
    let groups = registry.groups().into_iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Value> = groups.map(|(group, versions)| api_group(&group, &versions)).collect();
    value!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn api_group(group: &str, versions: &[Str]) -> Value {
    let version =
        |version: &Str| value!({"groupVersion": format!("{group}/{version}"), "version": version.as_str()});
    let listed: Vec<Value> = versions.iter().map(version).collect();
    let preferred = versions.first().map(version);
    let mut value = value!({"name": group});
    value.set(&["versions"], listed);
    value.set(&["preferredVersion"], preferred);
    value
}

fn resources(registry: &Registry, group: &str, version: &str) -> Result<Response<Body>, ApiError> {
    let mut listed: Vec<Value> = Vec::new();
    for resource in in_order(registry, group, version) {
        listed.push(api_resource(resource));
        listed.extend(resource.subresources.iter().map(|part| api_subresource(resource, part)));
    }
    if listed.is_empty() {
        let built_in = kinds::resources().iter().any(|resource| resource.group == group);
        return if built_in { Err(ApiError::no_such_resource()) } else { Ok(page_not_found()) };
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut list = value!({"kind": "APIResourceList", "groupVersion": group_version});
    if !group.is_empty() {
        list.set(&["apiVersion"], "v1");
    }
    list.set(&["resources"], listed);
    Ok(json_response(&list, "APIResourceList"))
}

fn in_order<'a>(registry: &'a Registry, group: &'a str, version: &'a str) -> Vec<&'a Resource> {
    let mut resources: Vec<&Resource> = registry.of_version(group, version).map(AsRef::as_ref).collect();
    resources.sort_by(|a, b| a.plural.cmp(&b.plural));
    resources
}

fn api_resource(resource: &Resource) -> Value {
    let mut value = value!({
        "name": resource.plural.as_str(), "singularName": resource.singular.as_str(),
        "namespaced": resource.namespaced, "kind": resource.kind.as_str(), "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        value.set(&["shortNames"], resource.short_names.clone());
    }
    if !resource.categories.is_empty() {
        value.set(&["categories"], resource.categories.clone());
    }
    if resource.allows("list") && resource.allows("create") {
        value.set(&["storageVersionHash"], storage_version_hash(&resource.storage));
    }
    value
}

/// A short word for the version that objects are stored in.
fn storage_version_hash(storage: &Gvk) -> String {
    // The original keeps these in an older version, so that a release before it can still read them.
    let version = match storage.kind.as_str() {
        "CustomResourceDefinition" | "MutatingAdmissionPolicy" | "MutatingAdmissionPolicyBinding" => {
            "v1beta1"
        }
        _ => storage.version.as_str(),
    };
    let name = format!("{}/{version}/{}", storage.group, storage.kind);
    STANDARD.encode(&Sha256::digest(name)[..8])
}

fn api_subresource(resource: &Resource, part: &Subresource) -> Value {
    let mut value = value!({
        "name": format!("{}/{}", resource.plural, part.name), "singularName": "",
        "namespaced": resource.namespaced, "kind": part.gvk.kind.as_str(), "verbs": part.verbs,
    });
    if part.foreign {
        value.set(&["group"], part.gvk.group.clone());
        value.set(&["version"], part.gvk.version.clone());
    }
    value
}

/// The version of aggregated discovery that the client prefers over the plain form, if it does.
fn aggregated_version(accept: &Accept) -> Option<&'static str> {
    for clause in accept.clauses() {
        let asked = (clause.parameter("as"), clause.parameter("g"), clause.parameter("v"));
        match asked {
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") if clause.is_json() => return Some("v2"),
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1") if clause.is_json() => {
                return Some("v2beta1");
            }
            ("", ..) if clause.is_json() => return None,
            _ => {}
        }
    }
    None
}

fn aggregated(registry: &Registry, core_group: bool, version: &str, parts: &Parts) -> Response<Body> {
    let groups = registry.groups().into_iter().filter(|(group, _)| group.is_empty() == core_group);
    let items: Vec<Value> =
        groups.map(|(group, versions)| group_discovery(registry, &group, &versions)).collect();
    let list = value!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    });
    let bytes = json::typed_string(&list, type_of(&list)).into_bytes();
    let etag = format!("\"{}\"", hex(&Sha256::digest(&bytes)));
    let media_type = format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
    let mut response = plain(200, &media_type, bytes);
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    if parts.headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().remove(CONTENT_TYPE);
        *response.body_mut() = full("");
    }
    if let Ok(etag) = HeaderValue::try_from(etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    response
}

fn group_discovery(registry: &Registry, group: &str, versions: &[Str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            let resources: Vec<Value> =
                in_order(registry, group, version).into_iter().map(resource_discovery).collect();
            value!({"version": version.as_str(), "resources": resources, "freshness": "Current"})
        })
        .collect();
    let mut value = value!({"metadata": {}});
    if !group.is_empty() {
        value.set(&["metadata", "name"], group);
    }
    value.set(&["versions"], versions);
    value
}

fn resource_discovery(resource: &Resource) -> Value {
    let mut value = value!({
        "resource": resource.plural.as_str(),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular.as_str(), "verbs": resource.verbs,
    });
    // A built-in kind is named without its group and version, as the real server does it.
    value.set(&["responseKind"], response_kind(&resource.gvk(), resource.custom.is_some()));
    for (field, words) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !words.is_empty() {
            value.set(&[field], words.clone());
        }
    }
    if !resource.subresources.is_empty() {
        let parts: Vec<Value> = resource
            .subresources
            .iter()
            .map(|part| {
                let mut value = value!({"subresource": part.name.as_str(), "verbs": part.verbs});
                let full = part.foreign || resource.custom.is_some();
                value.set(&["responseKind"], response_kind(&part.gvk, full));
                value
            })
            .collect();
        value.set(&["subresources"], parts);
    }
    value
}

fn response_kind(gvk: &Gvk, full: bool) -> Value {
    let text = |text: &Str| if full { text.clone() } else { Str::new() };
    let fields = [("group", text(&gvk.group)), ("version", text(&gvk.version)), ("kind", gvk.kind.clone())];
    Value::Map(fields.into_iter().collect::<Map>())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
