//! `cargo xtask bench [--quick]`: every benchmark of the workspace.

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut cargo = run::command("cargo");
    // Only benchmarks: `--benches` would build every library once more as well.
    cargo.args(["bench", "--quiet", "--workspace", "--bench", "*", "--"]).args(arguments);
    run::passes(&mut cargo)
}
