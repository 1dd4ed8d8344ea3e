//! Services, gateways and ports that are named and not there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_object::{Object, ObjectKey, Value};

use super::{
    asked_port, asking, crashing, governing, listeners, near, switched_off, target_port, unselected,
};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::links::route::{self, Backend};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0303",
    title: "A service or port is named that is not there",
    explanation: "\
An Ingress, a route or a setting of a workload names a Service, a Gateway or a port of a Service that is not there and that nobody
makes; or a Service selects pods by a label that no workload has, or leads to a port that its pods have not. Requests get 503 or are
refused, or the name does not resolve.

## Why
A Service was renamed, or its chart calls it after the release; a port is called `http` here and `web` there; the labels of the pods
were changed and the selector was not.

## Example
```
Ingress shop: backend service web port 8080        Service web has http (80)
```

## What to do
Name what is there, at the end where the slip was made.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let backends = route::backends(case);
    for server in case.servers() {
        let served = unselected::find(case, server, &backends, findings);
        let all = asking::asking(case, server);
        target_port::find(case, server, &served, &all, findings);
        crashing::find(case, server, &all, findings);
        asked_port::find(case, server, &all, findings);
        monitors(case, server, findings);
        listeners::find(case, server, findings);
        governing::find(case, server, findings);
    }
    for backend in backends.iter().filter(|backend| is_of_services(backend)) {
        if let Some(service) = service(case, backend) {
            findings_of_port(case, backend, service, findings);
        }
    }
    let mut missing = missing_of(case, backends);
    // What an option of a chart switches off has a rule of its own.
    missing.retain(|(server, key), _| switched_off::withheld(case, server, key).is_none());
    if missing.is_empty() {
        return;
    }
    let names = services(case);
    for ((server, key), users) in missing {
        findings.add(not_there(case, server, key, &users, &names));
    }
}

/// What routes name, by cluster and name, with those who name it.
type Named<'a> = BTreeMap<(&'a str, ObjectKey), Vec<Backend<'a>>>;

/// What routes name, and is not there, and nobody makes.
pub(super) fn missing<'a>(case: &Case<'a>) -> Named<'a> {
    missing_of(case, route::backends(case))
}

fn missing_of<'a>(case: &Case<'a>, backends: Vec<Backend<'a>>) -> Named<'a> {
    let mut missing: Named<'a> = BTreeMap::new();
    for backend in backends.into_iter().filter(is_of_services) {
        if service(case, &backend).is_none() && case.is_absent(backend.server, &backend.key) {
            missing.entry((backend.server, backend.key.clone())).or_default().push(backend);
        }
    }
    if !missing.is_empty() {
        let origins = case.origins();
        missing
            .retain(|(server, key), _| origins.of(server, key).is_empty() && !origins.is_listed(server, key));
    }
    missing
}

/// Words of a controller mean no service.
fn is_of_services(backend: &Backend<'_>) -> bool {
    backend.port.and_then(Value::as_str) != Some("use-annotation")
}

/// What a route names, as it is or as it is wanted.
fn service<'a>(case: &Case<'a>, backend: &Backend<'a>) -> Option<&'a Object> {
    let wanted = case.wanted(backend.server, &backend.key);
    case.live(backend.server, &backend.key).or_else(|| wanted.first().map(|(_, one)| &one.object))
}

