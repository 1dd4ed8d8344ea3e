//! Pushover: `service.pushover`.

use super::conversation::{Delivery, SendError, Single};
use super::job::Job;
use super::request::{Answer, Request, form};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let token = job.required("token")?;
    let pairs = [
        ("token", token.as_str()),
        ("user", job.to.recipient.as_str()),
        ("message", job.notification.message.as_str()),
    ];
    let api = job.address("apiURL", "https://api.pushover.net")?;
    let mut request = Request::new("POST", format!("{api}/1/messages.json"))
        .header("Content-Type", "application/x-www-form-urlencoded");
    request.body = form(&pairs).into_bytes();
    Ok(Single::boxed(request, is_taken))
}

fn is_taken(answer: &Answer) -> Result<(), SendError> {
    if answer.json().int_at(&["status"]) == Some(1) { Ok(()) } else { Err(answer.refusal()) }
}
