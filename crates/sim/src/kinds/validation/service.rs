//! Services.

use lynceus_object::{Object, Value};

use super::container::{port_number, port_or_name};
use super::endpoints;
use super::meta;
use super::names;
use super::report::{Path, Report};

/// Checks a new service.
pub(crate) fn create(service: &Object, report: &mut Report) {
    meta::create(service, true, names::dns_label, report);
    spec(service, report);
}

/// Checks a changed service: an address that was given stays.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    addresses_stay(new, old, report);
    let at = Path::new("spec");
    families_stay(new, old, &at.child("ipFamilies"), report);
    if kind(new) == "LoadBalancer" && kind(old) == "LoadBalancer" {
        let class =
            |service: &Object| service.value().str_at(&["spec", "loadBalancerClass"]).map(ToOwned::to_owned);
        if class(new) != class(old) {
            let value = new.at(&["spec", "loadBalancerClass"]).unwrap_or(&Value::Null);
            report.invalid(&at.child("loadBalancerClass"), value, "may not change once set");
        }
        balancer_class(new, &at, report);
    } else {
        balancer_class(new, &at, report);
    }
    if needs_health_check(new) && needs_health_check(old) {
        let port =
            |service: &Object| service.value().int_at(&["spec", "healthCheckNodePort"]).unwrap_or_default();
        if port(new) != port(old) {
            report.forbidden(&at.child("healthCheckNodePort"), "field is immutable");
        }
    }
    spec(new, report);
}

fn kind(service: &Object) -> &str {
    service.value().str_at(&["spec", "type"]).unwrap_or_default()
}

fn addresses(service: &Object) -> Vec<&str> {
    service.value().items_at(&["spec", "clusterIPs"]).iter().filter_map(Value::as_str).collect()
}

fn is_headless(service: &Object) -> bool {
    addresses(service) == ["None"]
}

fn needs_health_check(service: &Object) -> bool {
    kind(service) == "LoadBalancer"
        && service.value().str_at(&["spec", "externalTrafficPolicy"]) == Some("Local")
}

fn is_reachable_from_outside(service: &Object) -> bool {
    let addressed =
        kind(service) == "ClusterIP" && !service.value().items_at(&["spec", "externalIPs"]).is_empty();
    matches!(kind(service), "NodePort" | "LoadBalancer") || addressed
}

fn addresses_stay(new: &Object, old: &Object, report: &mut Report) {
    if kind(new) == "ExternalName" || kind(old) == "ExternalName" || (is_headless(new) && is_headless(old)) {
        return;
    }
    let at = Path::new("spec").child("clusterIPs");
    let (is, was) = (addresses(new), addresses(old));
    let list = new.at(&["spec", "clusterIPs"]).unwrap_or(&Value::Null);
    if is.len() == was.len() {
        for (index, _) in is.iter().zip(&was).enumerate().filter(|(_, (is, was))| is != was) {
            report.invalid(&at.index(index), list, "may not change once set");
        }
        return;
    }
    if is.is_empty() {
        report.invalid(&at.index(0), list, "primary clusterIP can not be unset");
    } else if was.first().is_some_and(|was| is.first() != Some(was)) {
        report.invalid(&at.index(0), list, "may not change once set");
    }
    let single = new.value().str_at(&["spec", "ipFamilyPolicy"]) == Some("SingleStack");
    if is.len() == 1 && was.len() > 1 && !single {
        let policy = new.at(&["spec", "ipFamilyPolicy"]).unwrap_or(&Value::Null);
        let why = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        report.invalid(&Path::new("spec").child("ipFamilyPolicy"), policy, why);
    }
}

fn families_stay(new: &Object, old: &Object, at: &Path, report: &mut Report) {
    let families = |service: &Object| service.value().items_at(&["spec", "ipFamilies"]).to_vec();
    let skip =
        kind(new) == "ExternalName" || kind(old) == "ExternalName" || is_headless(new) || is_headless(old);
    if skip || families(old).is_empty() {
        return;
    }
    let list = new.at(&["spec", "ipFamilies"]).unwrap_or(&Value::Null);
    if families(new).first() != families(old).first() {
        report.invalid(&at.index(0), list, "may not change once set");
    }
}

