//! Compares with recorded answers of the real programs, keeps the ratchet, and writes `docs/compatibility.md`.
//!
//! Run it with `cargo xtask compat [--quick] [--cases DIR]`. Without recorded answers nothing is compared, and it says so.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lynceus_testkit::conformance::{self, Report};

/// The most that agreed so far, by set: it may only grow.
const RATCHET: &str = "docs/compatibility.ratchet.json";
const PAGE: &str = "docs/compatibility.md";

/// A set: its name, what it is, and how it is replayed.
struct Set {
    name: &'static str,
    what: &'static str,
    run: fn(&Path) -> std::io::Result<Report>,
}

const SETS: [Set; 4] = [
    Set {
        name: "apiserver",
        what: "what a real kube-apiserver 1.33 answered to kubectl, replayed on the embedded one",
        run: |dir| conformance::apiserver::run(dir, None),
    },
    Set {
        name: "diff",
        what: "comparisons by Argo CD's own engine, with its ignore rules",
        run: conformance::diff::run,
    },
    Set {
        name: "health",
        what: "objects of built-in kinds with the health that Argo CD gives them",
        run: conformance::health::run,
    },
    Set {
        name: "sync",
        what: "runs of Argo CD's own sync engine, pass by pass",
        run: conformance::sync::run,
    },
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Replays one file of an API server's answers, and lists what does not agree.
fn only(file: &str, cases: Option<PathBuf>) -> Result<bool, String> {
    let cases = cases.ok_or("--only comes after --cases, or with LYNCEUS_CASES")?;
    let report = conformance::apiserver::run(&cases, Some(file)).map_err(|error| error.to_string())?;
    for failure in &report.failures {
        println!("  {}: {} ({})", failure.case, failure.detail, failure.reason.unwrap_or("no known reason"));
    }
    println!("{file}: {} of {} agree", report.passed, report.ran);
    Ok(report.unexplained().next().is_none())
}

fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let mut cases: Option<PathBuf> = std::env::var_os("LYNCEUS_CASES").map(PathBuf::from);
    let mut verbose = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cases" => cases = Some(arguments.next().ok_or("--cases needs a directory")?.into()),
            "--verbose" => verbose = true,
            "--only" => return only(&arguments.next().ok_or("--only needs a file of answers")?, cases),
            // Every set is quick: none needs a program to be built.
            "--quick" => {}
            other => return Err(format!("there is no argument {other:?}")),
        }
    }
    let Some(cases) = cases else {
        println!("compat: skipped (no recorded answers: name them with --cases DIR or LYNCEUS_CASES)");
        return Ok(true);
    };
    let mut kept = ratchet()?;
    let mut reports = BTreeMap::new();
    let mut fine = true;
    for set in &SETS {
        let report = (set.run)(&cases).map_err(|error| format!("{}: {error}", set.name))?;
        let best = kept.get(set.name).copied().unwrap_or_default();
        let unexplained = report.unexplained().count();
        println!(
            "{}: {} of {} agree, {} deviate for a known reason, {unexplained} differ (at least {best} have to agree)",
            set.name,
            report.passed,
            report.ran,
            report.failures.len() - unexplained,
        );
        let shown = if verbose { usize::MAX } else { 5 };
        for failure in report.unexplained().take(shown) {
            println!("  {}: {}", failure.case, first_lines(&failure.detail));
        }
        if report.passed < best {
            println!("  problem: {best} agreed before");
            fine = false;
        }
        if unexplained > 0 {
            println!("  problem: a difference needs a reason");
            fine = false;
        }
        kept.insert(set.name.to_owned(), report.passed.max(best));
        reports.insert(set.name, report);
    }
    write(&kept, &reports)?;
    Ok(fine)
}

fn first_lines(text: &str) -> String {
    text.lines().take(4).collect::<Vec<_>>().join("\n    ").chars().take(800).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn ratchet() -> Result<BTreeMap<String, usize>, String> {
    match std::fs::read_to_string(root().join(RATCHET)) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{RATCHET}: {error}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(format!("{RATCHET}: {error}")),
    }
}

fn write(kept: &BTreeMap<String, usize>, reports: &BTreeMap<&str, Report>) -> Result<(), String> {
    let ratchet = serde_json::to_string_pretty(kept).map_err(|error| error.to_string())?;
    // A page that says the same is left alone, so that a check does not dirty the tree.
    for (path, text) in [(RATCHET, format!("{ratchet}\n")), (PAGE, page(reports))] {
        let path = root().join(path);
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn page(reports: &BTreeMap<&str, Report>) -> String {
    let mut page = String::from(
        "# Compatibility, measured\n\n\
         Written by `cargo xtask compat`, which replays recorded answers of the real programs. The numbers may only grow: \
         `compatibility.ratchet.json` holds the best so far, and the command fails below it.\n\n\
         | set | what it is | cases | agree | deviate for a reason | differ |\n|---|---|---|---|---|---|\n",
    );
    for set in &SETS {
        let Some(report) = reports.get(set.name) else { continue };
        let unexplained = report.unexplained().count();
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} ({:.1} %) | {} | {unexplained} |",
            set.name,
            set.what,
            report.ran,
            report.passed,
            100.0 * report.passed as f64 / report.ran.max(1) as f64,
            report.failures.len() - unexplained,
        );
    }
    for set in &SETS {
        let Some(report) = reports.get(set.name) else { continue };
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for failure in &report.failures {
            reasons.entry(failure.reason.unwrap_or("not yet explained")).or_default().push(&failure.case);
        }
        for (why, count) in &report.skipped {
            let _ = write!(page, "\n{count} more of {} are not replayed: {why}.\n", set.name);
        }
        if reasons.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {}: where it differs, and why\n\n", set.name);
        for (reason, cases) in reasons {
            // What comes after a case's name is the request, which the recording has as well.
            let names: Vec<&str> =
                cases.iter().map(|case| case.split(' ').next().unwrap_or_default()).collect();
            let _ = writeln!(page, "- {reason} ({}): {}", cases.len(), names.join(", "));
        }
    }
    page
}
