//! Jobs: pods that have to succeed, a number of times.

mod ending;
mod index;
mod policy;
mod tally;

use jiff::Timestamp;
use lynceus_object::{Object, Str, value};

use self::ending::Verdict;
use self::tally::Tally;
use super::key::Key;
use super::kind::{JOB, POD, is_among};
use super::pods::{self, set_count, spec_int};
use super::steps::{Announcement, Deletion, Step, Steps};
use super::time::{self, after, stamp};
use super::world::World;
use super::{Controller, Refusal, Writer, announce_refusal, condition, manager};
use crate::store::{Event, Place};
use lynceus_object::Propagation;

/// Keeps a Job's pods until they are counted.
pub(crate) const TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// The first wait before a failed pod is replaced; it doubles with each further failure.
const FIRST_BACKOFF: i64 = 10;
/// The longest wait before a failed pod is replaced.
const LONGEST_BACKOFF: i64 = 600;
/// The most pods that are made in one look.
const BURST: usize = 500;

/// Runs Jobs.
pub(crate) struct Jobs;

impl Controller for Jobs {
    fn component(&self) -> &'static str {
        "job-controller"
    }

    fn writer(&self) -> Writer {
        manager!("job-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[JOB, POD], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if JOB.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if POD.is(&event.place)
            && let Some(name) = pods::managed_by(&event.object, JOB)
        {
            wake.push(Key::new(JOB, event.object.namespace(), &name));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(job) = world.find(key) else {
            // Nobody will count the pods of a Job that is gone.
            let orphans = world.list(POD, &key.namespace).into_iter();
            let orphans =
                orphans.filter(|pod| pods::managed_by(pod, JOB).is_some_and(|name| name == key.name));
            release(&orphans.collect::<Vec<_>>(), out);
            return;
        };
        if job.value().str_at(&["spec", "managedBy"]).is_some_and(|by| by != "kubernetes.io/job-controller") {
            return;
        }
        let pods_of_job = world.managed(&job, POD);
        if is_finished(&job) {
            release(&pods_of_job, out);
            expire(&job, world, out);
            return;
        }
        Look { job: &job, new: job.clone(), pods: &pods_of_job, world, out }.run();
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        if let Some(job) = world.find(key) {
            announce_refusal(&job, why, out);
        }
    }
}

/// Whether a Job has ended, and how: `Complete` or `Failed`.
pub(crate) fn outcome(job: &Object) -> Option<&'static str> {
    ["Complete", "Failed"].into_iter().find(|type_| condition::is_true(job, type_))
}

fn is_finished(job: &Object) -> bool {
    outcome(job).is_some()
}

/// Lets pods go that nobody will count any more.
fn release(pods_of_job: &[Object], out: &mut Steps) {
    for pod in pods_of_job.iter().filter(|pod| is_tracked(pod)) {
        out.steps.push(Step::Unfinalize { key: Key::of(&POD.place(), pod), finalizer: TRACKING });
    }
}

fn is_tracked(pod: &Object) -> bool {
    pod.finalizers().any(|finalizer| finalizer == TRACKING)
}

/// Deletes a Job some time after its end, if it says so.
fn expire(job: &Object, world: &World<'_>, out: &mut Steps) {
    let Some(ttl) = job.value().int_at(&["spec", "ttlSecondsAfterFinished"]) else { return };
    let ended = outcome(job)
        .and_then(|type_| condition::get(job, type_))
        .and_then(|condition| time::read(condition.get("lastTransitionTime")));
    let Some(at) = ended.map(|ended| after(ended, ttl)) else { return };
    if job.is_deleting() {
        return;
    }
    if at > world.now {
        out.again_at(at);
    } else {
        out.delete_how(JOB, job, Deletion { grace: None, propagation: Some(Propagation::Foreground) });
    }
}

struct Look<'a> {
    job: &'a Object,
    new: Object,
    pods: &'a [Object],
    world: &'a World<'a>,
    out: &'a mut Steps,
}

