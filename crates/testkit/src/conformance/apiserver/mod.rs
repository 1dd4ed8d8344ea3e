//! Replays what a real kube-apiserver answered to kubectl.
//!
//! Each file of recordings starts on a clean cluster. Requests are sent in order; uids, versions and
//! continue tokens that the real server made are translated into ours on the way in, and what cannot
//! be the same (times, uids, versions) is left out of the comparison.

mod compare;
mod names;
mod recording;
mod session;

use std::io;
use std::path::Path;

use super::{Report, cases};
use recording::Recording;
use session::Session;

/// Replays every file of `dir/apiserver`, or only the one called `only`.
pub fn run(dir: &Path, only: Option<&str>) -> io::Result<Report> {
    let mut files: Vec<_> = std::fs::read_dir(dir.join("apiserver"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| file.to_string_lossy().ends_with(".jsonl.gz"));
    files.sort();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::default();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().replace(".jsonl.gz", "");
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let recordings: Vec<Recording> =
            cases(&file)?.map(|case| Ok(Recording::read(&case?))).collect::<io::Result<_>>()?;
        runtime.block_on(Session::run(&name, &recordings, &mut report)).map_err(io::Error::other)?;
    }
    Ok(report)
}
