//! `cargo xtask compat argocd`: Argo CD's own command line. Over gRPC it drives `lynceus up --demo`, whose answers over REST
//! are held against the shapes that Argo CD publishes; in core mode it talks to the cluster alone, a real control plane on
//! which Lynceus is installed and runs. `cargo xtask compat doctor`: the other way round, the doctor against a real control
//! plane on which Argo CD itself runs.

mod real;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::e2e::script::Script;
use crate::rig::{ARGOCD, Component, HELM_PROGRAMS, KUSTOMIZE, Programs, Rig};
use crate::{e2e, run};

/// How long what is installed may take to be there.
const READY: Duration = Duration::from_secs(60);

pub(crate) fn main(names: &[String]) -> Result<(), String> {
    let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if wants(server::SHAPES) {
        server::shapes(&e2e::build()?)?;
    }
    let programs = Programs::with(&[ARGOCD])?;
    if wants("server") {
        server::play(names, &programs, &e2e::build()?)?;
    }
    match wants("core") {
        true => play("argocd", names, &programs, |stage| stage.controller()),
        false => Ok(()),
    }
}

pub(crate) fn doctor(names: &[String]) -> Result<(), String> {
    let [helm, ..] = HELM_PROGRAMS;
    play("doctor", names, &Programs::with(&[ARGOCD, helm, KUSTOMIZE])?, real::start)
}

/// Plays the scripts of a folder on a control plane with Lynceus installed and somebody at work.
fn play<T>(
    set: &str,
    names: &[String],
    programs: &Programs,
    begin: impl FnOnce(&Stage<'_>) -> Result<T, String>,
) -> Result<(), String> {
    let lynceus = e2e::build()?;
    let (rig, _turn) = Rig::alone("compat")?;
    rig.down(true)?;
    rig.up(&Component::ALL)?;
    let directory = std::env::temp_dir().join(format!("lynceus-{set}-{}", std::process::id()));
    let stage = Stage { rig: &rig, programs, lynceus: &lynceus, directory: &directory };
    let outcome = std::fs::create_dir_all(&directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))
        .and_then(|()| stage.install())
        .and_then(|kubeconfig| {
            let _running = begin(&stage)?;
            stage.scripts(set, names, &kubeconfig)
        });
    rig.down(true)?;
    let _ = std::fs::remove_dir_all(&directory);
    outcome
}

/// A cluster to install Lynceus in, and the programs for it.
struct Stage<'a> {
    rig: &'a Rig,
    programs: &'a Programs,
    lynceus: &'a Path,
    directory: &'a Path,
}

