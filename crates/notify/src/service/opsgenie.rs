//! Opsgenie: `service.opsgenie`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, set_text};
use super::request::Request;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let key = job.of_recipient("apiKeys")?;
    let part = job.part("opsgenie");
    if part.is_some() && job.text("opsgenie", &["description"]).is_empty() {
        return Err(SendError::lasting("the template says nothing under opsgenie.description"));
    }
    let mut body = value!({
        "message": (job.notification.message.as_str()),
        "responders": [{"type": "team", "id": (job.to.recipient.as_str())}],
        "source": "Argo CD",
    });
    for field in ["description", "alias", "note", "entity", "user", "priority"] {
        set_text(&mut body, &[field], job.text("opsgenie", &[field]));
    }
    for field in ["actions", "tags", "details", "visibleTo"] {
        if let Some(value) = part.and_then(|part| part.get(field)).filter(|value| !value.is_empty()) {
            body.set(&[field], value.clone());
        }
    }
    let api = job.address("apiUrl", "api.opsgenie.com")?;
    let api = if api.contains("://") { api } else { format!("https://{api}") };
    let request = Request::post(format!("{api}/v2/alerts"), &body)
        .header("Authorization", format!("GenieKey {key}"))
        .insecure(job.insecure()?);
    Ok(Single::boxed(request, is_success))
}
