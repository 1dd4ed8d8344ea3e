//! One container: waiting for its image, running, ended, started again.
//!
//! Where a container stands is what the pod's status says, so that nothing but the waits has to be remembered.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, Value, value};
use sha2::{Digest, Sha256};

use super::backoff::add;
use super::program::{Program, Role};
use super::restart::Restart;
use super::scene::{Part, Scene};
use super::{needs, probe, pull, right, service};
use crate::controllers::time::{self, stamp};

/// How many things one container may do at one point in time. A wait comes after two runs at the latest.
const MOST_STEPS: usize = 8;
/// What a container ends with that is told to stop.
const TOLD_TO_STOP: i64 = 143;
/// How long a program runs that the API server refuses.
const REFUSED_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// What a container waits with that cannot be made as it says.
const CONFIG_ERROR: &str = "CreateContainerConfigError";

/// One run of a container that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    started: Timestamp,
    finished: Timestamp,
    /// What it ended with.
    pub(super) exit_code: i64,
    reason: Str,
    message: Str,
    id: Str,
}

/// What a container waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has no image yet, or waits for its turn.
    Waiting(Waiting),
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended.
    Ended(Ended),
    /// Its last run has ended, and it is started again after a wait.
    BackOff(SignedDuration),
}

/// A container at a time.
#[derive(Clone, Debug)]
pub(super) struct Container {
    /// What it does.
    pub(super) state: State,
    /// Its last run that has ended, while a newer one runs or is awaited.
    last: Option<Ended>,
    restarts: i64,
    /// Whether it was started before.
    pub(super) made: bool,
    /// Whether it has started to serve, as far as its startup probe tells.
    pub(super) started: bool,
    /// Whether it is ready.
    pub(super) ready: bool,
    image: Str,
}

impl Container {
    /// A container as the pod's status has it.
    pub(super) fn before(scene: &Scene<'_>, part: &Part<'_>) -> Self {
        let status = scene.before(part);
        let at = |path: &[&str]| status.and_then(|status| status.at(path));
        let last = at(&["lastState", "terminated"]).map(Ended::read);
        let state = if let Some(running) = at(&["state", "running"]) {
            State::Running { since: time::read(running.get("startedAt")).unwrap_or(scene.now()) }
        } else if let Some(ended) = at(&["state", "terminated"]) {
            State::Ended(Ended::read(ended))
        } else if at(&["state", "waiting", "reason"]).and_then(Value::as_str) == Some("CrashLoopBackOff") {
            State::BackOff(SignedDuration::ZERO)
        } else {
            State::Waiting(Waiting { reason: "ContainerCreating", message: String::new() })
        };
        Container {
            state,
            last,
            restarts: at(&["restartCount"]).and_then(Value::as_int).unwrap_or(0),
            made: at(&["containerID"]).is_some(),
            started: false,
            ready: false,
            image: at(&["image"]).and_then(Value::as_str).unwrap_or_default().into(),
        }
    }

    /// A container whose turn has not come.
    pub(super) fn not_yet(scene: &Scene<'_>, part: &Part<'_>) -> Self {
        let state = State::Waiting(Waiting { reason: "PodInitializing", message: String::new() });
        Container { state, ..Container::before(scene, part) }
    }

    /// Lets the container do what it does up to now.
    pub(super) fn advance(mut self, scene: &mut Scene<'_>, part: &Part<'_>, restart: &Restart<'_>) -> Self {
        let program = Program::of(scene.pod, part.spec, part.role, scene.world.local.stage());
        service::note(scene, &program);
        for _ in 0..MOST_STEPS {
            let more = match self.state.clone() {
                State::Waiting(_) => self.start(scene, part),
                State::Running { since } => self.run(scene, part, &program, since),
                State::Ended(ended) => self.again(scene, part, restart, ended, false),
                State::BackOff(_) => match self.last.clone() {
                    Some(ended) => self.again(scene, part, restart, ended, true),
                    None => self.start(scene, part),
                },
            };
            if !more {
                break;
            }
        }
        if let State::Running { since } = self.state
            && part.role != Role::Guest
        {
            let answers = probe::look(scene, part, &program, since, self.restarts);
            (self.started, self.ready) = (answers.started, answers.ready);
        }
        self
    }