impl Stage<'_> {
    /// Runs scripts, and tells how many of their steps went as expected.
    fn scripts(&self, set: &str, names: &[String], kubeconfig: &Path) -> Result<(), String> {
        let named = ["kubectl", "argocd"].map(|name| (name, self.programs.path(name)));
        let [kubectl, argocd] = named;
        let programs = [kubectl, argocd, ("lynceus", self.lynceus.to_path_buf())];
        let Tally { steps, failed } = scripts(set, names, &programs, self.directory, kubeconfig)?;
        if names.is_empty() {
            crate::compat::tell_count(set, steps - failed, steps)?;
        }
        if failed == 0 { Ok(()) } else { Err(format!("{failed} steps went otherwise")) }
    }

    /// Installs Lynceus as a user would, and gives a kubeconfig whose namespace is the installation's.
    fn install(&self) -> Result<PathBuf, String> {
        let kubeconfig = self.directory.join("kubeconfig");
        std::fs::copy(self.rig.kubeconfig(), &kubeconfig).map_err(|error| format!("cannot copy: {error}"))?;
        let manifests = run::output(Command::new(self.lynceus).arg("install"))?;
        let file = self.directory.join("install.yaml");
        std::fs::write(&file, manifests)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        self.kubectl(&["apply", "-f", &file.display().to_string()])?;
        self.kubectl(&["config", "set-context", "--current", "--namespace=argocd"])?;
        self.lend_kubelets()?;
        let timeout = format!("--timeout={}s", READY.as_secs());
        self.kubectl(&["rollout", "status", "deployment/lynceus-server", &timeout])?;
        self.kubectl(&["rollout", "status", "deployment/lynceus-controller", &timeout])?;
        Ok(kubeconfig)
    }

    /// Core mode opens a way to a pod of the repository server before it does anything, so the API server has to find
    /// KWOK, which plays the kubelets.
    fn lend_kubelets(&self) -> Result<(), String> {
        let port = self.rig.port(Component::Kwok)?;
        let patch = format!(
            r#"{{"status":{{"addresses":[{{"type":"InternalIP","address":"127.0.0.1"}}],"daemonEndpoints":{{"kubeletEndpoint":{{"Port":{port}}}}}}}}}"#
        );
        let nodes = self.kubectl(&["get", "nodes", "--output=name"])?;
        for node in nodes.lines() {
            self.kubectl(&["patch", node, "--subresource=status", "--type=merge", "--patch", &patch])?;
        }
        Ok(())
    }

    /// Starts the controller with the account, and so the rights, that the installation gives it.
    fn controller(&self) -> Result<Running, String> {
        let token = self.kubectl(&["create", "token", "lynceus-controller"])?;
        let kubeconfig = self.directory.join("controller.kubeconfig");
        std::fs::copy(self.rig.kubeconfig(), &kubeconfig).map_err(|error| format!("cannot copy: {error}"))?;
        let account = kubeconfig.display().to_string();
        let token = format!("--token={}", token.trim());
        self.kubectl_with(&account, &["config", "set-credentials", "controller", &token])?;
        self.kubectl_with(&account, &["config", "set-context", "--current", "--user=controller"])?;
        let mut command = Command::new(self.lynceus);
        command.args(["controller", "--kubeconfig", &account, "--data-dir"]).arg(self.directory.join("data"));
        let controller = self.run("controller", &mut command)?;
        let begun = Instant::now();
        while self.kubectl(&["get", "appproject", "default"]).is_err() {
            if begun.elapsed() > READY {
                return Err("the controller did not make the default project in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(controller)
    }

    /// Starts a program, with a log of its name.
    fn run(&self, name: &str, command: &mut Command) -> Result<Running, String> {
        let log = std::fs::File::create(self.directory.join(format!("{name}.log")))
            .map_err(|error| format!("cannot write a log: {error}"))?;
        let child = command.stdout(Stdio::null()).stderr(log).spawn();
        child.map(Running).map_err(|error| format!("cannot start {name}: {error}"))
    }

    fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.kubectl_with(&self.directory.join("kubeconfig").display().to_string(), arguments)
    }

    fn kubectl_with(&self, kubeconfig: &str, arguments: &[&str]) -> Result<String, String> {
        run::output(Command::new(self.programs.path("kubectl")).args(arguments).env("KUBECONFIG", kubeconfig))
    }
}

/// How many steps there were, and how many of them went otherwise.
struct Tally {
    steps: usize,
    failed: usize,
}

/// Runs the scripts of a folder that are named, or all.
fn scripts(
    set: &str,
    names: &[String],
    programs: &[(&str, PathBuf)],
    directory: &Path,
    kubeconfig: &Path,
) -> Result<Tally, String> {
    let is_wanted =
        |path: &PathBuf| names.is_empty() || names.iter().any(|name| path.file_stem() == Some(name.as_ref()));
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(run::root().join("xtask").join(set))
        .map_err(|error| format!("cannot read the scripts: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_wanted)
        .collect();
    scripts.sort();
    let programs: Vec<(&str, &Path)> = programs.iter().map(|(name, path)| (*name, path.as_path())).collect();
    let mut tally = Tally { steps: 0, failed: 0 };
    for path in &scripts {
        let script = Script::read(path)?;
        let failures = script.run(&programs, directory, kubeconfig);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}: {} of {} steps as expected", script.len() - failures.len(), script.len());
        failures.iter().for_each(|failure| println!("\n{failure}"));
        tally.steps += script.len();
        tally.failed += failures.len();
    }
    Ok(tally)
}

/// A running program, stopped when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
