//! `cargo xtask compat kustomize [--mutations N] [DIR]...`: kustomizations, built by Kustomize and by Lynceus.
//!
//! First the project's own, then changed ones of them and of the recorded cases, then every kustomization below the
//! directories that are named.

mod directory;
mod mutate;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::{Case, KUSTOMIZATIONS};
use crate::rig::{KUSTOMIZE, Programs};
use crate::run;

/// How many changed kustomizations are tried if nobody says otherwise.
const MUTATIONS: usize = 1_000;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut mutations = MUTATIONS;
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--mutations" => {
                let number = rest.next().ok_or("--mutations needs a number")?;
                mutations = number.parse().map_err(|error| format!("{number}: {error}"))?;
            }
            other if other.starts_with('-') => return Err(format!("there is no argument {other:?}")),
            // Commands are run from the root of the project.
            directory => directories.push(std::path::absolute(directory).map_err(|error| error.to_string())?),
        }
    }
    let kustomize = Programs::with(&[KUSTOMIZE])?.path("kustomize");
    let own = own_cases(&kustomize)?;
    crate::compat::tell_count("kustomizations", own, own)?;
    let rivals = Rivals { kustomize, lynceus: lynceus()? };
    let changed = mutate::compare(&rivals, mutations)?;
    crate::compat::tell_count_with("kustomize-changed", changed.agreed, mutations, &changed.explained)?;
    if directories.is_empty() {
        println!("kustomizations of others: skipped (name directories that hold some to try them)");
        return Ok(());
    }
    directory::compare(&rivals, &directories)
}

/// Has the real Kustomize answer for the project's own cases, which the tests of the crate then have to equal. Gives how
/// many commands there are.
fn own_cases(kustomize: &Path) -> Result<usize, String> {
    let mut cargo = run::command("cargo");
    cargo.args(["test", "--quiet", "--workspace", "--test", "builds"]).env("LYNCEUS_KUSTOMIZE", kustomize);
    run::passes(&mut cargo)?;
    let cases = run::root().join(KUSTOMIZATIONS);
    let changed = run::output(run::command("git").args(["status", "--porcelain", "--"]).arg(&cases))?;
    if !changed.trim().is_empty() {
        return Err(format!(
            "the recorded answers were not Kustomize's; they are now, look at them:\n{changed}"
        ));
    }
    Ok(Case::all(KUSTOMIZATIONS)?.iter().map(|case| case.commands().count()).sum())
}

/// The program under test; another build can be named.
fn lynceus() -> Result<PathBuf, String> {
    match std::env::var_os("LYNCEUS_PROGRAM") {
        Some(program) => Ok(PathBuf::from(program)),
        None => run::program("lynceus"),
    }
}

/// The two that are compared.
struct Rivals {
    kustomize: PathBuf,
    lynceus: PathBuf,
}

/// What a program printed, or what it said instead.
enum Answer {
    Printed(Vec<u8>),
    Refused(String),
}

impl Rivals {
    /// What is different between the two answers for a directory; nothing if they agree. Words of errors may differ.
    fn difference(&self, directory: &Path, flags: &[String]) -> Result<Option<String>, String> {
        let theirs = ask(&self.kustomize, &["build"], directory, flags)?;
        let ours = ask(&self.lynceus, &["kustomize", "build"], directory, flags)?;
        Ok(match (theirs, ours) {
            (Answer::Printed(theirs), Answer::Printed(ours)) if theirs == ours => None,
            (Answer::Refused(_), Answer::Refused(_)) => None,
            (Answer::Printed(theirs), Answer::Printed(ours)) => Some(first_difference(&theirs, &ours)),
            (Answer::Printed(_), Answer::Refused(ours)) => Some(format!("  only lynceus refuses: {ours}")),
            (Answer::Refused(theirs), Answer::Printed(_)) => {
                Some(format!("  only kustomize refuses: {theirs}"))
            }
        })
    }
}

fn ask(program: &Path, command: &[&str], directory: &Path, flags: &[String]) -> Result<Answer, String> {
    // Without a network and without `git`, what is elsewhere is an error at once and not after a while.
    let output = Command::new(program)
        .args(command)
        .arg(directory)
        .args(flags)
        .env("PATH", "")
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(Answer::Printed(output.stdout));
    }
    if output.status.code().is_none_or(|code| code > 100) {
        return Err(format!("{} {} ended with {}", program.display(), directory.display(), output.status));
    }
    Ok(Answer::Refused(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()))
}

fn first_difference(theirs: &[u8], ours: &[u8]) -> String {
    let (theirs, ours) = (String::from_utf8_lossy(theirs), String::from_utf8_lossy(ours));
    let at = theirs.lines().zip(ours.lines()).position(|(theirs, ours)| theirs != ours);
    match at {
        Some(at) => {
            let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
            format!("  line {}\n  kustomize: {}\n  lynceus:   {}", at + 1, line(&theirs), line(&ours))
        }
        None => {
            format!("  {} lines by kustomize, {} by lynceus", theirs.lines().count(), ours.lines().count())
        }
    }
}
