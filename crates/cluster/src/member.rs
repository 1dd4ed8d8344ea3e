//! One destination of the fleet: connecting it, asking whether it is there, passing its changes on.

use std::sync::Arc;
use std::time::Duration;

use lynceus_object::Value;
use tokio::sync::broadcast::error::RecvError;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::door::Door;
use crate::error::ClusterError;
use crate::fleet::{Away, Link, News, WeakFleet};
use crate::limits;
use crate::secret::Registration;

/// Keeps a destination until the task is aborted.
pub(crate) async fn keep(fleet: WeakFleet, clock: Arc<dyn Clock>, registration: Registration) {
    let mut misses = Misses::default();
    let cluster = loop {
        let Some(up) = fleet.upgrade() else { return };
        match up.connect(&registration).await {
            Ok(cluster) => {
                up.set_link(&registration, Link::Up(cluster.clone()));
                break cluster;
            }
            Err(error) => {
                warn!(cluster = %registration.server, error = words(&error), "a cluster cannot be connected; trying again");
                let away = misses.count(&error, &registration, &*clock);
                up.set_link(&registration, Link::Away(away));
            }
        }
        drop(up);
        clock.sleep(misses.pause()).await;
    };
    tokio::select! {
        () = forward(fleet.clone(), &cluster, &registration) => {}
        () = attend(fleet, clock, &cluster, &registration) => {}
    }
}

/// Passes a cluster's changes on.
async fn forward(fleet: WeakFleet, cluster: &Cluster, registration: &Registration) {
    let mut changes = cluster.cache().changes();
    loop {
        let change = changes.recv().await;
        let Some(fleet) = fleet.upgrade() else { return };
        let server = registration.server.clone();
        match change {
            Ok(change) => fleet.tell(News::Changed { server, change }),
            Err(RecvError::Lagged(_)) => fleet.tell(News::Everything { server }),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Asks again and again whether a cluster is there. Its watches come back by themselves; this is to say in the meantime
/// what is wrong, once, instead of kind by kind.
async fn attend(
    fleet: WeakFleet,
    clock: Arc<dyn Clock>,
    cluster: &Arc<Cluster>,
    registration: &Registration,
) {
    let mut misses = Misses::default();
    loop {
        clock.sleep(if misses.count == 0 { limits::PROBE } else { misses.pause().min(limits::PROBE) }).await;
        let answer = probe(&cluster.door, &*clock).await;
        let Some(fleet) = fleet.upgrade() else { return };
        // Somebody who was refused an answer may have said so before us.
        let known = fleet.absence(&registration.server);
        match answer {
            Ok(()) => {
                misses = Misses::default();
                if known.is_some() {
                    info!(cluster = %registration.server, "a cluster is back");
                    fleet.set_link(registration, Link::Up(cluster.clone()));
                }
            }
            Err(error) => {
                let first = known.clone();
                misses.away = first.or(misses.away);
                let away = misses.count(&error, registration, &*clock);
                if known.as_ref() != Some(&away) && (known.is_some() || misses.count >= limits::MISSES) {
                    warn!(cluster = %registration.server, error = words(&error), "a cluster does not answer");
                    fleet.set_link(registration, Link::Away(away));
                }
            }
        }
    }
}

/// One small question, with a short time to answer.
pub(crate) async fn probe(door: &Door, clock: &dyn Clock) -> Result<(), ClusterError> {
    version(door, clock).await.map(drop)
}

/// What a server says that it is.
pub(crate) async fn version(door: &Door, clock: &dyn Clock) -> Result<Value, ClusterError> {
    let path = "/version";
    tokio::select! {
        answer = door.try_get(path) => answer,
        () = clock.sleep(limits::ANSWER) => Err(ClusterError::Timeout {
            method: "GET",
            path: path.to_owned(),
            seconds: limits::ANSWER.as_secs(),
        }),
    }
}

/// Failures in a row.
#[derive(Default)]
struct Misses {
    count: u32,
    away: Option<Away>,
}

impl Misses {
    /// Counts one more. What is told changes only when the cause does, so that a status does not flap.
    fn count(&mut self, error: &ClusterError, registration: &Registration, clock: &dyn Clock) -> Away {
        self.count = self.count.saturating_add(1);
        let since = self.away.as_ref().map_or_else(|| clock.now(), |away| away.since);
        let now = Away { since, why: reason(error, registration) };
        self.away = Some(now.clone());
        now
    }

    fn pause(&self) -> Duration {
        let factor = 2_u32.saturating_pow(self.count.saturating_sub(1).min(16));
        limits::RECONNECT_MIN.saturating_mul(factor).min(limits::RECONNECT_MAX)
    }
}

/// Why a cluster cannot be used, in words that stay the same as long as the reason does.
pub(crate) fn reason(error: &ClusterError, registration: &Registration) -> String {
    match error {
        ClusterError::Refused(refusal) if refusal.code == 401 => format!(
            "it does not accept the credentials of Secret {}: {}",
            registration.secret, refusal.message
        ),
        _ => words(error),
    }
}

/// An error with what caused it, each said once.
fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        source = error.source();
    }
    text
}
