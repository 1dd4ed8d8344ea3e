//! Sends the same requests to a real API server and to the embedded one, and compares the answers.
//!
//! Run it with `cargo xtask compat requests [--known] [FILE…]`, which starts the real one. `--known` also lists the requests
//! whose answers differ for a reason.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

use std::path::Path;
use std::process::ExitCode;

use lynceus_testkit::conformance::Report;
use lynceus_testkit::ledger::Ledger;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((kubeconfig, only)) = arguments.split_first() else {
        eprintln!("error: the first argument is the real server's kubeconfig");
        return ExitCode::FAILURE;
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (flags, only): (Vec<String>, Vec<String>) =
        only.iter().cloned().partition(|argument| argument == "--known");
    match runtime.block_on(lynceus_testkit::requests::run(Path::new(kubeconfig), &only)) {
        Ok(report) => {
            for failure in report.failures.iter().filter(|_| !flags.is_empty()) {
                println!("{}: {}", failure.case, failure.reason.unwrap_or("no reason is known"));
            }
            for failure in report.unexplained() {
                println!("{}\n    {}", failure.case, failure.detail.replace('\n', "\n    "));
            }
            // A part of the requests says nothing about the whole.
            if !only.is_empty() {
                println!("requests: {} of {} agree", report.passed, report.ran);
                return if report.unexplained().next().is_none() {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                };
            }
            match enter(&report) {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::FAILURE,
                Err(error) => {
                    eprintln!("error: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn enter(report: &Report) -> Result<bool, String> {
    let mut ledger = Ledger::read()?;
    let fine = ledger.enter(
        "requests",
        "requests to a real kube-apiserver 1.36 and to the embedded one",
        report,
        "",
    );
    ledger.write()?;
    Ok(fine)
}
