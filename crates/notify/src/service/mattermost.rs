//! Mattermost: `service.mattermost`.

use lynceus_object::{Value, value};

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::Job;
use super::request::Request;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let attachments =
        job.json("mattermost", "attachments")?.unwrap_or_else(|| Value::from(Vec::<Value>::new()));
    let body = value!({
        "channel_id": (job.to.recipient.as_str()),
        "message": (job.notification.message.as_str()),
        "props": {"attachments": (attachments)},
    });
    let api = job.required("apiURL")?;
    let request = Request::post(format!("{}/api/v4/posts", api.trim_end_matches('/')), &body)
        .header("Authorization", format!("Bearer {}", job.required("token")?))
        .insecure(job.insecure()?);
    Ok(Single::boxed(request, is_success))
}
