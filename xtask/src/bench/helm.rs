//! `cargo xtask bench helm [--quick]`: the same chart by the real Helm and by Lynceus.
//!
//! As processes: `helm template` beside `lynceus helm template`, in turns, from start to end, output thrown away. In one
//! process: a chart that is loaded, rendered again and again, by Helm's own code in a small Go program and by ours.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::charts::Chart;
use super::process::{Program, median};
use crate::rig::{HELM_PROGRAMS, Programs, cache, has_go};
use crate::run;

/// How often each program is run, and how often each chart is rendered in one process.
#[derive(Clone, Copy)]
struct Effort {
    runs: usize,
    renderings: usize,
}

/// The programs that are measured.
struct Rivals {
    helm: PathBuf,
    lynceus: PathBuf,
    helm_warm: PathBuf,
    lynceus_warm: PathBuf,
}

/// What one chart came to.
struct Measured {
    templates: usize,
    lines: usize,
    helm: Duration,
    lynceus: Duration,
    helm_memory: u64,
    lynceus_memory: u64,
    helm_warm: Duration,
    lynceus_warm: Duration,
}

pub(super) fn main(arguments: &[String]) -> Result<(), String> {
    if !has_go() {
        println!("bench helm: skipped (there is no Go to build the real Helm with)");
        return Ok(());
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let effort =
        if quick { Effort { runs: 5, renderings: 20 } } else { Effort { runs: 21, renderings: 200 } };
    let rivals = Rivals::ready()?;
    let home = cache()?.join("bench-helm");
    println!("{HEAD}");
    for chart in [Chart::small(), Chart::medium(), Chart::large()] {
        let directory = home.join(chart.name);
        let _ = std::fs::remove_dir_all(&directory);
        chart.write(&directory)?;
        let measured = measure(&rivals, &chart, &directory, effort)?;
        println!("{}", measured.row(chart.name));
    }
    println!("{FOOT}");
    Ok(())
}

const HEAD: &str = "\
| chart | templates | lines | helm template | lynceus helm template | faster | memory | memory | of it | Helm, warm | Lynceus, warm | than warm Helm | than a process |
|---|---|---|---|---|---|---|---|---|---|---|---|---|";

const FOOT: &str = "\
Each time is a median. Memory is the most that the process held. Warm: one rendering of a chart that is loaded, in one process,
by Helm's own code in a Go program and by ours; the last column has `helm template` as a process over our warm rendering.
Wanted: 20 times as fast as a process, 100 times warm over a process, a fifth of the memory.";

impl Rivals {
    /// Builds what is missing. The real Helm is of the rig; what belongs to us is optimised as a release is.
    fn ready() -> Result<Self, String> {
        let helm = Programs::with(&HELM_PROGRAMS)?.path("helm");
        let helm_warm = cache()?.join("oracle-warm");
        let mut go = Command::new("go");
        go.args(["build", "-trimpath", "-ldflags", "-s -w", "-o"]).arg(&helm_warm).arg("./warm");
        run::passes(go.current_dir(run::root().join("xtask/oracle/gotmpl")))?;
        // Another build of the product can be named.
        let lynceus = match std::env::var_os("LYNCEUS_PROGRAM") {
            Some(program) => PathBuf::from(program),
            None => run::product()?,
        };
        Ok(Rivals { helm, lynceus, helm_warm, lynceus_warm: run::example("lynceus-helm", "warm")? })
    }
}

fn measure(rivals: &Rivals, chart: &Chart, directory: &Path, effort: Effort) -> Result<Measured, String> {
    let folder = directory.display().to_string();
    let helm = Program::new(&rivals.helm, &["template", "bench", &folder]);
    let lynceus = Program::new(&rivals.lynceus, &["helm", "template", "bench", &folder]);
    let lines = same(&helm, &lynceus)?;
    let (helm_time, lynceus_time) = in_turns(&helm, &lynceus, effort.runs)?;
    let memory = |program: &Program| -> Result<u64, String> {
        Ok(median((0..effort.runs.min(7)).map(|_| program.memory()).collect::<Result<Vec<_>, _>>()?))
    };
    Ok(Measured {
        templates: chart.templates(),
        lines,
        helm: helm_time,
        lynceus: lynceus_time,
        helm_memory: memory(&helm)?,
        lynceus_memory: memory(&lynceus)?,
        helm_warm: warm(&rivals.helm_warm, &folder, effort.renderings)?,
        lynceus_warm: warm(&rivals.lynceus_warm, &folder, effort.renderings)?,
    })
}

/// Has both print the same before anything is measured, and gives how many lines that is.
fn same(helm: &Program, lynceus: &Program) -> Result<usize, String> {
    let (theirs, ours) = (helm.output()?, lynceus.output()?);
    if theirs != ours {
        return Err(format!("{} prints something else than Helm", lynceus.arguments.join(" ")));
    }
    Ok(theirs.iter().filter(|byte| **byte == b'\n').count())
}

/// Runs both by turns, so that whatever else the machine does hits both.
fn in_turns(helm: &Program, lynceus: &Program, runs: usize) -> Result<(Duration, Duration), String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        theirs.push(helm.time()?);
        ours.push(lynceus.time()?);
    }
    Ok((median(theirs), median(ours)))
}

/// What a program says that one rendering takes.
fn warm(program: &Path, directory: &str, renderings: usize) -> Result<Duration, String> {
    let output = Program::new(program, &[directory, &renderings.to_string()]).output()?;
    let text = String::from_utf8_lossy(&output);
    let nanoseconds =
        text.trim().parse().map_err(|error| format!("{}: {text}: {error}", program.display()))?;
    Ok(Duration::from_nanos(nanoseconds))
}

impl Measured {
    fn row(&self, name: &str) -> String {
        let times =
            |more: Duration, less: Duration| format!("{:.0}×", more.as_secs_f64() / less.as_secs_f64());
        let shown = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        let memory = |kilobytes: u64| format!("{:.1} MB", kilobytes as f64 / 1024.0);
        let share = 100.0 * self.lynceus_memory as f64 / self.helm_memory as f64;
        let cells = [
            name.to_owned(),
            self.templates.to_string(),
            self.lines.to_string(),
            shown(self.helm),
            shown(self.lynceus),
            times(self.helm, self.lynceus),
            memory(self.helm_memory),
            memory(self.lynceus_memory),
            format!("{share:.0} %"),
            shown(self.helm_warm),
            shown(self.lynceus_warm),
            times(self.helm_warm, self.lynceus_warm),
            times(self.helm, self.lynceus_warm),
        ];
        format!("| {} |", cells.join(" | "))
    }
}
