//! Argo CD's own command line over gRPC, and the shapes that it publishes for REST, against `lynceus up --demo`.

use std::path::{Path, PathBuf};

use super::{Tally, scripts};
use crate::rig::{Programs, argocd_sources};
use crate::ui::demo::Demo;
use crate::{compat, run};

/// The name of the comparison of shapes among the scripts.
pub(super) const SHAPES: &str = "shapes";

/// Plays the scripts that have a server to talk to.
pub(super) fn play(names: &[String], programs: &Programs, lynceus: &Path) -> Result<(), String> {
    let demo = Demo::start(lynceus)?;
    let directory = std::env::temp_dir().join(format!("lynceus-argocd-server-{}", std::process::id()));
    let outcome = furnish(&directory, &demo).and_then(|()| {
        let found = [("argocd", programs.path("argocd")), ("lynceus", lynceus.to_path_buf())];
        scripts("argocd-server", names, &found, &directory, &demo.kubeconfig())
    });
    let _ = std::fs::remove_dir_all(&directory);
    let Tally { steps, failed } = outcome?;
    if names.is_empty() {
        compat::tell_count("argocd-server", steps - failed, steps)?;
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} steps went otherwise")) }
}

/// What scripts find: where the server is, and the administrator's password.
fn furnish(directory: &Path, demo: &Demo) -> Result<(), String> {
    let server = demo.page.trim_start_matches("http://");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(directory.join("server"), server))
        .and_then(|()| std::fs::write(directory.join("password"), &demo.password))
        .map_err(|error| format!("cannot write to {}: {error}", directory.display()))
}

/// Holds the answers of a server of its own against the shapes that Argo CD publishes.
pub(super) fn shapes(lynceus: &Path) -> Result<(), String> {
    let swagger: PathBuf = argocd_sources()?.join("assets/swagger.json");
    let program = run::program("shapes")?;
    let demo = Demo::start(lynceus)?;
    let mut command = run::command(&program.display().to_string());
    compat::counted("shapes", true, command.args([&demo.page, &demo.password]).arg(swagger))
}
