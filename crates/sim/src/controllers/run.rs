//! The loop that lets controllers look and carries out what they want.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};
use tokio::sync::mpsc::UnboundedReceiver;

use super::graph::Graph;
use super::key::Key;
use super::kind::{EVENT, NAMESPACE};
use super::queue::Queue;
use super::recorder::{Record, Recorder};
use super::steps::{Announcement, Deletion, Step, Steps};
use super::world::World;
use super::{
    Controller, Refusal, Writer, autoscaler, balancer, collector, cronjob, daemonset, deployment, disruption,
    endpoints, eviction, faults, forgetting, garbage, ingress, job, kubelet, lifecycle, namespace, nodes,
    policy, quota, registration, replicaset, scheduler, statefulset, token, volumes,
};
use crate::ApiError;
use crate::attributes::User;
use crate::hash::QuickMap;
use crate::limits;
use crate::local::{DeleteOptions, Local, PatchKind, Target};
use crate::operators::{Acting, Operator};
use crate::store::{Event, Place};

/// All controllers of a cluster.
pub struct Controllers {
    local: Local,
    events: UnboundedReceiver<Arc<Event>>,
    graph: Graph,
    recorder: Recorder,
    slots: Vec<Slot>,
    /// Which of the slots hear of changes in a place, by the places in which there were any.
    listeners: QuickMap<Place, Vec<usize>>,
    begun: bool,
    /// Whether there may be changes that nobody noticed.
    stale: bool,
}

struct Slot {
    controller: Box<dyn Controller>,
    queue: Queue,
    /// The way in, as the user that the controller is.
    local: Local,
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.slots.iter().map(|slot| slot.controller.component())).finish()
    }
}

impl Controllers {
    /// Controllers that work through `local`: they know what is stored and see every change from now on.
    pub fn new(local: Local, operators: Vec<Arc<Operator>>) -> Self {
        let events = local.changes();
        let slot = |controller: Box<dyn Controller>| {
            let Writer { user, manager } = controller.writer();
            let local = local.acting_as(User::system(user), manager);
            Slot { controller, queue: Queue::default(), local }
        };
        let mut controllers = Controllers {
            events,
            graph: Graph::default(),
            recorder: Recorder::default(),
            slots: all(operators).into_iter().map(slot).collect(),
            listeners: QuickMap::default(),
            begun: false,
            stale: true,
            local,
        };
        controllers.take_stock();
        controllers
    }

    /// Leaves out what stands for nodes and for a cloud: pods are made, and stay pending.
    #[must_use]
    pub fn without_nodes(mut self) -> Self {
        const OF_NODES: [&str; 5] = [
            "kubelet",
            "default-scheduler",
            "attachdetach-controller",
            "service-controller",
            "ingress-controller",
        ];
        self.slots.retain(|slot| !OF_NODES.contains(&slot.controller.component()));
        self.listeners.clear();
        self
    }

    /// Lets every controller notice every object that was there before.
    fn take_stock(&mut self) {
        let existing: Vec<Event> = self
            .local
            .everything()
            .into_iter()
            .map(|(place, object)| Event::existing(place, object))
            .collect();
        existing.iter().for_each(|event| self.graph.observe(event));
        existing.iter().for_each(|event| self.notice(event));
    }

    /// Works until there is nothing to do at this time. Gives the time at which there will be.
    pub async fn settle(&mut self) -> Option<Timestamp> {
        self.begin().await;
        for _ in 0..limits::SETTLE_ROUNDS {
            if !self.round().await {
                return self.slots.iter().filter_map(|slot| slot.queue.next()).min();
            }
        }
        // Two writers that undo each other's work would keep this busy for ever, at one point in time.
        tracing::warn!("controllers do not come to rest; they go on in a second");
        Some(super::time::after(self.local.now(), 1))
    }

