//! CronJobs: Jobs at times of a schedule.

mod schedule;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lynceus_object::{Object, Str, Value, value};

use self::schedule::Schedule;
use super::job;
use super::key::Key;
use super::kind::{CRON_JOB, JOB, is_among};
use super::pods;
use super::steps::{Announcement, Deletion, Steps};
use super::time::{self, after, seconds_between, stamp};
use super::world::World;
use super::{Controller, Refusal, Writer, manager};
use crate::hash::QuickMap;
use crate::store::{Event, Place};
use lynceus_object::Propagation;

/// More missed times than this are not looked at one by one.
const MOST_MISSED: usize = 100;
/// The time that a Job was made for.
const SCHEDULED_AT: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// Makes Jobs when they are due.
#[derive(Default)]
pub(crate) struct CronJobs {
    /// What was read of each CronJob. Every change of a Job asks for it, and it seldom becomes another.
    read: QuickMap<Key, Arc<Read>>,
}

/// When a CronJob is due, with the texts that say so.
struct Read {
    text: Str,
    zone_name: Str,
    schedule: Schedule,
    zone: TimeZone,
}

impl Controller for CronJobs {
    fn component(&self) -> &'static str {
        "cronjob-controller"
    }

    fn writer(&self) -> Writer {
        manager!("cronjob-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[CRON_JOB, JOB], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if CRON_JOB.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if JOB.is(&event.place)
            && let Some(name) = pods::managed_by(&event.object, CRON_JOB)
        {
            wake.push(Key::new(CRON_JOB, event.object.namespace(), &name));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(cron) = world.find(key) else {
            self.read.remove(key);
            return;
        };
        let with_outcome = |job| (job::outcome(&job), job);
        let jobs: Vec<_> = world.managed(&cron, JOB).into_iter().map(with_outcome).collect();
        let (read, new) = (&mut self.read, cron.clone());
        let mut look = Look { key, cron: &cron, new, jobs: &jobs, read, world, out };
        look.track();
        if !cron.is_deleting() {
            look.start_if_due();
            look.clean_up();
        }
        let new = look.new;
        out.status_if_changed(CRON_JOB, &cron, new);
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        if let Some(cron) = world.find(key) {
            let message = format!("Error creating job: {}", why.error);
            out.announce(Announcement::warning(&cron, "FailedCreate", message));
        }
    }
}

struct Look<'a> {
    key: &'a Key,
    cron: &'a Object,
    new: Object,
    /// Its Jobs, each with how it ended, if it did.
    jobs: &'a [(Option<&'static str>, Object)],
    read: &'a mut QuickMap<Key, Arc<Read>>,
    world: &'a World<'a>,
    out: &'a mut Steps,
}

