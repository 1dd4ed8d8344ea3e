//! Replays the recorded answers of Argo CD's own health checks.

use std::io;
use std::path::Path;

use lynceus_object::{Object, Value, json, yaml};

use super::Report;

/// Checks every recorded object in `dir/health`. The answers are those of the checks alone: an object that is being
/// deleted counts as such only where Argo CD has no script for its kind.
pub fn run(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    let folder = dir.join("health");
    for line in std::fs::read_to_string(folder.join("cases.jsonl"))?.lines() {
        let case = json::parse(line.as_bytes()).map_err(io::Error::other)?;
        let input = case.str_at(&["input"]).unwrap_or_default();
        let text = std::fs::read(folder.join(input))?;
        let outcome = first(&text)
            .and_then(|value| Object::new(value).map_err(|_| "it is no object".to_owned()))
            .and_then(|object| compare(&object, case.str_at(&["status"]), case.str_at(&["message"])));
        report.count(input, outcome);
    }
    Ok(report)
}

/// The first document of a file; the original reads no more.
fn first(text: &[u8]) -> Result<Value, String> {
    let documents = yaml::documents(text, &yaml::Options::default());
    let document = documents.into_iter().find(|document| !document.is_empty).ok_or("it is empty")?;
    document.result.map_err(|error| error.to_string())
}

fn compare(object: &Object, status: Option<&str>, message: Option<&str>) -> Result<(), String> {
    let health = lynceus_health::check(object);
    let found = health.as_ref().map(|health| health.status.to_string());
    if found.as_deref() != status {
        return Err(format!("status {found:?} instead of {status:?}"));
    }
    let said = health.map(|health| health.message).unwrap_or_default();
    match message {
        Some(message) if message != said => Err(format!("message {said:?} instead of {message:?}")),
        _ => Ok(()),
    }
}
