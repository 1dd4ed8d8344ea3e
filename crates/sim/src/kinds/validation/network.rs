//! Ingresses and network policies.

use lynceus_object::{Object, Value};

use super::container::{port_number, port_or_name};
use super::meta;
use super::names;
use super::report::{Path, Report};
use super::selector;

/// Checks an Ingress.
pub(crate) fn ingress(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    ingress_spec(object, report);
    let class = object.value().str_at(&["spec", "ingressClassName"]);
    let old_name = "kubernetes.io/ingress.class";
    if let (Some(class), Some(annotation)) = (class, object.annotation(old_name))
        && class != annotation
    {
        let at = Path::new("metadata.annotations").child(old_name);
        report.invalid_text(&at, annotation, "must match `ingressClassName` when both are specified");
    }
}

/// Checks a changed Ingress.
pub(crate) fn ingress_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    meta::create(new, true, names::dns_subdomain, report);
    ingress_spec(new, report);
}

fn ingress_spec(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let default = spec.get("defaultBackend").filter(|backend| !backend.is_null());
    let rules = spec.items_at(&["rules"]);
    if rules.is_empty() && default.is_none() {
        let shown = spec.get("rules").unwrap_or(&Value::Null);
        report.invalid(&at, shown, "either `defaultBackend` or `rules` must be specified");
    }
    if let Some(default) = default {
        backend(default, &at.child("defaultBackend"), report);
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = at.child("rules").index(index);
        let host = rule.str_at(&["host"]).unwrap_or_default();
        if !host.is_empty() {
            host_name(host, &at.child("host"), report);
        }
        if let Some(http) = rule.get("http").filter(|http| !http.is_null()) {
            let paths = http.items_at(&["paths"]);
            let at = at.child("http").child("paths");
            if paths.is_empty() {
                report.required(&at, "");
            }
            for (index, path) in paths.iter().enumerate() {
                http_path(path, &at.index(index), report);
            }
        }
    }
    for (index, tls) in spec.items_at(&["tls"]).iter().enumerate() {
        let at = at.child("tls").index(index);
        for (number, host) in tls.items_at(&["hosts"]).iter().filter_map(Value::as_str).enumerate() {
            let at = at.child("hosts").index(number);
            report.each(&at, host, host_problems(host));
        }
        let secret = tls.str_at(&["secretName"]).unwrap_or_default();
        if !secret.is_empty() {
            report.each(&at.child("secretName"), secret, names::dns_subdomain(secret));
        }
    }
    if let Some(class) = spec.str_at(&["ingressClassName"]) {
        report.each(&at.child("ingressClassName"), class, names::dns_subdomain(class));
    }
}

fn host_problems(host: &str) -> Vec<String> {
    if host.contains('*') { names::wildcard_subdomain(host) } else { names::dns_subdomain(host) }
}

fn host_name(host: &str, at: &Path, report: &mut Report) {
    if names::ip(host).is_some() {
        report.invalid_text(at, host, "must be a DNS name, not an IP address");
    }
    report.each(at, host, host_problems(host));
}

fn http_path(path: &Value, at: &Path, report: &mut Report) {
    let text = path.str_at(&["path"]).unwrap_or_default();
    let at_path = at.child("path");
    match path.str_at(&["pathType"]) {
        None => {
            report.required(&at.child("pathType"), "pathType must be specified");
            return;
        }
        Some("Exact" | "Prefix") => {
            if !text.starts_with('/') {
                report.invalid_text(&at_path, text, "must be an absolute path");
            }
            if !text.is_empty() {
                for odd in ["//", "/./", "/../", "%2f", "%2F"].iter().filter(|odd| text.contains(**odd)) {
                    report.invalid_text(&at_path, text, format!("must not contain '{odd}'"));
                }
                for end in ["/..", "/."].iter().filter(|end| text.ends_with(**end)) {
                    report.invalid_text(&at_path, text, format!("cannot end with '{end}'"));
                }
            }
        }
        Some("ImplementationSpecific") => {
            if !text.is_empty() && !text.starts_with('/') {
                report.invalid_text(&at_path, text, "must be an absolute path");
            }
        }
        Some(other) => {
            report.not_supported(
                &at.child("pathType"),
                other,
                &["Exact", "ImplementationSpecific", "Prefix"],
            );
        }
    }
    backend(path.get("backend").unwrap_or(&Value::Null), &at.child("backend"), report);
}

