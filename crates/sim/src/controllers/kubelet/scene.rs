//! What a pod's containers are looked at with: the pod, its node, the cluster, what is remembered, and what is told.

use std::collections::BTreeSet;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};

use super::backoff::Memory;
use super::program::Role;
use crate::controllers::steps::Announcement;
use crate::controllers::world::World;

/// Which images were pulled to which node.
pub(super) type Machines = BTreeSet<(Str, Str)>;

/// A pod that is looked at.
pub(super) struct Scene<'a> {
    /// The pod, as it was when it was looked at last.
    pub(super) pod: &'a Object,
    /// Its node.
    pub(super) node: &'a Object,
    /// The cluster.
    pub(super) world: &'a World<'a>,
    /// What is remembered of the pod.
    pub(super) memory: &'a mut Memory,
    /// Which images are where.
    pub(super) machines: &'a mut Machines,
    /// When something changes next by itself.
    pub(super) next: Option<Timestamp>,
    /// What there is to tell.
    pub(super) news: Vec<Announcement>,
}

impl Scene<'_> {
    /// The time.
    pub(super) fn now(&self) -> Timestamp {
        self.world.now
    }

    /// Asks to be looked at again.
    pub(super) fn wake(&mut self, at: Timestamp) {
        self.next = Some(self.next.map_or(at, |earlier| earlier.min(at)));
    }

    /// Good news about a container.
    pub(super) fn tell(&mut self, of: &Part<'_>, reason: &'static str, message: impl Into<String>) {
        let told = Announcement::normal(self.pod, reason, message);
        self.news.push(from_kubelet(told, self.node, &of.field()));
    }

    /// Bad news about a container.
    pub(super) fn warn(&mut self, of: &Part<'_>, reason: &'static str, message: impl Into<String>) {
        let told = Announcement::warning(self.pod, reason, message);
        self.news.push(from_kubelet(told, self.node, &of.field()));
    }

    /// A container's status as it was when it was looked at last.
    pub(super) fn before(&self, of: &Part<'_>) -> Option<&Value> {
        let statuses = self.pod.value().items_at(&["status", of.statuses()]);
        statuses.iter().find(|status| status.str_at(&["name"]) == Some(of.name()))
    }

    /// The pod as kubelets write it in messages.
    pub(super) fn full_name(&self) -> String {
        format!("{}_{}({})", self.pod.name(), self.pod.namespace(), self.pod.uid())
    }
}

/// A container of a pod.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// What the pod says of it.
    pub(super) spec: &'a Value,
    /// What it is to the pod.
    pub(super) role: Role,
}

impl<'a> Part<'a> {
    /// The containers that are started before the others.
    pub(super) fn inits(pod: &'a Object) -> Vec<Self> {
        let role = |spec: &Value| match spec.str_at(&["restartPolicy"]) {
            Some("Always") => Role::Sidecar,
            _ => Role::Init,
        };
        let specs = pod.value().items_at(&["spec", "initContainers"]);
        specs.iter().map(|spec| Part { spec, role: role(spec) }).collect()
    }

    /// The containers that the pod is for.
    pub(super) fn mains(pod: &'a Object) -> Vec<Self> {
        let specs = pod.value().items_at(&["spec", "containers"]);
        specs.iter().map(|spec| Part { spec, role: Role::Main }).collect()
    }

    /// The containers that were added while the pod ran.
    pub(super) fn guests(pod: &'a Object) -> Vec<Self> {
        let specs = pod.value().items_at(&["spec", "ephemeralContainers"]);
        specs.iter().map(|spec| Part { spec, role: Role::Guest }).collect()
    }

    pub(super) fn name(&self) -> &'a str {
        self.spec.str_at(&["name"]).unwrap_or_default()
    }

    pub(super) fn image(&self) -> &'a str {
        self.spec.str_at(&["image"]).unwrap_or_default()
    }

    fn field(&self) -> String {
        let list = match self.role {
            Role::Main => "containers",
            Role::Guest => "ephemeralContainers",
            Role::Init | Role::Sidecar => "initContainers",
        };
        format!("spec.{list}{{{}}}", self.name())
    }

    /// The list of the status that it stands in.
    pub(super) fn statuses(&self) -> &'static str {
        match self.role {
            Role::Main => "containerStatuses",
            Role::Guest => "ephemeralContainerStatuses",
            Role::Init | Role::Sidecar => "initContainerStatuses",
        }
    }
}

/// What a node's kubelet says about a part of a pod.
pub(super) fn from_kubelet(told: Announcement, node: &Object, field: &str) -> Announcement {
    Announcement { host: node.name().into(), field: field.to_owned(), ..told }
}
