//! Any server that takes a request: `service.webhook.NAME`.

use std::time::Duration;

use lynceus_object::{Str, Value};

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, maps};
use super::request::{Request, Retry};
use crate::config::text_map;

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
    let mut request = Request::new(method, url).insecure(job.insecure()?);
    request.body = match part {
        Some(_) => field("body").as_bytes().to_vec(),
        None => job.notification.message.as_bytes().to_vec(),
    };
    let headers = job.options.get("headers").unwrap_or(&Value::Null);
    for header in maps(headers).map_err(|why| job.refused("headers", &format!("this {why}")))? {
        let header = text_map(&header).map_err(|why| job.refused("headers", &why))?;
        let part = |name: &str| header.get(name).map(Str::as_str).unwrap_or_default();
        request = request.header(part("name"), part("value"));
    }
    if let Some(login) = job.basic_login("basicAuth")? {
        request = request.header("Authorization", login);
    }
    let times = job.number("retryMax")?.filter(|max| *max > 0);
    request.retry = Retry {
        times: times.and_then(|max| u32::try_from(max).ok()).unwrap_or(3),
        shortest: job.pause("retryWaitMin")?.unwrap_or(Duration::from_secs(1)),
        longest: job.pause("retryWaitMax")?.unwrap_or(Duration::from_secs(5)),
    };
    Ok(Single::boxed(request, is_success))
}
