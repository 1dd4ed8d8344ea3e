//! Leases of `coordination.k8s.io/v1`, as client-go uses them: who may work on what.
//!
//! Whether another's Lease has run out is judged by how long it has stood unchanged before our own eyes, on a clock that
//! only goes forward. The times that are written in it are for people: no two machines' clocks are ever compared. A
//! holder stops after [`DEADLINE`] without a renewal, which is before anybody else may begin, after [`DURATION`].

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::error::ClusterError;

/// How long a Lease counts after it was last seen to change.
pub const DURATION: Duration = Duration::from_secs(15);

/// How long after its last renewal a holder goes on.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// How often a Lease is renewed: twice before the deadline.
pub const RENEW: Duration = Duration::from_secs(4);

/// How soon a renewal that failed is tried again.
pub const RETRY: Duration = Duration::from_secs(1);

/// A Lease as the server has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lease {
    /// Its name.
    pub name: Str,
    /// Who holds it; empty if it was given back.
    pub holder: Str,
    /// How long it counts without a renewal.
    pub duration: Duration,
    /// When the holder took it, by the holder's clock.
    pub acquired: Str,
    /// How often it has changed hands.
    pub transitions: i64,
    /// What tells it from a later one of the same name.
    pub uid: Str,
    /// What says that nobody else has written it.
    pub version: Str,
    labels: Value,
}

impl Lease {
    fn read(object: &Object) -> Self {
        let spec = |field| Str::from(object.value().str_at(&["spec", field]).unwrap_or_default());
        let seconds = object.value().int_at(&["spec", "leaseDurationSeconds"]).unwrap_or_default();
        Lease {
            name: object.name().into(),
            holder: spec("holderIdentity"),
            duration: Duration::from_secs(u64::try_from(seconds).unwrap_or_default()),
            acquired: spec("acquireTime"),
            transitions: object.value().int_at(&["spec", "leaseTransitions"]).unwrap_or_default(),
            uid: object.uid().into(),
            version: object.resource_version().into(),
            labels: object.at(&["metadata", "labels"]).cloned().unwrap_or_default(),
        }
    }

    /// The Lease as its holder writes it now.
    fn write(&self, namespace: &str, now: Timestamp) -> Value {
        let time = micros(now);
        let mut object = value!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": self.name.clone(), "namespace": namespace, "labels": self.labels.clone()},
            "spec": {
                "holderIdentity": self.holder.clone(),
                "leaseDurationSeconds": i64::try_from(self.duration.as_secs()).unwrap_or_default(),
                "acquireTime": self.acquired.clone(), "renewTime": time,
                "leaseTransitions": self.transitions,
            },
        });
        if !self.version.is_empty() {
            object.set(&["metadata", "resourceVersion"], self.version.clone());
        }
        object
    }
}

fn micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// The Leases of one installation.
pub struct Leases {
    home: Arc<Cluster>,
    namespace: Str,
    /// Who we are.
    identity: Str,
    /// The label that all of them carry, and that they are found by.
    label: (Str, Str),
}

impl Leases {
    /// The Leases in a namespace that carry a label, in the hands of `identity`.
    pub fn new(
        home: Arc<Cluster>,
        namespace: impl Into<Str>,
        identity: impl Into<Str>,
        label: (&str, &str),
    ) -> Self {
        let label = (label.0.into(), label.1.into());
        Leases { home, namespace: namespace.into(), identity: identity.into(), label }
    }

    /// Who we are.
    pub fn identity(&self) -> &Str {
        &self.identity
    }

    /// Every Lease of the installation, in the order of names.
    pub async fn list(&self) -> Result<Vec<Lease>, ClusterError> {
        let (key, value) = &self.label;
        let path = format!("{}?labelSelector={key}%3D{value}", self.path(""));
        let list = self.home.door.get(&path).await?;
        let objects = list.items_at(&["items"]).iter().filter_map(|item| Object::new(item.clone()).ok());
        let mut leases: Vec<Lease> = objects.map(|object| Lease::read(&object)).collect();
        leases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(leases)
    }