fn backend(backend: &Value, at: &Path, report: &mut Report) {
    let part = |name: &str| backend.get(name).filter(|part| !part.is_null());
    match (part("resource"), part("service")) {
        (Some(_), Some(_)) => report.invalid_text(at, "", "cannot set both resource and service backends"),
        (Some(resource), None) => reference(resource, &at.child("resource"), report),
        (None, Some(service)) => {
            let at_service = at.child("service");
            match service.str_at(&["name"]).unwrap_or_default() {
                "" => report.required(&at_service.child("name"), ""),
                name => report.each(&at_service.child("name"), name, names::dns_label(name)),
            }
            let name = service.str_at(&["port", "name"]).unwrap_or_default();
            let number = service.int_at(&["port", "number"]).unwrap_or_default();
            match (name, number) {
                ("", 0) => report.required(at, "port name or number is required"),
                ("", number) => port_number(&at_service.child("port").child("number"), number, report),
                (name, 0) => {
                    report.each(&at_service.child("port").child("name"), name, names::port_name(name));
                }
                _ => report.invalid_text(at, "", "cannot set both port name & port number"),
            }
        }
        (None, None) => report.invalid_text(at, "", "resource or service backend is required"),
    }
}

fn reference(reference: &Value, at: &Path, report: &mut Report) {
    if let Some(group) = reference.str_at(&["apiGroup"]) {
        report.each(&at.child("apiGroup"), group, names::dns_subdomain(group));
    }
    for field in ["kind", "name"] {
        match reference.str_at(&[field]).unwrap_or_default() {
            "" => report.required(&at.child(field), ""),
            text => report.each(&at.child(field), text, names::path_segment(text)),
        }
    }
}

/// Checks an IngressClass.
pub(crate) fn ingress_class(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let at = Path::new("spec");
    let controller = spec.str_at(&["controller"]).unwrap_or_default();
    if controller.len() > 250 {
        report.too_long(&at.child("controller"), 250);
    }
    domain_path(controller, &at.child("controller"), report);
    let Some(parameters) = spec.get("parameters").filter(|parameters| !parameters.is_null()) else { return };
    let at = at.child("parameters");
    reference(parameters, &at, report);
    let namespace = parameters.str_at(&["namespace"]);
    match (parameters.str_at(&["scope"]), namespace) {
        (None, _) => report.required(&at.child("scope"), ""),
        (Some("Namespace"), None) => {
            report.required(&at.child("namespace"), "`parameters.scope` is set to 'Namespace'");
        }
        (Some("Namespace"), Some(namespace)) => {
            report.each(&at.child("namespace"), namespace, names::dns_label(namespace));
        }
        (Some("Cluster"), Some(_)) => {
            report.forbidden(&at.child("namespace"), "`parameters.scope` is set to 'Cluster'");
        }
        (Some("Cluster"), None) => {}
        (Some(other), _) => report.not_supported(&at.child("scope"), other, &["Cluster", "Namespace"]),
    }
}

/// Checks a name of the form `example.com/path`.
pub(crate) fn domain_path(text: &str, at: &Path, report: &mut Report) {
    if text.is_empty() {
        report.required(at, "");
        return;
    }
    match text.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty()) {
        None => report.invalid_text(at, text, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        Some((host, path)) => {
            report.each(at, host, names::dns_subdomain(host));
            let allowed = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
            if !path.chars().all(allowed) {
                let why = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
                report.invalid_text(at, path, why);
            }
        }
    }
}

/// Checks a NetworkPolicy.
pub(crate) fn policy(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    policy_spec(object, report);
}

/// Checks the spec of a NetworkPolicy.
pub(crate) fn policy_spec(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    selector::label_selector(spec.get("podSelector"), &at.child("podSelector"), report);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in spec.items_at(&[direction]).iter().enumerate() {
            let at = at.child(direction).index(index);
            for (number, port) in rule.items_at(&["ports"]).iter().enumerate() {
                policy_port(port, &at.child("ports").index(number), report);
            }
            for (number, peer) in rule.items_at(&[peers]).iter().enumerate() {
                policy_peer(peer, &at.child(peers).index(number), report);
            }
        }
    }
    let types = spec.items_at(&["policyTypes"]);
    if types.len() > 2 {
        let list = spec.get("policyTypes").unwrap_or(&Value::Null);
        report.invalid(&at.child("policyTypes"), list, "may not specify more than two policyTypes");
        return;
    }
    for (index, kind) in types.iter().filter_map(Value::as_str).enumerate() {
        if !matches!(kind, "Ingress" | "Egress") {
            report.not_supported(&at.child("policyTypes").index(index), kind, &["Ingress", "Egress"]);
        }
    }
}

