//! As whom a sync or a deletion acts.

use lynceus_api::{AppProject, Application};
use lynceus_object::Str;

use crate::engine::Engine;
use crate::project::service_account;
use crate::settings::Impersonation;

impl Engine {
    /// The user that acts for an application; empty for ourselves.
    pub fn guise(&self, application: &Application, project: Option<&AppProject>) -> Result<Str, String> {
        let impersonation = self.settings().impersonation;
        let Some(project) = project.filter(|_| impersonation != Impersonation::Off) else {
            return Ok(Str::new());
        };
        let wanted = &application.spec.destination;
        let server = self.fleet().find(wanted).map_or_else(|_| wanted.server.clone(), |found| found.server);
        let user = service_account(project, application, &server)
            .map_err(|why| format!("failed to derive service account to impersonate: {why}"))?;
        match (user, impersonation) {
            (Some(user), _) => Ok(user.into()),
            (None, Impersonation::Enforced) => Err(format!(
                "no matching service account found for destination server {server} and namespace {}",
                wanted.namespace
            )),
            (None, _) => Ok(Str::new()),
        }
    }
}