/// The names of the services and gateways of each namespace, those that are wanted too.
fn services<'a>(case: &Case<'a>) -> HashMap<(&'a str, &'a str, &'a str), BTreeSet<&'a str>> {
    let mut names: HashMap<(&'a str, &'a str, &'a str), BTreeSet<&'a str>> = HashMap::new();
    let mut note = |server: &'a str, object: &'a Object| {
        if matches!(object.kind(), "Service" | "Gateway") {
            names.entry((server, object.kind(), object.namespace())).or_default().insert(object.name());
        }
    };
    for server in case.servers() {
        case.of_kind(server, "", "Service").iter().for_each(|object| note(server, object));
        case.of_kind(server, "gateway.networking.k8s.io", "Gateway")
            .iter()
            .for_each(|object| note(server, object));
    }
    for app in case.apps() {
        app.wanted().iter().for_each(|wanted| note(app.server(), &wanted.object));
    }
    names
}

fn not_there(
    case: &Case<'_>,
    server: &str,
    key: ObjectKey,
    users: &[Backend<'_>],
    names: &HashMap<(&str, &str, &str), BTreeSet<&str>>,
) -> Finding {
    let beside = names.get(&(server, key.kind.as_str(), key.namespace.as_str()));
    // Whoever names a gateway that is not there means the one that is.
    let only =
        beside.filter(|all| all.len() == 1 && key.kind == "Gateway").and_then(|all| all.first().copied());
    let near = near::likely(&key.name, beside.into_iter().flatten().copied()).or(only);
    let hint = near.map(|near| format!("; there is {} {near}", key.kind)).unwrap_or_default();
    let cause = format!("{} {} is named by {} and defined nowhere{hint}", key.kind, key.name, who(users));
    dressed(Finding::new(RULE.code, Node::object(server, key.clone()), cause), case, server, users)
        .fix(near.and_then(|near| {
            let edits = users.iter().map(|one| (one, &one.path, Value::from(near)));
            edit(case, format!("Name {} {near}", key.kind), edits)
        }))
        .fix([Fix::new(format!("Have {} {} made", key.kind, key.name))
            .person(format!("add it to the application that it belongs to, in namespace {}", key.namespace))
            .verify(format!("kubectl -n {} get {} {}", key.namespace, key.kind.to_lowercase(), key.name))])
}

/// `Ingress shop and HTTPRoute shop`
pub(super) fn who(users: &[Backend<'_>]) -> String {
    let names: BTreeSet<String> =
        users.iter().map(|one| format!("{} {}", one.holder.kind(), one.holder.name())).collect();
    words::list(names)
}

/// With whose it is, how it was seen, and what comes of it.
pub(super) fn dressed(finding: Finding, case: &Case<'_>, server: &str, users: &[Backend<'_>]) -> Finding {
    let evidence = users.iter().map(|one| Evidence::Field {
        object: one.holder.key(),
        path: one.path.clone(),
        value: one.key.name.to_string(),
    });
    // Without what a webhook asks nothing is let in.
    let is_felt = users
        .iter()
        .any(|one| case.is_unwell(one.holder) || one.holder.kind().ends_with("WebhookConfiguration"));
    finding
        .of(users.iter().find_map(|one| case.owner(server, &one.holder.key())))
        .severity(if is_felt { Severity::P1 } else { Severity::P2 })
        .seen(evidence.take(crate::limits::NAMED))
        .affects(users.iter().map(|one| case.node(server, &one.holder.key())))
}

fn edit<'b>(
    case: &Case<'_>,
    title: String,
    edits: impl Iterator<Item = (&'b Backend<'b>, &'b lynceus_object::FieldPath, Value)>,
) -> Option<Fix> {
    let mut fix = Fix::new(title);
    for (one, path, value) in edits {
        if let Some(app) = case.owner(one.server, &one.holder.key()) {
            fix = fix
                .git(&app, Place::Field { object: one.holder.key(), path: path.clone(), value: Some(value) });
        }
    }
    fix.has_edits().then(|| fix.risk(Risk::Low, "requests that are not answered now").why("it is there"))
}

/// A port that the service has not.
fn findings_of_port(case: &Case<'_>, backend: &Backend<'_>, service: &Object, findings: &mut Findings) {
    let ports = service.value().items_at(&["spec", "ports"]);
    let Some(wanted) = backend.port.filter(|port| !port.is_null() && !ports.is_empty()) else { return };
    let is_outside = service.value().str_at(&["spec", "type"]) == Some("ExternalName");
    if is_outside || ports.iter().any(|port| is_port(port, wanted, backend.holder)) {
        return;
    }
    let shown = words::shown(wanted);
    let there = words::list(ports.iter().map(port_name));
    let key = backend.holder.key();
    let cause = format!(
        "{} {} sends to port {shown} of Service {}, which has {there}",
        key.kind,
        key.name,
        service.name()
    );
    let evidence = Evidence::Field { object: key.clone(), path: backend.port_path.clone(), value: shown };
    let only = ports.first().filter(|_| ports.len() == 1);
    let right = only.and_then(|port| match wanted.as_str() {
        Some(_) => port.get("name").or_else(|| port.get("port")),
        None => port.get("port"),
    });
    let fix = right.filter(|right| right.as_str().is_some() == wanted.as_str().is_some());
    let fix = fix.and_then(|right| {
        let edits = std::iter::once((backend, &backend.port_path, right.clone()));
        edit(case, format!("Send to port {}", words::shown(right)), edits)
    });
    findings.add(
        Finding::new(RULE.code, case.node(backend.server, &key), cause)
            .of(case.owner(backend.server, &key))
            .severity(Severity::P2)
            .seen([evidence])
            .fix(fix)
            .fix([Fix::new("Name a port that the Service has")
                .person(format!("Service {} has {there}", service.name()))]),
    );
}

/// Whether a port is the one that is meant. Routes of OpenShift may also name the port of the pods.
fn is_port(port: &Value, wanted: &Value, holder: &Object) -> bool {
    let is = |field| port.get(field).is_some_and(|value| value == wanted);
    is("port") || is("name") || (holder.kind() == "Route" && is("targetPort"))
}

/// `http (80)`
pub(super) fn port_name(port: &Value) -> String {
    let number = port.int_at(&["port"]).unwrap_or_default();
    match port.str_at(&["name"]) {
        Some(name) if !name.is_empty() => format!("{name} ({number})"),
        _ => number.to_string(),
    }
}

/// Monitors that ask a port which none of the services that they select has.
fn monitors(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let monitors = case.of_kind(server, "monitoring.coreos.com", "ServiceMonitor");
    if monitors.is_empty() {
        return;
    }
    let mut services: HashMap<&str, Vec<&Object>> = HashMap::new();
    for service in case.of_kind(server, "", "Service").iter().copied() {
        services.entry(service.namespace()).or_default().push(service);
    }
    for monitor in monitors {
        let Ok(selector) = lynceus_object::Selector::from_object(monitor.at(&["spec", "selector"])) else {
            continue;
        };
        let names = monitor.value().items_at(&["spec", "namespaceSelector", "matchNames"]);
        let own = [monitor.namespace()];
        let spaces: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let spaces = if spaces.is_empty() { own.as_slice() } else { spaces.as_slice() };
        let near = spaces.iter().filter_map(|space| services.get(space)).flatten();
        let selected: Vec<&&Object> = near.filter(|service| selector.matches_object(service)).collect();
        let ports: BTreeSet<&str> = selected
            .iter()
            .flat_map(|service| service.value().items_at(&["spec", "ports"]))
            .filter_map(|port| port.str_at(&["name"]))
            .collect();
        let asked =
            monitor.value().items_at(&["spec", "endpoints"]).iter().filter_map(|one| one.str_at(&["port"]));
        for port in asked.filter(|port| !selected.is_empty() && !ports.contains(port)) {
            findings.add(unheard(case, server, monitor, port, &ports));
        }
    }
}

fn unheard(case: &Case<'_>, server: &str, monitor: &Object, port: &str, there: &BTreeSet<&str>) -> Finding {
    let has = if there.is_empty() { "no named ports".to_owned() } else { words::list(there) };
    let cause = format!(
        "ServiceMonitor {} asks port {port}, and the services that it selects have {has}",
        monitor.name()
    );
    Finding::new(RULE.code, Node::object(server, monitor.key()), cause)
        .of(case.owner(server, &monitor.key()))
        .severity(Severity::P3)
        .seen([Evidence::Field {
            object: monitor.key(),
            path: lynceus_object::FieldPath::fields(["spec", "endpoints"]),
            value: port.to_owned(),
        }])
        .fix([Fix::new("Name a port that the services have").person(format!("they have {has}"))])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const INGRESS: &str = "
@app web Synced Healthy
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
@live
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {rules: [{http: {paths: [{backend: {service: {name: webb, port: {number: 8080}}}}]}}]}
status: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}
---
apiVersion: v1
kind: Service
metadata: {name: webs, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
";

    #[test]
    fn a_service_that_is_not_there_is_found() {
        assert_eq!(
            check("LYN0303", INGRESS),
            "P2 LYN0303/web/Service/webb: Service webb is named by Ingress web and defined nowhere; there is Service webs\n  \
             Ingress shop/web: spec.rules[0].http.paths[0].backend.service.name: webb\n  fix: Name Service webs\n  fix: Have \
             Service webb made\n"
        );
    }

    #[test]
    fn the_only_gateway_is_meant_however_it_is_called() {
        let of = |name: &str| {
            format!(
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: edge}}\n"
            )
        };
        let text = format!(
            "@live\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: web, namespace: shop}}\nspec: \
             {{parentRefs: [{{name: public, namespace: edge}}]}}\n{}",
            of("main")
        );
        assert!(check("LYN0303", &text).contains("defined nowhere; there is Gateway main\n"));
        assert!(check("LYN0303", &format!("{text}{}", of("other"))).contains("defined nowhere\n"));
    }

    #[test]
    fn a_port_that_the_service_has_not_is_found() {
        assert_eq!(
            check("LYN0303", &INGRESS.replace("webs", "webb")),
            "P2 LYN0303/web/Ingress/web: Ingress web sends to port 8080 of Service webb, which has http (80)\n  Ingress \
             shop/web: spec.rules[0].http.paths[0].backend.service.port.number: 8080\n  fix: Send to port 80\n  fix: Name a port \
             that the Service has\n"
        );
    }

    #[test]
    fn a_service_that_an_operator_or_an_application_is_going_to_make_is_waited_for() {
        let operator =
            "---\napiVersion: db.example.org/v1\nkind: Database\nmetadata: {name: webb, namespace: shop}\n";
        assert_eq!(check("LYN0303", &format!("{INGRESS}{operator}")), "");
        let comes = "@app later OutOfSync Missing\napiVersion: v1\nkind: Service\nmetadata: {name: webb, namespace: shop}\n";
        assert_eq!(check("LYN0303", &format!("{comes}{INGRESS}")), "");
    }

    #[test]
    fn a_monitor_of_a_port_that_is_called_otherwise_is_found() {
        let text = "
@live
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: metrics}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {ports: [{name: http, port: 80}]}
";
        assert!(
            check("LYN0303", text).contains("asks port metrics, and the services that it selects have http")
        );
        assert_eq!(check("LYN0303", &text.replace("name: http", "name: metrics")), "");
    }
}
