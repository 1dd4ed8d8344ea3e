//! Which clusters this replica works on.
//!
//! Every replica keeps a Lease that says that it lives, and every destination has a Lease that says who works on it.
//! Which replica that should be is a question of arithmetic that all answer alike; the Lease decides. A replica that
//! should not have a cluster any more gives its Lease back between two reconciles, and one that has lost a Lease can
//! write nothing: the door asks the [`Tenure`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lynceus_cluster::lease::{self, Lease, Leases, Sightings, Tenure};
use lynceus_cluster::{Clock, ClusterError};
use lynceus_object::Str;
use tokio::sync::Notify;
use tracing::{debug, info, warn};

use crate::rendezvous::{choose, lease_name};

/// The label that says what a Lease is about.
const ROLE: &str = "lynceus.dev/lease";
const MEMBER: &str = "member";
const CLUSTER: &str = "cluster";

/// The label that all Leases of controllers carry.
pub(crate) const LABEL: (&str, &str) = ("app.kubernetes.io/name", "lynceus-controller");

/// The shortest pause between two rounds.
const SOONEST: Duration = Duration::from_millis(250);

/// A cluster that somebody has to work on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    /// The cluster's address.
    pub(crate) server: Str,
    /// The place, in the order of names, of the replica that is to do it.
    pub(crate) shard: Option<usize>,
}

/// What has changed with one round.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Turnover {
    /// The clusters that are ours from now on.
    pub(crate) won: Vec<Str>,
    /// The clusters that are not ours any more.
    pub(crate) lost: Vec<Str>,
}

/// The clusters that this replica works on; all of them if it is alone by decree.
pub(crate) struct Shards(Option<Shared>);

struct Shared {
    leases: Leases,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// When the last round ended, in nanoseconds of the monotonic clock.
    beat: AtomicU64,
    /// Somebody has finished on a cluster that is to be given back.
    free: Notify,
}

#[derive(Default)]
struct State {
    sightings: Sightings,
    membership: Option<Lease>,
    held: BTreeMap<Str, Held>,
}

struct Held {
    lease: Lease,
    tenure: Tenure,
    busy: usize,
    leaving: bool,
}

/// The right to work on an application of one cluster, for one reconcile.
pub(crate) struct Turn<'a> {
    shared: Option<(&'a Shared, Str)>,
    tenure: Option<Tenure>,
}

impl Turn<'_> {
    /// Works with the right to write for as long as it lasts.
    pub(crate) async fn guard<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.tenure {
            Some(tenure) => tenure.guard(work).await,
            None => work.await,
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some((shared, server)) = &self.shared else { return };
        let mut state = shared.state();
        if let Some(held) = state.held.get_mut(server) {
            held.busy = held.busy.saturating_sub(1);
            if held.leaving && held.busy == 0 {
                shared.free.notify_one();
            }
        }
    }
}

impl Shards {
    /// One replica that has all clusters and asks nobody.
    pub(crate) fn alone() -> Self {
        Shards(None)
    }

    /// One replica among several.
    pub(crate) fn among(leases: Leases, clock: Arc<dyn Clock>) -> Self {
        let (state, free) = (Mutex::default(), Notify::new());
        let beat = AtomicU64::new(nanos(clock.monotonic()));
        Shards(Some(Shared { leases, clock, state, beat, free }))
    }

    /// Whether Leases decide.
    pub(crate) fn are_shared(&self) -> bool {
        self.0.is_some()
    }