    fn start(&mut self, scene: &mut Scene<'_>, part: &Part<'_>) -> bool {
        let lack = needs::container(scene.pod, part.spec, scene.world);
        let told = lack.is_some() && pull::is_known(scene, part, CONFIG_ERROR);
        // The image comes first; once it is there, only what is lacking is looked for.
        if !told && let Err(waiting) = pull::ensure(scene, part) {
            self.state = State::Waiting(waiting);
            return false;
        }
        if let Some(message) = lack {
            if !told {
                scene.warn(part, "Failed", format!("Error: {message}"));
            }
            scene.memory.lacks = true;
            self.state = State::Waiting(Waiting { reason: CONFIG_ERROR, message });
            return false;
        }
        scene.tell(part, "Created", "Container created");
        scene.tell(part, "Started", "Container started");
        self.restarts += i64::from(self.made);
        self.made = true;
        self.image = part.image().into();
        // A status holds whole seconds.
        let since = Timestamp::from_second(scene.now().as_second()).unwrap_or(scene.now());
        self.state = State::Running { since };
        true
    }

    fn run(&mut self, scene: &mut Scene<'_>, part: &Part<'_>, program: &Program, since: Timestamp) -> bool {
        let name = part.name();
        let id: Str = container_id(scene.pod, name, self.restarts).into();
        let ended = |finished: Timestamp, exit_code: i64, reason: &str| Ended {
            started: since,
            finished,
            exit_code,
            reason: reason.into(),
            message: program.message.clone(),
            id: id.clone(),
        };
        if self.image != part.image() {
            scene.tell(part, "Killing", format!("Container {name} definition changed, will be restarted"));
            self.last = Some(Ended { message: Str::new(), ..ended(scene.now(), TOLD_TO_STOP, "Error") });
            self.state = State::Waiting(Waiting { reason: "ContainerCreating", message: String::new() });
            return true;
        }
        let word = |code: i64| match code {
            0 => "Completed",
            _ if program.oom => "OOMKilled",
            _ => "Error",
        };
        let by_itself =
            program.run_for.map(|time| ended(add(since, time), program.exit_code, word(program.exit_code)));
        let killed = probe::killed(part.spec, program).map(|(after, _)| Ended {
            message: Str::new(),
            ..ended(add(since, after), TOLD_TO_STOP, "Error")
        });
        let despair = program.despair.filter(|_| !service::is_there(scene, program)).map(|(after, code)| {
            let at = add(since, after);
            let missed = at < scene.now() && self.was_ready(scene, part);
            ended(if missed { scene.now() } else { at }, code, word(code))
        });
        let refused = right::refusal(scene, program)
            .map(|message| Ended { message, ..ended(add(since, REFUSED_AFTER), 1, "Error") });
        let Some(end) =
            [&refused, &by_itself, &killed, &despair].into_iter().flatten().min_by_key(|end| end.finished)
        else {
            return false;
        };
        if end.finished > scene.now() {
            scene.wake(end.finished);
            return false;
        }
        if killed.as_ref() == Some(end) {
            probe::tell_killing(scene, part, program);
        }
        self.state = State::Ended(end.clone());
        true
    }

    /// Whether it served until now, so that it ends now and not when it would have without ever serving.
    fn was_ready(&self, scene: &Scene<'_>, part: &Part<'_>) -> bool {
        scene.before(part).and_then(|status| status.bool_at(&["ready"])) == Some(true)
    }

    /// Starts a container that has ended again, if it may be and the wait is over.
    fn again(
        &mut self,
        scene: &mut Scene<'_>,
        part: &Part<'_>,
        restart: &Restart<'_>,
        ended: Ended,
        told: bool,
    ) -> bool {
        if !restart.again(ended.exit_code) {
            return false;
        }
        let now = scene.now();
        let backoff = scene.memory.restarts.entry(part.name().into()).or_default();
        let finished = ended.finished;
        self.last = Some(ended);
        match backoff.until(finished).filter(|until| *until > now) {
            Some(until) => {
                self.state = State::BackOff(backoff.wait());
                if !told {
                    let name = part.name();
                    let message =
                        format!("Back-off restarting failed container {name} in pod {}", scene.full_name());
                    scene.warn(part, "BackOff", message);
                }
                scene.wake(until);
                false
            }
            None => {
                backoff.next(finished, now);
                self.start(scene, part)
            }
        }
    }

