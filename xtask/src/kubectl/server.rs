//! What the scripts are pointed at, set up as they set up their own server.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::scripts::Scripts;
use crate::e2e::Sim;
use crate::rig::{Component, Rig};

/// What their server leaves out of admission.
const WITHOUT: &str =
    "--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,StorageObjectInUseProtection";
/// Nor does it let anybody in who says not who.
const KNOWN_ONLY: &str = "--anonymous-auth=false";
/// What a real one leaves out besides.
const WITHOUT_AS_WELL: &str =
    "--disable-admission-plugins=DefaultStorageClass,MutatingAdmissionWebhook,ValidatingAdmissionWebhook";

/// A server that runs.
pub(super) enum Server {
    Sim(Sim),
    Rig { kubeconfig: PathBuf, directory: PathBuf, port: u16, _turn: File },
}

impl Server {
    pub(super) fn kubeconfig(&self) -> &Path {
        match self {
            Server::Sim(sim) => &sim.kubeconfig,
            Server::Rig { kubeconfig, .. } => kubeconfig,
        }
    }

    /// A directory that goes when the server does.
    pub(super) fn directory(&self) -> &Path {
        match self {
            Server::Sim(sim) => &sim.directory,
            Server::Rig { directory, .. } => directory,
        }
    }

    pub(super) fn port(&self) -> u16 {
        match self {
            Server::Sim(sim) => sim.port,
            Server::Rig { port, .. } => *port,
        }
    }
}

/// An embedded cluster without nodes, stopped when dropped.
pub(super) fn sim(lynceus: &Path, scripts: &Scripts) -> Result<Server, String> {
    let roots = format!("--client-ca-file={}", scripts.path("hack/testdata/ca/ca.crt").display());
    Sim::start(lynceus, &["--without-nodes", WITHOUT, KNOWN_ONLY, &tokens(scripts), &roots]).map(Server::Sim)
}

/// A real control plane without scheduler and kubelets; the caller takes it down.
pub(super) fn rig(scripts: &Scripts) -> Result<(Rig, Server), String> {
    let flags = [WITHOUT, WITHOUT_AS_WELL, KNOWN_ONLY, &tokens(scripts)].map(str::to_owned);
    let (rig, turn) = Rig::alone("kubectl")?;
    let rig = rig.with_api_server_flags(&flags);
    rig.down(true)?;
    rig.up(&[Component::Etcd, Component::ApiServer, Component::ControllerManager])?;
    let server = Server::Rig {
        kubeconfig: rig.kubeconfig(),
        directory: rig.directory().to_owned(),
        port: rig.port(Component::ApiServer)?,
        _turn: turn,
    };
    Ok((rig, server))
}

fn tokens(scripts: &Scripts) -> String {
    format!("--token-auth-file={}", scripts.path("hack/testdata/auth-tokens.csv").display())
}