impl Look<'_> {
    /// Keeps the list of Jobs that run, and the time of the last success.
    fn track(&mut self) {
        let known = self.cron.value().items_at(&["status", "active"]).to_vec();
        let is_known = |job: &Object| known.iter().any(|active| active.str_at(&["uid"]) == Some(job.uid()));
        let mut active = Vec::new();
        for (outcome, job) in self.jobs {
            match outcome {
                // A reference stays as it was written, or every change of the Job would change the CronJob.
                None if is_known(job) => {
                    active.extend(
                        known.iter().find(|active| active.str_at(&["uid"]) == Some(job.uid())).cloned(),
                    );
                }
                None if self.is_own(job) => active.push(reference(job)),
                None => {
                    let name = job.name();
                    let message = format!("Saw a job that the controller did not create or forgot: {name}");
                    self.out.announce(Announcement::warning(self.cron, "UnexpectedJob", message));
                }
                Some(outcome) if is_known(job) => {
                    let message = format!("Saw completed job: {}, condition: {outcome}", job.name());
                    self.out.announce(Announcement::normal(self.cron, "SawCompletedJob", message));
                }
                Some(_) => {}
            }
            let done = time::read(job.at(&["status", "completionTime"]));
            let best = time::read(self.new.at(&["status", "lastSuccessfulTime"]));
            if let Some(done) = done.filter(|done| best.is_none_or(|best| *done > best)) {
                self.new.set(&["status", "lastSuccessfulTime"], stamp(done));
            }
        }
        for gone in &known {
            let uid = gone.str_at(&["uid"]);
            if !self.jobs.iter().any(|(_, job)| Some(job.uid()) == uid) {
                let name = gone.str_at(&["name"]).unwrap_or_default();
                let message = format!("Active job went missing: {name}");
                self.out.announce(Announcement::normal(self.cron, "MissingJob", message));
            }
        }
        if active.is_empty() {
            self.new.remove(&["status", "active"]);
        } else {
            self.new.set(&["status", "active"], active);
        }
    }

    /// Whether it was made on schedule. One that somebody made by hand is another's business.
    fn is_own(&self, job: &Object) -> bool {
        job.annotation(SCHEDULED_AT).is_some()
    }

    fn start_if_due(&mut self) {
        if self.cron.value().bool_at(&["spec", "suspend"]) == Some(true) {
            return;
        }
        let Some(read) = self.schedule() else { return };
        let Read { schedule, zone, .. } = &*read;
        match schedule.next(self.world.now, zone) {
            Some(next) => self.out.again_at(next),
            None => return self.report_never(),
        }
        let Some(due) = self.last_due(schedule, zone) else { return };
        let deadline = self.cron.value().int_at(&["spec", "startingDeadlineSeconds"]);
        if deadline.is_some_and(|seconds| after(due, seconds) < self.world.now) {
            let message = format!(
                "Missed scheduled time to start a job: {}",
                due.strftime("%a, %d %b %Y %H:%M:%S +0000")
            );
            self.out.announce(Announcement::warning(self.cron, "MissSchedule", message));
            return;
        }
        if time::read(self.cron.at(&["status", "lastScheduleTime"])) == Some(due) {
            return;
        }
        let running = self.jobs.iter().filter(|(outcome, _)| outcome.is_none());
        let running: Vec<&Object> = running.map(|(_, job)| job).collect();
        match self.cron.value().str_at(&["spec", "concurrencyPolicy"]) {
            Some("Forbid") if !running.is_empty() => {
                let message =
                    "Not starting job because prior execution is running and concurrency policy is Forbid";
                self.out.announce(Announcement::normal(self.cron, "JobAlreadyActive", message));
                return;
            }
            Some("Replace") => running.iter().for_each(|job| delete(self.cron, job, self.out)),
            _ => {}
        }
        self.create(due, zone);
        self.new.set(&["status", "lastScheduleTime"], stamp(due));
    }

    fn schedule(&mut self) -> Option<Arc<Read>> {
        let spec = |field| self.cron.value().str_at(&["spec", field]);
        let text = spec("schedule").unwrap_or_default();
        let name = spec("timeZone").unwrap_or("UTC");
        let known = self.read.get(self.key);
        if let Some(known) = known.filter(|known| known.text == text && known.zone_name == name) {
            return Some(Arc::clone(known));
        }
        let Ok(zone) = TimeZone::get(name) else {
            let message = format!("invalid timeZone: {name:?}: unknown time zone {name}");
            self.out.announce(Announcement::warning(self.cron, "UnknownTimeZone", message));
            return None;
        };
        match Schedule::parse(text) {
            Ok(schedule) => {
                let read = Arc::new(Read { text: text.into(), zone_name: name.into(), schedule, zone });
                self.read.insert(self.key.clone(), Arc::clone(&read));
                Some(read)
            }
            Err(error) => {
                let message = format!("unparseable schedule: {text:?} : {error}");
                self.out.announce(Announcement::warning(self.cron, "UnparseableSchedule", message));
                None
            }
        }
    }

    /// A day that no month has: the original finds two times without a second between them.
    fn report_never(&mut self) {
        let text = self.cron.value().str_at(&["spec", "schedule"]).unwrap_or_default();
        let message =
            format!("invalid schedule: {text} : time difference between two schedules is less than 1 second");
        self.out.announce(Announcement::warning(self.cron, "InvalidSchedule", message));
    }

    /// The last time at which a Job was due and none was made yet.
    fn last_due(&mut self, schedule: &Schedule, zone: &TimeZone) -> Option<Timestamp> {
        let now = self.world.now;
        let since =
            time::read(self.cron.at(&["status", "lastScheduleTime"])).or_else(|| pods::created(self.cron))?;
        let earliest = self
            .cron
            .value()
            .int_at(&["spec", "startingDeadlineSeconds"])
            .map_or(since, |seconds| since.max(after(now, -seconds)));
        let mut due = None;
        let mut from = earliest;
        for _ in 0..MOST_MISSED {
            match schedule.next(from, zone).filter(|next| *next <= now) {
                Some(next) => {
                    due = Some(next);
                    from = next;
                }
                None => return due,
            }
        }
        let message =
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
        self.out.announce(Announcement::warning(self.cron, "TooManyMissedTimes", message));
        // Far behind: the last one lies within the wait between two.
        let gap = seconds_between(from, schedule.next(from, zone)?).max(1);
        let mut from = after(now, -2 * gap).max(from);
        while let Some(next) = schedule.next(from, zone).filter(|next| *next <= now) {
            due = Some(next);
            from = next;
        }
        due
    }

    fn create(&mut self, due: Timestamp, zone: &TimeZone) {
        let name = format!("{}-{}", self.cron.name(), due.as_second().div_euclid(60));
        let mut job = JOB.named(self.cron.namespace(), &name);
        let template = self.cron.at(&["spec", "jobTemplate"]).cloned().unwrap_or_default();
        for field in ["labels", "annotations"] {
            if let Some(value) = template.at(&["metadata", field]) {
                job.set(&["metadata", field], value.clone());
            }
        }
        let local = due.to_zoned(zone.clone());
        let offset = if local.offset().is_zero() { "Z".into() } else { local.strftime("%:z").to_string() };
        job.set_annotation(SCHEDULED_AT, format!("{}{offset}", local.strftime("%Y-%m-%dT%H:%M:%S")));
        job.set(&["metadata", "ownerReferences"], vec![pods::controller_ref(self.cron)]);
        if let Some(spec) = template.get("spec") {
            job.set(&["spec"], spec.clone());
        }
        if self.world.get(JOB, self.cron.namespace(), &name).is_none() {
            let told = Announcement::normal(self.cron, "SuccessfulCreate", "Created job {name}");
            self.out.create_and_tell(JOB, job, told);
        }
    }

    /// Deletes the oldest Jobs that have ended, beyond the limits.
    fn clean_up(&mut self) {
        for (outcome, field) in
            [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")]
        {
            let Some(limit) = self.cron.value().int_at(&["spec", field]) else { continue };
            let of_outcome = self.jobs.iter().filter(|(end, _)| *end == Some(outcome)).map(|(_, job)| job);
            let mut ended: Vec<&Object> = of_outcome.filter(|job| !job.is_deleting()).collect();
            let excess = usize::try_from(ended.len() as i64 - limit).unwrap_or(0);
            if excess > 0 {
                ended.sort_by_cached_key(|job| {
                    (time::read(job.at(&["status", "startTime"])), job.name().to_owned())
                });
            }
            ended.iter().take(excess).for_each(|job| delete(self.cron, job, self.out));
        }
    }
}

fn delete(cron: &Object, job: &Object, out: &mut Steps) {
    out.delete_how(JOB, job, Deletion { grace: None, propagation: Some(Propagation::Background) });
    let message = format!("Deleted job {}", job.name());
    out.announce(Announcement::normal(cron, "SuccessfulDelete", message));
}

fn reference(job: &Object) -> Value {
    value!({
        "kind": "Job", "namespace": job.namespace(), "name": job.name(), "uid": job.uid(),
        "apiVersion": "batch/v1", "resourceVersion": job.resource_version(),
    })
}
