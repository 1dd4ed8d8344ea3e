//! HorizontalPodAutoscalers: every fifteen seconds each looks at its metrics, which the [stage](crate::stage) and annotations
//! declare, and gives its workload another size.
//!
//! | question | file |
//! |---|---|
//! | what does each metric say | `metric` |
//! | how many pods does it take for what they use | `count` |
//! | how fast may that be, and what was said before | `behavior` |
//! | which workload is it, and how large | `target` |

mod behavior;
mod count;
mod metric;
mod target;

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::{Object, Selector, Value, value};

use super::key::Key;
use super::kind::{AUTOSCALER, POD, is_among};
use super::pods::{created, spec_int};
use super::steps::{Announcement, Step, Steps};
use super::time::{after, stamp};
use super::world::World;
use super::{Controller, Refusal, Writer, condition, manager};
use crate::store::{Event, Place};
use behavior::{Bounds, Past};
use metric::{Proposal, Query};
use target::Target;

/// How often an autoscaler looks, in seconds, and how long a new one waits.
const PERIOD: i64 = 15;

/// Gives workloads the size that their metrics ask for.
#[derive(Debug, Default)]
pub(crate) struct Autoscalers {
    memory: HashMap<Key, Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    due: Option<Timestamp>,
    past: Past,
    /// The selector that it last read from its workload.
    selector: Option<Selector>,
    /// The size that it is about to set, and why.
    attempt: (i64, String),
}

impl Controller for Autoscalers {
    fn component(&self) -> &'static str {
        "horizontal-pod-autoscaler"
    }

    fn writer(&self) -> Writer {
        manager!("horizontal-pod-autoscaler")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[AUTOSCALER], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if AUTOSCALER.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(scaler) = world.find(key).filter(|scaler| !scaler.is_deleting()) else {
            self.memory.remove(key);
            return;
        };
        let memory = self.memory.entry(key.clone()).or_default();
        let first = || created(&scaler).map_or(world.now, |made| after(made, PERIOD));
        let due = *memory.due.get_or_insert_with(first);
        if due > world.now {
            out.again_at(due);
            return;
        }
        let next = after(world.now, PERIOD);
        memory.due = Some(next);
        out.again_at(next);
        self.reconcile(key, &scaler, world, out);
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let (Step::Scale { .. }, Some(scaler)) = (why.step, world.find(key)) else { return };
        let Some(memory) = self.memory.get_mut(key) else { return };
        memory.past.undo(world.now);
        let (size, reason) = &memory.attempt;
        let message = format!("New size: {size}; reason: {reason}; error: {}", why.error);
        out.announce(Announcement::warning(&scaler, "FailedRescale", message));
        let message = format!("the HPA controller was unable to update the target scale: {}", why.error);
        let mut new = scaler.clone();
        let condition = condition::new("AbleToScale", "False", "FailedUpdateScale", &message, world.now);
        condition::replace(&mut new, condition);
        out.status_if_changed(AUTOSCALER, &scaler, new);
    }
}

