//! What a cluster does by itself: level-triggered controllers on the sim's clock.
//!
//! A controller looks at one object and says what is to be done, as values; it reads no clock and writes
//! nothing. [`Controllers::settle`] feeds changes to the controllers that care, lets each look at what is in
//! its queue, carries out the steps, and goes on until nobody has anything to do. The order is fixed, so that
//! the same start always leads to the same end.
//!
//! | what | files |
//! |---|---|
//! | the loop | `queue`, `steps`, `run`, `recorder`, `graph`, `world` |
//! | workloads | `deployment`, `replicaset`, `statefulset`, `daemonset`, `job`, `cronjob` |
//! | nodes and pods | `nodes`, `lifecycle`, `eviction`, `collector`, `scheduler`, `kubelet` |
//! | the rest | `registration`, `policy`, `faults`, `namespace`, `garbage`, `endpoints`, `volumes`, `token`, `disruption`, … |

mod autoscaler;
mod balancer;
mod collector;
pub(crate) mod condition;
mod cronjob;
mod daemonset;
mod deployment;
pub(crate) mod disruption;
mod endpoints;
mod eviction;
mod faults;
mod forgetting;
mod garbage;
mod graph;
mod hash;
mod history;
mod ingress;
mod job;
pub(crate) mod key;
pub(crate) mod kind;
mod kubelet;
mod lifecycle;
mod namespace;
mod nodes;
pub(crate) mod pods;
mod policy;
mod queue;
mod quota;
mod recorder;
mod registration;
mod replicaset;
mod run;
mod scheduler;
pub(crate) mod selector;
mod statefulset;
pub(crate) mod steps;
pub(crate) mod time;
mod token;
mod volumes;
pub(crate) mod world;

use crate::store::{Event, Place};
use key::Key;
use steps::{Announcement, Steps};
use world::World;

pub use run::Controllers;
pub(crate) use volumes::PROVISIONER;

/// Who writes: the name that is authorised, and the one that stands in `managedFields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    /// The user, such as `system:serviceaccount:kube-system:replicaset-controller`.
    pub(crate) user: &'static str,
    /// The field manager, such as `kube-controller-manager`.
    pub(crate) manager: &'static str,
}

/// A part of the cluster's behaviour.
pub(crate) trait Controller: Send {
    /// The name under which events are written, such as `deployment-controller`.
    fn component(&self) -> &'static str;

    /// Who writes.
    fn writer(&self) -> Writer;

    /// What is to be done before anything else, in a cluster that was just started.
    fn begin(&mut self, _world: &World<'_>, _out: &mut Steps) {}

    /// Whether changes in a place can concern the controller at all: it is told of no others. Asked once for each place.
    fn hears(&self, _place: &Place) -> bool {
        true
    }

    /// Which objects to look at because of a change.
    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>);

    /// Puts what is to be looked at now into an order; the order in which it came if there is no better one.
    fn order(&self, _keys: &mut [Key], _world: &World<'_>) {}

    /// Looks at an object, and says what is to be done.
    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps);

    /// What is to be done because a step that `look` asked for was refused.
    fn refused(&mut self, _key: &Key, _why: &Refusal<'_>, _world: &World<'_>, _out: &mut Steps) {}
}

/// A step that the API server refused.
pub(crate) struct Refusal<'a> {
    /// The step.
    pub(crate) step: &'a steps::Step,
    /// What the API server said.
    pub(crate) error: &'a crate::ApiError,
}

/// The usual news about a dependent that could not be made.
pub(crate) fn announce_refusal(owner: &lynceus_object::Object, why: &Refusal<'_>, out: &mut Steps) {
    if matches!(why.step, steps::Step::Create { .. }) {
        out.announce(Announcement::warning(owner, "FailedCreate", format!("Error creating: {}", why.error)));
    }
}

/// The writer that stands for a controller of the controller manager.
macro_rules! manager {
    ($name:literal) => {
        $crate::controllers::Writer {
            user: concat!("system:serviceaccount:kube-system:", $name),
            manager: "kube-controller-manager",
        }
    };
}
pub(crate) use manager;
