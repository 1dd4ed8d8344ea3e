//! What a rig remembers between two commands: its ports, and the processes that it started.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::process::Process;

/// Everything that listens somewhere.
const LISTENERS: [&str; 6] =
    ["etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

/// Where ports are chosen from: below those that systems give to clients. A client that calls a server which is down could
/// otherwise be given the server's own port, call itself, and keep the server from coming back.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A rig's memory, a file in its directory.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    ports: BTreeMap<String, u16>,
    processes: BTreeMap<String, Process>,
}

impl State {
    /// Reads the memory; a rig that never ran has none.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let path = directory.join("state.json");
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(State::default()),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// Writes the memory, whole or not at all.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let (path, new) = (directory.join("state.json"), directory.join("state.json.new"));
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Chooses free ports for whoever has none yet. They are kept, so that kubeconfigs stay good.
    pub(crate) fn choose_ports(&mut self) -> Result<(), String> {
        // Where the search begins differs from process to process, so that two rigs seldom want the same.
        let span = PORTS.end - PORTS.start;
        let begin = (std::process::id().wrapping_mul(41) % u32::from(span)) as u16;
        let mut candidates = (0..span).map(|offset| PORTS.start + (begin + offset) % span);
        for name in LISTENERS {
            if self.ports.contains_key(name) {
                continue;
            }
            let free = candidates.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
            self.ports.insert(name.to_owned(), free.ok_or("no port is free")?);
        }
        Ok(())
    }

    /// Forgets the ports, so that others are chosen: somebody else may have taken one meanwhile.
    pub(crate) fn forget_ports(&mut self) {
        self.ports.clear();
    }

    /// Whether somebody listens at one of the ports, which cannot be us while nothing of ours runs.
    pub(crate) fn ports_are_taken(&self) -> bool {
        self.ports.values().any(|port| TcpListener::bind(("127.0.0.1", *port)).is_err())
    }

    /// Whether a name's port can be listened at. A killed process holds its own until the last of its threads is gone.
    pub(crate) fn port_is_free(&self, name: &str) -> bool {
        TcpListener::bind(("127.0.0.1", self.port(name))).is_ok()
    }

    pub(crate) fn port(&self, name: &str) -> u16 {
        self.ports.get(name).copied().unwrap_or_default()
    }

    /// The process under this name, if it still runs.
    pub(crate) fn running(&self, name: &str) -> Option<&Process> {
        self.processes.get(name).filter(|process| process.is_alive())
    }

    pub(crate) fn any_running(&self) -> bool {
        self.processes.values().any(Process::is_alive)
    }

    pub(crate) fn remember(&mut self, name: &str, process: Process) {
        self.processes.insert(name.to_owned(), process);
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.processes.remove(name);
    }
}
