//! A service that is asked and has no pods, because its workload is told to have none.

use lynceus_object::{FieldPath, Object, Value};

use super::asking::{self, Asking};
use super::autoscaled_replicas::Scalers;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0309",
    title: "A service is asked whose workload has no replicas",
    explanation: "\
A workload fails or does not get ready, and is set to ask a service behind which there is nothing: the workload of that service is told to
have no pods.

## Why
It was scaled down for a while, in Git or in one environment, and what asks it was not.

## Example
```
SESSION_URL: redis://session-cache.session        Deployment session-cache has replicas: 0
```

## What to do
Give the workload its replicas back, or have the others do without.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let idle = idle(case, server);
        if idle.is_empty() {
            continue;
        }
        let all = asking::asking(case, server);
        for (service, workload) in idle {
            let asks = |one: &&Asking<'_>| one.asked().iter().any(|asked| asked.key == service.key());
            let users: Vec<&Asking<'_>> = all.iter().filter(asks).collect();
            if !users.is_empty() {
                findings.add(found(case, server, service, workload, &users));
            }
        }
    }
}

/// The services whose pods would all be of workloads that are told to have none, each with the first of those.
fn idle<'a>(case: &Case<'a>, server: &str) -> Vec<(&'a Object, &'a Object)> {
    let scalers = Scalers::new(case);
    let workloads = ["Deployment", "StatefulSet"].iter().flat_map(|kind| case.of_kind(server, "apps", kind));
    let (empty, others): (Vec<&Object>, Vec<&Object>) =
        workloads.copied().partition(|one| one.value().int_at(&["spec", "replicas"]) == Some(0));
    // Whoever scales it knows when it is needed.
    let empty: Vec<&Object> =
        empty.into_iter().filter(|one| scalers.of(server, &one.key()).is_none()).collect();
    if empty.is_empty() {
        return Vec::new();
    }
    let services = case.of_kind(server, "", "Service").iter().copied();
    let idle = services.filter_map(|service| {
        let is_behind = |one: &&&'a Object| service::is_behind(case, server, service, one);
        let workload = empty.iter().find(is_behind)?;
        others.iter().find(is_behind).is_none().then_some((service, *workload))
    });
    idle.collect()
}

fn found(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    workload: &Object,
    users: &[&Asking<'_>],
) -> Finding {
    let name = |one: &Object| format!("{} {}", one.kind(), one.name());
    let names = words::list(users.iter().map(|one| name(one.owner)));
    let cause = format!(
        "Service {}/{} has no pods, since {} is told to have 0 replicas; {names} {} it",
        service.namespace(),
        service.name(),
        name(workload),
        if users.len() == 1 { "asks" } else { "ask" },
    );
    let path = FieldPath::fields(["spec", "replicas"]);
    let app = case.owner(server, &workload.key());
    let fix = app.as_ref().map(|app| {
        let (object, value) = (workload.key(), Some(Value::Int(1)));
        Fix::new(format!("Have {} run", name(workload)))
            .git(app, Place::Field { object, path: path.clone(), value })
            .risk(Risk::Medium, format!("{} is started", name(workload)))
            .why("others ask it")
            .verify(format!("kubectl -n {} get endpoints {}", service.namespace(), service.name()))
    });
    let asked = users.iter().filter_map(|one| {
        let asked = one.asked().into_iter().find(|asked| asked.key == service.key())?;
        let setting = &one.settings[asked.setting];
        let (object, path) = (setting.object.clone(), setting.path.clone());
        Some(Evidence::Field { object, path, value: asked.host })
    });
    Finding::new(RULE.code, Node::object(server, service.key()), cause)
        .of(app)
        .seen([Evidence::Field { object: workload.key(), path: path.clone(), value: "0".to_owned() }])
        .seen(asked.take(crate::limits::NAMED))
        .affects(users.iter().map(|one| case.node(server, &one.owner.key())))
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const IDLE: &str = "
@app cache Synced Healthy
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache, namespace: cache}
spec: {replicas: 0}
@app web Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
@live
apiVersion: v1
kind: Service
metadata: {name: cache, namespace: cache}
spec: {selector: {app: cache}, ports: [{port: 6379}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache, namespace: cache}
spec: {replicas: 0, template: {metadata: {labels: {app: cache}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d1, generation: 1}
spec: {replicas: 1, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, env: [{name: CACHE_URL, value: 'redis://cache.cache:6379'}]}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 0, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {containers: [{name: web, image: web}]}
status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: web, restartCount: 12, ready: false, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]}
";

    #[test]
    fn a_service_whose_workload_has_no_replicas_is_the_cause_of_who_asks_it() {
        assert_eq!(
            check("LYN0309", IDLE),
            "P1 LYN0309/cache/Service/cache: Service cache/cache has no pods, since Deployment cache is told to have 0 replicas; Deployment \
             web asks it\n  Deployment cache/cache: spec.replicas: 0\n  Deployment shop/web: \
             spec.template.spec.containers[0].env[0].value: cache.cache\n  fix: Have Deployment cache run\n"
        );
        assert_eq!(roots(IDLE), "P1 LYN0309/cache/Service/cache explains web\n");
    }

    #[test]
    fn a_workload_that_nobody_asks_or_that_something_scales_may_have_none() {
        assert_eq!(check("LYN0309", &IDLE.replace("redis://cache.cache", "redis://other.cache")), "");
        let scaled = format!(
            "{IDLE}---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: cache, namespace: cache}}\nspec: \
             {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: cache}}}}\n"
        );
        assert_eq!(check("LYN0309", &scaled), "");
    }
}
