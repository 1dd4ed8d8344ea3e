//! `cargo xtask fuzz [NAME]... [--seconds N]`: random input for what reads the input of others.
//!
//! The targets are in `fuzz/`. What they begin with is made of the texts that the tests have; that, what is found on the
//! way and what fails are kept in the cache, outside the work tree.

mod seeds;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rig::cache;
use crate::run;

/// What there is to be tried. `cargo fuzz` finds each in `fuzz/Cargo.toml`.
const TARGETS: [&str; 10] = [
    "parser",
    "evaluator",
    "set",
    "archive",
    "chart",
    "manifest",
    "kustomization",
    "patch",
    "replacement",
    "jq",
];

/// How long each is tried if nobody says otherwise.
const SECONDS: u64 = 600;

/// The release of cargo-fuzz that is installed.
const CARGO_FUZZ: &str = "0.13.1";

/// A single input that takes longer than this, in seconds, is a failure: bounds should have ended it. The dearest that they
/// allow is ten RSA keys of 4,096 bits, which take most of a minute in a build with coverage.
const SLOW: u64 = 180;

/// Nor may one take more memory than this, in MB.
const MEMORY: u64 = 2048;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let (names, seconds) = read(arguments)?;
    let home = cache()?.join("fuzz");
    let program = cargo_fuzz(&home)?;
    for name in names {
        let corpus = make_directory(home.join("corpus").join(name))?;
        let count = seeds::write(name, &corpus)?;
        let words = home.join(format!("{name}.dict"));
        seeds::write_words(&corpus, &words)?;
        println!("fuzz: {name}: {count} seeds, {seconds} s");
        run(&program, &home, name, seconds)?;
    }
    Ok(())
}

fn read(arguments: &[String]) -> Result<(Vec<&'static str>, u64), String> {
    let (mut names, mut seconds) = (Vec::new(), SECONDS);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().ok_or("--seconds needs a number")?;
            seconds = number.parse().map_err(|error| format!("--seconds {number}: {error}"))?;
            continue;
        }
        let name = TARGETS.into_iter().find(|name| name == argument);
        names.push(
            name.ok_or_else(|| format!("there is no target {argument:?}, only {}", TARGETS.join(", ")))?,
        );
    }
    if names.is_empty() {
        names = TARGETS.to_vec();
    }
    Ok((names, seconds))
}

/// The program, installed into the cache if it is not there.
fn cargo_fuzz(home: &Path) -> Result<PathBuf, String> {
    let program = home.join("bin/cargo-fuzz");
    if !program.is_file() {
        println!("fuzz: installing cargo-fuzz {CARGO_FUZZ}");
        let mut cargo = run::command("cargo");
        cargo.args(["install", "--quiet", "--locked", "cargo-fuzz", "--version", CARGO_FUZZ, "--root"]);
        run::passes(cargo.arg(home))?;
    }
    Ok(program)
}

/// Builds a target and feeds it. Without a sanitizer a stable compiler will do; there is no unsafe code to watch.
fn run(program: &Path, home: &Path, name: &str, seconds: u64) -> Result<(), String> {
    let failures = make_directory(home.join("failures").join(name))?;
    let mut fuzz = Command::new(program);
    fuzz.current_dir(run::root().join("fuzz"));
    fuzz.args(["run", name, "--sanitizer", "none", "--target-dir"]).arg(home.join("target"));
    fuzz.arg(home.join("corpus").join(name)).arg("--");
    fuzz.arg(format!("-dict={}", home.join(format!("{name}.dict")).display()));
    fuzz.arg(format!("-artifact_prefix={}/", failures.display()));
    fuzz.arg(format!("-max_total_time={seconds}"));
    fuzz.arg(format!("-timeout={SLOW}")).arg(format!("-rss_limit_mb={MEMORY}"));
    fuzz.args(["-print_final_stats=1", "-verbosity=0"]);
    run::passes(&mut fuzz).map_err(|error| format!("{name}: {error}; see {}", failures.display()))
}

fn make_directory(path: PathBuf) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_those_of_the_crate() {
        let manifest = std::fs::read_to_string(run::root().join("fuzz/Cargo.toml")).unwrap_or_default();
        let there: Vec<&str> =
            manifest.split("[[bin]]\nname = \"").skip(1).filter_map(|text| text.split('"').next()).collect();
        assert_eq!(there, TARGETS);
    }

    #[test]
    fn a_target_that_does_not_exist_is_refused() {
        let read = |text: &[&str]| read(&text.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&["set", "--seconds", "5"]), Ok((vec!["set"], 5)));
        assert_eq!(read(&[]).map(|(names, _)| names.len()), Ok(TARGETS.len()));
        assert!(read(&["nothing"]).is_err_and(|error| error.contains("only parser, evaluator")));
    }
}
