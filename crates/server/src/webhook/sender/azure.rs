//! Azure DevOps.

use lynceus_object::Value;

use crate::webhook::event::Event;

/// A push may move several branches at once.
pub(super) fn read(body: &Value) -> Option<Vec<Event>> {
    let event = body.str_at(&["eventType"])?;
    let is_pull = event.starts_with("git.pullrequest.");
    if event != "git.push" && !is_pull {
        return Some(Vec::new());
    }
    let remote = body.str_at(&["resource", "repository", "remoteUrl"]).filter(|url| !url.is_empty())?;
    let default = body.str_at(&["resource", "repository", "defaultBranch"]).unwrap_or_default();
    let urls: Vec<String> = std::iter::once(remote.to_owned()).chain(by_ssh(remote)).collect();
    if is_pull {
        return Event::pulled(urls);
    }
    let names =
        body.items_at(&["resource", "refUpdates"]).iter().filter_map(|update| update.str_at(&["name"]));
    let events = names.map(|name| Event {
        urls: urls.clone(),
        reference: name.to_owned(),
        is_default: default.is_empty() || name == default,
        ..Event::default()
    });
    Some(events.collect())
}

/// The address for SSH, which has another host and another path.
fn by_ssh(remote: &str) -> Option<String> {
    let (_, rest) = remote.split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let path = path.replacen("/_git/", "/", 1);
    (host == "dev.azure.com").then(|| format!("git@ssh.dev.azure.com:v3/{path}"))
}
