//! `cargo xtask bench [--quick]`: every benchmark of the workspace; `cargo xtask bench cluster [--quick]`: what watching a
//! cluster costs; `cargo xtask bench doctor [--quick]`: whether the doctor finds what is wrong and nothing else, and how fast;
//! `cargo xtask bench helm|kustomize [--quick]`: charts and kustomizations by the real programs and by
//! Lynceus; `cargo xtask bench appset [--quick]`: one ApplicationSet with very many Applications; `cargo xtask bench monorepo [--quick]`: what a commit to a repository of many applications costs;
//! `cargo xtask bench server [--quick]`: lists and streams of very many applications; `cargo xtask bench order`: which
//! functions the linker should put together.

mod charts;
mod helm;
mod kustomizations;
mod kustomize;
mod order;
mod process;

use std::process::Command;

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some((name @ ("appset" | "cluster" | "doctor" | "monorepo" | "server"), rest)) => {
            return measure(name, rest);
        }
        Some(("helm", rest)) => return helm::main(rest),
        Some(("kustomize", rest)) => return kustomize::main(rest),
        Some(("order", _)) => return order::main(),
        _ => {}
    }
    let mut cargo = run::command("cargo");
    // Only benchmarks: `--benches` would build every library once more as well.
    cargo.args(["bench", "--quiet", "--workspace", "--bench", "*", "--"]).args(arguments);
    run::passes(&mut cargo)?;
    measure("cluster", arguments)?;
    measure("monorepo", arguments)?;
    measure("appset", arguments)?;
    measure("doctor", arguments)?;
    measure("server", arguments)?;
    helm::main(arguments)?;
    kustomize::main(arguments)
}

/// Measures with a program that is released beside the product.
fn measure(name: &str, arguments: &[String]) -> Result<(), String> {
    let program = run::released()?.join(name);
    run::passes(Command::new(program).args(arguments))
}
