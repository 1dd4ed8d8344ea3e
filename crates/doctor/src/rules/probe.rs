//! A container that runs, and whose probe fails.

use lynceus_object::{Object, Value};

use crate::case::{Case, message};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::container::{Container, age, long};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0903",
    title: "A container runs and does not get ready",
    explanation: "\
The program runs and does not answer its probe as it should. With a readiness probe it gets no traffic, with a liveness or startup
probe it is stopped and started again before it is ready.

## Why
The probe asks at another port or path than the program answers at, gives it too little time to start, or the program waits for
something itself. If what it waits for was found, that is the cause.

## Example
```
Readiness probe failed: HTTP probe failed with statuscode: 503
```

## What to do
See what the program says while it waits. Correct the port or path of the probe, or give it more time with a startup probe.
",
    check,
};

/// How long a container may take before it counts as stuck, in seconds.
const PATIENCE: i64 = 600;
/// How often a probe has to have failed before that.
const FAILURES: i64 = 3;

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for owner in case.pod_owners(server) {
            if let Some(finding) = find(case, server, owner) {
                findings.add(finding);
            }
        }
    }
}

fn find<'a>(case: &Case<'a>, server: &str, owner: &'a Object) -> Option<Finding> {
    let pods = case.pods(server, owner);
    let container =
        pods.iter().flat_map(|pod| Container::all(pod)).find(|one| is_stuck(case, server, one))?;
    let key = owner.key();
    let said = failure(case, server, &container);
    let why = said.map(|(text, _)| format!(": {}", words::quote(text))).unwrap_or_default();
    let what = match is_killed(case, server, &container) {
        true => "is stopped again and again because its probe fails",
        false => "runs and does not get ready",
    };
    let cause = format!("{} of {} {} {what}{why}", container.told(), key.kind, key.name);
    let since = container
        .runs_since()
        .and_then(|since| age(case, since))
        .map(|age| format!("runs for {}", long(age)));
    let fix = Fix::new("See what the program says, and correct it or its probe")
        .person(format!(
            "kubectl -n {} logs {} -c {}; compare the port and path of the probe with those that it answers at.",
            container.pod.namespace(),
            container.pod.name(),
            container.name
        ))
        .risk(Risk::Low, format!("the pods of {} {}", key.kind, key.name))
        .verify(format!("kubectl -n {} get pods", key.namespace));
    Some(
        Finding::new(RULE.code, Node::object(server, key.clone()), cause)
            .of(case.owner(server, &key))
            .seen([container.evidence(since.unwrap_or_else(|| "not ready".to_owned()))])
            .seen(case.event(server, &container.pod.key(), &["Unhealthy"]))
            .unless_deeper()
            .fix([fix]),
    )
}

/// Whether a container is not ready and will not be: its probe has failed several times, or it runs for long.
pub(super) fn is_stuck(case: &Case<'_>, server: &str, container: &Container<'_>) -> bool {
    if container.is_ready() || container.is_early || !is_expected(container) {
        return false;
    }
    if is_killed(case, server, container) {
        return true;
    }
    let times = failure(case, server, container).map_or(0, |(_, times)| times);
    container.runs() && (times >= FAILURES || is_old(case, container))
}

/// Whether a container that the others wait for runs for long.
pub(super) fn holds_up(case: &Case<'_>, container: &Container<'_>) -> bool {
    container.is_early
        && container.runs()
        && !container.is_ready()
        && !container.pod.is_deleting()
        && is_old(case, container)
}

fn is_old(case: &Case<'_>, container: &Container<'_>) -> bool {
    container.runs_since().and_then(|since| age(case, since)).is_some_and(|age| age > PATIENCE)
}

/// A pod of a Job does not have to be ready.
fn is_expected(container: &Container<'_>) -> bool {
    container.pod.controller().is_none_or(|owner| owner.kind != "Job")
        && container.pod.value().str_at(&["status", "phase"]) != Some("Succeeded")
        && !container.pod.is_deleting()
}

/// What the last failed probe said, and how often it failed.
fn failure<'a>(case: &Case<'a>, server: &str, container: &Container<'_>) -> Option<(&'a str, i64)> {
    let events = case.events(server, &container.pod.key()).iter();
    let unhealthy = events
        .filter(|event| event.value().str_at(&["reason"]) == Some("Unhealthy") && is_of(event, container));
    let count = |event: &Object| {
        event.value().int_at(&["count"]).or_else(|| event.value().int_at(&["series", "count"])).unwrap_or(1)
    };
    unhealthy.max_by_key(|event| count(event)).map(|event| (message(event), count(event)))
}

/// Whether a container is stopped because of its probe: kubelet says so when it does.
pub(super) fn is_killed(case: &Case<'_>, server: &str, container: &Container<'_>) -> bool {
    let events = case.events(server, &container.pod.key()).iter();
    container.restarts() > 0
        && events
            .filter(|event| event.value().str_at(&["reason"]) == Some("Killing") && is_of(event, container))
            .any(|event| {
                let text = message(event);
                text.contains("failed liveness probe") || text.contains("failed startup probe")
            })
}

/// Whether an event is about this container of its pod.
fn is_of(event: &Object, container: &Container<'_>) -> bool {
    let field = ["involvedObject", "regarding"].iter().find_map(|field| event.at(&[field, "fieldPath"]));
    field.and_then(Value::as_str).is_none_or(|path| path.contains(&format!("{{{}}}", container.name)))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const UNREADY: &str = "
@app shop Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, uid: d1}
spec: {replicas: 1, template: {spec: {containers: [{name: api, image: api}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, ownerReferences: [{kind: Deployment, name: api, uid: d1, controller: true}]}
spec: {containers: [{name: api, image: api}]}
status:
  phase: Running
  containerStatuses:
  - {name: api, ready: false, restartCount: 0, state: {running: {startedAt: '2026-01-01T11:58:00Z'}}}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: shop}
involvedObject: {kind: Pod, namespace: shop, name: api-1, fieldPath: 'spec.containers{api}'}
type: Warning
reason: Unhealthy
count: 40
message: 'Readiness probe failed: HTTP probe failed with statuscode: 404'
";

    #[test]
    fn a_container_whose_probe_fails_is_found() {
        assert_eq!(
            check("LYN0903", UNREADY),
            "P1 LYN0903/shop/Deployment/api: container api of Deployment api runs and does not get ready: Readiness probe failed: HTTP probe failed with statuscode: 404\n  Pod shop/api-1: status.containerStatuses[0]: runs for 2 minutes\n  event Unhealthy of Pod shop/api-1, 40 times: Readiness probe failed: HTTP probe failed with statuscode: 404\n  fix: See what the program says, and correct it or its probe\n"
        );
    }

    #[test]
    fn one_that_is_stopped_for_its_probe_is_found() {
        let killed = UNREADY
            .replace(
                "restartCount: 0, state: {running: {startedAt: '2026-01-01T11:58:00Z'}}",
                "restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}",
            )
            .replace("reason: Unhealthy", "reason: Killing")
            .replace(
                "message: 'Readiness probe failed: HTTP probe failed with statuscode: 404'",
                "message: Container api failed liveness probe, will be restarted",
            );
        let found = check("LYN0903", &killed);
        assert!(found.contains("is stopped again and again because its probe fails"), "{found}");
        assert_eq!(check("LYN0901", &killed), "");
    }

    #[test]
    fn a_container_that_has_just_started_gets_its_time() {
        assert_eq!(check("LYN0903", &UNREADY.replace("count: 40", "count: 1")), "");
    }
}
