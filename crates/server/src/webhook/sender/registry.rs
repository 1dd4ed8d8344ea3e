//! Registries: GitHub's and Harbor.

use lynceus_object::Value;

use crate::webhook::event::Event;

/// A package of GitHub's registry.
pub(super) fn github(body: &Value) -> Option<Vec<Event>> {
    let package = body.get("package").or_else(|| body.get("registry_package"))?;
    let kind = package.str_at(&["package_type"]).unwrap_or_default();
    if !kind.eq_ignore_ascii_case("container")
        || !matches!(body.str_at(&["action"]), Some("published" | "updated"))
    {
        return Some(Vec::new());
    }
    let name = package.str_at(&["name"]).filter(|name| !name.is_empty())?;
    let owner = package
        .str_at(&["namespace"])
        .or_else(|| package.str_at(&["owner", "login"]))
        .or_else(|| body.str_at(&["repository", "owner", "login"]))?;
    let tag = package.str_at(&["package_version", "container_metadata", "tag", "name"]).unwrap_or_default();
    Some(artifact(&format!("ghcr.io/{owner}/{name}"), tag).into_iter().collect())
}

/// An artifact that was pushed to Harbor.
pub(super) fn harbor(body: &Value) -> Option<Vec<Event>> {
    if body.str_at(&["type"])? != "PUSH_ARTIFACT" {
        return Some(Vec::new());
    }
    let resources = body.at(&["event_data", "resources"]).and_then(Value::as_seq)?;
    let events = resources.iter().filter_map(|resource| {
        let url = resource.str_at(&["resource_url"])?;
        let tag = resource.str_at(&["tag"]).unwrap_or_default();
        // The address ends with the tag or the digest.
        let (place, last) = url.rsplit_once('/')?;
        let last = last.split([':', '@']).next().unwrap_or_default();
        artifact(&format!("{place}/{last}"), tag)
    });
    Some(events.collect())
}

fn artifact(place: &str, tag: &str) -> Option<Event> {
    // What has no tag is followed by nobody.
    (!tag.is_empty()).then(|| Event {
        urls: vec![format!("oci://{place}")],
        reference: tag.to_owned(),
        is_default: tag == "latest",
        ..Event::default()
    })
}
