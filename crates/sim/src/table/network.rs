//! Services, ingresses and what stands behind them.

use std::collections::BTreeSet;

use lynceus_object::Value;

use super::{Row, line, none_if_empty, some_of};

/// How many addresses, hosts or ports a cell names.
const SHOWN: usize = 3;

/// The cells of a network kind.
pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "Service" => line![
            row.name(),
            row.text(&["spec", "type"]),
            row.items(&["spec", "clusterIPs"]).first().and_then(Value::as_str).unwrap_or("<none>"),
            external_ip(row),
            none_if_empty(ports(row)),
            row.age(),
            row.labels(&["spec", "selector"]),
        ],
        "Endpoints" => line![row.name(), endpoints(row), row.age()],
        "EndpointSlice" => {
            line![row.name(), row.text(&["addressType"]), slice_ports(row), slice_addresses(row), row.age(),]
        }
        "Ingress" => line![
            row.name(),
            row.text_or(&["spec", "ingressClassName"], "<none>"),
            hosts(row),
            balancer(row),
            if row.items(&["spec", "tls"]).is_empty() { "80" } else { "80, 443" },
            row.age(),
        ],
        "IngressClass" => ingress_class(row),
        "NetworkPolicy" => line![row.name(), row.selector(&["spec", "podSelector"]), row.age()],
        "IPAddress" => line![row.name(), parent(row), row.age()],
        "ServiceCIDR" => line![row.name(), joined(row.items(&["spec", "cidrs"])), row.age()],
        _ => return None,
    })
}

fn joined(items: &[Value]) -> String {
    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}

fn external_ip(row: &Row<'_>) -> String {
    let own = joined(row.items(&["spec", "externalIPs"]));
    match row.str(&["spec", "type"]) {
        "ClusterIP" | "NodePort" if own.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => own,
        "LoadBalancer" => match (balancer(row), own) {
            (balanced, own) if balanced.is_empty() && own.is_empty() => "<pending>".to_owned(),
            (balanced, own) if balanced.is_empty() => own,
            (balanced, own) if own.is_empty() => balanced,
            (balanced, own) => format!("{balanced},{own}"),
        },
        "ExternalName" => row.str(&["spec", "externalName"]).to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// The addresses that a load balancer was given, each once.
fn balancer(row: &Row<'_>) -> String {
    let address = |ingress: &Value| {
        let text =
            |field: &str| ingress.str_at(&[field]).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
        text("ip").or_else(|| text("hostname"))
    };
    let addresses: BTreeSet<String> =
        row.items(&["status", "loadBalancer", "ingress"]).iter().filter_map(address).collect();
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

fn ports(row: &Row<'_>) -> String {
    let text = |port: &Value| {
        let number = port.int_at(&["port"]).unwrap_or(0);
        let protocol = port.str_at(&["protocol"]).unwrap_or_default();
        match port.int_at(&["nodePort"]).unwrap_or(0) {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    };
    row.items(&["spec", "ports"]).iter().map(text).collect::<Vec<_>>().join(",")
}

fn endpoints(row: &Row<'_>) -> String {
    let subsets = row.items(&["subsets"]);
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut list = Vec::new();
    for subset in subsets {
        let addresses = || subset.items_at(&["addresses"]).iter().filter_map(|at| at.str_at(&["ip"]));
        let ports = subset.items_at(&["ports"]);
        if ports.is_empty() {
            list.extend(addresses().map(ToOwned::to_owned));
        }
        for port in ports {
            let port = port.int_at(&["port"]).unwrap_or(0);
            let with_port = |ip: &str| {
                if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
            };
            list.extend(addresses().map(with_port));
        }
    }
    some_of(&list, SHOWN, list.len())
}

fn slice_ports(row: &Row<'_>) -> String {
    let text = |port: &Value| {
        let number = port.int_at(&["port"]).map(|number| number.to_string());
        let name = || port.str_at(&["name"]).map(ToOwned::to_owned);
        number.or_else(name).unwrap_or_else(|| "*".to_owned())
    };
    unset_if_empty(&row.items(&["ports"]).iter().map(text).collect::<Vec<_>>())
}

fn slice_addresses(row: &Row<'_>) -> String {
    let endpoints = row.items(&["endpoints"]).iter();
    let addresses = endpoints.flat_map(|endpoint| endpoint.items_at(&["addresses"]));
    unset_if_empty(&addresses.filter_map(Value::as_str).map(ToOwned::to_owned).collect::<Vec<_>>())
}

fn unset_if_empty(list: &[String]) -> String {
    let text = some_of(list, SHOWN, list.len());
    if text.is_empty() { "<unset>".to_owned() } else { text }
}

/// Hosts up to the third; how many more there are counts every rule, named or not.
fn hosts(row: &Row<'_>) -> String {
    let rules = row.items(&["spec", "rules"]);
    let mut list: Vec<String> = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= list.len() == SHOWN;
        let host = rule.str_at(&["host"]).unwrap_or_default();
        if !more && !host.is_empty() {
            list.push(host.to_owned());
        }
    }
    match (list.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, true) => some_of(&list, SHOWN, rules.len()),
        (false, false) => list.join(","),
    }
}

fn ingress_class(row: &Row<'_>) -> Vec<Value> {
    let mark = row.object.annotation("ingressclass.kubernetes.io/is-default-class");
    let name = row.object.name();
    let parameters = match row.value().at(&["spec", "parameters"]).filter(|value| !value.is_null()) {
        None => "<none>".to_owned(),
        Some(parameters) => {
            let text = |field: &str| parameters.str_at(&[field]).unwrap_or_default();
            let group = parameters.str_at(&["apiGroup"]).map(|group| format!(".{group}")).unwrap_or_default();
            format!("{}{group}/{}", text("kind"), text("name"))
        }
    };
    line![
        if mark == Some("true") { format!("{name} (default)") } else { name.to_owned() },
        row.text(&["spec", "controller"]),
        parameters,
        row.age(),
    ]
}

fn parent(row: &Row<'_>) -> String {
    let Some(parent) = row.value().at(&["spec", "parentRef"]).filter(|value| !value.is_null()) else {
        return "<none>".to_owned();
    };
    let text = |field: &str| parent.str_at(&[field]).unwrap_or_default();
    let mut out = text("resource").to_lowercase();
    if !text("group").is_empty() {
        out = format!("{out}.{}", text("group").to_lowercase());
    }
    if !text("namespace").is_empty() {
        out = format!("{out}/{}", text("namespace"));
    }
    format!("{out}/{}", text("name"))
}
