//! `cargo xtask e2e`: the program as its users have it, on the embedded cluster and on a real control plane.

mod faults;
mod kubectl;
mod rig;
pub(crate) mod script;
mod twin;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::run;
use script::Script;

/// How long the server may take to start, built already.
const START: Duration = Duration::from_secs(20);

pub(crate) const USAGE: &str = "\
usage: cargo xtask e2e                       everything
       cargo xtask e2e sim [SCRIPT]...       a real kubectl on the embedded cluster
       cargo xtask e2e rig [SCRIPT]...       the same scripts, and the scenarios, on a real control plane
       cargo xtask e2e faults [--applications N] [--kills N] [--replicas N] [--seed N]
                                             many applications while everything breaks
";

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let (part, rest) = arguments.split_first().map_or(("", arguments), |(part, rest)| (part.as_str(), rest));
    let lynceus = build()?;
    match part {
        "sim" => scripts_on_sim(&lynceus, rest),
        "rig" => rig::main(&lynceus, rest),
        "faults" => faults::main(&lynceus, rest),
        "" => {
            scripts_on_sim(&lynceus, &[])?;
            rig::main(&lynceus, &[])?;
            faults::main(&lynceus, &[])
        }
        other => Err(format!("e2e has no part {other:?}\n\n{USAGE}")),
    }
}

fn scripts_on_sim(lynceus: &Path, names: &[String]) -> Result<(), String> {
    let kubectl = kubectl::find()?;
    run_scripts(names, |script| {
        let sim = Sim::start(lynceus, &[])?;
        Ok(script.run(&[("kubectl", &kubectl), ("lynceus", lynceus)], &sim.directory, &sim.kubeconfig))
    })
}

/// Runs the chosen scripts, all if none is, and tells of the steps that went otherwise.
fn run_scripts(
    names: &[String],
    mut run: impl FnMut(&Script) -> Result<Vec<String>, String>,
) -> Result<(), String> {
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(run::root().join("xtask/e2e"))
        .map_err(|error| format!("cannot read the scripts: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .filter(|path| names.is_empty() || names.iter().any(|name| path.file_stem() == Some(name.as_ref())))
        .collect();
    scripts.sort();
    let mut steps = 0;
    let mut failures = Vec::new();
    for path in &scripts {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let script = Script::read(path)?;
        let failed = run(&script)?;
        println!("{name}: {} of {} steps as expected", script.len() - failed.len(), script.len());
        steps += script.len();
        failures.extend(failed.into_iter().map(|failure| format!("{name}, {failure}")));
    }
    for failure in &failures {
        println!("\n{failure}");
    }
    println!("\n{} passed, {} failed", steps - failures.len(), failures.len());
    if failures.is_empty() { Ok(()) } else { Err(format!("{} steps went otherwise", failures.len())) }
}

/// The program under test: the one that `LYNCEUS_PROGRAM` names, or a fresh build.
pub(crate) fn build() -> Result<PathBuf, String> {
    if let Some(chosen) = std::env::var_os("LYNCEUS_PROGRAM") {
        return Ok(chosen.into());
    }
    run::program("lynceus")
}

/// A running `lynceus sim`, stopped when dropped.
pub(crate) struct Sim {
    child: Child,
    /// A directory of its own.
    pub(crate) directory: PathBuf,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) port: u16,
}

impl Sim {
    /// Starts one with further flags. Several can run side by side.
    pub(crate) fn start(lynceus: &Path, flags: &[&str]) -> Result<Self, String> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("lynceus-e2e-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(|error| format!("cannot make {directory:?}: {error}"))?;
        let kubeconfig = directory.join("kubeconfig");
        let _ = std::fs::remove_file(&kubeconfig);
        let mut child = std::process::Command::new(lynceus)
            .args(["sim", "--ephemeral", "--port", "0", "--write-kubeconfig"])
            .arg(&kubeconfig)
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {lynceus:?}: {error}"))?;
        let begun = Instant::now();
        while !kubeconfig.exists() {
            if let Ok(Some(status)) = child.try_wait() {
                let mut said = String::new();
                if let Some(mut errors) = child.stderr.take() {
                    let _ = errors.read_to_string(&mut said);
                }
                return Err(format!("lynceus sim ended with {status}: {said}"));
            }
            if begun.elapsed() > START {
                let _ = child.kill();
                return Err("lynceus sim did not write its kubeconfig in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        for output in [
            child.stdout.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>),
            child.stderr.take().map(|err| Box::new(err) as _),
        ]
        .into_iter()
        .flatten()
        {
            // Somebody has to read what it says, or it stops when the pipe is full.
            std::thread::spawn(move || BufReader::new(output).lines().for_each(drop));
        }
        let port = port_of(&kubeconfig)?;
        Ok(Sim { child, directory, kubeconfig, port })
    }
}

/// The port that a kubeconfig leads to.
fn port_of(kubeconfig: &Path) -> Result<u16, String> {
    let text = std::fs::read_to_string(kubeconfig)
        .map_err(|error| format!("cannot read {}: {error}", kubeconfig.display()))?;
    let server = text.lines().find_map(|line| line.trim().strip_prefix("server: "));
    let port = server.and_then(|url| url.rsplit(':').next()?.parse().ok());
    port.ok_or_else(|| format!("{} names no server with a port", kubeconfig.display()))
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
