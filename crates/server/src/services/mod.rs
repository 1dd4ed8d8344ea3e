//! The answers, a file for each service.

mod account;
mod applications;
mod doctor;
mod session;
mod settings;
mod version;

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
        "DoctorService" => doctor::answer(name, call).await,
        _ => Err(unknown(name)),
    }
}

/// A method of the table that its service does not know.
pub(crate) fn unknown(method: &str) -> Refusal {
    Refusal::new(Code::Unimplemented, format!("{method} is not answered here"))
}
