//! Other programs, run from the repository's root.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A command that starts in the root, with cargo found as the one that runs us.
pub(crate) fn command(program: &str) -> Command {
    let mut command = if program == "cargo" { cargo() } else { Command::new(program) };
    command.current_dir(root());
    command
}

/// Cargo as a person would call it. What the one that runs us says about this package is taken away: build scripts ask for
/// it, and see a change that has everything above them built once more.
fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| is_of_a_package(name)) {
        cargo.env_remove(name);
    }
    cargo
}

fn is_of_a_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Runs a command to its end, its output going where ours goes.
pub(crate) fn passes(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}

/// Runs a command and gives what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?} ended with {}: {said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{command:?} printed something that is not text"))
}

/// Builds a program of the workspace and gives its path. The whole workspace is named so that dependencies have the
/// features that the tests have built them with; naming one package would build them all once more.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    passes(command("cargo").args(["build", "--quiet", "--workspace", "--bin", name]))?;
    Ok(target()?.join("debug").join(name))
}

/// Builds what is measured, optimised as a release is, all at once for the same reason; gives the directory.
pub(crate) fn released() -> Result<PathBuf, String> {
    let mut cargo = command("cargo");
    cargo.args(["build", "--quiet", "--release", "--workspace"]);
    passes(
        cargo.args(
            ["lynceus", "appset", "cluster", "doctor", "monorepo", "server"]
                .iter()
                .flat_map(|name| ["--bin", name]),
        ),
    )?;
    Ok(target()?.join("release"))
}

/// Builds the product as its users do, with the features of its own dependencies alone, and gives its path. It is copied once,
/// as who installs it would: what a linker has written is slower to start until the system has read it anew.
pub(crate) fn product() -> Result<PathBuf, String> {
    passes(command("cargo").args(["build", "--quiet", "--release"]))?;
    let built = target()?.join("release/lynceus");
    let installed = target()?.join("release/installed-lynceus");
    let failed = |error: std::io::Error| format!("cannot copy {}: {error}", built.display());
    let mut from = std::fs::File::open(&built).map_err(failed)?;
    let _ = std::fs::remove_file(&installed);
    let mut to = std::fs::File::create(&installed).map_err(failed)?;
    std::io::copy(&mut from, &mut to).map_err(failed)?;
    to.set_permissions(from.metadata().map_err(failed)?.permissions()).map_err(failed)?;
    Ok(installed)
}

/// Builds an example of one crate as a release; gives its path.
pub(crate) fn example(package: &str, name: &str) -> Result<PathBuf, String> {
    passes(command("cargo").args([
        "build",
        "--quiet",
        "--release",
        "--package",
        package,
        "--example",
        name,
    ]))?;
    Ok(target()?.join("release/examples").join(name))
}

/// The directory that cargo builds into.
pub(crate) fn target() -> Result<PathBuf, String> {
    let metadata = output(command("cargo").args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(PathBuf::from(target))
}
