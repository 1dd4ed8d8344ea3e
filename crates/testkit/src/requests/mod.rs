//! Compares the embedded Kubernetes with a real API server, request by request.
//!
//! Nothing is recorded: each request of `crates/testkit/requests` goes to both, in the same order, and the answers
//! have to be the same once what no two servers share (uids, versions, times, free addresses) has been taken out.

mod compare;
mod known;
mod normalise;
mod script;
mod server;

use std::path::{Path, PathBuf};

use crate::conformance::Report;
use known::Known;
use script::{Request, Step};
use server::{Answer, Server};

/// Sends every file of requests whose name is among `only` (all if that is empty) to both servers.
pub async fn run(kubeconfig: &Path, only: &[String]) -> Result<Report, String> {
    let mut real = Server::real(kubeconfig).await?;
    let mut ours = Server::embedded().await?;
    let known = Known::read()?;
    let mut report = Report::default();
    for path in files()? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let steps = script::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let namespace = format!("requests-{name}");
        real.enter(&namespace).await?;
        ours.enter(&namespace).await?;
        for step in &steps {
            if step.is_wait() {
                real.wait_for(&step.requests()).await?;
                continue;
            }
            for request in step.requests() {
                compare_one(&name, step, &request, &mut real, &mut ours, &known, &mut report).await?;
            }
        }
    }
    Ok(report)
}

async fn compare_one(
    file: &str,
    step: &Step,
    request: &Request,
    real: &mut Server,
    ours: &mut Server,
    known: &Known,
    report: &mut Report,
) -> Result<(), String> {
    let theirs: Answer = real.settled(request).await?;
    let answer: Answer = ours.send(request).await?;
    let case = format!("{file}:{} {} {}", step.line, request.method, request.path);
    let (outcome, reason) = match (compare::difference(&theirs, &answer), known.chance(&case)) {
        (Some(detail), _) => {
            let reason = known.reason(&case, &detail);
            (Err(detail), reason)
        }
        (None, Some(reason)) => (Err("the same by chance".to_owned()), Some(reason)),
        (None, None) => (Ok(()), None),
    };
    report.count_with(&case, outcome, reason);
    Ok(())
}

/// The files of requests, in order.
fn files() -> Result<Vec<PathBuf>, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("requests");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    Ok(files)
}
