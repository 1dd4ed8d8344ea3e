//! `cargo xtask bench [--quick]`: every benchmark of the workspace; `cargo xtask bench cluster [--quick]`: what watching a
//! cluster costs.

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    if let Some(("cluster", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return cluster(rest);
    }
    let mut cargo = run::command("cargo");
    // Only benchmarks: `--benches` would build every library once more as well.
    cargo.args(["bench", "--quiet", "--workspace", "--bench", "*", "--"]).args(arguments);
    run::passes(&mut cargo)?;
    cluster(arguments)
}

/// Builds the product and the program that measures it, side by side, and measures.
fn cluster(arguments: &[String]) -> Result<(), String> {
    let mut cargo = run::command("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "lynceus-cli"]);
    run::passes(&mut cargo)?;
    let mut cargo = run::command("cargo");
    cargo.args(["run", "--quiet", "--release", "--package", "lynceus-testkit", "--bin", "cluster", "--"]);
    run::passes(cargo.args(arguments))
}
