//! `cargo xtask compat`: the comparisons themselves are programs of `testkit`, which knows the crates.

use crate::rig::{ARGOCD, Component, Programs, Rig, oracle};
use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("requests", files)) => requests(files),
        Some(("argocd", scripts)) => crate::argocd::main(scripts),
        Some(("doctor", scripts)) => crate::argocd::doctor(scripts),
        Some(("plugin", cases)) => plugin(cases),
        Some(("rbac", rest)) => rbac(rest),
        Some(("kubectl", rest)) => crate::kubectl::main(rest),
        Some(("helm", rest)) => crate::helm::main(rest),
        Some(("kustomize", rest)) => crate::kustomize::main(rest),
        _ => program("compat", arguments),
    }
}

/// Compares answers with those of a real API server, which stands alone and starts empty.
fn requests(files: &[String]) -> Result<(), String> {
    let (rig, _turn) = Rig::alone("requests")?;
    rig.down(true)?;
    rig.up(&[Component::Etcd, Component::ApiServer])?;
    let mut arguments = vec![rig.kubeconfig().display().to_string()];
    arguments.extend_from_slice(files);
    let outcome = program("requests", &arguments);
    rig.down(true)?;
    outcome
}

/// Has Argo CD's own server for plugins answer.
fn plugin(cases: &[String]) -> Result<(), String> {
    let mut arguments = vec![Programs::with(&[ARGOCD])?.path("argocd").display().to_string()];
    arguments.extend_from_slice(cases);
    program("plugins", &arguments)
}

/// Has random policies and requests answered by the casbin that Argo CD asks, and by us.
fn rbac(arguments: &[String]) -> Result<(), String> {
    let oracle = oracle("rbac")?;
    let mut cargo = run::command("cargo");
    cargo.args(["test", "--quiet", "--package", "lynceus-server", "--lib", "access::tests::oracle"]);
    cargo.env("LYNCEUS_RBAC_ORACLE", oracle);
    if let Some(count) = arguments.first() {
        cargo.env("LYNCEUS_RBAC_COUNT", count);
    }
    run::passes(&mut cargo)
}

/// Has the page say how many cases of a set that is counted here went as they should.
pub(crate) fn tell_count(set: &str, passed: usize, ran: usize) -> Result<(), String> {
    tell_count_with(set, passed, ran, &[])
}

/// The same, with cases that differ for a reason: the word that the page knows the reason by, and the case.
pub(crate) fn tell_count_with(
    set: &str,
    passed: usize,
    ran: usize,
    reasons: &[(&str, String)],
) -> Result<(), String> {
    let mut arguments = vec!["--count".to_owned(), set.to_owned(), passed.to_string(), ran.to_string()];
    arguments.extend(reasons.iter().map(|(reason, case)| format!("{reason}={case}")));
    program("compat", &arguments)
}

fn program(name: &str, arguments: &[String]) -> Result<(), String> {
    let path = run::program(name)?;
    run::passes(run::command(&path.display().to_string()).args(arguments))
}
