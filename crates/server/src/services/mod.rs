//! The answers, a file for each service.

mod applications;
mod doctor;
mod version;

use crate::call::{Answered, Call};
use crate::method::Method;
use crate::refusal::{Code, Refusal};

/// Has a question answered by its service.
pub(crate) async fn answer(method: &Method, call: Call) -> Answered {
    let (service, name) = method.id();
    match service {
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
