//! Why an object is not healthy: what it says itself, what it owns says, and what it names and cannot find.
//!
//! [`assess`](crate::assess) gives Argo CD's verdict and stops at the object. A Deployment that is Progressing because
//! its pods wait for a volume whose claim waits for its first consumer is explained here, over everything that lies around
//! it. What lies around is asked for through [`Surroundings`], so that nothing has to be collected that nobody needs.

mod claim;
mod container;
mod pod;
mod said;
mod workload;

use std::collections::BTreeSet;

pub use claim::waits_for_later;

use lynceus_api::{HealthStatusCode, Reason, ReasonCode, Word as _};
use lynceus_object::{Object, ObjectKey, Str};

use crate::{Health, assess, limits, text};

/// What lies around the objects of an application.
pub trait Surroundings {
    /// The objects that an object owns, in key order.
    fn children(&self, owner: &Object) -> Vec<Object>;
    /// An object by name, whoever owns it.
    fn find(&self, key: &ObjectKey) -> Found;
    /// What the application wants, with its place in the order of the sync.
    fn planned(&self) -> &[Planned];
    /// How an object is, by whatever checks are in force.
    fn health(&self, object: &Object) -> Option<Health> {
        assess(object)
    }
}

/// What was found under a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The object.
    There(Object),
    /// There is none.
    Gone,
    /// It cannot be told.
    Unknown,
}

/// An object that an application wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The object as desired.
    pub object: Object,
    /// Its wave.
    pub wave: i64,
    /// Whether it is in the cluster.
    pub is_live: bool,
}

/// Why an object is not healthy, the nearest reasons first. Nothing if there is nothing to be found out.
pub fn why(object: &Object, around: &dyn Surroundings) -> Vec<Reason> {
    Search { around, seen: BTreeSet::new() }.why(object, 0)
}

/// One search for reasons. What was explained once is not explained again: a pod waits for a claim that waits for the pod.
struct Search<'a> {
    around: &'a dyn Surroundings,
    seen: BTreeSet<ObjectKey>,
}

impl Search<'_> {
    fn why(&mut self, object: &Object, depth: usize) -> Vec<Reason> {
        if depth > limits::REASON_DEPTH || !self.seen.insert(object.key()) {
            return Vec::new();
        }
        if object.is_deleting() {
            return vec![said::held(object)];
        }
        let mut reasons: Vec<Reason> = said::not_observed(object).into_iter().collect();
        reasons.extend(match (object.group(), object.kind()) {
            ("", "Pod") => self.pod(object, depth),
            ("", "PersistentVolumeClaim") => self.claim(object, depth),
            ("", "Service") | ("networking.k8s.io" | "extensions", "Ingress") => {
                said::address(object).into_iter().collect()
            }
            ("apps" | "extensions", _) | ("", "ReplicationController") => self.workload(object, depth),
            ("batch", "Job") => self.job(object, depth),
            (lynceus_api::GROUP, "Application") => said::application(object),
            _ => self.other(object, depth),
        });
        reasons
    }

    /// A kind that nobody knows: what its conditions say, then what its children say.
    fn other(&mut self, object: &Object, depth: usize) -> Vec<Reason> {
        let mut reasons = said::complaints(object);
        reasons.extend(self.children(object, depth));
        reasons
    }

    /// The children that are not healthy, each with its reasons; several with the same reasons are one.
    fn children(&mut self, owner: &Object, depth: usize) -> Vec<Reason> {
        let mut told: Vec<(Reason, usize)> = Vec::new();
        for child in self.around.children(owner) {
            let Some(reason) = self.unhealthy(&child, depth + 1) else { continue };
            match told.iter_mut().find(|(known, _)| !known.because.is_empty() && alike(known, &reason)) {
                Some((_, more)) => *more += 1,
                None => told.push((reason, 0)),
            }
        }
        let tell = |(mut reason, more): (Reason, usize)| {
            if more > 0 {
                reason.text = format!("{}, and so are {more} more", reason.text).into();
            }
            reason
        };
        told.into_iter().take(limits::REASON_CHILDREN).map(tell).collect()
    }

    /// The reason that an object is, if it is not well, with its own reasons. An object without a health of its own may
    /// still have unhealthy children.
    fn unhealthy(&mut self, object: &Object, depth: usize) -> Option<Reason> {
        let health = self.around.health(object);
        if health
            .as_ref()
            .is_some_and(|health| health.counts_as == HealthStatusCode::Healthy && is_final(object))
        {
            return None;
        }
        let because = self.why(object, depth);
        let is_well = health.as_ref().is_none_or(|health| health.status == HealthStatusCode::Healthy);
        if is_well && because.is_empty() {
            return None;
        }
        // Argo CD does not look below a ReplicaSet, say; what was found there counts for more here.
        let status =
            health.as_ref().filter(|_| !is_well).map_or("not ready", |health| health.status.as_str());
        let words = match health.filter(|health| because.is_empty() && !health.message.is_empty()) {
            Some(health) => format!("{} {} is {status}: {}", object.kind(), object.name(), health.message),
            None => format!("{} {} is {status}", object.kind(), object.name()),
        };
        Some(Reason::new(ReasonCode::Unhealthy, words).about(object.key()).because(because))
    }
}

/// Whether nothing below an object can be the reason of anything: pods own nothing that matters.
fn is_final(object: &Object) -> bool {
    matches!((object.group(), object.kind()), ("", "Pod" | "PersistentVolumeClaim") | ("batch", "Job"))
}

/// Whether two reasons come from the same things, but for the names of the objects that they are about.
fn alike(one: &Reason, other: &Reason) -> bool {
    let shape = |reason: &Reason| -> Vec<(String, Str)> {
        reason
            .because
            .iter()
            .flat_map(Reason::all)
            .map(|reason| (reason.code.to_string(), nameless(reason)))
            .collect()
    };
    shape(one) == shape(other)
}

fn nameless(reason: &Reason) -> Str {
    match &reason.object {
        Some(object) => reason.text.replace(object.name.as_str(), ""),
        None => reason.text.clone(),
    }
}

/// Something that an object names, if it is not there.
fn missing(around: &dyn Surroundings, key: ObjectKey) -> Option<Reason> {
    if key.name.is_empty() || around.find(&key) != Found::Gone {
        return None;
    }
    let words = match key.namespace.as_str() {
        "" => format!("there is no {} {}", key.kind, key.name),
        namespace => format!("there is no {} {} in namespace {namespace}", key.kind, key.name),
    };
    Some(Reason::new(ReasonCode::Missing, words).about(key))
}

/// A text of the status.
fn status<'a>(object: &'a Object, field: &str) -> &'a str {
    text(object, &["status", field])
}

#[cfg(test)]
mod tests;
