//! Services that lead to a port which the pods behind them have not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::asking::Asking;
use super::near;
use super::unselected::Served;
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::links::service::is_behind;
use crate::node::Node;
use crate::words;

/// The ports that pods have, by number, with their names.
type Ports<'a> = BTreeMap<i64, Option<&'a str>>;

/// Looks for them. A name that no container gives to a port leads nowhere. A number may be one that the program listens at without
/// saying so, so that it counts only where the port of that name is another one, or where somebody asks there and gets no answer.
pub(super) fn find(
    case: &Case<'_>,
    server: &str,
    served: &[Served<'_>],
    all: &[Asking<'_>],
    findings: &mut Findings,
) {
    let mut askers: HashMap<ObjectKey, Vec<(&Asking<'_>, Option<i64>)>> = HashMap::new();
    for asking in all {
        for asked in asking.asked() {
            let port = asked.port.map(|port| port.number);
            askers.entry(asked.key).or_default().push((asking, port));
        }
    }
    for Served { service, behind } in served {
        let is_pod = |object: &&Object| (object.group(), object.kind()) == ("", "Pod");
        // Without pods it cannot be told what is put into them besides their template.
        if !behind.iter().any(is_pod) {
            continue;
        }
        let ports = ports(behind);
        for (place, port) in service.value().items_at(&["spec", "ports"]).iter().enumerate() {
            let number = port.int_at(&["port"]);
            let waiting = askers.get(&service.key()).into_iter().flatten();
            let waiting = waiting.filter(|(_, asked)| asked.is_none_or(|asked| Some(asked) == number));
            let waiting: Vec<&Object> = waiting
                .map(|(asking, _)| asking.owner)
                .filter(|owner| !is_behind(case, server, service, owner))
                .collect();
            if let Some(target) = lacks(port, &ports, !waiting.is_empty()) {
                findings.add(found(case, server, service, (place, &target), &ports, &waiting));
            }
        }
    }
}

fn ports<'a>(behind: &[&'a Object]) -> Ports<'a> {
    let mut ports = Ports::new();
    for pods in behind.iter().copied().filter_map(Pods::of) {
        for (_, container) in pods.containers() {
            for port in container.items_at(&["ports"]) {
                let name = port.str_at(&["name"]).filter(|name| !name.is_empty());
                if let Some(number) = port.int_at(&["containerPort"]) {
                    let known = ports.entry(number).or_default();
                    *known = known.or(name);
                }
            }
        }
    }
    ports
}

/// The port that a service leads to, if the pods certainly do not have it.
fn lacks(port: &Value, ports: &Ports<'_>, is_felt: bool) -> Option<Value> {
    let target = port.get("targetPort").or_else(|| port.get("port"))?;
    let name = port.str_at(&["name"]).filter(|name| !name.is_empty());
    let is_there = match (target.as_str(), target.as_int()) {
        (Some(name), _) => name.parse::<i64>().is_ok() || ports.values().any(|known| *known == Some(name)),
        (None, Some(number)) => {
            let is_elsewhere = name.is_some() && ports.values().any(|known| *known == name);
            ports.contains_key(&number) || ports.is_empty() || !(is_elsewhere || is_felt)
        }
        (None, None) => true,
    };
    (!is_there).then(|| target.clone())
}

fn found(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    (place, target): (usize, &Value),
    ports: &Ports<'_>,
    waiting: &[&Object],
) -> Finding {
    let shown = target.as_str().map_or_else(|| words::shown(target), str::to_owned);
    let told = ports.iter().map(|(number, name)| match name {
        Some(name) => format!("{name} ({number})"),
        None => number.to_string(),
    });
    let has = if ports.is_empty() { "no ports".to_owned() } else { words::list(told) };
    let names: BTreeSet<String> =
        waiting.iter().map(|owner| format!("{} {}", owner.kind(), owner.name())).collect();
    let felt = match names.len() {
        0 => String::new(),
        1 => format!("; {} asks it and does not get ready", words::list(names)),
        _ => format!("; {} ask it and do not get ready", words::list(names)),
    };
    let cause = format!(
        "Service {} leads to port {shown} of its pods, which have {has}: nobody answers there{felt}",
        service.name()
    );
    let path = FieldPath::fields(["spec", "ports"]).index(place).field("targetPort");
    Finding::new("LYN0303", Node::object(server, service.key()), cause)
        .of(case.owner(server, &service.key()))
        .severity(if waiting.is_empty() { Severity::P2 } else { Severity::P1 })
        .seen([Evidence::Field { object: service.key(), path, value: shown }])
        .affects(waiting.iter().map(|owner| Node::object(server, owner.key())))
        .fix(mend(case, server, service, (place, target), ports))
        .fix([Fix::new("Lead to a port that the pods have").person(format!("the pods have {has}"))])
}

