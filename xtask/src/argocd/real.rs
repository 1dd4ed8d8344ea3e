//! Argo CD itself at work: its controller, its repository server, and a stand-in for the Redis between them.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Running, Stage};
use crate::rig::oracle;

/// The project that Argo CD's API server makes when it starts, which is not needed for anything else here.
const PROJECT: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{server: '*', namespace: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
";

/// Starts Argo CD in the place of Lynceus.
pub(super) fn start(stage: &Stage<'_>) -> Result<Vec<Running>, String> {
    stage.kubectl(&["delete", "deployment", "--all"])?;
    let project = stage.directory.join("project.yaml");
    std::fs::write(&project, PROJECT).map_err(|error| format!("cannot write a project: {error}"))?;
    stage.kubectl(&["apply", "-f", &project.display().to_string()])?;
    let path = helpers(stage)?;
    let [redis, server, ours, theirs] = ports()?;
    let (redis, server) = (format!("127.0.0.1:{redis}"), server.to_string());
    let program = |name: &str| {
        let mut command = Command::new(stage.programs.path("argocd"));
        command
            .env("ARGOCD_BINARY_NAME", name)
            .env("ARGOCD_FAKE_IN_CLUSTER", "true")
            .env("ARGOCD_GPG_ENABLED", "false")
            .env("KUBECONFIG", stage.directory.join("kubeconfig"))
            .env("HOME", stage.directory)
            .env("TMPDIR", stage.directory)
            .env("PATH", &path)
            .args(["--redis", &redis]);
        command
    };
    let cache = stage.run("redis", Command::new(oracle("redis")?).arg(&redis))?;
    let mut renders = program("argocd-repo-server");
    renders.args(["--disable-tls", "--client-ca-path=", "--revision-cache-expiration=1s", "--port", &server]);
    let renders = stage.run("repo-server", renders.args(["--metrics-port", &ours.to_string()]))?;
    let mut controls = program("argocd-application-controller");
    controls.args(["--namespace", "argocd", "--repo-server-plaintext", "--app-resync", "10"]);
    controls.args(["--repo-server", &format!("127.0.0.1:{server}")]);
    let controls = stage.run("controller", controls.args(["--metrics-port", &theirs.to_string()]))?;
    Ok(vec![controls, renders, cache])
}

/// What the repository server calls: the real Helm and Kustomize, and a script of its image that looks at signatures, of
/// which there are none.
fn helpers(stage: &Stage<'_>) -> Result<String, String> {
    let folder = stage.directory.join("bin");
    let script = folder.join("git-verify-wrapper.sh");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&script, "#!/bin/sh\n"))
        .and_then(|()| std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)))
        .map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    let programs = stage.programs.path("helm");
    let programs = programs.parent().unwrap_or(&folder).display().to_string();
    let others = std::env::var("PATH").unwrap_or_default();
    Ok(format!("{}:{programs}:{others}", folder.display()))
}

/// Ports that nobody has.
fn ports() -> Result<[u16; 4], String> {
    let failed = |error: std::io::Error| format!("no port is free: {error}");
    let mut held = Vec::new();
    let mut ports = [0; 4];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        *port = listener.local_addr().map_err(failed)?.port();
        held.push(listener);
    }
    Ok(ports)
}
