//! Bitbucket, in the cloud and on a server of one's own, which have little in common.

use lynceus_object::Value;

use crate::webhook::event::{Event, texts};

/// Bitbucket in the cloud. It tells neither the default branch nor the files.
pub(super) fn cloud(body: &Value) -> Option<Vec<Event>> {
    let mut urls = texts(body, &[&["repository", "links", "html", "href"]]);
    if let Some(name) = body.str_at(&["repository", "full_name"]).filter(|name| !name.is_empty()) {
        urls.push(format!("https://bitbucket.org/{name}"));
    }
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
        Some(Event { urls: urls.clone(), reference, is_default, files: None })
    });
    Some(events.collect())
}

/// Bitbucket on a server. Its links are lists, of which each may be anything.
pub(super) fn server(body: &Value) -> Option<Vec<Event>> {
    let links = ["clone", "self"].map(|list| body.items_at(&["repository", "links", list]));
    let hrefs = links.into_iter().flatten().filter_map(|link| link.str_at(&["href"]));
    // The page of a repository ends with what it shows.
    let urls: Vec<String> = hrefs
        .filter(|href| !href.is_empty())
        .map(|href| href.trim_end_matches("/browse").to_owned())
        .collect();
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
        files: None,
    });
    Some(events.collect())
}