/// The port that is meant: the one that is called as the service's own is or almost as what is named, or the only one.
fn mend(
    case: &Case<'_>,
    server: &str,
    service: &Object,
    (place, target): (usize, &Value),
    ports: &Ports<'_>,
) -> Option<Fix> {
    let port = service.value().items_at(&["spec", "ports"]).get(place)?;
    let named = |name: &str| ports.iter().find(|(_, known)| **known == Some(name));
    let near = || near::likely(target.as_str()?, ports.values().flatten().copied()).and_then(named);
    let same = || port.str_at(&["name"]).and_then(named);
    let only = || ports.iter().next().filter(|_| ports.len() == 1);
    let (number, name) = near().or_else(same).or_else(only)?;
    let value = match (target.as_str(), name) {
        (Some(_), Some(name)) => Value::from(*name),
        _ => Value::from(*number),
    };
    let (app, wanted) = case.wanted(server, &service.key()).into_iter().next()?;
    let number = port.int_at(&["port"]);
    let mut own = wanted.object.value().items_at(&["spec", "ports"]).iter();
    let place = own.position(|one| one.int_at(&["port"]) == number)?;
    let path = FieldPath::fields(["spec", "ports"]).index(place).field("targetPort");
    Some(
        Fix::new(format!(
            "Lead to port {}",
            value.as_str().map_or_else(|| words::shown(&value), str::to_owned)
        ))
        .git(&app.name, Place::Field { object: service.key(), path, value: Some(value) })
        .risk(Risk::Low, format!("requests to Service {}, which nobody answers now", service.name()))
        .why("the pods have it")
        .verify(format!(
            "kubectl -n {} get endpointslices -l kubernetes.io/service-name={}",
            service.namespace(),
            service.name()
        )),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const NAMED: &str = "
@app shop Synced Healthy
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {selector: {app: api}, ports: [{name: http, port: 80, targetPort: web}]}
@live
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {clusterIP: 10.0.0.1, selector: {app: api}, ports: [{name: http, port: 80, targetPort: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, labels: {app: api}}
spec: {containers: [{name: api, image: api, ports: [{name: http, containerPort: 8080}]}]}
status:
  phase: Running
  conditions: [{type: Ready, status: 'True'}]
  containerStatuses: [{name: api, ready: true, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}}]
";
    const ASKER: &str = "---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: web, env: [{name: API, value: 'http://api'}]}]}
status:
  phase: Running
  containerStatuses: [{name: web, ready: false, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}}]
";

    #[test]
    fn a_name_that_no_container_gives_to_a_port_is_found() {
        assert_eq!(
            check("LYN0303", NAMED),
            "P2 LYN0303/shop/Service/api: Service api leads to port web of its pods, which have http (8080): nobody answers there\n  \
             Service shop/api: spec.ports[0].targetPort: web\n  fix: Lead to port http\n  fix: Lead to a port that the pods have\n"
        );
    }

    #[test]
    fn whoever_asks_there_waits_for_the_service() {
        let text = format!("{NAMED}{ASKER}");
        assert!(
            check("LYN0303", &text).contains("; Pod web asks it and does not get ready"),
            "{}",
            check("LYN0303", &text)
        );
        assert_eq!(roots(&text), "P1 LYN0303/shop/Service/api explains \n", "and its probe is no cause");
    }

    #[test]
    fn a_number_counts_where_it_is_felt_or_the_port_of_that_name_is_another() {
        let number = NAMED.replace("targetPort: web", "targetPort: 9090");
        assert!(check("LYN0303", &number).contains("leads to port 9090 of its pods, which have http (8080)"));
        let nameless = number.replace("{name: http, containerPort", "{containerPort");
        assert_eq!(check("LYN0303", &nameless), "", "the program may listen there");
        let felt = check("LYN0303", &format!("{nameless}{ASKER}"));
        assert!(felt.contains("which have 8080: nobody answers there; Pod web asks it"), "{felt}");
    }

    #[test]
    fn a_port_that_the_pods_have_is_fine() {
        assert_eq!(check("LYN0303", &NAMED.replace("targetPort: web", "targetPort: http")), "");
        assert_eq!(check("LYN0303", &NAMED.replace("targetPort: web", "targetPort: 8080")), "");
        let beside = NAMED.replace(
            "[{name: api, image: api,",
            "[{name: side, image: side, ports: [{name: web, containerPort: 1}]}, {name: api, image: api,",
        );
        assert_eq!(check("LYN0303", &beside), "", "another container has it");
    }
}
