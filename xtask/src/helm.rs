//! `cargo xtask compat helm [--templates N] [DIR]...`: charts and templates, rendered by Helm and by Lynceus.
//!
//! First the project's own charts, also by the last Helm 3, then random templates through a small Go program, then every chart below the
//! directories that are named, in several variants each.

mod chart;
mod generate;
mod older;
mod template;

use std::path::PathBuf;

use crate::cases::{CHARTS, Case};
use crate::rig::{HELM_PROGRAMS, Programs};
use crate::run;

/// How many random templates are tried if nobody says otherwise.
const TEMPLATES: usize = 10_000;

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut templates = TEMPLATES;
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--templates" => {
                let number = rest.next().ok_or("--templates needs a number")?;
                templates = number.parse().map_err(|error| format!("{number}: {error}"))?;
            }
            other if other.starts_with('-') => return Err(format!("there is no argument {other:?}")),
            // Commands are run from the root of the project.
            directory => directories.push(std::path::absolute(directory).map_err(|error| error.to_string())?),
        }
    }
    let programs = Programs::with(&HELM_PROGRAMS)?;
    let helm = programs.path("helm");
    let own = own_charts(&helm)?;
    crate::compat::tell_count("helm", own, own)?;
    older::compare(&programs.path("helm3"))?;
    let (agreed, asked) = template::compare(templates)?;
    crate::compat::tell_count("templates", agreed, asked)?;
    if directories.is_empty() {
        println!("charts: skipped (name directories with public charts to try them)");
        return Ok(());
    }
    chart::compare(&helm, &directories)
}

/// Has the real Helm answer for the project's own charts, which the tests of the crate then have to equal. Gives how many
/// commands there are.
fn own_charts(helm: &std::path::Path) -> Result<usize, String> {
    let mut cargo = run::command("cargo");
    cargo.args(["test", "--quiet", "--workspace", "--test", "cases"]).env("LYNCEUS_HELM", helm);
    run::passes(&mut cargo)?;
    let cases = run::root().join("crates/helm/tests/cases");
    let changed = run::output(run::command("git").args(["status", "--porcelain", "--"]).arg(&cases))?;
    if !changed.trim().is_empty() {
        return Err(format!("the recorded answers were not Helm's; they are now, look at them:\n{changed}"));
    }
    Ok(Case::all(CHARTS)?.iter().map(|case| case.commands().count()).sum())
}