fn spec(service: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = service.at(&["spec"]).unwrap_or(&Value::Null);
    let ports = spec.items_at(&["ports"]);
    if ports.is_empty() && !is_headless(service) && kind(service) != "ExternalName" {
        report.required(&at.child("ports"), "");
    }
    of_type(service, spec, &at, report);
    let mut known: Vec<&str> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        service_port(port, ports.len() > 1, &mut known, &at.child("ports").index(index), report);
    }
    meta::labels(spec.get("selector"), &at.child("selector"), report);
    affinity(spec, &at, report);
    cluster_ips(service, spec, &at, report);
    for (index, ip) in spec.items_at(&["externalIPs"]).iter().filter_map(Value::as_str).enumerate() {
        let at = at.child("externalIPs").index(index);
        let problems = names::ip_problems(ip);
        if problems.is_empty() {
            endpoints::ordinary_ip(ip, &at, report);
        } else {
            report.each(&at, ip, problems);
        }
    }
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    report.one_of(&at.child("type"), kind(service), &types);
    node_ports(service, ports, &at.child("ports"), report);
    source_ranges(service, spec, &at, report);
    let allocate = spec.get("allocateLoadBalancerNodePorts").is_some_and(|value| !value.is_null());
    if allocate && kind(service) != "LoadBalancer" {
        let why = "may only be used when `type` is 'LoadBalancer'";
        report.forbidden(&at.child("allocateLoadBalancerNodePorts"), why);
    }
    balancer_class(service, &at, report);
    traffic(service, spec, &at, report);
}

fn of_type(service: &Object, spec: &Value, at: &Path, report: &mut Report) {
    match kind(service) {
        kind @ ("LoadBalancer" | "NodePort") if is_headless(service) => {
            let why = format!("may not be set to 'None' for {kind} services");
            report.invalid_text(&at.child("clusterIPs").index(0), "None", why);
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if spec.get(field).is_some_and(|value| !value.is_empty()) {
                    report.forbidden(&at.child(field), "may not be set for ExternalName services");
                }
            }
            let name = spec.str_at(&["externalName"]).unwrap_or_default();
            match name.strip_suffix('.').unwrap_or(name) {
                "" => report.required(&at.child("externalName"), ""),
                name => report.each(&at.child("externalName"), name, names::dns_subdomain(name)),
            }
        }
        _ => {}
    }
}

fn service_port<'a>(
    port: &'a Value,
    several: bool,
    known: &mut Vec<&'a str>,
    at: &Path,
    report: &mut Report,
) {
    let name = port.str_at(&["name"]).unwrap_or_default();
    if several && name.is_empty() {
        report.required(&at.child("name"), "");
    } else if !name.is_empty() {
        report.each(&at.child("name"), name, names::dns_label(name));
        if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
    }
    port_number(&at.child("port"), port.int_at(&["port"]).unwrap_or_default(), report);
    let protocol = port.str_at(&["protocol"]).unwrap_or_default();
    report.one_of(&at.child("protocol"), protocol, &["SCTP", "TCP", "UDP"]);
    port_or_name(port.get("targetPort"), &at.child("targetPort"), report);
    if let Some(protocol) = port.str_at(&["appProtocol"]) {
        report.each(&at.child("appProtocol"), protocol, names::label_key(protocol));
    }
}

fn affinity(spec: &Value, at: &Path, report: &mut Report) {
    let affinity = spec.str_at(&["sessionAffinity"]).unwrap_or_default();
    report.one_of(&at.child("sessionAffinity"), affinity, &["ClientIP", "None"]);
    let at = at.child("sessionAffinityConfig");
    let config = spec.get("sessionAffinityConfig").filter(|config| !config.is_null());
    match (affinity, config) {
        ("ClientIP", None) => report.required(&at, "when session affinity type is ClientIP"),
        ("ClientIP", Some(config)) => {
            let seconds = config.int_at(&["clientIP", "timeoutSeconds"]).unwrap_or_default();
            if !(1..=86_400).contains(&seconds) {
                let at = at.child("clientIP").child("timeoutSeconds");
                report.invalid_number(&at, seconds, "must be greater than 0 and less than 86400");
            }
        }
        ("None", Some(_)) => report.forbidden(&at, "must not be set when session affinity is None"),
        _ => {}
    }
}