    async fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let now = self.local.now();
        for at in 0..self.slots.len() {
            let mut out = Steps::default();
            let world = World { local: &self.local, graph: &self.graph, now };
            self.slots[at].controller.begin(&world, &mut out);
            for step in out.steps {
                if let Err(error) = self.carry_out(at, &step, now).await {
                    tracing::warn!(%error, "the cluster starts without an object that it should have");
                }
            }
        }
    }

    /// Lets the first controller that has something to do look at it. Says whether there was one.
    pub async fn step(&mut self) -> bool {
        self.begin().await;
        self.stale = true;
        for at in 0..self.slots.len() {
            if self.turn(at).await {
                return true;
            }
        }
        false
    }

    /// Lets every controller look at what it has. Says whether anybody had anything.
    async fn round(&mut self) -> bool {
        let mut busy = false;
        // Somebody else may have written meanwhile.
        self.stale = true;
        for at in 0..self.slots.len() {
            busy |= self.turn(at).await;
        }
        busy
    }

    /// Lets a controller look at what it has. Says whether it had anything.
    async fn turn(&mut self, at: usize) -> bool {
        // Changes are noticed before the next controller looks, and only those that look make some.
        if std::mem::take(&mut self.stale) {
            self.catch_up();
        }
        if self.slots[at].queue.is_idle() {
            return false;
        }
        let now = self.local.now();
        let mut keys = self.slots[at].queue.take(now);
        if keys.len() > 1 {
            let world = World { local: &self.local, graph: &self.graph, now };
            self.slots[at].controller.order(&mut keys, &world);
        }
        for key in &keys {
            self.look(at, key, now).await;
            self.stale = true;
        }
        !keys.is_empty()
    }

    fn catch_up(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.graph.observe(&event);
            self.notice(&event);
        }
    }

    fn notice(&mut self, event: &Event) {
        let world = World { local: &self.local, graph: &self.graph, now: self.local.now() };
        let mut wake = Vec::new();
        if !self.listeners.contains_key(&event.place) {
            let hears = |at: &usize| self.slots[*at].controller.hears(&event.place);
            let listeners = (0..self.slots.len()).filter(hears).collect();
            self.listeners.insert(event.place.clone(), listeners);
        }
        for at in self.listeners.get(&event.place).into_iter().flatten() {
            let slot = &mut self.slots[*at];
            slot.controller.notice(event, &world, &mut wake);
            if !wake.is_empty() {
                wake.drain(..).for_each(|key| slot.queue.push(key));
            }
        }
    }

    async fn look(&mut self, at: usize, key: &Key, now: Timestamp) {
        let mut out = Steps::default();
        let world = World { local: &self.local, graph: &self.graph, now };
        self.slots[at].controller.look(key, &world, &mut out);
        let mut refused = None;
        for step in out.steps {
            let done = match self.slots[at].local.answered_by_fault(|| faults::request(&step)) {
                Some(error) => Err(error),
                None => self.carry_out(at, &step, now).await,
            };
            if let Err(error) = done {
                refused = Some((step, error));
                break;
            }
        }
        let failed = match refused {
            Some((step, error)) => self.refused(at, key, &step, &error, now).await,
            None => false,
        };
        let queue = &mut self.slots[at].queue;
        match out.again {
            Some(at) if at <= now => queue.push(key.clone()),
            Some(at) => queue.push_at(key.clone(), at),
            None => {}
        }
        if !failed {
            queue.succeeded(key);
        }
    }

    /// Decides what follows from a refusal. Says whether it counts as a failure.
    async fn refused(&mut self, at: usize, key: &Key, step: &Step, error: &ApiError, now: Timestamp) -> bool {
        // An object that is applied is made where it is missing: it is something else that is not there, such as its namespace.
        let lacks = error.code == 404 && matches!(step, Step::Apply { subresource: "", .. });
        // Somebody else was faster: the change that tells so is on its way, and this is for the case that not.
        if matches!(error.code, 404 | 409) && error.reason != "AlreadyExists" && !lacks {
            self.slots[at].queue.push_at(key.clone(), super::time::after(now, 1));
            return false;
        }
        tracing::debug!(component = self.slots[at].controller.component(), %error, "a step was refused");
        let mut out = Steps::default();
        let world = World { local: &self.local, graph: &self.graph, now };
        self.slots[at].controller.refused(key, &Refusal { step, error }, &world, &mut out);
        for step in out.steps {
            if let Err(error) = self.carry_out(at, &step, now).await {
                tracing::debug!(%error, "a refusal could not be reported");
            }
        }
        self.slots[at].queue.retry(key.clone(), now);
        true
    }

    async fn carry_out(&mut self, at: usize, step: &Step, now: Timestamp) -> Result<(), ApiError> {
        let local = &self.slots[at].local;
        match step {
            Step::Create { kind, object, announce } => {
                let made = local.create(kind.group, kind.resource, object.clone()).await?;
                if let Some(announce) = announce {
                    let message = announce.message.replace("{name}", made.name());
                    self.announce(at, &Announcement { message, ..announce.clone() }, now).await;
                }
            }
            Step::Update { kind, object } => {
                local.update(kind.group, kind.resource, object.clone()).await?;
            }
            Step::Status { kind, object } => {
                local.update_status(kind.group, kind.resource, object.clone()).await?;
            }
            Step::Apply { key, subresource, object } => {
                let fields = object.value().clone();
                local.patch(target(key), subresource, PatchKind::Apply, fields).await?;
            }
            Step::Merge { key, fields } => {
                local.patch(target(key), "", PatchKind::Merge, fields.clone()).await?;
            }
            Step::Delete { key, uid, how } => {
                gone_is_fine(local.delete(target(key), &delete_options(uid, *how)).await)?;
            }
            Step::Unfinalize { key, finalizer } => {
                let edit = local.edit(target(key), "", |object| remove_finalizer(object, finalizer));
                gone_is_fine(edit.await.map(drop))?;
            }
            Step::Disown { key, owners } => {
                let edit = local.edit(target(key), "", |object| remove_owners(object, owners));
                gone_is_fine(edit.await.map(drop))?;
            }
            Step::Bind { pod, node } => gone_is_fine(local.bind(pod.namespace(), pod.name(), node).await)?,
            Step::Scale { key, replicas } => {
                let patch = value!({"spec": {"replicas": *replicas}});
                local.patch(target(key), "scale", PatchKind::Merge, patch).await?;
            }
            Step::Finalize { namespace } => {
                let (group, resource) = (NAMESPACE.group, NAMESPACE.resource);
                let finalized = local.replace(group, resource, namespace.clone(), "finalize").await;
                gone_is_fine(finalized.map(drop))?;
            }
            Step::Announce(announcement) => self.announce(at, announcement, now).await,
        }
        Ok(())
    }

    async fn announce(&mut self, at: usize, announcement: &Announcement, now: Timestamp) {
        let slot = &self.slots[at];
        let (group, resource) = (EVENT.group, EVENT.resource);
        let (stored, sent) = match self.recorder.record(slot.controller.component(), announcement, now) {
            Some(Record::New(event)) => (slot.local.create(group, resource, event.clone()).await, event),
            Some(Record::Again(event)) => (slot.local.update(group, resource, event.clone()).await, event),
            None => return,
        };
        // Events are lost rather than letting them stop anything, for example in a namespace that goes away.
        self.recorder.stored(stored.ok(), &sent);
    }
}

