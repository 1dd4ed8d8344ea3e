//! A pod's status: what its containers do, and what follows for the pod.

use jiff::Timestamp;
use lynceus_object::{Object, Value, value};

use super::container::{Container, State};
use super::program::Role;
use super::restart::Restart;
use super::scene::{Part, Scene};
use crate::controllers::condition;

/// What a pod's containers end with whose time is over.
const KILLED: i64 = 137;

/// The status of a pod whose containers can start at `start`.
pub(super) fn assess(scene: &mut Scene<'_>, start: Timestamp) -> Object {
    let pod = scene.pod;
    if scene.now() < start {
        scene.wake(start);
        return creating(pod, scene.now());
    }
    scene.memory.needs.clear();
    scene.memory.lacks = false;
    let (init_parts, main_parts) = (Part::inits(pod), Part::mains(pod));
    let mut inits = init_containers(scene, &init_parts, &main_parts);
    let mains: Vec<Container> = main_parts
        .iter()
        .map(|part| match inits.done {
            true => Container::before(scene, part).advance(scene, part, &Restart::of(pod, part)),
            false => Container::not_yet(scene, part),
        })
        .collect();
    let phase = phase(&inits, &mains);
    if is_over(phase) {
        for (container, part) in inits.containers.iter_mut().zip(&init_parts) {
            container.finish(scene, part, 0);
        }
    }
    let guest_parts = Part::guests(pod);
    let guests: Vec<Container> = guest_parts
        .iter()
        .map(|part| {
            let mut guest = Container::before(scene, part).advance(scene, part, &Restart::of(pod, part));
            if is_over(phase) {
                guest.finish(scene, part, 0);
            }
            guest
        })
        .collect();
    let unready = |(container, part): (&Container, &Part<'_>)| {
        (part.role != Role::Init && !container.ready).then(|| part.name().to_owned())
    };
    let unready: Vec<String> = inits
        .containers
        .iter()
        .zip(&init_parts)
        .chain(mains.iter().zip(&main_parts))
        .filter_map(unready)
        .collect();
    let mut new = pod.clone();
    new.set(&["status", "phase"], phase);
    set_statuses(&mut new, scene, &init_parts, &inits.containers);
    set_statuses(&mut new, scene, &main_parts, &mains);
    set_statuses(&mut new, scene, &guest_parts, &guests);
    let facts = Facts { phase, sandbox: true, incomplete: &inits.incomplete, unready: &unready };
    set_conditions(&mut new, &facts, scene.now());
    new
}

/// The status of a pod whose time is over.
pub(super) fn exceeded(scene: &Scene<'_>, reason: &str, message: &str) -> Object {
    let mut new = scene.pod.clone();
    for (key, text) in [("phase", "Failed"), ("reason", reason), ("message", message)] {
        new.set(&["status", key], text);
    }
    for parts in [Part::inits(scene.pod), Part::mains(scene.pod), Part::guests(scene.pod)] {
        let containers: Vec<Container> = parts
            .iter()
            .map(|part| {
                let mut container = Container::before(scene, part);
                container.finish(scene, part, KILLED);
                container
            })
            .collect();
        set_statuses(&mut new, scene, &parts, &containers);
    }
    set_conditions(
        &mut new,
        &Facts { phase: "Failed", sandbox: false, incomplete: &[], unready: &[] },
        scene.now(),
    );
    new
}

/// The status of a pod that has nothing yet.
pub(super) fn creating(pod: &Object, now: Timestamp) -> Object {
    let (inits, mains) = (Part::inits(pod), Part::mains(pod));
    let waiting = |part: &Part<'_>, reason: &str| {
        value!({
            "name": part.name(), "image": part.image(), "imageID": "", "ready": false, "started": false,
            "restartCount": 0, "state": {"waiting": {"reason": reason}}, "lastState": {},
        })
    };
    let reason = if inits.is_empty() { "ContainerCreating" } else { "PodInitializing" };
    let mut new = pod.clone();
    new.set(&["status", "phase"], "Pending");
    for (parts, field, reason) in
        [(&inits, "initContainerStatuses", "PodInitializing"), (&mains, "containerStatuses", reason)]
    {
        let statuses: Vec<Value> = parts.iter().map(|part| waiting(part, reason)).collect();
        if !statuses.is_empty() {
            new.set(&["status", field], statuses);
        }
    }
    let names = |parts: &[Part<'_>]| parts.iter().map(|part| part.name().to_owned()).collect::<Vec<_>>();
    let facts =
        Facts { phase: "Pending", sandbox: false, incomplete: &names(&inits), unready: &names(&mains) };
    set_conditions(&mut new, &facts, now);
    new
}

