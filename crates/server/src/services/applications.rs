//! Applications: finding them, looking at them, changing them, syncing them.

mod changing;
mod events;
mod finding;
mod healths;
mod known;
mod links;
mod logs;
mod managed;
mod operating;
mod refresh;
mod resources;
mod revisions;
mod roster;
mod sent;
#[cfg(test)]
mod tests;
mod tree;
mod watching;
mod windows;

use lynceus_api::{Application, Kind as _};
use lynceus_engine::{AppKey, application_gvk};
use lynceus_object::{Object, Value};

pub(crate) use known::Rolls;
pub(crate) use roster::Roster;
pub(crate) use tree::Hosts;

use super::unknown;
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" => finding::list(call),
        "Get" => Box::pin(finding::get(&call)).await,
        "Watch" => watching::watch(call),
        "Create" => Box::pin(changing::create(&call)).await,
        "Update" => Box::pin(changing::update(&call)).await,
        "UpdateSpec" => Box::pin(changing::update_spec(&call)).await,
        "Patch" => Box::pin(changing::patch(&call)).await,
        "Delete" => Box::pin(changing::delete(&call)).await,
        "Sync" => Box::pin(operating::sync(&call)).await,
        "Rollback" => Box::pin(operating::rollback(&call)).await,
        "TerminateOperation" => Box::pin(operating::terminate(&call)).await,
        "ResourceTree" => Box::pin(tree::tree(&call)).await,
        "WatchResourceTree" => tree::watch(call),
        "ManagedResources" => Box::pin(managed::resources(&call)).await,
        "ServerSideDiff" => Box::pin(managed::server_side(&call)).await,
        "GetManifests" => Box::pin(managed::manifests(&call)).await,
        "GetManifestsWithFiles" => Box::pin(sent::manifests(&call)).await,
        "GetResource" => Box::pin(resources::get(&call)).await,
        "PatchResource" => Box::pin(resources::patch(&call)).await,
        "DeleteResource" => Box::pin(resources::delete(&call)).await,
        "ListResourceActions" => Box::pin(resources::actions(&call)).await,
        "RunResourceAction" | "RunResourceActionV2" => Box::pin(resources::run(&call)).await,
        "ListResourceEvents" => Box::pin(events::list(&call)).await,
        "PodLogs" => Box::pin(logs::logs(call)).await,
        "ListLinks" => links::of_application(&call),
        "ListResourceLinks" => Box::pin(links::of_resource(&call)).await,
        "RevisionMetadata" => Box::pin(revisions::metadata(&call)).await,
        "RevisionChartDetails" => Box::pin(revisions::chart(&call)).await,
        "GetOCIMetadata" => Box::pin(revisions::oci(&call)).await,
        "GetApplicationSyncWindows" => windows::windows(&call),
        _ => Err(unknown(method)),
    }
}

impl Call {
    /// The Application that the request names in a field, if the caller may do this to it. Whether one that they may not
    /// see exists is not told.
    pub(crate) fn application_may(&self, action: &str, field: &str) -> Result<Object, Refusal> {
        let name = self.text(field);
        let key = self.application_key(name);
        let found = self.server.engine.home().cache().get(&key.object_key());
        let found = found.filter(|_| self.takes_applications_from(&key.namespace));
        let projects = self.projects();
        let asked = match projects.as_slice() {
            // Only a question for one Application is read with a list.
            [] => self.text("project"),
            [one] => one.as_str(),
            _ => return Err(Refusal::invalid("multiple projects specified - one or none can be asked for")),
        };
        let Some(object) = found else {
            // Whoever may see all of a project may be told that it has no such application.
            let object = format!("{asked}/{name}");
            return match !asked.is_empty() && self.caller.may(Resource::Applications, "get", &object) {
                true => Err(absent(name)),
                false => Err(Refusal::denied()),
            };
        };
        if !asked.is_empty() && asked != project_of(&object) {
            return Err(Refusal::denied());
        }
        self.caller.need(Resource::Applications, action, &self.application_object(&object))?;
        Ok(object)
    }

    /// The Application that a request names, read, if the caller may do this to it.
    pub(crate) fn application(&self, action: &str, field: &str) -> Result<Application, Refusal> {
        read(&self.application_may(action, field)?)
    }

    /// The projects that a question for Applications is about, by the new name of the field or by the old one.
    fn projects(&self) -> Vec<String> {
        let new = self.texts("project");
        if new.is_empty() { self.texts("projects") } else { new }
    }

    /// The name of an Application, in the namespace that the request names or in ours.
    pub(crate) fn application_key(&self, name: &str) -> AppKey {
        let namespace = self.text("appNamespace");
        AppKey::new(if namespace.is_empty() { self.server.namespace() } else { namespace }, name)
    }

    /// Whether Applications may stand in a namespace.
    pub(crate) fn takes_applications_from(&self, namespace: &str) -> bool {
        self.server.engine.settings().takes_applications_from(namespace, self.server.namespace())
    }

    /// How policies name an application: its project and its name, between them its namespace if it is not ours.
    pub(crate) fn application_object(&self, object: &Object) -> String {
        let project = project_of(object);
        match object.namespace() == self.server.namespace() {
            true => format!("{project}/{}", object.name()),
            false => format!("{project}/{}/{}", object.namespace(), object.name()),
        }
    }

    /// Changes an Application, and gives it as it is then.
    pub(crate) async fn patch_application(&self, key: &AppKey, patch: &Value) -> Result<Object, Refusal> {
        let home = self.server.engine.home();
        Ok(home.patch_record(&application_gvk(), &key.namespace, &key.name, patch).await?)
    }
}

/// The project that an Application is of.
pub(crate) fn project_of(object: &Object) -> &str {
    match object.value().str_at(&["spec", "project"]) {
        None | Some("") => "default",
        Some(project) => project,
    }
}

/// Reads an Application, which may be broken.
pub(crate) fn read(object: &Object) -> Result<Application, Refusal> {
    Application::from_object(object).map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))
}

fn absent(name: &str) -> Refusal {
    Refusal::not_found(format!("applications.argoproj.io \"{name}\" not found"))
}

/// An Application as it is sent: without what the server keeps for itself.
pub(crate) fn shown(object: &Object) -> Value {
    let mut object = object.clone();
    object.remove(&["metadata", "managedFields"]);
    object.remove(&["metadata", "annotations", lynceus_api::annotations::LAST_APPLIED]);
    object.into_value()
}