fn policy_port(port: &Value, at: &Path, report: &mut Report) {
    if let Some(protocol) =
        port.str_at(&["protocol"]).filter(|protocol| !matches!(*protocol, "TCP" | "UDP" | "SCTP"))
    {
        report.not_supported(&at.child("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let end = port.int_at(&["endPort"]);
    let at_end = at.child("endPort");
    match port.get("port").filter(|port| !port.is_null()) {
        None => {
            if let Some(end) = end {
                report.invalid_number(&at_end, end, "may not be specified when `port` is not specified");
            }
        }
        Some(text @ Value::Str(_)) => {
            if let Some(end) = end {
                report.invalid_number(&at_end, end, "may not be specified when `port` is non-numeric");
            }
            port_or_name(Some(text), &at.child("port"), report);
        }
        Some(number) => {
            let number = number.as_int().unwrap_or_default();
            port_number(&at.child("port"), number, report);
            if let Some(end) = end {
                if end < number {
                    report.invalid_number(&at_end, number, "must be greater than or equal to `port`");
                }
                port_number(&at_end, end, report);
            }
        }
    }
}

fn policy_peer(peer: &Value, at: &Path, report: &mut Report) {
    let part = |name: &str| peer.get(name).filter(|part| !part.is_null());
    let mut count = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if let Some(selected) = part(field) {
            count += 1;
            selector::label_selector(Some(selected), &at.child(field), report);
        }
    }
    if let Some(block) = part("ipBlock") {
        count += 1;
        ip_block(block, &at.child("ipBlock"), report);
        if count > 1 {
            report.forbidden(at, "may not specify both ipBlock and another peer");
        }
    }
    if count == 0 {
        report.required(at, "must specify a peer");
    }
}

fn ip_block(block: &Value, at: &Path, report: &mut Report) {
    let range = block.str_at(&["cidr"]).unwrap_or_default();
    if range.is_empty() {
        report.required(&at.child("cidr"), "");
        return;
    }
    let problems = names::cidr_problems(range);
    if !problems.is_empty() {
        report.each(&at.child("cidr"), range, problems);
        return;
    }
    for (index, except) in block.items_at(&["except"]).iter().filter_map(Value::as_str).enumerate() {
        let at = at.child("except").index(index);
        match (names::cidr(range), names::cidr(except)) {
            (Some(outer), Some(inner)) if !is_strictly_inside(inner, outer) => {
                report.invalid_text(&at, except, "must be a strict subset of `cidr`");
            }
            (_, None) => report.each(&at, except, names::cidr_problems(except)),
            _ => {}
        }
    }
}

fn is_strictly_inside(inner: (std::net::IpAddr, u8), outer: (std::net::IpAddr, u8)) -> bool {
    use std::net::IpAddr;
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let ((inner_bits, inner_family), (outer_bits, outer_family)) = (bits(inner.0), bits(outer.0));
    let mask = if outer.1 == 0 { 0 } else { u128::MAX << (128 - u32::from(outer.1)) };
    inner_family == outer_family && inner.1 > outer.1 && inner_bits & mask == outer_bits & mask
}

/// Checks an IPAddress: its name is the address.
pub(crate) fn ip_address(object: &Object, report: &mut Report) {
    meta::create(object, false, names::ip_problems, report);
    let at = Path::new("spec");
    let Some(parent) = object.at(&["spec", "parentRef"]).filter(|parent| !parent.is_null()) else {
        report.required(&at.child("parentRef"), "");
        return;
    };
    let at = at.child("parentRef");
    for field in ["resource", "name"] {
        match parent.str_at(&[field]).unwrap_or_default() {
            "" => report.required(&at.child(field), ""),
            text => report.each(&at.child(field), text, names::path_segment(text)),
        }
    }
    if let Some(namespace) = parent.str_at(&["namespace"]).filter(|namespace| !namespace.is_empty()) {
        report.each(&at.child("namespace"), namespace, names::path_segment(namespace));
    }
}

/// Checks a ServiceCIDR.
pub(crate) fn service_cidr(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let at = Path::new("spec.cidrs");
    let ranges = object.value().items_at(&["spec", "cidrs"]);
    if ranges.is_empty() {
        report.required(&at, "at least one CIDR required");
        return;
    }
    if ranges.len() > 2 {
        report.invalid(&at, object.at(&["spec"]).unwrap_or(&Value::Null), "may only hold up to 2 values");
        return;
    }
    for (index, range) in ranges.iter().filter_map(Value::as_str).enumerate() {
        report.each(&at.index(index), range, names::cidr_problems(range));
    }
    let families: Vec<bool> = ranges
        .iter()
        .filter_map(|range| names::cidr(range.as_str()?))
        .map(|(address, _)| address.is_ipv4())
        .collect();
    if let [first, second] = families.as_slice()
        && first == second
    {
        let list = object.at(&["spec", "cidrs"]).unwrap_or(&Value::Null);
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        report.invalid(&at, list, why);
    }
}
