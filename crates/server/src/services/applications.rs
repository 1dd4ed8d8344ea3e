//! Applications: finding them, looking at them, changing them, syncing them.

use lynceus_api::{Application, Kind as _};
use lynceus_engine::AppKey;
use lynceus_object::Object;

use super::unknown;
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    let _ = &call;
    Err(unknown(method))
}

impl Call {
    /// The Application that the request names in a field, if the caller may do this to it. Whether one that they may not
    /// see exists is not told.
    pub(crate) fn application_may(&self, action: &str, field: &str) -> Result<Object, Refusal> {
        let (name, namespace) = (self.text(field), self.text("appNamespace"));
        let namespace = if namespace.is_empty() { self.server.namespace() } else { namespace };
        let key = AppKey::new(namespace, name);
        let found = self.server.engine.home().cache().get(&key.object_key());
        let asked = self.text("project");
        let Some(object) = found else {
            // Whoever may see all of a project may be told that it has no such application.
            let object = format!("{asked}/{name}");
            return match !asked.is_empty() && self.caller.may(Resource::Applications, "get", &object) {
                true => Err(Refusal::not_found(format!("applications.argoproj.io \"{name}\" not found"))),
                false => Err(Refusal::denied()),
            };
        };
        let project = object.value().str_at(&["spec", "project"]).unwrap_or("default");
        if !asked.is_empty() && asked != project {
            return Err(Refusal::denied());
        }
        self.caller.need(Resource::Applications, action, &self.application_object(&object))?;
        Ok(object)
    }

    /// How policies name an application: its project and its name, between them its namespace if it is not ours.
    pub(crate) fn application_object(&self, object: &Object) -> String {
        let project = match object.value().str_at(&["spec", "project"]) {
            None | Some("") => "default",
            Some(project) => project,
        };
        match object.namespace() == self.server.namespace() {
            true => format!("{project}/{}", object.name()),
            false => format!("{project}/{}/{}", object.namespace(), object.name()),
        }
    }
}

/// Reads an Application, which may be broken.
pub(crate) fn read(object: &Object) -> Result<Application, Refusal> {
    Application::from_object(object).map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))
}
