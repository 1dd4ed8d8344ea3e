//! Replays the recorded answers of Argo CD's own health checks for the built-in kinds.

use std::io;
use std::path::Path;

use lynceus_object::{Object, json, yaml};

use super::Report;

/// Assesses every recorded object of a built-in kind in `dir/health`.
///
/// The kinds that Argo CD checks by script are recorded there too; they count from the day that scripts run.
pub fn run(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    let folder = dir.join("health");
    for line in std::fs::read_to_string(folder.join("cases.jsonl"))?.lines() {
        let case = json::parse(line.as_bytes()).map_err(io::Error::other)?;
        let input = case.str_at(&["input"]).unwrap_or_default();
        if !input.starts_with("builtin/") {
            continue;
        }
        let text = std::fs::read(folder.join(input))?;
        let outcome = yaml::parse(&text)
            .map_err(|error| error.to_string())
            .and_then(|value| Object::new(value).map_err(|_| "it is no object".to_owned()))
            .and_then(|object| compare(&object, case.str_at(&["status"]), case.str_at(&["message"])));
        report.count(input, outcome);
    }
    Ok(report)
}

fn compare(object: &Object, status: Option<&str>, message: Option<&str>) -> Result<(), String> {
    let health = lynceus_health::assess(object);
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
