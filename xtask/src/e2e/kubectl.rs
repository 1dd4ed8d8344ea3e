//! Finds a kubectl: the one on the PATH, or one built from its public Go module into a cache.

use std::path::PathBuf;
use std::process::Command;

use crate::run;

/// The release that is built when there is none on the PATH.
const VERSION: &str = "v0.36.3";

pub(super) fn find() -> Result<PathBuf, String> {
    if let Ok(chosen) = std::env::var("KUBECTL") {
        return Ok(chosen.into());
    }
    if Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Ok("kubectl".into());
    }
    build()
}

fn build() -> Result<PathBuf, String> {
    let home = std::env::var("XDG_CACHE_HOME").map(PathBuf::from).or_else(|_| {
        std::env::var("HOME")
            .map(|home| PathBuf::from(home).join(".cache"))
            .map_err(|_| "HOME is not set".to_owned())
    })?;
    let directory = home.join("lynceus").join(format!("kubectl-{VERSION}"));
    let program = directory.join("kubectl");
    if program.exists() {
        return Ok(program);
    }
    println!("there is no kubectl on the PATH; building one into {}", directory.display());
    std::fs::create_dir_all(&directory).map_err(|error| format!("cannot make {directory:?}: {error}"))?;
    let main = "package main\n\nimport (\n\t\"os\"\n\n\t\"k8s.io/component-base/cli\"\n\t\"k8s.io/kubectl/pkg/cmd\"\n)\n\n\
                func main() {\n\tos.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))\n}\n";
    let module = format!("module kubectl\n\ngo 1.24\n\nrequire k8s.io/kubectl {VERSION}\n");
    for (name, text) in [("main.go", main), ("go.mod", module.as_str())] {
        std::fs::write(directory.join(name), text)
            .map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    let go = |arguments: &[&str]| run::passes(Command::new("go").args(arguments).current_dir(&directory));
    go(&["mod", "tidy"])?;
    go(&["build", "-o", "kubectl", "."])?;
    Ok(program)
}
