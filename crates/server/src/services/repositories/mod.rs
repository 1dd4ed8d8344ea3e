//! Repositories: how they are reached, whether they can be, and what is in them.
//!
//! Those that are read and those that are written to are kept apart and have rights of their own, but are handled alike.

mod change;
mod content;
pub(super) mod record;
mod trial;

use lynceus_api::labels;
use lynceus_object::{Object, Value, value};
use lynceus_source::{redact, same};

use super::{secrets, unknown};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;
use crate::server::Server;

pub(crate) use trial::Trials;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" | "ListRepositories" => list(&call, READ).await,
        "ListWriteRepositories" => list(&call, WRITE).await,
        "Get" => get(&call, READ).await,
        "GetWrite" => get(&call, WRITE).await,
        "Create" | "CreateRepository" => change::create(&call, READ).await,
        "CreateWriteRepository" => change::create(&call, WRITE).await,
        "Update" | "UpdateRepository" => change::update(&call, READ).await,
        "UpdateWriteRepository" => change::update(&call, WRITE).await,
        "Delete" | "DeleteRepository" => change::delete(&call, READ).await,
        "DeleteWriteRepository" => change::delete(&call, WRITE).await,
        "ValidateAccess" => change::validate(&call, READ).await,
        "ValidateWriteAccess" => change::validate(&call, WRITE).await,
        "ListRefs" => content::references(&call).await,
        "ListOCITags" => content::tags(&call).await,
        "ListApps" => content::applications(&call).await,
        "GetAppDetails" => content::details(&call).await,
        "GetHelmCharts" => content::charts(&call).await,
        _ => Err(unknown(method)),
    }
}

/// A sort of repositories.
#[derive(Clone, Copy)]
struct Sort {
    /// The type of their Secrets.
    kind: &'static str,
    /// What the names of their Secrets begin with.
    prefix: &'static str,
    /// Who may see and change them.
    resource: Resource,
}

/// Those that applications are read from.
const READ: Sort =
    Sort { kind: labels::SECRET_TYPE_REPOSITORY, prefix: "repo", resource: Resource::Repositories };

/// Those that manifests are written to.
const WRITE: Sort = Sort {
    kind: labels::SECRET_TYPE_REPOSITORY_WRITE,
    prefix: "repo-write",
    resource: Resource::WriteRepositories,
};

/// A repository that has a Secret.
#[derive(Clone)]
struct Entry {
    url: String,
    project: String,
    secret: Object,
}

impl Entry {
    fn of(secret: Object) -> Self {
        Entry { url: secrets::text(&secret, "url"), project: secrets::text(&secret, "project"), secret }
    }

    /// How policies name it.
    fn object(&self) -> String {
        object(&self.project, &self.url)
    }

    fn is_at(&self, url: &str) -> bool {
        // A password in an address is never told, so it is found without one, too.
        same(&self.url, url) || redact(&self.url) == url
    }
}

/// How policies name a repository: by its address, with the project before it where it belongs to one.
fn object(project: &str, url: &str) -> String {
    if project.is_empty() { url.to_owned() } else { format!("{project}/{url}") }
}

fn entries(server: &Server, sort: Sort) -> Vec<Entry> {
    let mut entries: Vec<Entry> = secrets::of_type(server, sort.kind).into_iter().map(Entry::of).collect();
    entries.retain(|entry| !entry.url.is_empty());
    entries.sort_by(|a, b| (&a.url, &a.project).cmp(&(&b.url, &b.project)));
    entries
}

/// The repositories of a project, without anything that lets one in.
pub(super) fn of_project(server: &Server, project: &str) -> Vec<Value> {
    let of_project = entries(server, READ).into_iter().filter(|entry| entry.project == project);
    of_project
        .map(|entry| {
            let mut shown = record::shown(&entry.secret);
            shown.remove(&["username"]);
            shown
        })
        .collect()
}

async fn list(call: &Call, sort: Sort) -> Answered {
    let mut entries = entries(&call.server, sort);
    entries.retain(|entry| call.caller.may(sort.resource, "get", &entry.object()));
    let items = trial::with_states(&call.server, &entries, call.flag("forceRefresh")).await;
    Ok(value!({"metadata": {}, "items": items}).into())
}

async fn get(call: &Call, sort: Sort) -> Answered {
    let entry = find(call, sort, "get", call.needed("repo")?, call.text("appProject"))?;
    let items =
        trial::with_states(&call.server, std::slice::from_ref(&entry), call.flag("forceRefresh")).await;
    Ok(items.into_iter().next().unwrap_or_default().into())
}

/// The repository at an address, if the caller may do this to it. Where several projects have one there, the project says
/// which is meant.
fn find(call: &Call, sort: Sort, action: &str, url: &str, project: &str) -> Result<Entry, Refusal> {
    let at: Vec<Entry> = entries(&call.server, sort).into_iter().filter(|entry| entry.is_at(url)).collect();
    let found = match (&at[..], project) {
        ([only], "") => Some(only.clone()),
        _ => at.iter().find(|entry| entry.project == project).cloned(),
    };
    match found {
        Some(entry) if call.caller.may(sort.resource, action, &entry.object()) => Ok(entry),
        // The answer depends on what is asked and by whom, and never on whether there is such a repository.
        _ => match call.caller.may(sort.resource, action, &object(project, url)) {
            true => Err(Refusal::not_found(format!("repository {:?} not found", redact(url)))),
            false => Err(Refusal::denied()),
        },
    }
}

#[cfg(test)]
mod tests;
