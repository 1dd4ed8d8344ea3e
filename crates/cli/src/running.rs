//! An engine at work, from its start to a polite end.

use std::sync::Arc;
use std::time::Duration;

use lynceus_engine::{AppKey, Engine, Observation};

use crate::exit::Outcome;
use crate::sim::interrupted;
use crate::table::Table;

/// How often what was observed is printed, if it has changed.
const OBSERVED: Duration = Duration::from_secs(3);

/// The exit code of a program that was interrupted, as shells have it.
const INTERRUPTED: i32 = 128 + 2;

/// Runs an engine until somebody says stop, and then lets every write that has begun come to its end. Who says it twice
/// does not want to wait.
pub(crate) async fn until_stopped(engine: Arc<Engine>) -> Outcome {
    let work = tokio::spawn(engine.clone().run());
    tokio::select! {
        stopped = interrupted() => stopped?,
        () = print_observations(&engine) => {}
    }
    stop(&engine, work).await
}

/// Stops an engine that runs as `work`.
pub(crate) async fn stop(engine: &Engine, work: tokio::task::JoinHandle<()>) -> Outcome {
    engine.stop();
    let abort = work.abort_handle();
    tokio::select! {
        // A panic of the engine has been told of already.
        _ = work => {}
        () = tokio::time::sleep(lynceus_engine::limits::STOP) => {
            eprintln!("note: not everything came to an end in time; the Leases run out by themselves");
            abort.abort();
        }
        again = interrupted() => {
            again?;
            std::process::exit(INTERRUPTED);
        }
    }
    Ok(())
}

/// Prints what an engine that only observes has found, whenever it is something new. Never ends.
async fn print_observations(engine: &Engine) {
    if !engine.options().observe {
        return std::future::pending().await;
    }
    let mut printed = String::new();
    loop {
        let found = engine.observations();
        let is_something = !found.is_empty();
        let now = table(found);
        if is_something && now != printed {
            println!("{now}");
            printed = now;
        }
        tokio::time::sleep(OBSERVED).await;
    }
}

fn table(observations: impl IntoIterator<Item = (AppKey, Observation)>) -> String {
    let mut table = Table::new(&["NAME", "SYNC", "HEALTH", "DISAGREEMENTS"]);
    for (key, observation) in observations {
        let differs: Vec<String> = observation.disagreements.iter().map(ToString::to_string).collect();
        let differs = if differs.is_empty() { "none".to_owned() } else { differs.join("; ") };
        table.row([key.to_string(), observation.sync.to_string(), observation.health.to_string(), differs]);
    }
    table.to_string()
}

/// The host's name, which in a pod is the pod's.
pub(crate) fn host_name() -> String {
    let told = std::env::var("HOSTNAME").ok();
    let asked = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = told.or_else(asked).unwrap_or_default().trim().to_owned();
    if name.is_empty() { "lynceus".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_engine::Disagreement;

    #[test]
    fn observations_are_a_table_with_what_the_other_says() {
        let observation = Observation {
            sync: "Synced".into(),
            health: "Healthy".into(),
            disagreements: vec![Disagreement {
                about: "sync".to_owned(),
                ours: "Synced".into(),
                theirs: "OutOfSync".into(),
            }],
        };
        let fine = Observation { disagreements: Vec::new(), ..observation.clone() };
        let shown =
            table([(AppKey::new("argocd", "pay"), fine), (AppKey::new("argocd", "shop"), observation)]);
        assert_eq!(
            shown,
            "NAME         SYNC    HEALTH   DISAGREEMENTS\n\
             argocd/pay   Synced  Healthy  none\n\
             argocd/shop  Synced  Healthy  sync: Synced here, OutOfSync there\n"
        );
    }
}
