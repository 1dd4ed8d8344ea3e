//! HorizontalPodAutoscalers, as far as they go without metrics: the bounds are kept, and the status says why
//! nothing more is done.

use lynceus_object::{Object, value};

use super::key::Key;
use super::kind::{AUTOSCALER, DEPLOYMENT, Kind, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET};
use super::pods::{created, spec_int};
use super::steps::{Announcement, Steps};
use super::time::after;
use super::world::World;
use super::{Controller, Writer, condition, manager};
use crate::store::Event;

const TARGETS: [&Kind; 4] = [DEPLOYMENT, REPLICA_SET, STATEFUL_SET, REPLICATION_CONTROLLER];

/// How long a new autoscaler waits before it looks at its workload, in seconds.
const PERIOD: i64 = 15;

/// Keeps the size of workloads within bounds.
pub(crate) struct Autoscalers;

impl Controller for Autoscalers {
    fn component(&self) -> &'static str {
        "horizontal-pod-autoscaler"
    }

    fn writer(&self) -> Writer {
        manager!("horizontal-pod-autoscaler")
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if AUTOSCALER.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if TARGETS.iter().any(|kind| kind.is(&event.place)) {
            let scalers = world.list(AUTOSCALER, object.namespace());
            let fitting = scalers.iter().filter(|scaler| {
                let target = |field| scaler.value().str_at(&["spec", "scaleTargetRef", field]);
                target("kind") == Some(object.kind()) && target("name") == Some(object.name())
            });
            wake.extend(fitting.map(|scaler| Key::of(&AUTOSCALER.place(), scaler)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(scaler) = world.find(key).filter(|scaler| !scaler.is_deleting()) else { return };
        let due = created(&scaler).map_or(world.now, |made| after(made, PERIOD));
        if due > world.now {
            out.again_at(due);
            return;
        }
        let mut new = scaler.clone();
        let target = |field| scaler.value().str_at(&["spec", "scaleTargetRef", field]).unwrap_or_default();
        let kind = TARGETS.into_iter().find(|kind| kind.kind == target("kind"));
        let found = kind.and_then(|kind| Some((kind, world.get(kind, scaler.namespace(), target("name"))?)));
        let mut set = |type_: &str, status: &str, reason: &str, message: &str| {
            condition::replace(&mut new, condition::new(type_, status, reason, message, world.now));
        };
        let Some((kind, workload)) = found else {
            let message = format!(
                "the HPA controller was unable to get the target's current scale: {} {:?} not found",
                kind.map_or_else(
                    || target("kind").to_lowercase(),
                    |kind| format!("{}.{}", kind.resource, kind.group)
                ),
                target("name")
            );
            set("AbleToScale", "False", "FailedGetScale", &message);
            out.status_if_changed(AUTOSCALER, &scaler, new);
            return;
        };
        let current = spec_int(&workload, &["replicas"], 1);
        set(
            "AbleToScale",
            "True",
            "SucceededGetScale",
            "the HPA controller was able to get the target's current scale",
        );
        let wanted = bounded(&scaler, current);
        if current == 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            set("ScalingActive", "False", "ScalingDisabled", message);
        } else if wanted == current {
            let message = format!("the HPA was unable to compute the replica count: {}", no_metric(&scaler));
            if condition::reason(&scaler, "ScalingActive") != "FailedGetResourceMetric" {
                tell_no_metric(&scaler, out);
            }
            set("ScalingActive", "False", "FailedGetResourceMetric", &message);
            new.set(&["status", "currentMetrics"], value!([{"type": ""}]));
        }
        new.set(
            &["status", "currentReplicas"],
            workload.value().int_at(&["status", "replicas"]).unwrap_or(0),
        );
        if new.at(&["status", "desiredReplicas"]).is_none() {
            new.set(&["status", "desiredReplicas"], 0);
        }
        if wanted != current {
            let why = if wanted > current {
                "Current number of replicas below Spec.MinReplicas"
            } else {
                "Current number of replicas above Spec.MaxReplicas"
            };
            let mut scaled = workload.clone();
            scaled.set(&["spec", "replicas"], wanted);
            out.update(kind, scaled);
            let message = format!("New size: {wanted}; reason: {why}");
            out.announce(Announcement::normal(&scaler, "SuccessfulRescale", message));
            new.set(&["status", "desiredReplicas"], wanted);
            new.set(&["status", "lastScaleTime"], super::time::stamp(world.now));
        }
        out.status_if_changed(AUTOSCALER, &scaler, new);
    }
}

/// There are no metrics: what the original says then about the first one that is asked for.
fn no_metric(scaler: &Object) -> String {
    let metric = scaler.value().items_at(&["spec", "metrics"]).first();
    let resource = metric.and_then(|metric| metric.str_at(&["resource", "name"])).unwrap_or("cpu");
    format!(
        "failed to get {resource} utilization: unable to get metrics for resource {resource}: unable to fetch \
         metrics from resource metrics API: the server could not find the requested resource (get \
         pods.metrics.k8s.io)"
    )
}

fn tell_no_metric(scaler: &Object, out: &mut Steps) {
    let why = no_metric(scaler);
    let metric = scaler.value().items_at(&["spec", "metrics"]).first();
    let resource = metric.and_then(|metric| metric.str_at(&["resource", "name"])).unwrap_or("cpu");
    let summary = format!(
        "invalid metrics (1 invalid out of 1), first error is: failed to get {resource} resource metric value: {why}"
    );
    out.announce(Announcement::warning(scaler, "FailedGetResourceMetric", why));
    out.announce(Announcement::warning(scaler, "FailedComputeMetricsReplicas", summary));
}

fn bounded(scaler: &Object, current: i64) -> i64 {
    if current == 0 {
        return 0;
    }
    let least = spec_int(scaler, &["minReplicas"], 1);
    let most = spec_int(scaler, &["maxReplicas"], i64::MAX).max(least);
    current.clamp(least, most)
}
