//! `cargo xtask bench server`: the list of very many applications, and very many streams of their changes.
//!
//! The server is the product itself in a process of its own, over an embedded cluster in this one, so that its memory and its
//! time are all its own. Applications are as large as those of a report on Argo CD, whose numbers are printed beside ours.
#![allow(clippy::print_stdout, reason = "this is a program whose output is its report")]

mod applications;
mod door;
mod list;
#[allow(dead_code, reason = "another program uses the rest of it")]
#[path = "../cluster/load.rs"]
mod load;
#[path = "../cluster/process.rs"]
mod process;
mod report;
mod streams;

use std::error::Error;
use std::path::Path;

use lynceus_sim::Sim;

use crate::door::Door;
use crate::report::Report;

/// What can go wrong, for the one who reads it on the screen.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How much is measured.
#[derive(Clone, Copy)]
struct Scale {
    applications: usize,
    streams: usize,
    changes: usize,
    /// How often each list is asked for.
    rounds: usize,
}

const FULL: Scale = Scale { applications: 10_000, streams: 1_000, changes: 50, rounds: 21 };
const QUICK: Scale = Scale { applications: 1_000, streams: 200, changes: 10, rounds: 5 };

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let scale = match words.as_slice() {
        [] => FULL,
        ["--quick"] => QUICK,
        _ => return Err("usage: server [--quick]".into()),
    };
    let folder = std::env::temp_dir().join(format!("lynceus-bench-server-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder, scale).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(folder: &Path, scale: Scale) -> Outcome {
    let sim =
        Sim::start(lynceus_sim::Options { without_controllers: true, ..lynceus_sim::Options::default() })
            .await?;
    let cluster = sim.serve(([127, 0, 0, 1], 0).into()).await?;
    let kubeconfig = folder.join("kubeconfig");
    std::fs::write(&kubeconfig, sim.kubeconfig(&cluster.url()))?;
    let hand = applications::prepare(&kubeconfig).await?;
    let mut report = Report::new(scale.applications);
    let empty = Door::open(&kubeconfig, folder, &hand).await?;
    report.memory("without applications", &empty)?;
    drop(empty);
    let bytes = applications::create(&hand, scale.applications).await?;
    report.told(&format!("size of one application: {} kB", bytes / 1_000));
    let door = Door::open(&kubeconfig, folder, &hand).await?;
    report.memory("with the applications, at rest", &door)?;
    list::measure(&door, scale, &mut report).await?;
    report.memory("after the lists", &door)?;
    streams::measure(&door, &hand, scale, &mut report).await?;
    drop(door);
    cluster.shutdown().await;
    report.end()
}
