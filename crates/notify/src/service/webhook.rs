//! Any server that takes a request: `service.webhook.NAME`.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_gotmpl::sprig::moments;
use lynceus_object::Value;

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::Job;
use super::request::{Request, Retry};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let base = job.required("url")?;
    let part = job.part("webhook").and_then(|part| part.get(&job.to.service));
    let field = |name: &str| part.and_then(|part| part.str_at(&[name])).unwrap_or_default();
    let url = match field("path") {
        "" => base,
        path => format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/')),
    };
    let method = match field("method") {
        "" => "GET",
        method => method,
    };
    let mut request = Request::new(method, url).insecure(job.insecure());
    request.body = match part {
        Some(_) => field("body").as_bytes().to_vec(),
        None => job.notification.message.as_bytes().to_vec(),
    };
    for header in job.options.items_at(&["headers"]) {
        let part = |name: &str| header.str_at(&[name]).unwrap_or_default();
        request = request.header(part("name"), part("value"));
    }
    if let Some(login) = job.options.get("basicAuth") {
        request = request.header("Authorization", basic(login));
    }
    request.retry = Retry {
        times: u32::try_from(job.options.int_at(&["retryMax"]).filter(|max| *max > 0).unwrap_or(3))
            .unwrap_or(3),
        shortest: pause(job.options.get("retryWaitMin"), 1),
        longest: pause(job.options.get("retryWaitMax"), 5),
    };
    Ok(Single::boxed(request, is_success))
}

/// The header of a name and a password.
pub(super) fn basic(login: &Value) -> String {
    let part = |name: &str| login.str_at(&[name]).unwrap_or_default();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", part("username"), part("password"))))
}

/// A duration: a number of nanoseconds as Argo CD reads it, or as Go writes it.
fn pause(value: Option<&Value>, usual: u64) -> Duration {
    let nanos = value.and_then(|value| match value.as_str() {
        Some(text) => moments::parse_duration(text).ok().and_then(|length| moments::nanos_of(&length)),
        None => value.as_int(),
    });
    let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok()).filter(|nanos| *nanos > 0);
    nanos.map_or(Duration::from_secs(usual), Duration::from_nanos)
}
