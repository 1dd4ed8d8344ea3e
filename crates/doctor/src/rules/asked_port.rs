//! Workloads that fail or do not get ready, and are set to ask a service at a port that it has not.

use std::collections::BTreeSet;

use lynceus_object::{Object, Value};

use super::asking::{Asked, Asking, Port};
use super::missing_service::port_name;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service;
use crate::node::Node;
use crate::words;

/// A service that is asked at a port that it has not.
struct Wrong<'a> {
    asked: Asked,
    port: Port,
    service: &'a Object,
}

/// Looks for them. One finding for each workload.
pub(super) fn find(case: &Case<'_>, server: &str, all: &[Asking<'_>], findings: &mut Findings) {
    for asking in all {
        let wrong: Vec<Wrong<'_>> =
            asking.asked().into_iter().filter_map(|asked| wrong(case, server, asking, asked)).collect();
        if !wrong.is_empty() {
            findings.add(found(case, server, asking, &wrong));
        }
    }
}

fn wrong<'a>(case: &Case<'a>, server: &str, asking: &Asking<'_>, asked: Asked) -> Option<Wrong<'a>> {
    let service = case.live(server, &asked.key)?;
    let port = asked.port?;
    let ports = service.value().items_at(&["spec", "ports"]);
    let text = |field| service.value().str_at(&["spec", field]).unwrap_or_default();
    // Whoever asks pods without the service in between finds whatever they have.
    let is_through = text("type") != "ExternalName" && text("clusterIP") != "None" && !ports.is_empty();
    let has = ports.iter().any(|one| one.int_at(&["port"]) == Some(port.number));
    let setting = &asking.settings[asked.setting];
    let is_address = asked.is_sure
        || setting.text.contains("://")
        || service::is_of_host(setting.name)
        || asked.host.contains('.');
    (is_through && !has && is_address).then_some(Wrong { asked, port, service })
}

fn found(case: &Case<'_>, server: &str, asking: &Asking<'_>, wrong: &[Wrong<'_>]) -> Finding {
    let owner = asking.owner;
    let verb = if asking.fails { "fails" } else { "does not get ready" };
    let told: BTreeSet<String> = wrong
        .iter()
        .map(|one| {
            let there = one.service.value().items_at(&["spec", "ports"]).iter().map(port_name);
            format!(
                "port {} of Service {}.{}, which has {}",
                one.port.number,
                one.service.name(),
                one.service.namespace(),
                words::list(there)
            )
        })
        .collect();
    let cause = format!("{} {} {verb} and is set to ask {}", owner.kind(), owner.name(), words::list(told));
    let seen = wrong.iter().map(|one| {
        let setting = &asking.settings[one.port.setting.unwrap_or(one.asked.setting)];
        Evidence::Field {
            object: setting.object.clone(),
            path: setting.path.clone(),
            // Of an address only the host, since there may be a password in it.
            value: format!("{}:{}", one.asked.host, one.port.number),
        }
    });
    Finding::new("LYN0303", Node::object(server, owner.key()), cause)
        .of(case.owner(server, &owner.key()))
        .seen(seen.take(crate::limits::NAMED))
        .fix(wrong.iter().filter_map(|one| mend(case, server, asking, one)))
        .fix([Fix::new("Ask a port that the Service has").person(format!(
            "correct it where it is set: {}",
            words::list(wrong.iter().map(|one| asking.settings[one.asked.setting].path.to_string()))
        ))])
}

/// The only port of the service instead of the one that is asked.
fn mend(case: &Case<'_>, server: &str, asking: &Asking<'_>, wrong: &Wrong<'_>) -> Option<Fix> {
    let [only] = wrong.service.value().items_at(&["spec", "ports"]) else { return None };
    let right = only.int_at(&["port"])?;
    let setting = &asking.settings[wrong.port.setting.unwrap_or(wrong.asked.setting)];
    let host = &wrong.asked.host;
    let text = match wrong.port.setting {
        Some(place) if place != wrong.asked.setting => right.to_string(),
        Some(_) => {
            setting.text.replacen(&format!("{host}:{}", wrong.port.number), &format!("{host}:{right}"), 1)
        }
        None => setting.text.replacen(&format!("://{host}"), &format!("://{host}:{right}"), 1),
    };
    let app = case.owner(server, &setting.object).filter(|_| text != setting.text)?;
    let value = Some(Value::from(text.as_str()));
    Some(
        Fix::new(format!("Ask port {right} of Service {}", wrong.service.name()))
            .git(&app, Place::Field { object: setting.object.clone(), path: setting.path.clone(), value })
            .risk(Risk::Low, format!("{} {}", asking.owner.kind(), asking.owner.name()))
            .why("it is the only one that the Service has"),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots, roots_with_fixes};

    const WAITS: &str = "
@app shop Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: web, image: web, env: [{name: DB, value: 'http://db:8080/x'}]}]}}}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: web, image: web, env: [{name: DB, value: 'http://db:8080/x'}]}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, ownerReferences: [{kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {containers: [{name: web, image: web}]}
status:
  phase: Running
  containerStatuses: [{name: web, ready: false, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}}]
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}
";

    #[test]
    fn a_port_that_the_service_has_not_is_found() {
        assert_eq!(
            check("LYN0303", WAITS),
            "P1 LYN0303/shop/Deployment/web: Deployment web does not get ready and is set to ask port 8080 of Service db.shop, which has \
             http (80)\n  Deployment shop/web: spec.template.spec.containers[0].env[0].value: db:8080\n  fix: Ask port 80 of Service \
             db\n  fix: Ask a port that the Service has\n"
        );
        assert_eq!(roots(WAITS), "P1 LYN0303/shop/Deployment/web explains shop\n", "and not its probe");
    }

    #[test]
    fn the_port_of_a_scheme_and_one_in_a_variable_of_its_own_are_found() {
        let usual = WAITS.replace("http://db:8080/x", "https://db/x");
        assert!(roots_with_fixes(&usual).contains("to \"https://db:80/x\""), "{}", roots_with_fixes(&usual));
        let apart = WAITS.replace(
            "{name: DB, value: 'http://db:8080/x'}",
            "{name: DB_HOST, value: db}, {name: DB_PORT, value: '8080'}",
        );
        let fixes = roots_with_fixes(&apart);
        assert!(fixes.contains("env[1].value of Deployment web to \"80\""), "{fixes}");
    }

    #[test]
    fn a_port_that_is_there_and_pods_that_are_asked_themselves_are_fine() {
        assert_eq!(check("LYN0303", &WAITS.replace("db:8080", "db:80")), "");
        assert_eq!(check("LYN0303", &WAITS.replace("clusterIP: 10.0.0.1", "clusterIP: None")), "");
        assert_eq!(check("LYN0303", &WAITS.replace("ready: false", "ready: true")), "", "it does without");
        assert_eq!(check("LYN0303", &WAITS.replace("http://db:8080/x", "db:7")), "", "it may be an image");
    }
}
