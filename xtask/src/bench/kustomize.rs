//! `cargo xtask bench kustomize [--quick]`: the same overlay by the real Kustomize and by Lynceus, as processes, in turns.

use std::path::PathBuf;
use std::time::Duration;

use super::kustomizations::Kustomization;
use super::process::{Program, median};
use crate::rig::{KUSTOMIZE, Programs, cache, has_go};
use crate::run;

const HEAD: &str = "\
| overlay | lines | kustomize build | lynceus kustomize build | faster | memory | memory | of it |
|---|---|---|---|---|---|---|---|";

const FOOT: &str = "\
Each time is a median. Memory is the most that the process held.
Wanted: 20 times as fast at every size, a fifth of the memory.";

pub(super) fn main(arguments: &[String]) -> Result<(), String> {
    if !has_go() {
        println!("bench kustomize: skipped (there is no Go to build the real Kustomize with)");
        return Ok(());
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let kustomize = Programs::with(&[KUSTOMIZE])?.path("kustomize");
    // Another build of the product can be named.
    let lynceus = match std::env::var_os("LYNCEUS_PROGRAM") {
        Some(program) => PathBuf::from(program),
        None => run::product()?,
    };
    let home = cache()?.join("bench-kustomize");
    println!("{HEAD}");
    let sizes = [
        (Kustomization::small(), if quick { 5 } else { 21 }),
        (Kustomization::resources(), if quick { 3 } else { 11 }),
        (Kustomization::lines("50,000 lines", 50_000), if quick { 1 } else { 5 }),
        (Kustomization::lines("200,000 lines", 200_000), if quick { 1 } else { 3 }),
    ];
    for (kustomization, runs) in sizes {
        let directory = home.join(kustomization.name.replace([' ', ','], "-"));
        let _ = std::fs::remove_dir_all(&directory);
        kustomization.write(&directory)?;
        let folder = directory.join("overlay").display().to_string();
        let theirs = Program::new(&kustomize, &["build", &folder]);
        let ours = Program::new(&lynceus, &["kustomize", "build", &folder]);
        println!("{}", row(kustomization.name, &theirs, &ours, runs)?);
    }
    println!("{FOOT}");
    Ok(())
}

/// Has both print the same before anything is measured.
fn row(name: &str, theirs: &Program, ours: &Program, runs: usize) -> Result<String, String> {
    let printed = theirs.output()?;
    if printed != ours.output()? {
        return Err(format!("{} prints something else than Kustomize", ours.arguments.join(" ")));
    }
    let lines = printed.iter().filter(|byte| **byte == b'\n').count();
    let (mut their_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        their_times.push(theirs.time()?);
        our_times.push(ours.time()?);
    }
    let memory = |program: &Program| -> Result<u64, String> {
        Ok(median((0..runs.min(5)).map(|_| program.memory()).collect::<Result<Vec<_>, _>>()?))
    };
    let (their_time, our_time) = (median(their_times), median(our_times));
    let (their_memory, our_memory) = (memory(theirs)?, memory(ours)?);
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let megabytes = |kilobytes: u64| format!("{:.1} MB", kilobytes as f64 / 1024.0);
    let cells = [
        name.to_owned(),
        lines.to_string(),
        shown(their_time),
        shown(our_time),
        format!("{:.0}×", their_time.as_secs_f64() / our_time.as_secs_f64()),
        megabytes(their_memory),
        megabytes(our_memory),
        format!("{:.0} %", 100.0 * our_memory as f64 / their_memory as f64),
    ];
    Ok(format!("| {} |", cells.join(" | ")))
}
