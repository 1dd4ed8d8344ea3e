//! A pod's status: what its containers do, and what follows for the pod.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Value, value};
use sha2::{Digest, Sha256};

use super::life::{self, Ended, Life, Restart, State};
use super::needs::Missing;
use super::program::Program;
use crate::controllers::condition;
use crate::controllers::time::{after, stamp};

/// What is worked out for a pod.
pub(super) struct Assessment {
    /// The pod with its status.
    pub(super) pod: Object,
    /// When something changes next by itself.
    pub(super) next: Option<Timestamp>,
    /// What the containers did since the last look.
    pub(super) news: Vec<News>,
}

/// Something that a container did.
pub(super) struct News {
    pub(super) container: String,
    pub(super) init: bool,
    pub(super) what: Happened,
}

/// What a container did.
pub(super) enum Happened {
    /// It was started, for the first time or again.
    Started { image: String },
    /// It waits before it is started again.
    BackOff,
}

/// The status of a pod whose containers can start at `start`.
pub(super) fn assess(pod: &Object, start: Timestamp, now: Timestamp) -> Assessment {
    let restart = Restart::of(pod.value().str_at(&["spec", "restartPolicy"]));
    let mut run = Run { pod, now, next: None, news: Vec::new() };
    if now < start {
        return run.creating(start);
    }
    let inits = run.init_containers(start, restart);
    let main = run.main_containers(&inits, restart);
    let phase = phase(&inits, &main, restart);
    let mut new = pod.clone();
    new.set(&["status", "phase"], phase);
    set_statuses(&mut new, "initContainerStatuses", inits.statuses);
    set_statuses(&mut new, "containerStatuses", main.statuses);
    run.conditions(&mut new, inits.done, &main.unready, phase);
    Assessment { pod: new, next: run.next, news: run.news }
}

/// The status of a pod that cannot start because something is missing.
pub(super) fn blocked(pod: &Object, missing: &Missing, now: Timestamp) -> Object {
    let run = Run { pod, now, next: None, news: Vec::new() };
    let creating = run.creating(now).pod;
    let Missing::Environment { container, what } = missing else { return creating };
    let mut out = creating;
    for list in ["initContainerStatuses", "containerStatuses"] {
        let mut statuses = out.value().items_at(&["status", list]).to_vec();
        let named = statuses.iter_mut().find(|status| status.str_at(&["name"]) == Some(container));
        if let Some(status) = named {
            let reason = "CreateContainerConfigError";
            status.set(&["state"], value!({"waiting": {"reason": reason, "message": what}}));
            out.set(&["status", list], statuses);
        }
    }
    out
}

fn set_statuses(pod: &mut Object, field: &str, statuses: Vec<Value>) {
    if !statuses.is_empty() {
        pod.set(&["status", field], statuses);
    }
}

struct Run<'a> {
    pod: &'a Object,
    now: Timestamp,
    next: Option<Timestamp>,
    news: Vec<News>,
}

struct Inits {
    statuses: Vec<Value>,
    /// Whether all of them are through.
    done: bool,
    /// Whether one of them failed for good.
    failed: bool,
    /// When the main containers start.
    end: Timestamp,
}

struct Main {
    statuses: Vec<Value>,
    lives: Vec<Life>,
    unready: Vec<String>,
}

