//! New Relic, which gets a mark of a deployment: `service.newrelic`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, set_text};
use super::request::{Request, segment};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    if job.part("newrelic").is_none() {
        return Err(SendError::lasting("the template has no part newrelic"));
    }
    let text = |name: &str| job.text("newrelic", &[name]);
    let mut body = value!({"deployment": {"revision": (text("revision"))}});
    set_text(&mut body, &["deployment", "changelog"], text("changelog"));
    let description =
        if text("description").is_empty() { job.notification.message.as_str() } else { text("description") };
    set_text(&mut body, &["deployment", "description"], description);
    set_text(&mut body, &["deployment", "user"], text("user"));
    let api = job.address("apiURL", "https://api.newrelic.com")?;
    let url = format!("{api}/v2/applications/{}/deployments.json", segment(&job.to.recipient));
    let request =
        Request::post(url, &body).header("X-Api-Key", job.required("apiKey")?).insecure(job.insecure()?);
    Ok(Single::boxed(request, is_success))
}
