//! `cargo xtask compat`: the comparison itself is a program of `testkit`, which knows the crates.

use crate::run;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut cargo = run::command("cargo");
    cargo.args(["run", "--quiet", "--package", "lynceus-testkit", "--bin", "compat", "--"]).args(arguments);
    run::passes(&mut cargo)
}
