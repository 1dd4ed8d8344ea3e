//! Has Argo CD's own server for plugins answer: what the engine's renderer makes of a source with it, or why not.
//!
//! Run it with `cargo xtask compat plugin [CASE]...`, which builds the server. Cases are texts in `crates/testkit/plugins`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

mod case;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use case::Case;
use lynceus_testkit::conformance::Report;
use lynceus_testkit::ledger::Ledger;

fn main() -> ExitCode {
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let argocd = PathBuf::from(arguments.next().ok_or("the first argument is the path of argocd")?);
    let only: Vec<String> = arguments.collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let home = std::env::temp_dir().join(format!("lynceus-plugins-{}", std::process::id()));
    let mut report = Report::default();
    for path in cases()? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let case = Case::read(&text).map_err(|error| format!("{name}: {error}"))?;
        let outcome = runtime.block_on(run::run(&case, &argocd, &home));
        let _ = std::fs::remove_dir_all(&home);
        report.count(&name, outcome);
    }
    for failure in report.unexplained() {
        println!("{}\n    {}", failure.case, failure.detail.replace('\n', "\n    "));
    }
    if !only.is_empty() {
        println!("plugins: {} of {} agree", report.passed, report.ran);
        return Ok(report.failures.is_empty());
    }
    let mut ledger = Ledger::read()?;
    let what = "sources that Argo CD 3.5.3's own server for plugins makes manifests of, or refuses";
    let fine = ledger.enter("plugins", what, &report, "");
    ledger.write()?;
    Ok(fine)
}

fn cases() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}
