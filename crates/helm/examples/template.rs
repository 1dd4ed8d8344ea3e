//! `helm template` with the flags of Helm, to compare the two by hand: `template [NAME] DIRECTORY [flags]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for people")]

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use lynceus_helm::{Chart, HelmError};

#[path = "../tests/flags/mod.rs"]
mod flags;
#[path = "../tests/folder/mod.rs"]
mod folder;

fn main() -> ExitCode {
    let mut read = |name: &str| std::fs::read(name).map_err(|error| format!("open {name}: {error}"));
    let result = flags::Flags::parse(std::env::args().skip(1)).and_then(|flags| flags.run(load, &mut read));
    match result {
        Ok(out) => {
            let _ = std::io::stdout().write_all(&out);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &str) -> Result<Chart, HelmError> {
    let path = Path::new(path);
    if path.is_file() {
        return Ok(Chart::from_archive(&std::fs::read(path).unwrap_or_default())?);
    }
    Ok(folder::load(path)?)
}
