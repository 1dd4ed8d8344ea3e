//! `cargo xtask bench cluster`: what watching a cluster costs, on the embedded one and, if `LYNCEUS_RIG` names a kubeconfig,
//! on a real one.
//!
//! Every number is of a process of its own that does only what is measured, so that neither the server nor the one who
//! fills it count.
#![allow(clippy::print_stdout, reason = "this is a program whose output is its report")]

mod deliver;
mod load;
mod process;
mod read;

use std::error::Error;
use std::path::{Path, PathBuf};

use lynceus_sim::Sim;

/// What can go wrong, for the one who reads it on the screen.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How much is measured.
#[derive(Clone, Copy)]
struct Scale {
    objects: usize,
    applications: usize,
    changes: usize,
    rest_seconds: u64,
}

const FULL: Scale = Scale { objects: 10_000, applications: 1_000, changes: 30, rest_seconds: 30 };
const QUICK: Scale = Scale { objects: 2_000, applications: 100, changes: 10, rest_seconds: 10 };

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["read", kubeconfig] => read::child(Path::new(kubeconfig)).await,
        [] => both(FULL).await,
        ["--quick"] => both(QUICK).await,
        _ => Err("usage: cluster [--quick]".into()),
    }
}

async fn both(scale: Scale) -> Outcome {
    let folder = std::env::temp_dir().join(format!("lynceus-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let sim = Sim::start(lynceus_sim::Options::default()).await?;
    let server = sim.serve(([127, 0, 0, 1], 0).into()).await?;
    let kubeconfig = folder.join("kubeconfig");
    std::fs::write(&kubeconfig, sim.kubeconfig(&server.url()))?;
    let embedded = measure("the embedded cluster", &kubeconfig, &folder, scale).await;
    server.shutdown().await;
    let real = match std::env::var_os("LYNCEUS_RIG").map(PathBuf::from) {
        Some(kubeconfig) => measure("a real API server", &kubeconfig, &folder, scale).await,
        None => Ok(()),
    };
    std::fs::remove_dir_all(&folder)?;
    embedded.and(real)
}

async fn measure(name: &str, kubeconfig: &Path, folder: &Path, scale: Scale) -> Outcome {
    println!("\n| on {name} | |\n|---|---|");
    read::measure(kubeconfig, scale).await?;
    deliver::measure(kubeconfig, folder, scale).await
}