    /// The right to work on a cluster's application now, if it is ours.
    pub(crate) fn enter(&self, server: &str) -> Option<Turn<'_>> {
        let Some(shared) = &self.0 else { return Some(Turn { shared: None, tenure: None }) };
        let mut state = shared.state();
        let held = state.held.get_mut(server).filter(|held| !held.leaving && held.tenure.holds())?;
        held.busy += 1;
        Some(Turn { tenure: Some(held.tenure.clone()), shared: Some((shared, server.into())) })
    }

    /// Whether a cluster is ours.
    pub(crate) fn holds(&self, server: &str) -> bool {
        match &self.0 {
            None => true,
            Some(shared) => shared.state().held.get(server).is_some_and(|held| held.tenure.holds()),
        }
    }

    /// The clusters that are ours, in order; none where no Leases decide.
    pub(crate) fn held(&self) -> Vec<Str> {
        match &self.0 {
            None => Vec::new(),
            Some(shared) => shared.state().held.keys().cloned().collect(),
        }
    }

    /// How long ago the last round ended.
    pub(crate) fn silence(&self) -> Duration {
        let Some(shared) = &self.0 else { return Duration::ZERO };
        let beat = Duration::from_nanos(shared.beat.load(Ordering::Relaxed));
        shared.clock.monotonic().saturating_sub(beat)
    }

    /// One round: says that we live, sees who else does, renews what is ours, takes what should be, and gives back what
    /// should not. Gives how long to wait until the next.
    pub(crate) async fn round(&self, tasks: &[Task]) -> (Turnover, Duration) {
        let Some(shared) = &self.0 else { return (Turnover::default(), lease::DURATION) };
        let mut turnover = Turnover::default();
        shared.drop_expired(&mut turnover);
        let quick = match shared.meet().await {
            Ok(members) => shared.divide(tasks, &members, &mut turnover).await,
            Err(error) => {
                warn!(error = crate::words(&error), "the Leases cannot be read or written; trying again");
                true
            }
        };
        shared.drop_expired(&mut turnover);
        shared.beat.store(nanos(shared.clock.monotonic()), Ordering::Relaxed);
        let now = shared.clock.monotonic();
        // Whoever does not renew in time is followed at once.
        let end = shared.state().sightings.next_end(shared.leases.identity(), now).unwrap_or(lease::RENEW);
        let pause = if quick { lease::RETRY } else { lease::RENEW };
        (turnover, pause.min(end.max(SOONEST)))
    }

    /// Waits for the next round: for a time, or until a cluster can be given back.
    pub(crate) async fn rest(&self, pause: Duration) {
        let Some(shared) = &self.0 else { return std::future::pending().await };
        tokio::select! {
            () = shared.clock.sleep(pause) => {}
            () = shared.free.notified() => {}
        }
    }

    /// Gives everything back, so that others can go on at once.
    pub(crate) async fn leave(&self) {
        let Some(shared) = &self.0 else { return };
        let (held, membership) = {
            let mut state = shared.state();
            (std::mem::take(&mut state.held), state.membership.take())
        };
        for (server, held) in held {
            held.tenure.end();
            shared.give_back(&server, &held.lease).await;
        }
        if let Some(lease) = membership
            && let Err(error) = shared.leases.remove(&lease).await
        {
            debug!(%error, "our own Lease could not be removed; it runs out");
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that we live and gives who does, in the order of names.
    async fn meet(&self) -> Result<Vec<Str>, ClusterError> {
        let name = lease_name(MEMBER, self.leases.identity());
        let known = self.state().membership.clone();
        let now = self.clock.now();
        let marks = [(ROLE, MEMBER)];
        let membership = match &known {
            Some(lease) => self.bounded(self.leases.renew(lease, now)).await,
            None => {
                let seen =
                    self.bounded(self.leases.list()).await?.into_iter().find(|lease| lease.name == name);
                self.bounded(self.leases.acquire(&name, seen.as_ref(), &marks, now)).await
            }
        };
        match membership {
            Ok(lease) => self.state().membership = Some(lease),
            Err(error) => {
                // Somebody else writes under our name, or removed what we wrote: begin anew.
                if error.refusal().is_some() {
                    warn!(replica = %self.leases.identity(), "our own Lease was changed by somebody else; are there two \
                          replicas of this name?");
                    self.state().membership = None;
                }
                return Err(error);
            }
        }
        let leases = self.bounded(self.leases.list()).await?;
        // Taken after the answer has come: to count from later is to wait longer.
        let seen = self.clock.monotonic();
        let mut state = self.state();
        state.sightings.see(leases, seen);
        Ok(members(&state.sightings, seen))
    }

    /// Renews, takes and gives back clusters. Tells whether something failed that is worth a quick try again.
    async fn divide(&self, tasks: &[Task], members: &[Str], turnover: &mut Turnover) -> bool {
        let me = self.leases.identity();
        let mine = |task: &Task| choose(&task.server, task.shard, members) == Some(me);
        self.state().held.iter_mut().for_each(|(server, held)| {
            held.leaving = !tasks.iter().any(|task| task.server == *server && mine(task));
        });
        let mut quick = false;
        let held: Vec<(Str, Lease)> =
            self.state().held.iter().map(|(server, held)| (server.clone(), held.lease.clone())).collect();
        let rounds = held.iter().map(|(server, lease)| self.keep(server, lease));
        for (server, kept) in
            held.iter().map(|(server, _)| server).zip(futures::future::join_all(rounds).await)
        {
            match kept {
                Kept::Yes => {}
                Kept::Unsure => quick = true,
                Kept::No => turnover.lost.push(server.clone()),
            }
        }
        let wanted: Vec<&Task> =
            tasks.iter().filter(|task| mine(task) && !self.state().held.contains_key(&task.server)).collect();
        let takes = wanted.iter().map(|task| self.take(&task.server));
        for (task, won) in wanted.iter().zip(futures::future::join_all(takes).await) {
            if won {
                turnover.won.push(task.server.clone());
            }
        }
        self.bury().await;
        quick
    }

    /// Renews a cluster's Lease, or gives it back if it should not be ours and nobody is at work.
    async fn keep(&self, server: &Str, lease: &Lease) -> Kept {
        let idle = {
            let state = self.state();
            state.held.get(server).is_none_or(|held| held.leaving && held.busy == 0)
        };
        if idle {
            if let Some(held) = self.state().held.remove(server) {
                held.tenure.end();
            }
            info!(cluster = %server, "giving a cluster to another replica");
            self.give_back(server, lease).await;
            return Kept::No;
        }
        let sent = self.clock.monotonic();
        match self.bounded(self.leases.renew(lease, self.clock.now())).await {
            Ok(lease) => {
                if let Some(held) = self.state().held.get_mut(server) {
                    held.lease = lease;
                    held.tenure.extend(sent);
                }
                Kept::Yes
            }
            Err(error)
                if error.refusal().is_some_and(|refusal| refusal.code == 404 || refusal.code == 409) =>
            {
                warn!(cluster = %server, %error, "a cluster's Lease is somebody else's now");
                if let Some(held) = self.state().held.remove(server) {
                    held.tenure.end();
                }
                Kept::No
            }
            Err(error) => {
                warn!(cluster = %server, error = crate::words(&error), "a Lease could not be renewed; trying again");
                Kept::Unsure
            }
        }
    }

    /// Takes a cluster's Lease if nobody has it.
    async fn take(&self, server: &Str) -> bool {
        let name = lease_name(CLUSTER, server);
        let known = {
            let state = self.state();
            match state.sightings.holder(&name, self.clock.monotonic()) {
                Some(holder) if holder != self.leases.identity() => return false,
                _ => state.sightings.get(&name).cloned(),
            }
        };
        let sent = self.clock.monotonic();
        let marks = [(ROLE, CLUSTER)];
        match self.bounded(self.leases.acquire(&name, known.as_ref(), &marks, self.clock.now())).await {
            Ok(lease) => {
                let tenure = Tenure::new(self.clock.clone());
                tenure.extend(sent);
                info!(cluster = %server, replica = %self.leases.identity(), "working on a cluster from now on");
                self.state().held.insert(server.clone(), Held { lease, tenure, busy: 0, leaving: false });
                true
            }
            Err(error) => {
                debug!(cluster = %server, %error, "a Lease could not be taken");
                false
            }
        }
    }

    async fn give_back(&self, server: &Str, lease: &Lease) {
        if let Err(error) = self.bounded(self.leases.release(lease, self.clock.now())).await {
            debug!(cluster = %server, %error, "a Lease could not be given back; it runs out");
        }
    }

    /// What has run out is not ours, whatever the next answer says: it has to be taken anew.
    fn drop_expired(&self, turnover: &mut Turnover) {
        self.state().held.retain(|server, held| {
            let holds = held.tenure.holds();
            if !holds {
                warn!(cluster = %server, "a cluster's Lease has run out here");
                turnover.lost.push(server.clone());
            }
            holds
        });
    }

    /// Removes the Leases of replicas that have long been gone.
    async fn bury(&self) {
        let now = self.clock.monotonic();
        let dead: Vec<Lease> = {
            let state = self.state();
            let is_member = |lease: &Lease| lease.name.starts_with(&*lease_name(MEMBER, ""));
            let old = state.sightings.iter(now).filter(|(_, age)| *age > lease::DURATION * 20);
            old.map(|(lease, _)| lease).filter(|lease| is_member(lease)).cloned().collect()
        };
        for lease in dead {
            // Another may have done it.
            let _ = self.bounded(self.leases.remove(&lease)).await;
        }
    }

    /// A request that is given up in time for the next: a Lease does not wait for a server that hangs.
    async fn bounded<T>(
        &self,
        work: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        tokio::select! {
            done = work => done,
            () = self.clock.sleep(lease::RENEW) => Err(ClusterError::Timeout {
                method: "PUT",
                path: "/apis/coordination.k8s.io/v1".to_owned(),
                seconds: lease::RENEW.as_secs(),
            }),
        }
    }
}

enum Kept {
    Yes,
    Unsure,
    No,
}

/// The replicas that live.
fn members(sightings: &Sightings, now: Duration) -> Vec<Str> {
    let prefix = lease_name(MEMBER, "");
    let names = sightings.iter(now).map(|(lease, _)| lease).filter(|lease| lease.name.starts_with(&*prefix));
    let mut members: Vec<Str> =
        names.filter_map(|lease| sightings.holder(&lease.name, now).cloned()).collect();
    members.sort();
    members
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