fn cluster_ips(service: &Object, spec: &Value, at: &Path, report: &mut Report) {
    if kind(service) == "ExternalName" {
        return;
    }
    let (one, all) = (spec.str_at(&["clusterIP"]).unwrap_or_default(), addresses(service));
    let at_ips = at.child("clusterIPs");
    let list = spec.get("clusterIPs").unwrap_or(&Value::Null);
    match (one, all.first()) {
        ("", Some(_)) => report.invalid(&at_ips, list, "must be empty when `clusterIP` is not specified"),
        ("", None) => {}
        (_, None) => report.required(&at_ips, ""),
        (one, Some(first)) if one != *first => {
            report.invalid(&at_ips, list, "first value must match `clusterIP`")
        }
        _ => {}
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, family) in spec.items_at(&["ipFamilies"]).iter().filter_map(Value::as_str).enumerate() {
        let at = at.child("ipFamilies").index(index);
        if !matches!(family, "IPv4" | "IPv6") {
            report.not_supported(&at, family, &["IPv4", "IPv6"]);
        }
        if seen.contains(&family) {
            report.duplicate(&at, &family.into());
        }
        seen.push(family);
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    if let Some(policy) = spec.str_at(&["ipFamilyPolicy"]).filter(|policy| !policies.contains(policy)) {
        report.not_supported(&at.child("ipFamilyPolicy"), policy, &policies);
    }
    for (index, ip) in all.iter().enumerate() {
        if index == 0 && *ip == "None" {
            if all.len() > 1 {
                report.invalid(&at_ips, list, "'None' must be the first and only value");
            }
            continue;
        }
        report.each(&at_ips.index(index), ip, names::ip_problems(ip));
    }
    if all.len() > 2 {
        report.invalid(&at_ips, list, "may only hold up to 2 values");
    }
}

fn node_ports(service: &Object, ports: &[Value], at: &Path, report: &mut Report) {
    let node = |port: &Value| port.int_at(&["nodePort"]).unwrap_or_default();
    if kind(service) == "ClusterIP" {
        for (index, _) in ports.iter().enumerate().filter(|(_, port)| node(port) != 0) {
            report
                .forbidden(&at.index(index).child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    let protocol = |port: &Value| port.str_at(&["protocol"]).unwrap_or_default().to_owned();
    for (index, port) in ports.iter().enumerate() {
        let before = &ports[..index];
        if node(port) != 0
            && before.iter().any(|other| (node(other), protocol(other)) == (node(port), protocol(port)))
        {
            report.duplicate(&at.index(index).child("nodePort"), &Value::Int(node(port)));
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let before = &ports[..index];
        let number = |port: &Value| port.int_at(&["port"]).unwrap_or_default();
        if before.iter().any(|other| (number(other), protocol(other)) == (number(port), protocol(port))) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{:?},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                protocol(port),
                number(port)
            );
            report.push(crate::FieldError::duplicate(at.index(index).to_string(), shown));
        }
    }
}

fn source_ranges(service: &Object, spec: &Value, at: &Path, report: &mut Report) {
    let ranges = spec.items_at(&["loadBalancerSourceRanges"]);
    if ranges.is_empty() {
        return;
    }
    let at = at.child("LoadBalancerSourceRanges");
    if kind(service) != "LoadBalancer" {
        report.forbidden(&at, "may only be used when `type` is 'LoadBalancer'");
    }
    for (index, range) in ranges.iter().filter_map(Value::as_str).enumerate() {
        report.each(&at.index(index), range.trim(), names::cidr_problems(range.trim()));
    }
}

fn balancer_class(service: &Object, at: &Path, report: &mut Report) {
    let at = at.child("loadBalancerClass");
    match (kind(service), service.value().str_at(&["spec", "loadBalancerClass"])) {
        (_, None) => {}
        ("LoadBalancer", Some(class)) => report.each(&at, class, names::label_key(class)),
        (_, Some(_)) => report.forbidden(&at, "may only be used when `type` is 'LoadBalancer'"),
    }
}

fn traffic(service: &Object, spec: &Value, at: &Path, report: &mut Report) {
    let outside = spec.str_at(&["externalTrafficPolicy"]).unwrap_or_default();
    let at_outside = at.child("externalTrafficPolicy");
    if is_reachable_from_outside(service) {
        report.one_of(&at_outside, outside, &["Cluster", "Local"]);
    } else if !outside.is_empty() {
        report.invalid_text(&at_outside, outside, "may only be set for externally-accessible services");
    }
    let health = spec.int_at(&["healthCheckNodePort"]).unwrap_or_default();
    let at_health = at.child("healthCheckNodePort");
    match (needs_health_check(service), health) {
        (true, 0) => report.required(&at_health, ""),
        (true, port) => port_number(&at_health, port, report),
        (false, 0) => {}
        (false, port) => {
            let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            report.invalid_number(&at_health, port, why);
        }
    }
    if let Some(inside) =
        spec.str_at(&["internalTrafficPolicy"]).filter(|inside| !matches!(*inside, "Cluster" | "Local"))
    {
        report.not_supported(&at.child("internalTrafficPolicy"), inside, &["Cluster", "Local"]);
    }
    let spread = ["PreferClose", "PreferSameNode", "PreferSameZone"];
    if let Some(wish) = spec.str_at(&["trafficDistribution"]).filter(|wish| !spread.contains(wish)) {
        report.not_supported(&at.child("trafficDistribution"), wish, &spread);
    }
}
