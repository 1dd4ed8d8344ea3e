//! `cargo xtask compat kubectl [--rig] [FUNCTION]...`: the scripts with which Kubernetes tests kubectl and its API server,
//! against `lynceus sim`.
//!
//! Each function of them gets a cluster of its own. With `--rig` they run on a real control plane that is set up as the
//! scripts want it, one after the other, to see what fails there as well; that is counted nowhere.

mod scripts;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::rig::{KUBECTL, KUBECTL_CONVERT, Programs, cache};
use crate::{e2e, run};
use scripts::Scripts;
use server::Server;

/// How long one function may take. Some wait for things that a real cluster does late.
const LIMIT: Duration = Duration::from_secs(400);
const LOOK: Duration = Duration::from_millis(100);
/// How many lines of what a function said are shown if it failed.
const SHOWN: usize = 20;

/// Functions that do not pass, and the words by which the page knows the reasons.
const KNOWN: [(&str, &str); 1] = [("run_kubectl_response_compression_tests", "root")];

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let on_rig = arguments.iter().any(|argument| argument == "--rig");
    let mut names: Vec<String> = arguments.iter().filter(|argument| *argument != "--rig").cloned().collect();
    if let Some(flag) = names.iter().find(|name| name.starts_with('-')) {
        return Err(format!("there is no argument {flag:?}"));
    }
    let programs = Programs::with(&[KUBECTL, KUBECTL_CONVERT])?;
    let scripts = Scripts::ready(&programs)?;
    let all = scripts.functions()?;
    if let Some(unknown) = names.iter().find(|name| !all.contains(name)) {
        return Err(format!("the scripts have no function {unknown:?}; they have {}", all.join(", ")));
    }
    let whole = names.is_empty();
    if whole {
        names = all;
    }
    let logs = logs(if on_rig { "rig" } else { "sim" })?;
    let results = if on_rig {
        let (rig, server) = server::rig(&scripts)?;
        let results = names.iter().map(|name| play(&scripts, &server, &logs, name)).collect();
        rig.down(true)?;
        results
    } else {
        let lynceus = e2e::build()?;
        in_parallel(&names, |name| play(&scripts, &server::sim(&lynceus, &scripts)?, &logs, name))
    };
    let results: Vec<Went> = results.into_iter().collect::<Result<_, _>>()?;
    println!("what they said is in {}", logs.display());
    if whole && !on_rig { count(&results) } else { all_passed(results.iter().filter(|went| !went.passed)) }
}

/// How a function went.
struct Went {
    name: String,
    passed: bool,
}

impl Went {
    /// The word for the reason, if it is known that it does not pass.
    fn reason(&self) -> Option<&'static str> {
        KNOWN.iter().find(|(name, _)| *name == self.name).map(|(_, reason)| *reason)
    }
}

/// Enters into the page how many passed.
fn count(results: &[Went]) -> Result<(), String> {
    let failed = || results.iter().filter(|went| !went.passed);
    let reasons: Vec<(&str, String)> =
        failed().filter_map(|went| Some((went.reason()?, went.name.clone()))).collect();
    crate::compat::tell_count_with("kubectl", results.len() - failed().count(), results.len(), &reasons)?;
    all_passed(failed().filter(|went| went.reason().is_none()))
}

fn all_passed<'a>(failed: impl Iterator<Item = &'a Went>) -> Result<(), String> {
    let failed: Vec<&str> = failed.map(|went| went.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("these failed: {}", failed.join(", "))) }
}

/// Has as many at work as there are processors, in any order; most of the time of a function is waiting.
fn in_parallel(
    names: &[String],
    play: impl Fn(&str) -> Result<Went, String> + Sync,
) -> Vec<Result<Went, String>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = play(name);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs one function and tells how it went.
fn play(scripts: &Scripts, server: &Server, logs: &Path, name: &str) -> Result<Went, String> {
    let directory = server.directory().join(format!("play-{name}"));
    scripts.copy_to(&directory)?;
    let temporary = directory.join("tmp");
    std::fs::create_dir_all(&temporary).map_err(|error| format!("cannot make {temporary:?}: {error}"))?;
    let log = logs.join(format!("{name}.log"));
    let file =
        std::fs::File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    let errors = file.try_clone().map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    let mut bash = Command::new("bash");
    bash.arg(run::root().join("xtask/kubectl/run.sh")).arg(name).current_dir(&directory);
    bash.env("KUBECONFIG", server.kubeconfig()).env("TMPDIR", &temporary);
    bash.env("SECURE_API_PORT", server.port().to_string());
    bash.stdin(Stdio::null()).stdout(file).stderr(errors);
    let begun = Instant::now();
    let passed = ends_well(&mut bash)?;
    let word = if passed { "passed" } else { "FAILED" };
    println!("{name:<56}{word}{:>6.0} s", begun.elapsed().as_secs_f64());
    if !passed {
        println!("{}", last_lines(&log));
    }
    std::fs::remove_dir_all(&directory).map_err(|error| format!("cannot remove {directory:?}: {error}"))?;
    Ok(Went { name: name.to_owned(), passed })
}

/// Runs a command within the limit, and ends with it whatever it started.
fn ends_well(command: &mut Command) -> Result<bool, String> {
    use std::os::unix::process::CommandExt as _;
    let mut child =
        command.process_group(0).spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait().map_err(|error| format!("cannot wait for {command:?}: {error}"))? {
            Some(status) => break Some(status),
            None if begun.elapsed() > LIMIT => break None,
            None => std::thread::sleep(LOOK),
        }
    };
    let group = format!("-{}", child.id());
    // Where nothing is left there is nobody to kill, and that is fine.
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    if ended.is_none() {
        child.wait().map_err(|error| format!("cannot wait for {command:?}: {error}"))?;
    }
    Ok(ended.is_some_and(|status| status.success()))
}

/// An empty directory for what the functions say.
fn logs(of: &str) -> Result<PathBuf, String> {
    let directory = cache()?.join("kubectl/logs").join(of);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    Ok(directory)
}

fn last_lines(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN)..];
    shown.iter().map(|line| format!("    {line}\n")).collect()
}
