//! Prometheus' Alertmanager: `service.alertmanager`.

use std::time::Duration;

use lynceus_object::{Value, value};

use super::conversation::{Delivery, Next, SendError};
use super::grafana::is_ok;
use super::job::Job;
use super::memory::Memory;
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let part = job.part("alertmanager");
    let field = |name: &str| part.and_then(|part| part.get(name)).filter(|value| !value.is_empty());
    let Some(labels) = field("labels") else {
        return Err(SendError::lasting("the template says nothing under alertmanager.labels"));
    };
    let mut alert = value!({
        "labels": (labels.clone()),
        "generatorURL": (link(job.text("alertmanager", &["generatorURL"]))),
        "startsAt": (job.now.to_string()),
    });
    alert.set(&["annotations"], field("annotations").cloned().unwrap_or_default());
    let body = Value::from(vec![alert]);
    let targets = crate::config::texts(job.options.get("targets").unwrap_or(&Value::Null))
        .map_err(|error| SendError::lasting(format!("the option targets: {error}")))?;
    let targets = if targets.is_empty() { vec!["127.0.0.1:9093".into()] } else { targets };
    let scheme = job.address("scheme", "http")?;
    let path = match job.option("apiPath")? {
        path if path.is_empty() => "/api/v2/alerts".to_owned(),
        path => path,
    };
    let seconds = job.number("timeout")?.and_then(|seconds| u64::try_from(seconds).ok());
    let login = login(job)?;
    let insecure = job.insecure()?;
    let requests = targets.iter().map(|target| {
        let mut request = Request::post(format!("{scheme}://{target}{path}"), &body).insecure(insecure);
        request.headers.extend(login.clone());
        request.timeout = Some(Duration::from_secs(seconds.filter(|seconds| *seconds > 0).unwrap_or(3)));
        request
    });
    Ok(Box::new(All(Some(requests.collect()))))
}

fn login(job: &Job<'_>) -> Result<Option<(String, String)>, SendError> {
    let token = job.option("bearerToken")?;
    let value = match job.basic_login("basicAuth")? {
        Some(login) => login,
        None if token.is_empty() => return Ok(None),
        None => format!("Bearer {token}"),
    };
    Ok(Some(("Authorization".to_owned(), value)))
}

/// `git@host:path` as a link.
fn link(url: &str) -> String {
    match url.strip_prefix("git@") {
        Some(rest) => format!("https://{}", rest.replacen(':', "/", 1)),
        None => url.to_owned(),
    }
}

/// It is enough that one of several takes it: they tell each other.
struct All(Option<Vec<Request>>);

impl Delivery for All {
    fn next(&mut self, answer: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        match (self.0.take(), answer) {
            (Some(requests), _) => Ok(Next::AskAny(requests)),
            (None, Some(answer)) => is_ok(answer).map(|()| Next::Done),
            (None, None) => Err(SendError::new("there was no answer")),
        }
    }
}