impl Run<'_> {
    fn creating(mut self, start: Timestamp) -> Assessment {
        let waiting = |container: &Value, reason: &str| {
            container_status(container, value!({"waiting": {"reason": reason}}), Value::Null, 0, false, false)
        };
        let reason = if self.inits().is_empty() { "ContainerCreating" } else { "PodInitializing" };
        let inits: Vec<Value> = self.inits().iter().map(|init| waiting(init, "PodInitializing")).collect();
        let main: Vec<Value> = self.containers().iter().map(|main| waiting(main, reason)).collect();
        let unready = self.containers().iter().map(name_of).collect::<Vec<_>>();
        let mut new = self.pod.clone();
        new.set(&["status", "phase"], "Pending");
        let initialized = inits.is_empty();
        set_statuses(&mut new, "initContainerStatuses", inits);
        set_statuses(&mut new, "containerStatuses", main);
        self.conditions(&mut new, initialized, &unready, "Pending");
        self.wake(Some(start));
        Assessment { pod: new, next: self.next, news: self.news }
    }

    fn inits(&self) -> &[Value] {
        self.pod.value().items_at(&["spec", "initContainers"])
    }

    fn containers(&self) -> &[Value] {
        self.pod.value().items_at(&["spec", "containers"])
    }

    fn wake(&mut self, at: Option<Timestamp>) {
        self.next = [self.next, at].into_iter().flatten().min();
    }

    /// One after the other; those that go on beside the main containers are only waited for to start.
    fn init_containers(&mut self, start: Timestamp, restart: Restart) -> Inits {
        let mut out = Inits { statuses: Vec::new(), done: true, failed: false, end: start };
        for container in self.inits().to_vec() {
            if !out.done {
                let waiting = value!({"waiting": {"reason": "PodInitializing"}});
                out.statuses.push(container_status(&container, waiting, Value::Null, 0, false, false));
                continue;
            }
            let sidecar = container.str_at(&["restartPolicy"]) == Some("Always");
            let (program, policy) = if sidecar {
                (Program { run_for: None, exit_code: 0 }, Restart::Always)
            } else {
                // A failed init container is repeated unless the pod may not be.
                let policy = if restart == Restart::Never { Restart::Never } else { Restart::OnFailure };
                (Program::of_init(&container), policy)
            };
            let life = life::at(program, policy, out.end, self.now);
            self.wake(life.next);
            self.tell(&container, &life, true);
            let through = sidecar || matches!(life.state, State::Ended(Ended { exit_code: 0, .. }));
            if let State::Ended(ended) = life.state {
                out.end = ended.finished;
                out.failed = ended.exit_code != 0;
            }
            out.done = through;
            out.statuses.push(status_of(self.pod, &container, &life, through, true));
        }
        out
    }

    fn main_containers(&mut self, inits: &Inits, restart: Restart) -> Main {
        let mut out = Main { statuses: Vec::new(), lives: Vec::new(), unready: Vec::new() };
        for container in self.containers().to_vec() {
            if !inits.done {
                let waiting = value!({"waiting": {"reason": "PodInitializing"}});
                out.statuses.push(container_status(&container, waiting, Value::Null, 0, false, false));
                out.unready.push(name_of(&container));
                continue;
            }
            let program = Program::of(self.pod, &container);
            let life = life::at(program, restart, inits.end, self.now);
            self.wake(life.next);
            self.tell(&container, &life, false);
            let ready = !program.crashes_at_once() && self.is_ready(&container, &life);
            if !ready {
                out.unready.push(name_of(&container));
            }
            out.statuses.push(status_of(
                self.pod,
                &container,
                &life,
                ready,
                matches!(life.state, State::Running { .. }),
            ));
            out.lives.push(life);
        }
        out
    }

    /// A container with a readiness probe is ready once its first probe is due.
    fn is_ready(&mut self, container: &Value, life: &Life) -> bool {
        let State::Running { since } = life.state else { return false };
        let delay = container.int_at(&["readinessProbe", "initialDelaySeconds"]).unwrap_or(0);
        let at = after(since, delay);
        if at > self.now {
            self.wake(Some(at));
        }
        at <= self.now
    }

    fn tell(&mut self, container: &Value, life: &Life, init: bool) {
        let field = if init { "initContainerStatuses" } else { "containerStatuses" };
        let name = name_of(container);
        let before = self.pod.value().items_at(&["status", field]);
        let before = before.iter().find(|status| status.str_at(&["name"]) == Some(&name));
        let known = before.filter(|status| status.get("containerID").is_some());
        let restarts = known.and_then(|status| status.int_at(&["restartCount"]));
        let what = match life.state {
            State::BackOff { .. }
                if known.is_some_and(|status| status.at(&["state", "waiting"]).is_none()) =>
            {
                Happened::BackOff
            }
            _ if restarts.is_none_or(|restarts| restarts < life.restarts) => {
                Happened::Started { image: container.str_at(&["image"]).unwrap_or_default().to_owned() }
            }
            _ => return,
        };
        self.news.push(News { container: name, init, what });
    }

    fn conditions(&self, pod: &mut Object, initialized: bool, unready: &[String], phase: &str) {
        let finished = phase == "Succeeded" || phase == "Failed";
        let mut set = |type_: &str, holds: bool, reason: &str, message: &str| {
            let (status, reason, message) = if holds { ("True", "", "") } else { ("False", reason, message) };
            let mut condition = condition::new(type_, status, reason, message, self.now);
            condition.set(&["lastProbeTime"], Value::Null);
            if pod.generation() > 0 {
                condition.set(&["observedGeneration"], pod.generation());
            }
            condition::replace(pod, condition);
        };
        let started = initialized && (phase != "Pending");
        set("PodReadyToStartContainers", started && !finished, "", "");
        let names = self.inits().iter().map(name_of).collect::<Vec<_>>().join(" ");
        let incomplete = format!("containers with incomplete status: [{names}]");
        set("Initialized", initialized, "ContainersNotInitialized", &incomplete);
        let message = format!("containers with unready status: [{}]", unready.join(" "));
        let (reason, message) = match phase {
            "Succeeded" => ("PodCompleted", ""),
            "Failed" => ("PodFailed", ""),
            _ => ("ContainersNotReady", message.as_str()),
        };
        let ready = unready.is_empty() && phase == "Running";
        set("ContainersReady", ready, reason, message);
        let gates = self.pod.value().items_at(&["spec", "readinessGates"]);
        let closed = gates
            .iter()
            .filter_map(|gate| gate.str_at(&["conditionType"]))
            .find(|gate| !condition::is_true(self.pod, gate));
        match closed.filter(|_| ready) {
            Some(gate) => {
                let message =
                    format!("corresponding condition of pod readiness gate {gate:?} does not exist.");
                set("Ready", false, "ReadinessGatesNotReady", &message);
            }
            None => set("Ready", ready, reason, message),
        }
    }
}

