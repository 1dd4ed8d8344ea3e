//! One destination of the fleet: connecting it, asking whether it is there, passing its changes on.

use std::sync::Arc;
use std::time::Duration;

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
pub(crate) async fn keep(fleet: WeakFleet, clock: Arc<dyn Clock>, registration: Registration, is_home: bool) {
    let mut away = Absence::default();
    let cluster = loop {
        let Some(up) = fleet.upgrade() else { return };
        match up.connect(&registration).await {
            Ok(cluster) => {
                up.set_link(&registration, Link::Up(cluster.clone()));
                break cluster;
            }
            Err(error) => {
                warn!(cluster = %registration.server, error = words(&error), "a cluster cannot be connected; trying again");
                up.set_link(&registration, Link::Away(away.goes_on(&error, &registration, &*clock)));
            }
        }
        drop(up);
        clock.sleep(away.pause()).await;
    };
    let forward = forward(fleet.clone(), &cluster, &registration);
    if is_home {
        // Without it nothing can be said of anything, so there is no use in saying that it is away.
        forward.await;
    } else {
        tokio::select! {
            () = forward => {}
            () = attend(fleet, clock, &cluster, &registration) => {}
        }
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
    let mut away = Absence::default();
    loop {
        clock.sleep(if away.misses == 0 { limits::PROBE } else { away.pause().min(limits::PROBE) }).await;
        let answer = probe(&cluster.door, &*clock).await;
        let Some(fleet) = fleet.upgrade() else { return };
        match answer {
            Ok(()) if away.misses >= limits::MISSES => {
                info!(cluster = %registration.server, "a cluster is back");
                away = Absence::default();
                fleet.set_link(registration, Link::Up(cluster.clone()));
            }
            Ok(()) => away = Absence::default(),
            Err(error) => {
                let before = away.last.clone();
                let now = away.goes_on(&error, registration, &*clock);
                if away.misses < limits::MISSES
                    || before.as_ref() == Some(&now) && away.misses > limits::MISSES
                {
                    continue;
                }
                warn!(cluster = %registration.server, error = words(&error), "a cluster does not answer");
                fleet.set_link(registration, Link::Away(now));
            }
        }
    }
}

/// One small question, with a short time to answer.
pub(crate) async fn probe(door: &Door, clock: &dyn Clock) -> Result<(), ClusterError> {
    let path = "/version";
    tokio::select! {
        answer = door.try_get(path) => answer.map(drop),
        () = clock.sleep(limits::ANSWER) => Err(ClusterError::Timeout {
            method: "GET",
            path: path.to_owned(),
            seconds: limits::ANSWER.as_secs(),
        }),
    }
}

/// A cluster's absence so far.
#[derive(Default)]
struct Absence {
    misses: u32,
    last: Option<Away>,
}

impl Absence {
    /// Counts one more failure. What is told changes only when the cause does, so that a status does not flap.
    fn goes_on(&mut self, error: &ClusterError, registration: &Registration, clock: &dyn Clock) -> Away {
        self.misses = self.misses.saturating_add(1);
        let why = reason(error, registration);
        let since = self.last.as_ref().map_or_else(|| clock.now(), |last| last.since);
        let now = Away { since, why };
        self.last = Some(now.clone());
        now
    }

    fn pause(&self) -> Duration {
        let factor = 2_u32.saturating_pow(self.misses.saturating_sub(1).min(16));
        limits::RECONNECT_MIN.saturating_mul(factor).min(limits::RECONNECT_MAX)
    }
}

/// Why a cluster cannot be used, in words that stay the same as long as the reason does.
fn reason(error: &ClusterError, registration: &Registration) -> String {
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
