//! A container that ends again and again.

use lynceus_object::Object;

use crate::case::{Case, condition};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::container::Container;
use crate::rules::probe;

pub(super) const RULE: Rule = Rule {
    code: "LYN0901",
    title: "A container ends again and again",
    explanation: "\
A container starts, ends with an error and is started again, with longer and longer pauses. It is well in the cluster's eyes: what is
wrong is in the program, or in what the program finds.

## Why
A setting is missing or wrong, something that the program needs at its start is not there, or the program is broken. If something
that it needs was found to be missing or away, that is the cause and this only follows from it.

## Example
```
container api: CrashLoopBackOff, 14 restarts; it ended with exit code 1: relation \"users\" does not exist
```

## What to do
Read what it said last: `kubectl logs --previous`. Exit code 127 is a command that is not in the image, 137 a program that was
killed, 139 one that crashed.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for owner in case.pod_owners(server) {
            // A Job that has given up is told of as such.
            if condition(owner, "Failed") == Some("True") {
                continue;
            }
            if let Some(finding) = find(case, server, owner) {
                findings.add(finding);
            }
        }
    }
}

fn find<'a>(case: &Case<'a>, server: &str, owner: &'a Object) -> Option<Finding> {
    let pods = case.pods(server, owner);
    let mut crashing = pods.iter().flat_map(|pod| Container::all(pod)).filter(|one| crashes(one));
    let container = crashing.next()?;
    // What is stopped for its probe, or for its memory, does not end by itself.
    if probe::is_killed(case, server, &container)
        || container.ended().is_some_and(|ended| ended.reason == "OOMKilled")
    {
        return None;
    }
    let key = owner.key();
    let ended = container.ended().map(|ended| ended.told());
    let how = ended.as_ref().map(|ended| format!(" with {ended}")).unwrap_or_default();
    let cause = format!("{} of {} {} ends again and again{how}", container.told(), key.kind, key.name);
    let state = container.waits().unwrap_or("ended");
    let seen = container.evidence(format!("{state}, restarted {} times", container.restarts()));
    let image = container.in_template(owner).and_then(|(path, template)| {
        let (path, value) = (path.field("image"), template.str_at(&["image"])?.to_owned());
        Some(Evidence::Field { object: key.clone(), path, value })
    });
    let pod = container.pod;
    let fix = Fix::new("Find out from its log why it ends")
        .person(format!(
            "kubectl -n {} logs {} -c {} --previous",
            pod.namespace(),
            pod.name(),
            container.name
        ))
        .risk(Risk::Low, "nothing")
        .why("what is wrong is in the program or its settings, which only its log tells")
        .verify(format!("kubectl -n {} get pods", pod.namespace()));
    Some(
        Finding::new(RULE.code, Node::object(server, key.clone()), cause)
            .of(case.owner(server, &key))
            .shows(ended)
            .seen([seen])
            .seen(image)
            .seen(case.event(server, &pod.key(), &["BackOff"]))
            .unless_deeper()
            .fix([fix]),
    )
}

/// Whether a container waits to be started again after an end, or has just ended once more.
fn crashes(container: &Container<'_>) -> bool {
    let failed = container.ended().is_some_and(|ended| ended.is_now && ended.code != 0);
    container.waits() == Some("CrashLoopBackOff") || (failed && container.restarts() >= 2)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const CRASH: &str = "
@app shop Synced Degraded
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
  - {name: api, ready: false, restartCount: 14, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, message: no table users}}}
";

    #[test]
    fn a_container_that_ends_again_and_again_is_found() {
        assert_eq!(
            check("LYN0901", CRASH),
            "P1 LYN0901/shop/Deployment/api: container api of Deployment api ends again and again with exit code 1: no table users\n  Pod shop/api-1: status.containerStatuses[0]: CrashLoopBackOff, restarted 14 times\n  Deployment shop/api: spec.template.spec.containers[0].image: api\n  fix: Find out from its log why it ends\n"
        );
    }

    #[test]
    fn a_container_that_was_restarted_long_ago_and_runs_is_fine() {
        let runs = CRASH
            .replace("ready: false", "ready: true")
            .replace("waiting: {reason: CrashLoopBackOff}", "running: {}");
        assert_eq!(check("LYN0901", &runs), "");
    }

    #[test]
    fn one_that_ran_out_of_memory_is_another_trouble() {
        assert_eq!(
            check(
                "LYN0901",
                &CRASH.replace("exitCode: 1, message: no table users", "exitCode: 137, reason: OOMKilled")
            ),
            ""
        );
    }
}
