//! The answers, a file for each service.

mod account;
mod applications;
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

pub(crate) use repositories::Trials;

use crate::call::{Answered, Call};
use crate::method::Method;
use crate::refusal::{Code, Refusal};

/// Has a question answered by its service.
pub(crate) async fn answer(method: &Method, call: Call) -> Answered {
    let (service, name) = method.id();
    match service {
        "SessionService" => session::answer(name, call).await,
        "AccountService" => account::answer(name, call).await,
        "SettingsService" => settings::answer(name, call).await,
        "VersionService" => version::answer(call).await,
        "ApplicationService" => applications::answer(name, call).await,
        "CertificateService" => certificates::answer(name, call).await,
        "ClusterService" => clusters::answer(name, call).await,
        "DoctorService" => doctor::answer(name, call).await,
        "GPGKeyService" => gpgkeys::answer(name, call).await,
        "NotificationService" => notifications::answer(name, call).await,
        "ProjectService" => projects::answer(name, call).await,
        "RepoCredsService" => repocreds::answer(name, call).await,
        "RepositoryService" => repositories::answer(name, call).await,
        _ => Err(unknown(name)),
    }
}

/// A method of the table that its service does not know.
pub(crate) fn unknown(method: &str) -> Refusal {
    Refusal::new(Code::Unimplemented, format!("{method} is not answered here"))
}
