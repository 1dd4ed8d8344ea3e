//! The addresses behind services.

use std::net::IpAddr;

use lynceus_object::{Object, Value};

use super::container::port_number;
use super::meta;
use super::names;
use super::report::{Path, Report};

/// Checks Endpoints.
pub(crate) fn endpoints(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    for (index, subset) in object.value().items_at(&["subsets"]).iter().enumerate() {
        let at = Path::new("subsets").index(index);
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|list| subset.items_at(&[list]).is_empty()) {
            report.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for list in lists {
            for (index, address) in subset.items_at(&[list]).iter().enumerate() {
                endpoint_address(address, &at.child(list).index(index), report);
            }
        }
        let ports = subset.items_at(&["ports"]);
        for (index, port) in ports.iter().enumerate() {
            endpoint_port(port, ports.len() > 1, &at.child("ports").index(index), report);
        }
    }
}

fn endpoint_address(address: &Value, at: &Path, report: &mut Report) {
    let ip = address.str_at(&["ip"]).unwrap_or_default();
    report.each(&at.child("ip"), ip, names::ip_problems(ip));
    if let Some(host) = address.str_at(&["hostname"]).filter(|host| !host.is_empty()) {
        report.each(&at.child("hostname"), host, names::dns_label(host));
    }
    if let Some(node) = address.str_at(&["nodeName"]) {
        report.each(&at.child("nodeName"), node, names::dns_subdomain(node));
    }
    ordinary_ip(ip, &at.child("ip"), report);
}

fn endpoint_port(port: &Value, several: bool, at: &Path, report: &mut Report) {
    let name = port.str_at(&["name"]).unwrap_or_default();
    if several && name.is_empty() {
        report.required(&at.child("name"), "");
    } else if !name.is_empty() {
        report.each(&at.child("name"), name, names::dns_label(name));
    }
    port_number(&at.child("port"), port.int_at(&["port"]).unwrap_or_default(), report);
    let protocol = port.str_at(&["protocol"]).unwrap_or_default();
    report.one_of(&at.child("protocol"), protocol, &["SCTP", "TCP", "UDP"]);
}

/// Checks that an address is one that a machine can have.
pub(crate) fn ordinary_ip(ip: &str, at: &Path, report: &mut Report) {
    let Some(address) = names::ip(ip) else {
        report.invalid_text(at, ip, "must be a valid IP address");
        return;
    };
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => (address.segments()[0] & 0xffc0) == 0xfe80,
    };
    let multicast_local = match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] == 0xff02,
    };
    if address.is_unspecified() {
        report.invalid_text(at, ip, format!("may not be unspecified ({ip})"));
    }
    if address.is_loopback() {
        report.invalid_text(at, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if link_local {
        report.invalid_text(at, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if multicast_local {
        report.invalid_text(at, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// Checks an EndpointSlice.
pub(crate) fn slice(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    let value = object.value();
    let kind = value.str_at(&["addressType"]).unwrap_or_default();
    report.one_of(&Path::new("addressType"), kind, &["FQDN", "IPv4", "IPv6"]);
    let all = value.items_at(&["endpoints"]);
    if all.len() > 1000 {
        report.too_many(&Path::new("endpoints"), all.len(), 1000);
    }
    for (index, endpoint) in all.iter().enumerate() {
        let at = Path::new("endpoints").index(index);
        let addresses = endpoint.items_at(&["addresses"]);
        if addresses.is_empty() {
            report.required(&at.child("addresses"), "must contain at least 1 address");
        } else if addresses.len() > 100 {
            report.too_many(&at.child("addresses"), addresses.len(), 100);
        }
        for (number, address) in addresses.iter().filter_map(Value::as_str).enumerate() {
            slice_address(kind, address, &at.child("addresses").index(number), report);
        }
        if let Some(node) = endpoint.str_at(&["nodeName"]) {
            report.each(&at.child("nodeName"), node, names::dns_subdomain(node));
        }
        if let Some(host) = endpoint.str_at(&["hostname"]) {
            report.each(&at.child("hostname"), host, names::dns_label(host));
        }
    }
    slice_ports(value, report);
}

fn slice_address(kind: &str, address: &str, at: &Path, report: &mut Report) {
    match (kind, names::ip(address)) {
        ("IPv4" | "IPv6", None) => report.each(at, address, names::ip_problems(address)),
        ("IPv4", Some(ip)) if !ip.is_ipv4() => report.invalid_text(at, address, "must be an IPv4 address"),
        ("IPv6", Some(ip)) if !ip.is_ipv6() => report.invalid_text(at, address, "must be an IPv6 address"),
        ("IPv4" | "IPv6", Some(_)) => ordinary_ip(address, at, report),
        ("FQDN", _) => {
            report.each(at, address, names::dns_subdomain(address.strip_suffix('.').unwrap_or(address)));
        }
        _ => {}
    }
}

fn slice_ports(value: &Value, report: &mut Report) {
    let ports = value.items_at(&["ports"]);
    if ports.len() > 20_000 {
        report.too_many(&Path::new("ports"), ports.len(), 20_000);
    }
    let mut known: Vec<&str> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let at = Path::new("ports").index(index);
        let name = port.str_at(&["name"]).unwrap_or_default();
        if !name.is_empty() {
            report.each(&at.child("name"), name, names::dns_label(name));
        }
        if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
        let protocol = port.str_at(&["protocol"]).unwrap_or_default();
        if !matches!(protocol, "SCTP" | "TCP" | "UDP") {
            report.not_supported(&at.child("protocol"), protocol, &["SCTP", "TCP", "UDP"]);
        }
        if let Some(protocol) = port.str_at(&["appProtocol"]) {
            report.each(&at.child("appProtocol"), protocol, names::label_key(protocol));
        }
    }
}