impl Autoscalers {
    fn reconcile(&mut self, key: &Key, scaler: &Object, world: &World<'_>, out: &mut Steps) {
        let mut report = Report { new: scaler.clone(), now: world.now };
        let target = match Target::of(scaler, world) {
            Ok(target) => target,
            Err(why) => {
                let message =
                    format!("the HPA controller was unable to get the target's current scale: {why}");
                report.set("AbleToScale", false, "FailedGetScale", &message);
                out.announce(Announcement::warning(scaler, "FailedGetScale", why));
                out.status_if_changed(AUTOSCALER, scaler, report.new);
                return;
            }
        };
        report.set(
            "AbleToScale",
            true,
            "SucceededGetScale",
            "the HPA controller was able to get the target's current scale",
        );
        let current = target.wanted;
        let least = spec_int(scaler, &["minReplicas"], 1);
        let most = spec_int(scaler, &["maxReplicas"], i64::MAX);
        self.memory.entry(key.clone()).or_default().past.begin(current, world.now);
        let mut metrics = Value::Null;
        let (wanted, reason) = if current == 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            report.set("ScalingActive", false, "ScalingDisabled", message);
            (0, String::new())
        } else if current > most {
            (most, "Current number of replicas above Spec.MaxReplicas".to_owned())
        } else if current < least {
            (least, "Current number of replicas below Spec.MinReplicas".to_owned())
        } else {
            let advice = self.advice(key, scaler, &target, world, &mut report, out);
            metrics = advice.statuses;
            let Some((recommended, name)) = advice.proposal else {
                report.finish(current, None, metrics);
                out.status_if_changed(AUTOSCALER, scaler, report.new);
                if let Some(error) = advice.error {
                    out.announce(Announcement::warning(scaler, "FailedComputeMetricsReplicas", error));
                }
                return;
            };
            let behavior = scaler.at(&["spec", "behavior"]).filter(|behavior| !behavior.is_null());
            let bounds = Bounds { least, most, current, behavior, now: world.now };
            let past = &mut self.memory.entry(key.clone()).or_default().past;
            let verdict = past.settle(recommended, &bounds);
            report.set("AbleToScale", true, verdict.able.0, verdict.able.1);
            let (limited, why, message) = verdict.limited;
            report.set("ScalingLimited", limited, why, message);
            let reason = match recommended.cmp(&current) {
                std::cmp::Ordering::Greater => format!("{name} above target"),
                std::cmp::Ordering::Less => "All metrics below target".to_owned(),
                std::cmp::Ordering::Equal => String::new(),
            };
            (verdict.wanted, reason)
        };
        if wanted != current {
            let memory = self.memory.entry(key.clone()).or_default();
            memory.past.note(current, wanted, world.now);
            memory.attempt = (wanted, reason.clone());
            out.steps.push(Step::Scale { key: target.key, replicas: wanted });
            let message = format!("the HPA controller was able to update the target scale to {wanted}");
            report.set("AbleToScale", true, "SucceededRescale", &message);
            let message = format!("New size: {wanted}; reason: {reason}");
            out.announce(Announcement::normal(scaler, "SuccessfulRescale", message));
            report.new.set(&["status", "lastScaleTime"], stamp(world.now));
        }
        report.finish(current, Some(wanted), metrics);
        out.status_if_changed(AUTOSCALER, scaler, report.new);
    }

    /// Asks all metrics. The one that asks for most counts; one that fails only keeps the workload from shrinking.
    fn advice(
        &mut self,
        key: &Key,
        scaler: &Object,
        target: &Target,
        world: &World<'_>,
        report: &mut Report,
        out: &mut Steps,
    ) -> Advice {
        let mut advice = Advice { proposal: None, statuses: Value::Null, error: None };
        let pods = match self.pods(key, scaler, target, world) {
            Ok(pods) => pods,
            Err((event, why, message, error)) => {
                out.announce(Announcement::warning(scaler, event, error.clone()));
                report.set("ScalingActive", false, why, &message);
                advice.error = Some(error);
                return advice;
            }
        };
        let (wanted, present) = (target.wanted, target.present);
        let query = Query { scaler, wanted, present, pods: &pods, world };
        let specs = scaler.value().items_at(&["spec", "metrics"]);
        let mut statuses = vec![value!({"type": ""}); specs.len()];
        let (mut best, mut first, mut failures): (Option<Proposal>, _, _) = (None, None, 0);
        for (spec, status) in specs.iter().zip(&mut statuses) {
            match query.ask(spec) {
                Ok(proposal) => {
                    *status = proposal.status.clone();
                    if best
                        .as_ref()
                        .is_none_or(|best| best.replicas == 0 || proposal.replicas > best.replicas)
                    {
                        best = Some(proposal);
                    }
                }
                Err(failure) => {
                    out.announce(Announcement::warning(scaler, failure.reason, failure.why.clone()));
                    failures += 1;
                    first.get_or_insert(failure);
                }
            }
        }
        advice.statuses = statuses.into();
        if let Some(failure) = &first {
            let all = specs.len();
            let summary = &failure.summary;
            advice.error =
                Some(format!("invalid metrics ({failures} invalid out of {all}), first error is: {summary}"));
            if best.as_ref().is_none_or(|best| best.replicas < wanted) {
                let message = format!("the HPA was unable to compute the replica count: {}", failure.why);
                report.set("ScalingActive", false, failure.reason, &message);
                return advice;
            }
        }
        if let Some(Proposal { replicas, name, .. }) = best {
            let message = format!("the HPA was able to successfully calculate a replica count from {name}");
            report.set("ScalingActive", true, "ValidMetricFound", &message);
            advice.proposal = Some((replicas, name));
        }
        advice
    }

    /// The pods of a workload, or why they cannot be told: the event's reason, the condition's reason and message, the error.
    fn pods(
        &mut self,
        key: &Key,
        scaler: &Object,
        target: &Target,
        world: &World<'_>,
    ) -> Result<Vec<Object>, (&'static str, &'static str, String, String)> {
        if target.selector.is_empty() {
            let message = "the HPA target's scale is missing a selector".to_owned();
            return Err(("SelectorRequired", "InvalidSelector", message, "selector is required".into()));
        }
        let selector = Selector::parse(&target.selector).map_err(|error| {
            let why =
                format!("couldn't convert selector into a corresponding internal selector object: {error}");
            ("InvalidSelector", "InvalidSelector", why.clone(), why)
        })?;
        self.memory.entry(key.clone()).or_default().selector = Some(selector.clone());
        let mut pods = world.list(POD, scaler.namespace());
        pods.retain(|pod| selector.matches_object(pod));
        let claims = |(other, memory): (&Key, &Memory)| {
            let selects = |selector: &Selector| pods.iter().any(|pod| selector.matches_object(pod));
            let own = other.namespace == key.namespace && memory.selector.as_ref().is_some_and(selects);
            own.then(|| format!("{}/{}", other.namespace, other.name))
        };
        let mut claimants: Vec<String> = self.memory.iter().filter_map(claims).collect();
        if claimants.len() > 1 {
            claimants.sort();
            let why = format!(
                "pods by selector {} are controlled by multiple HPAs: [{}]",
                target.selector,
                claimants.join(" ")
            );
            return Err(("AmbiguousSelector", "AmbiguousSelector", why.clone(), why));
        }
        Ok(pods)
    }
}

/// What the metrics say together.
struct Advice {
    /// A count, and the metric that asks for it.
    proposal: Option<(i64, String)>,
    statuses: Value,
    error: Option<String>,
}

/// The status that comes of a look.
struct Report {
    new: Object,
    now: Timestamp,
}

impl Report {
    fn set(&mut self, type_: &str, holds: bool, reason: &str, message: &str) {
        let status = if holds { "True" } else { "False" };
        condition::replace(&mut self.new, condition::new(type_, status, reason, message, self.now));
    }

    fn finish(&mut self, current: i64, wanted: Option<i64>, metrics: Value) {
        super::pods::set_count(&mut self.new, "currentReplicas", current);
        let before = self.new.value().int_at(&["status", "desiredReplicas"]).unwrap_or(0);
        self.new.set(&["status", "desiredReplicas"], wanted.unwrap_or(before));
        self.new.set(&["status", "currentMetrics"], metrics);
    }
}
