//! PagerDuty by its events: `service.pagerdutyv2`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, set_text};
use super::request::Request;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let key = job.of_recipient("serviceKeys")?;
    if job.part("pagerdutyv2").is_none() {
        return Err(SendError::lasting("the template has no part pagerdutyv2"));
    }
    let text = |name: &str| job.text("pagerdutyv2", &[name]);
    let mut body = value!({
        "routing_key": (key),
        "event_action": "trigger",
        "client": "ArgoCD",
        "payload": {"summary": (text("summary")), "severity": (text("severity")), "source": (text("source"))},
    });
    for field in ["component", "group", "class"] {
        set_text(&mut body, &["payload", field], text(field));
    }
    set_text(&mut body, &["dedup_key"], text("dedupKey"));
    set_text(&mut body, &["client_url"], text("url"));
    let api = job.address("apiURL", "https://events.pagerduty.com")?;
    Ok(Single::boxed(Request::post(format!("{api}/v2/enqueue"), &body), is_success))
}
