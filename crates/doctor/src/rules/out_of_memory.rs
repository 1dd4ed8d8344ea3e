//! A container that is stopped for the memory that it takes.

use lynceus_object::{Object, Value};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::container::Container;

pub(super) const RULE: Rule = Rule {
    code: "LYN0902",
    title: "A container runs out of memory",
    explanation: "\
A container took more memory than its limit allows and was stopped (OOMKilled, exit code 137). It is started again and takes the same
memory again.

## Why
The limit was set for less load or less data, or the program does not know its limit and sizes its heap by the node.

## Example
```
container worker: lastState.terminated: reason OOMKilled, exitCode 137; resources.limits.memory: 128Mi
```

## What to do
Raise the memory limit, and the request with it. Tell the runtime its limit if it has a setting for that. If it grows without end, the
program leaks.
",
    check,
};

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
    // A Job that ended well in the end has made up for it.
    if owner.kind() == "Job" && !case.is_unwell(owner) {
        return None;
    }
    let pods = case.pods(server, owner);
    let killed =
        |one: &Container<'_>| !one.is_ready() && one.ended().is_some_and(|ended| ended.reason == "OOMKilled");
    let container = pods.iter().flat_map(|pod| Container::all(pod)).find(killed)?;
    let key = owner.key();
    let template = container.in_template(owner);
    let limit = template.as_ref().and_then(|(_, one)| one.at(&["resources", "limits", "memory"]));
    let limit = limit.and_then(Value::as_str);
    let allowed = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let cause = format!(
        "{} of {} {} takes more memory than its limit{allowed} and is stopped",
        container.told(),
        key.kind,
        key.name
    );
    let seen = container.evidence(format!("OOMKilled, restarted {} times", container.restarts()));
    let app = case.owner(server, &key);
    let more = limit.and_then(double);
    let path = template.map(|(path, _)| path.field("resources").field("limits").field("memory"));
    let fix = match (app.as_ref(), path.clone(), more) {
        (Some(app), Some(path), Some(more)) => Fix::new(format!("Raise the memory limit to {more}"))
            .git(app, Place::Field { object: key.clone(), path, value: Some(more.as_str().into()) })
            .why("twice as much is a guess; look at what it takes afterwards"),
        _ => Fix::new("Raise the memory limit").person(format!(
            "Raise resources.limits.memory of {} of {} {}.",
            container.told(),
            key.kind,
            key.name
        )),
    };
    let fix = fix
        .risk(
            Risk::Medium,
            format!(
                "the pods of {} {} are made anew, and take more memory of their nodes",
                key.kind, key.name
            ),
        )
        .verify(format!("kubectl -n {} top pods --containers", key.namespace));
    let field = limit.zip(path).map(|(limit, path)| Evidence::Field {
        object: key.clone(),
        path,
        value: limit.to_owned(),
    });
    Some(
        Finding::new(RULE.code, Node::object(server, key.clone()), cause)
            .of(app)
            .seen([seen])
            .seen(field)
            .fix([fix]),
    )
}

/// Twice a quantity, in its own unit.
fn double(quantity: &str) -> Option<String> {
    let end = quantity.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(end);
    // `1.5Gi` would need a unit of its own.
    if unit.starts_with('.') {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    Some(format!("{}{unit}", number.checked_mul(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::check;

    const KILLED: &str = "
@app shop Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, uid: d1}
spec: {replicas: 1, template: {spec: {containers: [{name: api, image: api, resources: {limits: {memory: 128Mi}}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, ownerReferences: [{kind: Deployment, name: api, uid: d1, controller: true}]}
spec: {containers: [{name: api, image: api}]}
status:
  phase: Running
  containerStatuses:
  - {name: api, ready: false, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}
";

    #[test]
    fn a_container_that_takes_too_much_memory_is_found() {
        assert_eq!(
            check("LYN0902", KILLED),
            "P1 LYN0902/shop/Deployment/api: container api of Deployment api takes more memory than its limit of 128Mi and is stopped\n  Pod shop/api-1: status.containerStatuses[0]: OOMKilled, restarted 3 times\n  Deployment shop/api: spec.template.spec.containers[0].resources.limits.memory: 128Mi\n  fix: Raise the memory limit to 256Mi\n"
        );
    }

    #[test]
    fn a_container_that_was_stopped_once_and_is_ready_is_fine() {
        assert_eq!(check("LYN0902", &KILLED.replace("ready: false", "ready: true")), "");
    }

    #[test]
    fn a_quantity_keeps_its_unit() {
        assert_eq!((double("128Mi").as_deref(), double("1.5Gi").as_deref()), (Some("256Mi"), None));
    }
}