impl Look<'_> {
    fn run(mut self) {
        let suspended = self.job.value().bool_at(&["spec", "suspend"]) == Some(true);
        if self.job.at(&["status", "startTime"]).is_none() && !suspended {
            self.new.set(&["status", "startTime"], stamp(self.world.now));
        }
        let tally = Tally::take(self.job, self.pods, &mut self.new);
        let active: Vec<Object> = self.pods.iter().filter(|pod| pods::is_active(pod)).cloned().collect();
        let mut count = active.len() as i64;
        match self.verdict(&tally, active.is_empty()) {
            Some(verdict) => {
                for pod in &active {
                    // Pods that are still there when enough has succeeded count neither way.
                    if verdict.is_success() { self.discard(pod) } else { self.delete(pod) }
                }
                count = 0;
                self.conclude(&verdict, &tally, active.is_empty());
            }
            None if self.job.is_deleting() => {}
            None if suspended => {
                active.iter().for_each(|pod| self.discard(pod));
                count = 0;
                self.note_suspension("True", "JobSuspended", "Job suspended", "Suspended");
            }
            None => {
                if condition::is_true(self.job, "Suspended") {
                    self.new.set(&["status", "startTime"], stamp(self.world.now));
                    self.note_suspension("False", "JobResumed", "Job resumed", "Resumed");
                }
                count -= self.manage(&active, &tally);
            }
        }
        self.report(count, &active);
        // Pods are let go after they are counted, so that a crash in between counts none twice.
        for uid in tally.counted {
            if let Some(pod) = self.pods.iter().find(|pod| pod.uid() == uid && is_tracked(pod)) {
                self.out
                    .steps
                    .push(Step::Unfinalize { key: Key::of(&POD.place(), pod), finalizer: TRACKING });
            }
        }
    }

    fn completions(&self) -> Option<i64> {
        self.job.value().int_at(&["spec", "completions"])
    }

    fn is_indexed(&self) -> bool {
        self.job.value().str_at(&["spec", "completionMode"]) == Some("Indexed")
    }

    /// How the Job ends, if it does.
    fn verdict(&mut self, tally: &Tally, idle: bool) -> Option<Verdict> {
        let (job, pods_of_job) = (self.job, self.pods);
        let failed = tally.failed + tally.awaiting.len() as i64;
        ending::told(job)
            .or_else(|| ending::by_one_pod(job, pods_of_job))
            .or_else(|| ending::by_failures(job, pods_of_job, failed))
            .or_else(|| self.by_deadline())
            .or_else(|| ending::by_failed_indexes(job, &self.new))
            .or_else(|| ending::by_success_policy(job, &self.new))
            .or_else(|| self.by_completions(tally, idle))
    }

    fn by_deadline(&mut self) -> Option<Verdict> {
        let deadline = self.deadline()?;
        if deadline > self.world.now {
            self.out.again_at(deadline);
            return None;
        }
        Some(Verdict::failure("DeadlineExceeded", "Job was active longer than specified deadline"))
    }

    fn by_completions(&self, tally: &Tally, idle: bool) -> Option<Verdict> {
        let done = match self.completions() {
            None => tally.succeeded > 0 && idle,
            Some(completions) => tally.succeeded >= completions && idle,
        };
        done.then(|| Verdict::success("CompletionsReached", "Reached expected number of succeeded pods"))
    }

    fn deadline(&self) -> Option<Timestamp> {
        let seconds = self.job.value().int_at(&["spec", "activeDeadlineSeconds"])?;
        let suspended = self.job.value().bool_at(&["spec", "suspend"]) == Some(true);
        let started = time::read(self.new.at(&["status", "startTime"])).filter(|_| !suspended)?;
        Some(after(started, seconds))
    }

    /// First says how it will end, and, when all pods are gone and counted, that it has.
    fn conclude(&mut self, verdict: &Verdict, tally: &Tally, idle: bool) {
        let now = self.world.now;
        let with_probe = |type_: &str| {
            let mut condition = condition::new(type_, "True", &verdict.reason, &verdict.message, now);
            condition.set(&["lastProbeTime"], stamp(now));
            condition
        };
        if condition::get(self.job, verdict.target).is_none() {
            condition::set(&mut self.new, with_probe(verdict.target));
        }
        let gone = self.pods.iter().all(pods::is_finished);
        if !(idle && gone && tally.uncounted == 0 && tally.awaiting.is_empty()) {
            return;
        }
        condition::set(&mut self.new, with_probe(verdict.end));
        if verdict.end == "Complete" {
            self.new.set(&["status", "completionTime"], stamp(now));
            self.out.announce(Announcement::normal(self.job, "Completed", "Job completed"));
        } else {
            let reason = known_reason(&verdict.reason);
            self.out.announce(Announcement::warning(self.job, reason, verdict.message.clone()));
        }
    }

    fn note_suspension(&mut self, status: &str, reason: &str, message: &str, told: &'static str) {
        let mut condition = condition::new("Suspended", status, reason, message, self.world.now);
        condition.set(&["lastProbeTime"], stamp(self.world.now));
        let before = self.new.clone();
        condition::set(&mut self.new, condition);
        if before != self.new {
            self.out.announce(Announcement::normal(self.job, told, message));
            if status == "True" {
                self.new.remove(&["status", "startTime"]);
            }
        }
    }

    /// Makes or deletes pods. Gives how many were deleted: those that are made are counted when they are there, as they
    /// may be refused.
    fn manage(&mut self, active: &[Object], tally: &Tally) -> i64 {
        let parallelism = spec_int(self.job, &["parallelism"], 1);
        let running = active.len() as i64;
        let wanted = match self.completions() {
            Some(completions) => parallelism.min((completions - tally.succeeded).max(0)),
            // Without a number, one success means that no more pods are started.
            None if tally.succeeded > 0 => running.min(parallelism),
            None => parallelism,
        };
        if running > wanted {
            let mut ranked = active.to_vec();
            pods::rank_for_deletion(&mut ranked);
            let excess = usize::try_from(running - wanted).unwrap_or(0);
            ranked.iter().take(excess).for_each(|pod| self.discard(pod));
            return running - wanted;
        }
        let stopping = if policy::waits_for_end(self.job) { self.stopping() } else { 0 };
        let missing = usize::try_from(wanted - running - stopping).unwrap_or(0).min(BURST);
        if missing > 0 {
            self.make(missing, tally);
        }
        0
    }

    /// Makes pods, unless failed ones ask for a wait.
    fn make(&mut self, missing: usize, tally: &Tally) {
        let own_limit = index::has_own_limit(self.job);
        if !own_limit
            && let Some(at) = tally.backoff_until(self.pods, FIRST_BACKOFF, LONGEST_BACKOFF)
            && at > self.world.now
        {
            self.out.again_at(at);
            return;
        }
        if !self.is_indexed() {
            (0..missing).for_each(|_| self.create(None, None));
            return;
        }
        let mut made = 0;
        for index in index::free(self.job, self.pods, &self.new) {
            let replaced = tally.awaiting.get(&index);
            let wait =
                replaced.and_then(|pod| index::again_at(self.job, pod, FIRST_BACKOFF, LONGEST_BACKOFF));
            if let Some(at) = wait.filter(|at| own_limit && *at > self.world.now) {
                self.out.again_at(at);
            } else if made < missing {
                self.create(Some(index), replaced);
                made += 1;
            }
        }
    }

    fn create(&mut self, index: Option<i64>, replaced: Option<&Object>) {
        let template = self.job.at(&["spec", "template"]).cloned().unwrap_or_default();
        let mut pod = pods::from_template(self.job, &template);
        let mut finalizers = pod.value().items_at(&["metadata", "finalizers"]).to_vec();
        finalizers.push(TRACKING.into());
        pod.set(&["metadata", "finalizers"], finalizers);
        if let Some(index) = index {
            index::label(&mut pod, self.job, index);
            if index::has_own_limit(self.job) {
                index::remember(&mut pod, self.job, replaced);
            }
        }
        let told = Announcement::normal(self.job, "SuccessfulCreate", "Created pod: {name}");
        self.out.create_and_tell(POD, pod, told);
    }

    /// Deletes a pod that is not to be counted.
    fn discard(&mut self, pod: &Object) {
        if is_tracked(pod) {
            self.out.steps.push(Step::Unfinalize { key: Key::of(&POD.place(), pod), finalizer: TRACKING });
        }
        self.delete(pod);
    }

    fn delete(&mut self, pod: &Object) {
        self.out.delete(POD, pod);
        let message = format!("Deleted pod: {}", pod.name());
        self.out.announce(Announcement::normal(self.job, "SuccessfulDelete", message));
    }

    /// How many pods are on their way out.
    fn stopping(&self) -> i64 {
        self.pods.iter().filter(|pod| pod.is_deleting() && !pods::is_finished(pod)).count() as i64
    }

    fn report(&mut self, active: i64, running: &[Object]) {
        let ready = running.iter().filter(|pod| pods::is_ready(pod)).count() as i64;
        let terminating = self.stopping();
        set_count(&mut self.new, "active", active);
        self.new.set(&["status", "ready"], ready.min(active));
        self.new.set(&["status", "terminating"], terminating);
        if self.new.at(&["status", "uncountedTerminatedPods"]).is_none() {
            self.new.set(&["status", "uncountedTerminatedPods"], value!({}));
        }
        // The status goes first: what follows is done on its strength.
        if self.new.value() != self.job.value() {
            self.out.steps.insert(0, Step::Status { kind: JOB, object: self.new.clone() });
        }
    }
}

fn known_reason(reason: &str) -> &'static str {
    [
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "PodFailurePolicy",
        "FailedIndexes",
        "MaxFailedIndexesExceeded",
    ]
    .into_iter()
    .find(|known| *known == reason)
    .unwrap_or("Failed")
}

/// The uids in a list of the status.
fn uids(job: &Object, field: &str) -> Vec<Str> {
    let list = job.value().items_at(&["status", "uncountedTerminatedPods", field]);
    list.iter().filter_map(|uid| uid.as_str().map(Str::from)).collect()
}
