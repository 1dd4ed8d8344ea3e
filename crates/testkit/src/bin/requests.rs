//! Sends the same requests to a real API server and to the embedded one, and compares the answers.
//!
//! Run it with `cargo xtask compat requests [FILE…]`, which starts the real one.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

use std::path::Path;
use std::process::ExitCode;

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
    match runtime.block_on(lynceus_testkit::requests::run(Path::new(kubeconfig), only)) {
        Ok(report) => {
            for failure in report.unexplained() {
                println!("{}\n    {}", failure.case, failure.detail.replace('\n', "\n    "));
            }
            let unexplained = report.unexplained().count();
            let excused = report.failures.len() - unexplained;
            println!(
                "requests: {} of {} agree, {excused} deviate for a known reason, {unexplained} differ",
                report.passed, report.ran
            );
            if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
