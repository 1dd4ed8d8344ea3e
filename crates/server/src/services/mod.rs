//! The answers, a file for each service.

mod account;
mod applications;
mod applicationsets;
mod certificates;
mod clusters;
mod doctor;
mod gpgkeys;
pub(crate) mod maps;
mod notifications;
mod projects;
mod repocreds;
mod repositories;
pub(crate) mod secrets;
mod session;
mod settings;
mod version;

pub use account::{ACTIONS, RESOURCES};
pub(crate) use applications::{Hosts, Rolls, Roster, project_of};
pub(crate) use repositories::Trials;

use crate::call::{Answered, Call};
use crate::method::Method;
use crate::refusal::{Code, Refusal};

/// Has a question answered by its service.
pub(crate) async fn answer(method: &Method, call: Call) -> Answered {
    let (service, name) = method.id();
    // Each on the heap: together they would be larger than the stack of a thread has room for.
    match service {
        "SessionService" => Box::pin(session::answer(name, call)).await,
        "AccountService" => Box::pin(account::answer(name, call)).await,
        "SettingsService" => Box::pin(settings::answer(name, call)).await,
        "VersionService" => Box::pin(version::answer(call)).await,
        "ApplicationService" => Box::pin(applications::answer(name, call)).await,
        "ApplicationSetService" => Box::pin(applicationsets::answer(name, call)).await,
        "CertificateService" => Box::pin(certificates::answer(name, call)).await,
        "ClusterService" => Box::pin(clusters::answer(name, call)).await,
        "DoctorService" => Box::pin(doctor::answer(name, call)).await,
        "GPGKeyService" => Box::pin(gpgkeys::answer(name, call)).await,
        "NotificationService" => Box::pin(notifications::answer(name, call)).await,
        "ProjectService" => Box::pin(projects::answer(name, call)).await,
        "RepoCredsService" => Box::pin(repocreds::answer(name, call)).await,
        "RepositoryService" => Box::pin(repositories::answer(name, call)).await,
        _ => Err(unknown(name)),
    }
}

/// A method of the table that its service does not know.
pub(crate) fn unknown(method: &str) -> Refusal {
    Refusal::new(Code::Unimplemented, format!("{method} is not answered here"))
}
