//! Which ApplicationSets something concerns that was pushed, or became of a pull request, and having them look again.

use std::collections::BTreeSet;
use std::sync::Arc;

use lynceus_api::annotations;
use lynceus_engine::{set_gvk, set_kind};
use lynceus_object::{Object, Value, value};
use lynceus_source::{Range, identity};
use tracing::{info, warn};

use super::event::Event;
use crate::server::Server;

/// Has those sets look again that events concern. Gives their names, in order.
pub(super) async fn all(server: &Arc<Server>, events: &[Event]) -> Vec<String> {
    let settings = server.engine.settings();
    let mut sets = server.engine.home().cache().of_kind(&set_kind());
    sets.retain(|set| {
        settings.takes_sets_from(set.namespace(), server.namespace()) && is_concerned(set, events)
    });
    sets.sort_by(|one, other| (one.namespace(), one.name()).cmp(&(other.namespace(), other.name())));
    for set in &sets {
        mark(server, set).await;
    }
    sets.iter().map(|set| set.name().to_owned()).collect()
}

/// Asks for a look. Whichever replica has the home cluster will see it.
async fn mark(server: &Arc<Server>, set: &Object) {
    let patch = value!({"metadata": {"annotations": {annotations::APPLICATION_SET_REFRESH: "true"}}});
    match server.engine.home().patch_record(&set_gvk(), set.namespace(), set.name(), &patch).await {
        Ok(_) => info!(applicationset = set.name(), "a webhook asks for a refresh"),
        Err(error) => {
            warn!(applicationset = set.name(), error = lynceus_engine::words(&error), "cannot be refreshed");
        }
    }
}

fn is_concerned(set: &Object, events: &[Event]) -> bool {
    set.value().items_at(&["spec", "generators"]).iter().any(|generator| follows(generator, events))
}

/// Whether a generator, or one inside of it, reads what was pushed.
fn follows(generator: &Value, events: &[Event]) -> bool {
    let git = generator.get("git").is_some_and(|git| events.iter().any(|event| reads(git, event)));
    let pulls =
        generator.get("pullRequest").is_some_and(|pulls| events.iter().any(|event| asks_for(pulls, event)));
    let inside = ["matrix", "merge"].iter().filter_map(|name| generator.get(name));
    git || pulls || inside.flat_map(|one| one.items_at(&["generators"])).any(|one| follows(one, events))
}

fn reads(git: &Value, event: &Event) -> bool {
    let text = |field: &str| git.str_at(&[field]).unwrap_or_default();
    let place = identity(text("repoURL"));
    let is_here = event.urls.iter().any(|url| identity(url) == place);
    is_here
        && !event.is_pull
        && match text("revision").trim() {
            "" | "HEAD" => event.is_default,
            // What a template of an outer generator comes to is found out by the look.
            wanted if wanted.contains("{{") => true,
            wanted if wanted == event.reference || wanted == event.name() => true,
            wanted => event.is_tag() && Range::parse(wanted).is_some(),
        }
}

/// Whether a generator asks for the pull requests of the repository; a push to it may be one to a pull request.
fn asks_for(pulls: &Value, event: &Event) -> bool {
    let hosts = ["github", "gitlab", "gitea", "bitbucketServer", "bitbucket", "azuredevops"];
    hosts.iter().filter_map(|host| pulls.get(host)).any(|host| {
        let text = |field: &str| host.str_at(&[field]).unwrap_or_default().to_lowercase();
        let owner = [text("owner"), text("project")].concat();
        let path = match text("repo").as_str() {
            "" => owner,
            repo => format!("{owner}/{repo}"),
        };
        let ends: BTreeSet<String> = event.urls.iter().map(|url| identity(url).to_lowercase()).collect();
        let is_known = !event.id.is_empty() && text("project") == event.id;
        is_known
            || !path.is_empty()
                && ends.iter().any(|url| url.strip_suffix(&path).is_some_and(|rest| rest.ends_with('/')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    fn check(generator: &str, url: &str, reference: &str) -> bool {
        let event = Event {
            urls: vec![url.to_owned()],
            reference: reference.to_owned(),
            is_default: reference == "refs/heads/main",
            is_pull: reference.is_empty(),
            ..Event::default()
        };
        follows(&yaml::parse_str(generator).expect("YAML"), &[event])
    }

    #[test]
    fn a_push_concerns_who_reads_the_branch_or_asks_for_its_pull_requests() {
        let url = "https://github.com/Acme/shop";
        let git = "{git: {repoURL: 'git@github.com:acme/shop.git', revision: HEAD}}";
        assert!(check(git, url, "refs/heads/main"));
        assert!(!check(git, url, "refs/heads/other"));
        assert!(!check(git, "https://github.com/acme/web", "refs/heads/main"));
        let inner = "{matrix: {generators: [{clusters: {}}, {git: {repoURL: 'https://github.com/acme/shop', revision: v1}}]}}";
        assert!(check(inner, url, "refs/heads/v1"));
        assert!(check("{pullRequest: {github: {owner: acme, repo: shop}}}", url, "refs/heads/f"));
        assert!(!check("{pullRequest: {github: {owner: cme, repo: shop}}}", url, "refs/heads/f"));
        assert!(!check("{list: {elements: []}}", url, "refs/heads/main"));
    }

    #[test]
    fn a_pull_request_concerns_only_who_asks_for_those_of_its_repository() {
        let url = "https://github.com/acme/shop";
        assert!(check("{pullRequest: {github: {owner: acme, repo: shop}}}", url, ""));
        assert!(check(
            "{matrix: {generators: [{clusters: {}}, {pullRequest: {gitea: {owner: acme, repo: shop}}}]}}",
            url,
            ""
        ));
        assert!(!check("{pullRequest: {github: {owner: acme, repo: web}}}", url, ""));
        assert!(!check("{git: {repoURL: 'https://github.com/acme/shop', revision: HEAD}}", url, ""));
    }
}