    /// Ends a container that runs, because its pod is over.
    pub(super) fn finish(&mut self, scene: &Scene<'_>, part: &Part<'_>, exit_code: i64) {
        if let State::Running { since } = self.state {
            self.state = State::Ended(Ended {
                started: since,
                finished: scene.now(),
                exit_code,
                reason: if exit_code == 0 { "Completed" } else { "Error" }.into(),
                message: Str::new(),
                id: container_id(scene.pod, part.name(), self.restarts).into(),
            });
            (self.started, self.ready) = (false, false);
        }
    }

    /// Whether an init container has done its part.
    pub(super) fn is_through(&self, role: Role) -> bool {
        match role {
            Role::Sidecar => self.started,
            Role::Main | Role::Init | Role::Guest => {
                matches!(&self.state, State::Ended(ended) if ended.exit_code == 0)
            }
        }
    }

    /// The status, as the pod has it.
    pub(super) fn status(&self, scene: &Scene<'_>, part: &Part<'_>) -> Value {
        let name = part.name();
        let state = match &self.state {
            State::Running { since } => value!({"running": {"startedAt": stamp(*since)}}),
            State::Ended(ended) => ended.print(),
            State::Waiting(waiting) => waiting.print(),
            State::BackOff(wait) => {
                let wait = go_duration(*wait);
                let pod = scene.full_name();
                let message = format!("back-off {wait} restarting failed container={name} pod={pod}");
                value!({"waiting": {"reason": "CrashLoopBackOff", "message": message}})
            }
        };
        let ready = if part.role == Role::Init { self.is_through(part.role) } else { self.ready };
        let mut status = value!({
            "name": name, "image": part.image(), "imageID": "", "ready": ready, "restartCount": self.restarts,
        });
        // Nobody asks whether a guest serves.
        if part.role != Role::Guest {
            status.set(&["started"], self.started);
        }
        status.set(&["state"], state);
        status.set(&["lastState"], self.last.as_ref().map_or_else(|| value!({}), Ended::print));
        if self.made {
            status.set(&["imageID"], image_id(part.image()));
            status.set(&["containerID"], container_id(scene.pod, name, self.restarts));
        }
        status
    }
}

impl Waiting {
    pub(super) fn print(&self) -> Value {
        let mut waiting = value!({"waiting": {"reason": self.reason}});
        if !self.message.is_empty() {
            waiting.set(&["waiting", "message"], self.message.as_str());
        }
        waiting
    }
}

impl Ended {
    fn read(terminated: &Value) -> Self {
        let text = |field| terminated.str_at(&[field]).unwrap_or_default().into();
        let at = |field| time::read(terminated.get(field)).unwrap_or_default();
        Ended {
            started: at("startedAt"),
            finished: at("finishedAt"),
            exit_code: terminated.int_at(&["exitCode"]).unwrap_or(0),
            reason: text("reason"),
            message: text("message"),
            id: text("containerID"),
        }
    }

    fn print(&self) -> Value {
        let mut terminated = value!({"terminated": {
            "exitCode": self.exit_code, "reason": self.reason, "startedAt": stamp(self.started),
            "finishedAt": stamp(self.finished), "containerID": self.id,
        }});
        if !self.message.is_empty() {
            terminated.set(&["terminated", "message"], self.message.as_str());
        }
        terminated
    }
}

fn image_id(image: &str) -> String {
    let name = image.split('@').next().unwrap_or(image);
    let name = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(name, |(name, _)| name);
    format!("{name}@sha256:{}", hex(image))
}

fn container_id(pod: &Object, name: &str, run: i64) -> String {
    format!("containerd://{}", hex(&format!("{}/{name}/{run}", pod.uid())))
}

fn hex(text: &str) -> String {
    let digit = |number: u8| char::from(b"0123456789abcdef"[usize::from(number & 15)]);
    Sha256::digest(text).iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

fn go_duration(wait: SignedDuration) -> String {
    let seconds = wait.as_secs();
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m{}s", seconds / 60, seconds % 60) }
}
