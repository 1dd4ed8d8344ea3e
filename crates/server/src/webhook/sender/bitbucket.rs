//! Bitbucket, in the cloud and on a server of one's own, which have little in common.

use lynceus_object::Value;

use crate::webhook::event::{Event, texts};

/// Where a repository of the cloud is.
pub(super) fn cloud_urls(body: &Value) -> Vec<String> {
    let mut urls = texts(body, &[&["repository", "links", "html", "href"]]);
    if let Some(name) = body.str_at(&["repository", "full_name"]).filter(|name| !name.is_empty()) {
        urls.push(format!("https://bitbucket.org/{name}"));
    }
    urls
}

/// Bitbucket in the cloud. It tells neither the default branch nor the files.
pub(super) fn cloud(body: &Value) -> Option<Vec<Event>> {
    let urls = cloud_urls(body);
    if urls.is_empty() {
        return None;
    }
    let changes = body.at(&["push", "changes"]).and_then(Value::as_seq)?;
    let events = changes.iter().filter_map(|change| {
        // What is deleted has no new state.
        let of = |field: &str| {
            let name = change.str_at(&[field, "name"]).filter(|name| !name.is_empty())?;
            let folder = if change.str_at(&[field, "type"]) == Some("tag") { "tags" } else { "heads" };
            Some(format!("refs/{folder}/{name}"))
        };
        let reference = of("new").or_else(|| of("old"))?;
        let is_default = reference.starts_with("refs/heads/");
        Some(Event { urls: urls.clone(), reference, is_default, ..Event::default() })
    });
    Some(events.collect())
}

/// Where a repository of a server is. Its links are lists, of which each may be anything.
fn server_urls(repository: &Value) -> Vec<String> {
    let links = ["clone", "self"].map(|list| repository.items_at(&["links", list]));
    let hrefs = links.into_iter().flatten().filter_map(|link| link.str_at(&["href"]));
    // The page of a repository ends with what it shows.
    hrefs.filter(|href| !href.is_empty()).map(|href| href.trim_end_matches("/browse").to_owned()).collect()
}

/// A pull request of a server. It may leave the links out; the key and the name, by which generators ask, are always there.
pub(super) fn pulled(body: &Value) -> Option<Vec<Event>> {
    let repository = body.at(&["pullRequest", "toRef", "repository"])?;
    let named = repository.str_at(&["project", "key"]).zip(repository.str_at(&["slug"]));
    let named = named.map(|(key, slug)| format!("https://bitbucket.invalid/scm/{key}/{slug}.git"));
    Event::pulled(server_urls(repository).into_iter().chain(named).collect())
}

/// Bitbucket on a server.
pub(super) fn server(body: &Value) -> Option<Vec<Event>> {
    let urls = body.get("repository").map(server_urls).unwrap_or_default();
    if urls.is_empty() {
        return None;
    }
    let changes = body.at(&["changes"]).and_then(Value::as_seq)?;
    let references = changes.iter().filter_map(|change| {
        change
            .str_at(&["ref", "id"])
            .or_else(|| change.str_at(&["reference", "id"]))
            .or_else(|| change.str_at(&["refId"]))
    });
    let events = references.filter(|reference| !reference.is_empty()).map(|reference| Event {
        urls: urls.clone(),
        reference: reference.to_owned(),
        is_default: reference.starts_with("refs/heads/"),
        ..Event::default()
    });
    Some(events.collect())
}
