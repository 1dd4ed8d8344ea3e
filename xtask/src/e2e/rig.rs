//! The scripts and the scenarios on a real control plane.

use std::path::Path;

use super::run_scripts;
use crate::rig::{Component, Programs, Rig};

/// Each script starts on an empty cluster; the scenarios share one, which each of them makes as new.
pub(super) fn main(lynceus: &Path, names: &[String]) -> Result<(), String> {
    let (rig, _turn) = Rig::alone("e2e")?;
    let kubectl = Programs::ready()?.path("kubectl");
    let scripts = run_scripts(names, |script| {
        rig.down(true)?;
        rig.up(&Component::ALL)?;
        let home = rig.directory().join("home");
        std::fs::create_dir_all(&home).map_err(|error| format!("cannot make {}: {error}", home.display()))?;
        Ok(script.run(&[("kubectl", &kubectl), ("lynceus", lynceus)], &home, &rig.kubeconfig()))
    });
    let scenarios = if names.is_empty() { scenarios(&rig) } else { Ok(()) };
    rig.down(true)?;
    scripts.and(scenarios)
}

fn scenarios(rig: &Rig) -> Result<(), String> {
    rig.down(true)?;
    rig.up(&Component::ALL)?;
    super::twin::main(&rig.kubeconfig())
}
