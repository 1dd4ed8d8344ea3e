//! Builds the rig's programs from the Go module proxy, once, into a cache outside the work tree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::release::{Module, PROGRAMS, Program};
use crate::run;

/// Where things are kept that are dear to make and can be made again.
pub(crate) fn cache() -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("LYNCEUS_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("lynceus")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/lynceus")))
        .ok_or_else(|| "none of LYNCEUS_CACHE, XDG_CACHE_HOME and HOME is set".to_owned())
}

/// The programs, built.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds what is missing or of another version. While everything is there, nobody is asked for anything.
    pub(crate) fn ready() -> Result<Self, String> {
        Programs::with(&PROGRAMS)
    }

    /// Builds certain programs, where they are missing or of another version.
    pub(crate) fn with(programs: &[Program]) -> Result<Self, String> {
        let home = cache()?.join("rig");
        let directory = home.join("bin");
        make_directory(&directory)?;
        // Who has everything does not wait for somebody who builds something else.
        if programs.iter().all(|program| is_built(program, &directory)) {
            return Ok(Programs { directory });
        }
        let _lock = super::lock(&home.join("build.lock"))?;
        for program in programs.iter().filter(|program| !is_built(program, &directory)) {
            let begun = Instant::now();
            println!("rig: building {} {}", program.name, program.module.version());
            build(program, &home)?;
            println!("rig: built {} in {:.0} s", program.name, begun.elapsed().as_secs_f64());
        }
        Ok(Programs { directory })
    }

    /// The path of one program.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// Builds a Go program of our own, `xtask/oracle/NAME`, into the cache; Go itself knows whether anything has changed.
pub(crate) fn oracle(name: &str) -> Result<PathBuf, String> {
    let program = cache()?.join(format!("oracle-{name}"));
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg(".").current_dir(run::root().join("xtask/oracle").join(name));
    run::passes(&mut go)?;
    Ok(program)
}

/// Whether Go is there to build with.
pub(crate) fn has_go() -> bool {
    Command::new("go").arg("version").output().is_ok_and(|output| output.status.success())
}

fn is_built(program: &Program, directory: &Path) -> bool {
    directory.join(program.name).is_file()
        && std::fs::read_to_string(stamp(program, directory)).is_ok_and(|text| text == program.stamp())
}

fn stamp(program: &Program, directory: &Path) -> PathBuf {
    directory.join(format!("{}.stamp", program.name))
}

fn build(program: &Program, home: &Path) -> Result<(), String> {
    if !has_go() {
        return Err(format!("there is no Go to build {} with: put `go` on the PATH", program.name));
    }
    let wrapper = home.join("build").join(program.module.directory());
    make_directory(&wrapper)?;
    let upstream = upstream(program.module, &wrapper)?;
    write(&wrapper.join("go.mod"), &program.module.wrapper(&upstream))?;
    let directory = home.join("bin");
    // The program appears under its name only when it is whole, and its stamp only after that.
    let unfinished = directory.join(format!("{}.new", program.name));
    let flags = program.module.linker_flags();
    run::passes(
        go(&wrapper)
            .args(["build", "-mod=mod", "-trimpath", "-ldflags", &flags, "-o"])
            .arg(&unfinished)
            .arg(program.package),
    )?;
    let _ = std::fs::remove_file(stamp(program, &directory));
    std::fs::rename(&unfinished, directory.join(program.name))
        .map_err(|error| format!("cannot move {}: {error}", unfinished.display()))?;
    write(&stamp(program, &directory), &program.stamp())
}

/// The module's own `go.mod`.
fn upstream(module: Module, wrapper: &Path) -> Result<String, String> {
    // The answer must not depend on what an earlier version left in the wrapper.
    write(&wrapper.join("go.mod"), "module rig\n")?;
    let path = download(module, wrapper, "GoMod")?;
    std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Where Go keeps the sources of Kubernetes, which cannot be written to.
pub(crate) fn kubernetes_sources() -> Result<PathBuf, String> {
    if !has_go() {
        return Err("there is no Go to download Kubernetes with: put `go` on the PATH".to_owned());
    }
    let home = cache()?.join("kubectl");
    make_directory(&home)?;
    write(&home.join("go.mod"), "module rig\n")?;
    download(Module::Kubernetes, &home, "Dir")
}

/// Where Go keeps the sources of Argo CD, with what it publishes of its API.
pub(crate) fn argocd_sources() -> Result<PathBuf, String> {
    if !has_go() {
        return Err("there is no Go to download Argo CD with: put `go` on the PATH".to_owned());
    }
    let home = cache()?.join("argocd");
    make_directory(&home)?;
    write(&home.join("go.mod"), "module rig\n")?;
    download(Module::ArgoCd, &home, "Dir")
}

/// Has Go download a module; gives a path out of its answer.
fn download(module: Module, wrapper: &Path, what: &str) -> Result<PathBuf, String> {
    let asked = format!("{}@{}", module.path(), module.version());
    let answer = run::output(go(wrapper).args(["mod", "download", "-json", &asked]))?;
    let answer: serde_json::Value =
        serde_json::from_str(&answer).map_err(|error| format!("go mod download {asked}: {error}"))?;
    let path = answer[what].as_str().ok_or_else(|| format!("go mod download {asked} names no {what}"))?;
    Ok(path.into())
}

fn go(wrapper: &Path) -> Command {
    let mut command = Command::new("nice");
    // A workspace or vendor directory around the cache is none of ours, and C is not needed.
    command.arg("go").current_dir(wrapper).env("GOWORK", "off").env("CGO_ENABLED", "0");
    command
}

pub(super) fn make_directory(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("cannot make {}: {error}", path.display()))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