    /// Takes a Lease that nobody holds: `known` is how it was seen, none if it has never been. Fails with a conflict if
    /// somebody was faster.
    pub async fn acquire(
        &self,
        name: &str,
        known: Option<&Lease>,
        marks: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<Lease, ClusterError> {
        let mut lease = known.cloned().unwrap_or_else(|| Lease { name: name.into(), ..Lease::default() });
        if lease.holder != self.identity {
            lease.transitions += i64::from(known.is_some());
            lease.acquired = micros(now).into();
        }
        lease.holder = self.identity.clone();
        lease.duration = DURATION;
        lease.labels.set(&[&self.label.0], self.label.1.clone());
        for (key, text) in marks {
            lease.labels.set(&[key], *text);
        }
        self.put(&lease, now).await
    }

    /// Says that we are still there.
    pub async fn renew(&self, lease: &Lease, now: Timestamp) -> Result<Lease, ClusterError> {
        self.put(lease, now).await
    }

    /// Gives a Lease back, so that the next need not wait for it to run out.
    pub async fn release(&self, lease: &Lease, now: Timestamp) -> Result<(), ClusterError> {
        let free = Lease { holder: Str::new(), duration: Duration::from_secs(1), ..lease.clone() };
        self.put(&free, now).await.map(drop)
    }

    /// Removes a Lease that is of no use any more, and not another of the same name.
    pub async fn remove(&self, lease: &Lease) -> Result<(), ClusterError> {
        let options = value!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": lease.uid.clone(), "resourceVersion": lease.version.clone()},
        });
        match self.home.door.delete(&self.path(&lease.name), &options).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    async fn put(&self, lease: &Lease, now: Timestamp) -> Result<Lease, ClusterError> {
        let body = lease.write(&self.namespace, now);
        let answer = if lease.version.is_empty() {
            self.home.door.post(&self.path(""), &body).await?
        } else {
            self.home.door.put(&self.path(&lease.name), &body).await?
        };
        let path = self.path(&lease.name);
        let object = Object::new(answer)
            .map_err(|_| ClusterError::Decode { path, reason: "it is no object".into() })?;
        Ok(Lease::read(&object))
    }

    fn path(&self, name: &str) -> String {
        let all = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace);
        if name.is_empty() { all } else { format!("{all}/{name}") }
    }
}

/// What has been seen of Leases, and since when each has stood as it is.
#[derive(Debug, Default)]
pub struct Sightings {
    seen: BTreeMap<Str, (Lease, Duration)>,
}

impl Sightings {
    /// Takes what a list has shown at a moment of the monotonic clock.
    pub fn see(&mut self, leases: Vec<Lease>, now: Duration) {
        let mut before = std::mem::take(&mut self.seen);
        for lease in leases {
            let since = match before.remove(&lease.name) {
                Some((old, since)) if old.version == lease.version && old.uid == lease.uid => since,
                _ => now,
            };
            self.seen.insert(lease.name.clone(), (lease, since));
        }
    }

    /// A Lease as it was last seen.
    pub fn get(&self, name: &str) -> Option<&Lease> {
        self.seen.get(name).map(|(lease, _)| lease)
    }

    /// Who holds a Lease now; none if it was given back or has run out.
    pub fn holder(&self, name: &str, now: Duration) -> Option<&Str> {
        let (lease, since) = self.seen.get(name)?;
        // One that names no duration would never end, or never begin; ours counts then.
        let duration = if lease.duration.is_zero() { DURATION } else { lease.duration };
        (!lease.holder.is_empty() && now < *since + duration).then_some(&lease.holder)
    }

    /// How long it takes until the first Lease of somebody else runs out, if it is not renewed.
    pub fn next_end(&self, identity: &str, now: Duration) -> Option<Duration> {
        let others =
            self.seen.values().filter(|(lease, _)| !lease.holder.is_empty() && lease.holder != identity);
        others.filter_map(|(lease, since)| (*since + lease.duration).checked_sub(now)).min()
    }