fn phase(inits: &Inits, main: &Main, restart: Restart) -> &'static str {
    if !inits.done {
        return if inits.failed { "Failed" } else { "Pending" };
    }
    let ended: Vec<&Ended> = main
        .lives
        .iter()
        .filter_map(|life| match &life.state {
            State::Ended(ended) => Some(ended),
            _ => None,
        })
        .collect();
    if restart == Restart::Always || ended.len() < main.lives.len() {
        "Running"
    } else if ended.iter().all(|ended| ended.exit_code == 0) {
        "Succeeded"
    } else {
        "Failed"
    }
}

fn status_of(pod: &Object, container: &Value, life: &Life, ready: bool, started: bool) -> Value {
    let state = match life.state {
        State::Running { since } => value!({"running": {"startedAt": stamp(since)}}),
        State::Ended(ended) => terminated(pod, container, &ended, life.restarts),
        State::BackOff { wait } => {
            let name = name_of(container);
            let message = format!("back-off {} restarting failed container={name}", go_duration(wait));
            value!({"waiting": {"reason": "CrashLoopBackOff", "message": message}})
        }
    };
    let last = life.last.map_or(Value::Null, |ended| terminated(pod, container, &ended, life.restarts - 1));
    let mut status = container_status(container, state, last, life.restarts, ready, started);
    let image = container.str_at(&["image"]).unwrap_or_default();
    status.set(&["imageID"], image_id(image));
    status.set(&["containerID"], container_id(pod, container, life.restarts));
    status
}

fn terminated(pod: &Object, container: &Value, ended: &Ended, run: i64) -> Value {
    let reason = if ended.exit_code == 0 { "Completed" } else { "Error" };
    value!({"terminated": {
        "exitCode": ended.exit_code, "reason": reason, "startedAt": stamp(ended.started),
        "finishedAt": stamp(ended.finished), "containerID": container_id(pod, container, run),
    }})
}

fn container_status(
    container: &Value,
    state: Value,
    last: Value,
    restarts: i64,
    ready: bool,
    started: bool,
) -> Value {
    let mut status = value!({
        "name": name_of(container), "image": container.str_at(&["image"]).unwrap_or_default(), "imageID": "",
        "ready": ready, "started": started, "restartCount": restarts,
    });
    status.set(&["state"], state);
    status.set(&["lastState"], if last.is_null() { value!({}) } else { last });
    status
}

fn name_of(container: &Value) -> String {
    container.str_at(&["name"]).unwrap_or_default().to_owned()
}

fn image_id(image: &str) -> String {
    let name = image.split('@').next().unwrap_or(image);
    let name = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(name, |(name, _)| name);
    format!("{name}@sha256:{}", hex(image))
}

fn container_id(pod: &Object, container: &Value, run: i64) -> String {
    format!("containerd://{}", hex(&format!("{}/{}/{run}", pod.uid(), name_of(container))))
}

fn hex(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn go_duration(wait: SignedDuration) -> String {
    let seconds = wait.as_secs();
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m{}s", seconds / 60, seconds % 60) }
}
