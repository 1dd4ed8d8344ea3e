//! Clusters that applications are delivered to: seeing them, registering them, letting them go.
//!
//! A cluster is named by its address or its name. Whoever may not see one is told the same as if it did not exist.

mod change;
mod picture;
mod record;
mod rotation;

use lynceus_api::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER, labels};
use lynceus_object::{Object, Value, value};

use super::{secrets, unknown};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::request::plain;
use crate::rights::Resource;
use crate::server::Server;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" => list(&call).await,
        "Get" => get(&call).await,
        "Create" => change::create(&call).await,
        "Update" => change::update(&call).await,
        "Delete" => change::delete(&call).await,
        "InvalidateCache" => change::invalidate(&call).await,
        "RotateAuth" => rotation::rotate(&call).await,
        _ => Err(unknown(method)),
    }
}

/// A cluster as its Secret describes it; the home cluster need not have one.
#[derive(Clone, Debug)]
struct Entry {
    server: String,
    name: String,
    project: String,
    secret: Option<Object>,
}

impl Entry {
    fn of(secret: Object) -> Self {
        let server = secrets::text(&secret, "server").trim_end_matches('/').to_owned();
        let name = secrets::text(&secret, "name");
        Entry {
            name: if name.is_empty() { server.clone() } else { name },
            server,
            project: secrets::text(&secret, "project"),
            secret: Some(secret),
        }
    }

    /// How policies name it.
    fn object(&self) -> String {
        object(&self.project, &self.server)
    }
}

/// How policies name a cluster: by its address, with the project before it where it belongs to one.
fn object(project: &str, server: &str) -> String {
    if project.is_empty() { server.to_owned() } else { format!("{project}/{server}") }
}

/// Every cluster that there is, in the order of addresses.
fn entries(server: &Server) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        secrets::of_type(server, labels::SECRET_TYPE_CLUSTER).into_iter().map(Entry::of).collect();
    entries.retain(|entry| !entry.server.is_empty());
    if server.engine.settings().in_cluster && !entries.iter().any(|entry| entry.server == IN_CLUSTER_SERVER) {
        entries.push(Entry {
            server: IN_CLUSTER_SERVER.to_owned(),
            name: IN_CLUSTER_NAME.to_owned(),
            project: String::new(),
            secret: None,
        });
    }
    entries.sort_by(|a, b| a.server.cmp(&b.server));
    entries
}

/// The clusters of a project, without anything that lets one in.
pub(super) fn of_project(server: &Server, project: &str) -> Vec<Value> {
    entries(server).iter().filter(|entry| entry.project == project).map(record::shown).collect()
}

async fn list(call: &Call) -> Answered {
    let wanted = Wanted::of(call);
    let mut entries = entries(&call.server);
    entries.retain(|entry| wanted.fits(entry) && call.caller.may(Resource::Clusters, "get", &entry.object()));
    let items = picture::of(&call.server, &entries).await;
    Ok(value!({"metadata": {}, "items": items}).into())
}

async fn get(call: &Call) -> Answered {
    let entry = find(call, "get")?;
    let found = picture::of(&call.server, std::slice::from_ref(&entry)).await;
    Ok(found.into_iter().next().unwrap_or_default().into())
}

/// The cluster that a request names, if the caller may do this to it.
fn find(call: &Call, action: &str) -> Result<Entry, Refusal> {
    let wanted = Wanted::of(call);
    if wanted.is_nothing() {
        return Err(Refusal::invalid("neither the address nor the name of a cluster is given"));
    }
    let found = entries(&call.server).into_iter().find(|entry| wanted.fits(entry));
    match found {
        Some(entry) if call.caller.may(Resource::Clusters, action, &entry.object()) => Ok(entry),
        // The answer depends on what is asked and by whom, and never on whether there is such a cluster.
        _ => Err(wanted.missing(call, action)),
    }
}

/// Which clusters a request means.
struct Wanted {
    server: String,
    name: String,
}

impl Wanted {
    fn of(call: &Call) -> Self {
        let text = |path: &[&str]| call.request.str_at(path).unwrap_or_default().to_owned();
        let (kind, value) = (text(&["id", "type"]), text(&["id", "value"]));
        let (server, name) = match (kind.as_str(), value.as_str()) {
            (_, "") => (text(&["server"]), text(&["name"])),
            ("name", _) => (String::new(), value),
            ("name_escaped", _) => (String::new(), plain(&value, true)),
            _ => (value, String::new()),
        };
        Wanted { server: server.trim_end_matches('/').to_owned(), name }
    }

    fn is_nothing(&self) -> bool {
        self.server.is_empty() && self.name.is_empty()
    }

    fn fits(&self, entry: &Entry) -> bool {
        (self.server.is_empty() || entry.server == self.server)
            && (self.name.is_empty() || entry.name == self.name)
    }

    fn missing(&self, call: &Call, action: &str) -> Refusal {
        match !self.server.is_empty() && call.caller.may(Resource::Clusters, action, &self.server) {
            true => Refusal::not_found(format!("cluster {:?} not found", self.server)),
            false => Refusal::denied(),
        }
    }
}

#[cfg(test)]
mod tests;
