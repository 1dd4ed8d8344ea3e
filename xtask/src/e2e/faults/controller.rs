//! The controllers under test, as processes that are killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::random::Random;

/// Up to two replicas.
pub(super) struct Controllers {
    lynceus: PathBuf,
    kubeconfig: PathBuf,
    place: PathBuf,
    replicas: Vec<Replica>,
}

struct Replica {
    name: &'static str,
    child: Option<Child>,
}

impl Controllers {
    pub(super) fn new(lynceus: &Path, kubeconfig: &Path, place: &Path) -> Self {
        Controllers {
            lynceus: lynceus.to_path_buf(),
            kubeconfig: kubeconfig.to_path_buf(),
            place: place.to_path_buf(),
            replicas: Vec::new(),
        }
    }

    pub(super) fn start_first(&mut self) -> Result<(), String> {
        self.replicas.push(Replica { name: "one", child: None });
        self.ensure_running()
    }

    pub(super) fn start_second(&mut self) -> Result<(), String> {
        self.replicas.push(Replica { name: "two", child: None });
        self.ensure_running()
    }

    /// Starts every replica that does not run. One that ended by itself is a failure of its own, and is told.
    pub(super) fn ensure_running(&mut self) -> Result<(), String> {
        for at in 0..self.replicas.len() {
            let ended = match &mut self.replicas[at].child {
                None => true,
                Some(child) => match child.try_wait() {
                    Ok(Some(status)) => {
                        println!("faults: replica {} ended by itself: {status}", self.replicas[at].name);
                        true
                    }
                    _ => false,
                },
            };
            if ended {
                self.replicas[at].child = Some(self.start(self.replicas[at].name)?);
            }
        }
        Ok(())
    }

    fn start(&self, name: &str) -> Result<Child, String> {
        let log = self.place.join(format!("controller-{name}.log"));
        let open = std::fs::OpenOptions::new().create(true).append(true).open(&log);
        let file = open.map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let errors = file.try_clone().map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        Command::new(&self.lynceus)
            .args(["controller", "--replica-id", name, "--kubeconfig"])
            .arg(&self.kubeconfig)
            .arg("--data-dir")
            .arg(self.place.join(format!("data-{name}")))
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.lynceus.display()))
    }

    /// Kills one replica without warning.
    pub(super) fn kill_one(&mut self, random: &mut Random) -> Result<(), String> {
        let last = self.replicas.len().saturating_sub(1) as u64;
        let chosen = random.between((0, last)) as usize;
        let Some(child) = self.replicas.get_mut(chosen).and_then(|replica| replica.child.take()) else {
            return Err("there is no replica to kill".to_owned());
        };
        kill(child)
    }

    pub(super) fn stop(&mut self) {
        for child in self.replicas.iter_mut().filter_map(|replica| replica.child.take()) {
            let _ = kill(child);
        }
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        self.stop();
    }
}

/// On Unix this is SIGKILL.
fn kill(mut child: Child) -> Result<(), String> {
    child
        .kill()
        .and_then(|()| child.wait())
        .map(drop)
        .map_err(|error| format!("cannot kill the controller: {error}"))
}