/// The controllers in the order in which they look: those that make objects before those that count them.
fn all(operators: Vec<Arc<Operator>>) -> Vec<Box<dyn Controller>> {
    let operators = operators.into_iter().map(|one| Box::new(Acting::new(one)) as Box<dyn Controller>);
    built_in().into_iter().chain(operators).collect()
}

fn built_in() -> Vec<Box<dyn Controller>> {
    vec![
        Box::new(registration::Registrations),
        Box::new(faults::Faults),
        Box::new(nodes::Nodes::default()),
        Box::new(lifecycle::NodeLifecycle::default()),
        Box::new(eviction::TaintEviction::default()),
        Box::new(namespace::DefaultServiceAccounts),
        Box::new(namespace::RootCertificates),
        Box::new(token::TokenSecrets),
        Box::new(autoscaler::Autoscalers::default()),
        Box::new(cronjob::CronJobs::default()),
        Box::new(job::Jobs),
        Box::new(deployment::Deployments),
        Box::new(replicaset::ReplicaSets::new()),
        Box::new(replicaset::ReplicaSets::replication_controllers()),
        Box::new(statefulset::StatefulSets),
        Box::new(daemonset::DaemonSets::default()),
        Box::new(volumes::EphemeralVolumes),
        Box::new(volumes::Volumes),
        Box::new(volumes::Protection),
        Box::new(scheduler::Scheduler::default()),
        Box::new(kubelet::Kubelets::default()),
        Box::new(volumes::Attachments::default()),
        Box::new(endpoints::Endpoints),
        Box::new(endpoints::EndpointSlices),
        Box::new(balancer::LoadBalancers::default()),
        Box::new(ingress::Ingresses),
        Box::new(disruption::DisruptionBudgets),
        Box::new(quota::Quotas),
        Box::new(policy::PolicyStatus),
        Box::new(collector::PodCollector::default()),
        Box::new(nodes::Lifetimes),
        Box::new(garbage::Garbage),
        Box::new(namespace::Namespaces),
        Box::new(forgetting::Forgetting),
    ]
}

fn target(key: &Key) -> Target<'_> {
    let Key { place, namespace, name } = key;
    Target { group: &place.group, resource: &place.resource, namespace, name }
}

fn delete_options(uid: &Str, how: Deletion) -> DeleteOptions {
    DeleteOptions {
        uid: Some(uid.clone()),
        grace_seconds: how.grace,
        propagation: how.propagation,
        ..DeleteOptions::default()
    }
}

fn gone_is_fine(result: Result<(), ApiError>) -> Result<(), ApiError> {
    match result {
        Err(error) if error.code == 404 => Ok(()),
        other => other,
    }
}

fn remove_finalizer(object: &mut Object, finalizer: &str) {
    let rest: Vec<Value> = object
        .value()
        .items_at(&["metadata", "finalizers"])
        .iter()
        .filter(|known| known.as_str() != Some(finalizer))
        .cloned()
        .collect();
    set_or_remove(object, "finalizers", rest);
}

fn remove_owners(object: &mut Object, owners: &[Str]) {
    let rest: Vec<Value> = object
        .value()
        .items_at(&["metadata", "ownerReferences"])
        .iter()
        .filter(|owner| !owners.iter().any(|uid| owner.str_at(&["uid"]) == Some(uid)))
        .cloned()
        .collect();
    set_or_remove(object, "ownerReferences", rest);
}

fn set_or_remove(object: &mut Object, field: &str, items: Vec<Value>) {
    if items.is_empty() {
        object.remove(&["metadata", field]);
    } else {
        object.set(&["metadata", field], items);
    }
}
