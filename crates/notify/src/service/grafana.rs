//! Grafana, which gets an annotation: `service.grafana`.

use lynceus_object::{Value, value};

use super::conversation::{Delivery, SendError, Single};
use super::job::Job;
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let tags: Vec<Value> = job.to.recipient.split('|').map(Value::from).collect();
    let mut body = value!({
        "time": (job.now.as_second() * 1000),
        "isRegion": false,
        "text": (job.notification.message.as_str()),
    });
    body.set(&["tags"], Value::from(tags));
    let api = job.required("apiUrl")?;
    let request = Request::post(format!("{}/annotations", api.trim_end_matches('/')), &body)
        .header("Authorization", format!("Bearer {}", job.required("apiKey")?))
        .insecure(job.insecure()?);
    Ok(Single::boxed(request, is_ok))
}

/// Only 200 is good.
pub(super) fn is_ok(answer: &Answer) -> Result<(), SendError> {
    if answer.status == 200 { Ok(()) } else { Err(answer.refusal()) }
}
