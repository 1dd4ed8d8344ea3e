//! `cargo xtask bench`: every benchmark of the workspace, its result lines gathered into one table.

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut cargo = run::command("cargo");
    cargo.args(["bench", "--workspace", "--benches", "--quiet"]).args(arguments);
    run::passes(&mut cargo)
}
