//! PagerDuty by its API: `service.pagerduty`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, set_text};
use super::request::Request;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    if job.part("pagerduty").is_none() {
        return Err(SendError::lasting("the template has no part pagerduty"));
    }
    let text = |name: &str| job.text("pagerduty", &[name]);
    let mut body = value!({"incident": {
        "type": "incident",
        "title": (text("title")),
        "service": {"id": (job.to.recipient.as_str()), "type": "service_reference"},
        "body": {"type": "incident_details", "details": (text("body"))},
    }});
    set_text(&mut body, &["incident", "urgency"], text("urgency"));
    if !text("priorityId").is_empty() {
        body.set(&["incident", "priority"], value!({"id": (text("priorityId")), "type": "priority"}));
    }
    let api = job.address("apiURL", "https://api.pagerduty.com")?;
    let mut request = Request::post(format!("{api}/incidents"), &body)
        .header("Accept", "application/vnd.pagerduty+json;version=2")
        .header("Authorization", format!("Token token={}", job.required("token")?));
    let from = job.option("from")?;
    if !from.is_empty() {
        request = request.header("From", from);
    }
    Ok(Single::boxed(request, is_success))
}
