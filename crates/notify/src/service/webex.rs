//! Webex: `service.webex`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single};
use super::grafana::is_ok;
use super::job::Job;
use super::request::Request;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let recipient = job.to.recipient.as_str();
    let mut body = value!({"markdown": (job.notification.message.as_str())});
    body.set(&[if is_mail(recipient) { "toPersonEmail" } else { "roomId" }], recipient);
    let request =
        Request::post(format!("{}/v1/messages", job.address("apiURL", "https://webexapis.com")?), &body)
            .header("Authorization", format!("Bearer {}", job.required("token")?))
            .insecure(job.insecure()?);
    Ok(Single::boxed(request, is_ok))
}

/// Persons are told by their address, rooms by an id.
fn is_mail(recipient: &str) -> bool {
    let parts = recipient.split_once('@');
    parts.is_some_and(|(name, domain)| !name.is_empty() && domain.trim_matches('.').contains('.'))
        && !recipient.contains(char::is_whitespace)
}