    /// Every Lease, with how long it has stood as it is.
    pub fn iter(&self, now: Duration) -> impl Iterator<Item = (&Lease, Duration)> {
        self.seen.values().map(move |(lease, since)| (lease, now.saturating_sub(*since)))
    }
}

/// The time for which a Lease entitles us to write. Copies are of one and the same time.
#[derive(Clone)]
pub struct Tenure {
    clock: Arc<dyn Clock>,
    /// The end in nanoseconds of the clock; zero when it is over.
    until: Arc<AtomicU64>,
}

tokio::task_local! {
    static TENURE: Tenure;
}

impl Tenure {
    /// One that has not begun.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Tenure { clock, until: Arc::default() }
    }

    /// Goes on, counted from the moment at which the renewal was sent.
    pub fn extend(&self, sent: Duration) {
        let until = u64::try_from((sent + DEADLINE).as_nanos()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Release);
    }

    /// Ends now.
    pub fn end(&self) {
        self.until.store(0, Ordering::Release);
    }

    /// Whether we may write.
    pub fn holds(&self) -> bool {
        self.clock.monotonic().as_nanos() < u128::from(self.until.load(Ordering::Acquire))
    }

    /// Does something whose every write, to any cluster, needs this tenure: once it is over, the door refuses them.
    pub async fn guard<T>(&self, work: impl Future<Output = T>) -> T {
        TENURE.scope(self.clone(), work).await
    }

    /// Whether whoever asks may write now: always where no tenure is needed.
    pub(crate) fn permits() -> bool {
        TENURE.try_with(Tenure::holds).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::BoxFuture;
    use std::sync::Mutex;

    #[derive(Clone)]
    struct Hand(Arc<Mutex<Duration>>);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        fn monotonic(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
            Box::pin(std::future::pending())
        }
    }

    fn lease(holder: &str, version: &str) -> Lease {
        Lease {
            name: "prod".into(),
            holder: holder.into(),
            version: version.into(),
            duration: DURATION,
            ..Lease::default()
        }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_lease_runs_out_when_it_has_stood_unchanged_for_its_time() {
        let mut sightings = Sightings::default();
        sightings.see(vec![lease("a", "1")], seconds(100));
        assert_eq!(sightings.holder("prod", seconds(114)).map(Str::as_str), Some("a"));
        sightings.see(vec![lease("a", "1")], seconds(114));
        assert_eq!(sightings.next_end("b", seconds(114)), Some(seconds(1)));
        assert_eq!(sightings.next_end("a", seconds(114)), None);
        assert_eq!(sightings.holder("prod", seconds(115)), None);
        sightings.see(vec![lease("a", "2")], seconds(116));
        assert_eq!(sightings.holder("prod", seconds(130)).map(Str::as_str), Some("a"));
    }

    #[test]
    fn a_lease_that_was_given_back_is_free_at_once() {
        let mut sightings = Sightings::default();
        sightings.see(vec![lease("", "1")], seconds(1));
        assert_eq!(sightings.holder("prod", seconds(1)), None);
    }

    #[tokio::test]
    async fn a_tenure_ends_by_itself_and_takes_the_right_to_write_with_it() {
        let hand = Hand(Arc::new(Mutex::new(seconds(50))));
        let tenure = Tenure::new(Arc::new(hand.clone()));
        assert!(!tenure.holds());
        tenure.extend(seconds(50));
        tenure
            .guard(async {
                assert!(Tenure::permits());
                *hand.0.lock().unwrap() = seconds(60);
                assert!(!Tenure::permits());
            })
            .await;
        assert!(Tenure::permits(), "what needs no tenure may always write");
    }

    #[test]
    fn a_lease_is_written_as_client_go_writes_it() {
        let written = lease("a", "7").write("argocd", "2026-01-01T00:00:00.5Z".parse().unwrap());
        assert_eq!(written.str_at(&["spec", "renewTime"]), Some("2026-01-01T00:00:00.500000Z"));
        assert_eq!(written.int_at(&["spec", "leaseDurationSeconds"]), Some(15));
        assert_eq!(written.str_at(&["metadata", "resourceVersion"]), Some("7"));
    }
}
