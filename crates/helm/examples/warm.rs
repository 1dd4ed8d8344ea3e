//! Renders one chart again and again in one process, and says how long one rendering takes: `warm DIRECTORY RENDERINGS`.
//!
//! The chart is loaded before the clock runs, and rendered once, so that its templates are parsed. Measured is what
//! `helm template` does after that: dependencies and values are sorted out and checked, templates executed, manifests sorted.
//! It prints the median time of a rendering in nanoseconds. `xtask/oracle/gotmpl/warm` does the same with Helm's own code.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for people")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use lynceus_helm::{Capabilities, Options, Release, UserValues, render};

#[path = "../tests/flags/mod.rs"]
mod flags;
#[path = "../tests/folder/mod.rs"]
mod folder;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure(&arguments) {
        Ok(nanoseconds) => {
            println!("{nanoseconds}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Result<u128, Box<dyn std::error::Error>> {
    let [directory, renderings] = arguments else {
        return Err("a directory and a number of renderings are wanted".into());
    };
    let chart = Arc::new(folder::load(Path::new(directory))?);
    let (values, release) = (UserValues::default(), Release::new("bench", "default"));
    let (capabilities, options) = (Capabilities::default(), Options::default());
    let render = || render(&chart, &values, &release, &capabilities, &options, &mut flags::Still(1));
    render()?;
    let mut times = Vec::new();
    for _ in 0..renderings.parse::<usize>()?.max(1) {
        let begun = Instant::now();
        std::hint::black_box(render()?);
        times.push(begun.elapsed().as_nanos());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}
