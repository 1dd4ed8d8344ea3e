//! What probes find: a program that does not answer yet, or lacks the Service that it needs.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::Value;

use super::backoff::add;
use super::program::{Program, Role};
use super::scene::{Part, Scene};
use super::service;

/// What a container's probes say.
pub(super) struct Answers {
    pub(super) started: bool,
    pub(super) ready: bool,
}

/// What the probes of a container say that runs since a time.
pub(super) fn look(
    scene: &mut Scene<'_>,
    part: &Part<'_>,
    program: &Program,
    since: Timestamp,
    run: i64,
) -> Answers {
    let answers_at = |probe: &str| match part.spec.get(probe) {
        Some(probe) => add(since, delay(probe).max(program.ready_after)),
        None => since,
    };
    let started = answers_at("startupProbe");
    if started > scene.now() {
        scene.wake(started);
        complain(scene, part, ("Startup", "startupProbe"), since, run, REFUSED);
        return Answers { started: false, ready: false };
    }
    // A container without a readiness probe would be called ready too early; the stage knows better.
    let ready = answers_at("readinessProbe").max(add(since, program.ready_after)).max(started);
    if ready > scene.now() {
        scene.wake(ready);
        if add(since, program.ready_after) > scene.now() {
            complain(scene, part, ("Readiness", "readinessProbe"), since, run, REFUSED);
        }
        return Answers { started: true, ready: false };
    }
    if !service::is_there(scene, program) {
        complain(scene, part, ("Readiness", "readinessProbe"), since, run, UNAVAILABLE);
        return Answers { started: true, ready: false };
    }
    Answers { started: true, ready: !program.crashes_at_once() }
}

/// When a container is killed because it does not answer in time, and by which probe.
pub(super) fn killed(spec: &Value, program: &Program) -> Option<(SignedDuration, &'static str)> {
    let (kind, probe) = spec
        .get("startupProbe")
        .map(|probe| ("startup", probe))
        .or_else(|| spec.get("livenessProbe").map(|probe| ("liveness", probe)))?;
    let number = |field, default| probe.int_at(&[field]).unwrap_or(default);
    let rounds = number("failureThreshold", 3).max(1) - 1;
    let last = delay(probe) + SignedDuration::from_secs(number("periodSeconds", 10).saturating_mul(rounds));
    (program.ready_after > last).then_some((last, kind))
}

/// Says why a container is killed.
pub(super) fn tell_killing(scene: &mut Scene<'_>, part: &Part<'_>, program: &Program) {
    let Some((_, kind)) = killed(part.spec, program) else { return };
    let (title, field) = match kind {
        "startup" => ("Startup", "startupProbe"),
        _ => ("Liveness", "livenessProbe"),
    };
    if let Some(probe) = part.spec.get(field) {
        let said = said(scene, part, probe, REFUSED);
        scene.warn(part, "Unhealthy", format!("{title} probe failed: {said}"));
    }
    let what = if part.role == Role::Main { "Container" } else { "Init container" };
    scene.tell(part, "Killing", format!("{what} {} failed {kind} probe, will be restarted", part.name()));
}

fn delay(probe: &Value) -> SignedDuration {
    SignedDuration::from_secs(probe.int_at(&["initialDelaySeconds"]).unwrap_or(0))
}

/// Nobody listens.
const REFUSED: bool = false;
/// Somebody listens and says that it cannot serve.
const UNAVAILABLE: bool = true;

/// Tells once in each run that a probe fails, from the first time that it is asked.
fn complain(
    scene: &mut Scene<'_>,
    part: &Part<'_>,
    (title, field): (&str, &str),
    since: Timestamp,
    run: i64,
    unavailable: bool,
) {
    let Some(probe) = part.spec.get(field) else { return };
    let first = add(since, delay(probe));
    if first > scene.now() {
        scene.wake(first);
        return;
    }
    if scene.memory.unhealthy.insert(part.name().into(), run) != Some(run) {
        let said = said(scene, part, probe, unavailable);
        scene.warn(part, "Unhealthy", format!("{title} probe failed: {said}"));
    }
}

/// What a probe that fails says.
fn said(scene: &Scene<'_>, part: &Part<'_>, probe: &Value, unavailable: bool) -> String {
    let ip = scene.pod.value().str_at(&["status", "podIP"]).unwrap_or_default();
    let address = |kind: &str| format!("{ip}:{}", port(part, probe.at(&[kind, "port"])));
    let refused = |address: &str| format!("dial tcp {address}: connect: connection refused");
    if let Some(get) = probe.get("httpGet") {
        if unavailable {
            return "HTTP probe failed with statuscode: 503".to_owned();
        }
        let scheme = get.str_at(&["scheme"]).unwrap_or("HTTP").to_ascii_lowercase();
        let (address, path) = (address("httpGet"), get.str_at(&["path"]).unwrap_or("/"));
        let url = format!("{scheme}://{address}{path}");
        return format!("Get {url:?}: {}", refused(&address));
    }
    if probe.get("tcpSocket").is_some() {
        return refused(&address("tcpSocket"));
    }
    if probe.get("grpc").is_some() {
        let address = address("grpc");
        return format!(
            "timeout: failed to connect service {address:?} within 1s: context deadline exceeded"
        );
    }
    String::new()
}

/// The number of a port that may be named.
fn port(part: &Part<'_>, port: Option<&Value>) -> i64 {
    let Some(port) = port else { return 0 };
    let named = |name: &str| {
        let ports = part.spec.items_at(&["ports"]);
        let found = ports.iter().find(|port| port.str_at(&["name"]) == Some(name));
        found.and_then(|port| port.int_at(&["containerPort"]))
    };
    port.as_int().or_else(|| port.as_str().and_then(named)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::POD;
    use crate::stage::Stage;
    use lynceus_object::value;

    #[test]
    fn a_program_that_is_slower_than_its_probes_allow_is_killed() {
        let liveness = value!({"initialDelaySeconds": 5, "periodSeconds": 10, "failureThreshold": 3});
        let startup = value!({"periodSeconds": 10, "failureThreshold": 30});
        for (ready_after, spec, wanted) in [
            (20, value!({"livenessProbe": liveness}), None),
            (60, value!({"livenessProbe": liveness}), Some((25, "liveness"))),
            (60, value!({"livenessProbe": liveness, "startupProbe": startup}), None),
            (600, value!({"livenessProbe": liveness, "startupProbe": startup}), Some((290, "startup"))),
            (600, value!({}), None),
        ] {
            let pod = POD.named("shop", "web");
            let mut program = Program::of(&pod, &spec, Role::Main, &Stage::default());
            program.ready_after = SignedDuration::from_secs(ready_after);
            let found = killed(&spec, &program).map(|(after, kind)| (after.as_secs(), kind));
            assert_eq!(found, wanted, "{ready_after} {spec:?}");
        }
    }
}
