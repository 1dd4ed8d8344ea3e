//! What a live picture of a cluster costs: memory, and time until it is complete.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use lynceus_cluster::{Cluster, Options, Rate};
use lynceus_object::Gvk;

use crate::{Outcome, Scale, load, process};

/// What a process that reads a cluster has to say.
struct Reading {
    bytes: u64,
    filled: Duration,
    listed: Duration,
}

/// Measures and prints; the cluster is as before afterwards.
pub(crate) async fn measure(kubeconfig: &Path, scale: Scale) -> Outcome {
    let cluster = load::open(kubeconfig).await?;
    let place = "bench-objects";
    load::create(&cluster, std::iter::once(load::namespace(place))).await?;
    let before = reading(kubeconfig).await?;
    let names = |prefix: &'static str| (0..scale.objects).map(move |number| format!("{prefix}-{number}"));
    load::create(&cluster, names("foreign").map(|name| load::config(place, &name, None))).await?;
    let thin = reading(kubeconfig).await?;
    load::create(&cluster, names("ours").map(|name| load::config(place, &name, Some("bench")))).await?;
    let all = reading(kubeconfig).await?;
    let per = |more: u64, less: u64| {
        let bytes = more.saturating_sub(less) * 10_000 / scale.objects as u64;
        format!("{:.1} MB", bytes as f64 / 1e6)
    };
    println!("| memory of a picture of an otherwise empty cluster | {:.1} MB |", before.bytes as f64 / 1e6);
    println!(
        "| memory per 10,000 objects that no application manages (metadata only) | {} |",
        per(thin.bytes, before.bytes)
    );
    println!("| memory per 10,000 managed objects of 2 kB | {} |", per(all.bytes, thin.bytes));
    println!(
        "| from connecting to a complete picture of {} such objects | {:.0?} |",
        scale.objects * 2,
        all.filled
    );
    println!("| the API server's own list of them, read and thrown away | {:.0?} |", all.listed);
    let gvk = Gvk::new("", "v1", "ConfigMap");
    let created =
        names("foreign").chain(names("ours")).map(|name| (gvk.clone(), place.to_owned(), name)).collect();
    load::delete(&cluster, created).await;
    load::delete(&cluster, vec![(Gvk::new("", "v1", "Namespace"), String::new(), place.to_owned())]).await;
    Ok(())
}

/// Has a process of its own read the cluster.
async fn reading(kubeconfig: &Path) -> Outcome<Reading> {
    let mut child = std::process::Command::new(std::env::current_exe()?);
    child.arg("read").arg(kubeconfig).stdout(Stdio::piped());
    let output = tokio::task::spawn_blocking(move || child.output()).await??;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [bytes, filled, listed] = numbers.as_slice() else { return Err("the reading process failed".into()) };
    Ok(Reading {
        bytes: *bytes,
        filled: Duration::from_micros(*filled),
        listed: Duration::from_micros(*listed),
    })
}

/// What such a process does.
pub(crate) async fn child(kubeconfig: &Path) -> Outcome {
    let client = lynceus_cluster::client(Some(kubeconfig), None).await?;
    let began = Instant::now();
    let cluster = Cluster::connect(client, Options { rate: Rate::UNBOUNDED, ..Options::default() }).await?;
    let filled = began.elapsed();
    let bytes = process::memory(std::process::id())?;
    let began = Instant::now();
    cluster.raw("/api/v1/configmaps").await?;
    let listed = began.elapsed();
    println!("{bytes} {} {}", filled.as_micros(), listed.as_micros());
    Ok(())
}
