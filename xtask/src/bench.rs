//! `cargo xtask bench [--quick]`: every benchmark of the workspace; `cargo xtask bench cluster [--quick]`: what watching a
//! cluster costs; `cargo xtask bench helm|kustomize [--quick]`: charts and kustomizations by the real programs and by
//! Lynceus.

mod charts;
mod helm;
mod kustomizations;
mod kustomize;
mod process;

use std::process::Command;

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("cluster", rest)) => return cluster(rest),
        Some(("helm", rest)) => return helm::main(rest),
        Some(("kustomize", rest)) => return kustomize::main(rest),
        _ => {}
    }
    let mut cargo = run::command("cargo");
    // Only benchmarks: `--benches` would build every library once more as well.
    cargo.args(["bench", "--quiet", "--workspace", "--bench", "*", "--"]).args(arguments);
    run::passes(&mut cargo)?;
    cluster(arguments)?;
    helm::main(arguments)?;
    kustomize::main(arguments)
}

/// Measures with a program that finds the product beside it.
fn cluster(arguments: &[String]) -> Result<(), String> {
    let program = run::released()?.join("cluster");
    run::passes(Command::new(program).args(arguments))
}