fn set_statuses(pod: &mut Object, scene: &Scene<'_>, parts: &[Part<'_>], containers: &[Container]) {
    let Some(first) = parts.first() else { return };
    let statuses: Vec<Value> =
        containers.iter().zip(parts).map(|(container, part)| container.status(scene, part)).collect();
    super::set(pod, first.statuses(), statuses.into());
}

struct Inits {
    containers: Vec<Container>,
    /// Those that are not through.
    incomplete: Vec<String>,
    /// Whether the others may start.
    done: bool,
    /// Whether one of them failed for good.
    failed: bool,
}

/// One after the other; those that go on beside the main containers are only waited for to start.
fn init_containers(scene: &mut Scene<'_>, parts: &[Part<'_>], mains: &[Part<'_>]) -> Inits {
    // A sidecar that fails later does not stop those that run.
    let begun = mains.iter().any(|main| Container::before(scene, main).made);
    let mut out = Inits { containers: Vec::new(), incomplete: Vec::new(), done: true, failed: false };
    for part in parts {
        if !out.done {
            out.incomplete.push(part.name().to_owned());
            out.containers.push(Container::not_yet(scene, part));
            continue;
        }
        let restart = Restart::of(scene.pod, part);
        let container = Container::before(scene, part).advance(scene, part, &restart);
        let is_final = |code: i64| code != 0 && !restart.again(code);
        let failed = matches!(&container.state, State::Ended(end) if is_final(end.exit_code));
        out.failed |= failed;
        if !container.is_through(part.role) {
            out.done = begun;
            out.incomplete.push(part.name().to_owned());
        }
        out.containers.push(container);
    }
    out
}

fn is_over(phase: &str) -> bool {
    matches!(phase, "Succeeded" | "Failed")
}

fn phase(inits: &Inits, mains: &[Container]) -> &'static str {
    if !inits.done {
        return if inits.failed { "Failed" } else { "Pending" };
    }
    let never_started = |main: &Container| matches!(main.state, State::Waiting(_)) && !main.made;
    if mains.iter().any(never_started) {
        return "Pending";
    }
    // What is started again does not stay ended.
    let codes: Option<Vec<i64>> = mains
        .iter()
        .map(|main| match &main.state {
            State::Ended(ended) => Some(ended.exit_code),
            _ => None,
        })
        .collect();
    match codes {
        None => "Running",
        Some(codes) if codes.iter().all(|code| *code == 0) => "Succeeded",
        Some(_) => "Failed",
    }
}

/// What is said of a readiness gate that does not let a pod be ready.
fn closed_gate(pod: &Object, gate: &str) -> Option<String> {
    let Some(condition) = condition::get(pod, gate) else {
        return Some(format!("corresponding condition of pod readiness gate {gate:?} does not exist."));
    };
    let status = condition.str_at(&["status"]).unwrap_or_default();
    (status != "True")
        .then(|| format!("the status of pod readiness gate {gate:?} is not \"True\", but {status}"))
}

/// What a pod's conditions follow from.
struct Facts<'a> {
    phase: &'a str,
    sandbox: bool,
    incomplete: &'a [String],
    unready: &'a [String],
}

fn set_conditions(pod: &mut Object, facts: &Facts<'_>, now: Timestamp) {
    let before = pod.clone();
    let mut set = |type_: &str, holds: bool, reason: &str, message: &str| {
        let (status, reason, message) = if holds { ("True", "", "") } else { ("False", reason, message) };
        let mut condition = condition::new(type_, status, reason, message, now);
        condition.set(&["lastProbeTime"], Value::Null);
        if pod.generation() > 0 {
            condition.set(&["observedGeneration"], pod.generation());
        }
        condition::replace(pod, condition);
    };
    set("PodReadyToStartContainers", facts.sandbox && !is_over(facts.phase), "", "");
    let incomplete = format!("containers with incomplete status: [{}]", facts.incomplete.join(" "));
    set("Initialized", facts.incomplete.is_empty(), "ContainersNotInitialized", &incomplete);
    let message = format!("containers with unready status: [{}]", facts.unready.join(" "));
    let (reason, message) = match facts.phase {
        "Succeeded" => ("PodCompleted", ""),
        "Failed" => ("PodFailed", ""),
        _ => ("ContainersNotReady", message.as_str()),
    };
    let ready = facts.unready.is_empty() && facts.phase == "Running";
    set("ContainersReady", ready, reason, message);
    let gates = before.value().items_at(&["spec", "readinessGates"]);
    let closed: Vec<String> = gates
        .iter()
        .filter_map(|gate| gate.str_at(&["conditionType"]))
        .filter_map(|gate| closed_gate(&before, gate))
        .collect();
    if ready && !closed.is_empty() {
        set("Ready", false, "ReadinessGatesNotReady", &closed.join(", "));
    } else {
        set("Ready", ready, reason, message);
    }
}
