//! Services: the addresses and ports that they are given.

use std::net::IpAddr;

use lynceus_object::{Object, Value, value};

use crate::context::{AllocationError, Context};
use crate::kinds::edit::{each, has};
use crate::kinds::gofmt;
use crate::{ApiError, FieldError};

/// Gives a new service its addresses and ports.
pub(super) fn allocate_new(service: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    if let (false, true) = (cluster_ip(service).is_empty(), cluster_ips(service).is_empty()) {
        let address = cluster_ip(service).to_owned();
        service.set(&["spec", "clusterIPs"], vec![address]);
    }
    ip_families(service, None)?;
    addresses(service, context)?;
    if needs_node_port(service) {
        node_ports(service, context)?;
    }
    if needs_health_check(service) {
        health_check_port(service, context)?;
    }
    Ok(())
}

/// Gives a changed service what it lacks, and leaves what it has.
pub(super) fn allocate_change(new: &mut Object, old: &Object, context: &Context<'_>) -> Result<(), ApiError> {
    restore(new, old);
    normalize(new, old);
    ip_families(new, Some(old))?;
    if !needs_cluster_ip(old) && needs_cluster_ip(new) {
        addresses(new, context)?;
    }
    if needs_node_port(new) {
        changed_node_ports(new, old, context)?;
    }
    if needs_health_check(new) && !needs_health_check(old) {
        health_check_port(new, context)?;
    }
    Ok(())
}

/// A type that has no use for a field loses it, unless the client changed it as well.
pub(super) fn drop_what_the_type_lacks(new: &mut Object, old: &Object) {
    let same = |new: &Object, field: &str| new.at(&["spec", field]) == old.at(&["spec", field]);
    if needs_cluster_ip(old) && !needs_cluster_ip(new) {
        if same(new, "clusterIP") && same(new, "clusterIPs") {
            new.remove(&["spec", "clusterIP"]);
            new.remove(&["spec", "clusterIPs"]);
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if same(new, field) {
                new.remove(&["spec", field]);
            }
        }
    }
    if needs_node_port(old) && !needs_node_port(new) && same_node_ports(new, old) {
        each(new.value_mut(), &["spec", "ports"]).for_each(|port| {
            port.remove(&["nodePort"]);
        });
    }
    if needs_health_check(old) && !needs_health_check(new) && same(new, "healthCheckNodePort") {
        new.remove(&["spec", "healthCheckNodePort"]);
    }
    if kind(old) == "LoadBalancer" && kind(new) != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if same(new, field) {
                new.remove(&["spec", field]);
            }
        }
    }
    if reachable_from_outside(old) && !reachable_from_outside(new) && same(new, "externalTrafficPolicy") {
        new.remove(&["spec", "externalTrafficPolicy"]);
    }
    if kind(new) != "LoadBalancer" {
        new.set(&["status", "loadBalancer"], value!({}));
    }
}

fn kind(service: &Object) -> &str {
    service.value().str_at(&["spec", "type"]).unwrap_or_default()
}

fn cluster_ip(service: &Object) -> &str {
    service.value().str_at(&["spec", "clusterIP"]).unwrap_or_default()
}

fn cluster_ips(service: &Object) -> Vec<String> {
    texts(service, "clusterIPs")
}

fn texts(service: &Object, field: &str) -> Vec<String> {
    let items = service.value().items_at(&["spec", field]);
    items.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn needs_cluster_ip(service: &Object) -> bool {
    kind(service) != "ExternalName"
}

fn needs_node_port(service: &Object) -> bool {
    matches!(kind(service), "NodePort" | "LoadBalancer")
}

fn allocates_node_ports(service: &Object) -> bool {
    let wish = service.value().bool_at(&["spec", "allocateLoadBalancerNodePorts"]);
    kind(service) == "NodePort" || kind(service) == "LoadBalancer" && wish != Some(false)
}

fn needs_health_check(service: &Object) -> bool {
    kind(service) == "LoadBalancer"
        && service.value().str_at(&["spec", "externalTrafficPolicy"]) == Some("Local")
}

fn reachable_from_outside(service: &Object) -> bool {
    let addressed =
        kind(service) == "ClusterIP" && !service.value().items_at(&["spec", "externalIPs"]).is_empty();
    needs_node_port(service) || addressed
}

fn node_port(port: &Value) -> i64 {
    port.int_at(&["nodePort"]).unwrap_or_default()
}

fn ports(service: &Object) -> &[Value] {
    service.value().items_at(&["spec", "ports"])
}

fn same_node_ports(new: &Object, old: &Object) -> bool {
    let taken = |service: &Object| {
        let mut taken: Vec<i64> = ports(service).iter().map(node_port).collect();
        taken.sort_unstable();
        taken
    };
    taken(new) == taken(old)
}

/// A client that sends a service without what was allocated means to keep it.
fn restore(new: &mut Object, old: &Object) {
    if needs_cluster_ip(old) && needs_cluster_ip(new) {
        if cluster_ip(new).is_empty() {
            super::keep(new, old, &["spec", "clusterIP"]);
        }
        if cluster_ips(new).is_empty() {
            super::keep(new, old, &["spec", "clusterIPs"]);
        }
    }
    if needs_node_port(old) && needs_node_port(new) {
        let used: Vec<i64> = ports(new).iter().map(node_port).filter(|port| *port != 0).collect();
        for port in each(new.value_mut(), &["spec", "ports"]) {
            if node_port(port) != 0 {
                continue;
            }
            let name = port.str_at(&["name"]).unwrap_or_default();
            let was = ports(old).iter().rfind(|was| was.str_at(&["name"]).unwrap_or_default() == name);
            if let Some(number) = was.map(node_port).filter(|number| *number != 0 && !used.contains(number)) {
                port.set(&["nodePort"], number);
            }
        }
    }
    if needs_health_check(old)
        && needs_health_check(new)
        && !has(new.at(&["spec"]).unwrap_or(&Value::Null), "healthCheckNodePort")
    {
        super::keep(new, old, &["spec", "healthCheckNodePort"]);
    }
}

/// Keeps the one address and the list of addresses in step for clients that know only one of them.
fn normalize(new: &mut Object, old: &Object) {
    if cluster_ip(old) == cluster_ip(new) {
        return;
    }
    if cluster_ips(old) == cluster_ips(new) {
        if cluster_ip(new).is_empty() {
            new.remove(&["spec", "clusterIPs"]);
        } else {
            let address = cluster_ip(new).to_owned();
            new.set(&["spec", "clusterIPs"], vec![address]);
        }
    }
}

fn invalid(service: &Object, field: &str, value: String, detail: String) -> ApiError {
    ApiError::invalid("", "Service", service.name(), &[FieldError::invalid(field, value, detail)])
}

/// Fills in the families, which this cluster has one of.
fn ip_families(service: &mut Object, old: Option<&Object>) -> Result<(), ApiError> {
    if !needs_cluster_ip(service) {
        return Ok(());
    }
    let headless = cluster_ip(service) == "None";
    let selects = service.at(&["spec", "selector"]).is_some_and(|selector| !selector.is_empty());
    if !has(service.at(&["spec"]).unwrap_or(&Value::Null), "ipFamilyPolicy") {
        let was = old.and_then(|old| old.value().str_at(&["spec", "ipFamilyPolicy"]));
        let policy = was.unwrap_or(if headless && !selects { "RequireDualStack" } else { "SingleStack" });
        service.set(&["spec", "ipFamilyPolicy"], policy.to_owned());
    }
    let policy = service.value().str_at(&["spec", "ipFamilyPolicy"]).unwrap_or_default().to_owned();
    let mut families = texts(service, "ipFamilies");
    for (at, address) in cluster_ips(service).iter().enumerate() {
        if address == "None" {
            break;
        }
        if at >= families.len() {
            let v6 = address.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6());
            if v6 {
                let list = gofmt::json(&Value::from(cluster_ips(service)));
                return Err(invalid(
                    service,
                    &format!("spec.clusterIPs[{at}]"),
                    list,
                    "IPv6 is not configured on this cluster".to_owned(),
                ));
            }
            families.push("IPv4".to_owned());
        }
    }
    if headless && !selects {
        if families.is_empty() {
            families.push("IPv4".to_owned());
        }
        if families.len() == 1 && policy != "SingleStack" {
            let other = if families.first().is_some_and(|family| family == "IPv4") { "IPv6" } else { "IPv4" };
            families.push(other.to_owned());
        }
    } else {
        one_family(service, &policy, &families)?;
        if families.is_empty() {
            families.push("IPv4".to_owned());
        }
    }
    service.set(&["spec", "ipFamilies"], families);
    Ok(())
}

fn one_family(service: &Object, policy: &str, families: &[String]) -> Result<(), ApiError> {
    let mut errors = Vec::new();
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid("spec.ipFamilyPolicy", gofmt::quoted(policy), detail));
    }
    for (at, family) in families.iter().enumerate().filter(|(_, family)| *family == "IPv6") {
        let field = format!("spec.ipFamilies[{at}]");
        errors.push(FieldError::invalid(field, gofmt::quoted(family), "not configured on this cluster"));
    }
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid("", "Service", service.name(), &errors)) }
}

fn addresses(service: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    if !needs_cluster_ip(service) || cluster_ip(service) == "None" {
        return Ok(());
    }
    let wanted = cluster_ips(service).into_iter().next().filter(|wanted| !wanted.is_empty());
    if wanted.as_deref() == Some("None") || wanted.as_deref().is_some_and(|ip| ip.parse::<IpAddr>().is_err())
    {
        // Validation says what is wrong with it.
        return Ok(());
    }
    match context.allocators.cluster_ip(wanted.as_deref(), false) {
        Ok(address) => {
            service.set(&["spec", "clusterIP"], address.as_str());
            service.set(&["spec", "clusterIPs"], vec![address]);
            Ok(())
        }
        Err(AllocationError::Full) => {
            let name = service.name();
            Err(ApiError::internal(format!(
                "failed to allocate a serviceIP for Service {name:?}: range is full"
            )))
        }
        Err(why) => {
            let wanted = wanted.unwrap_or_default();
            let detail = format!("failed to allocate IP {wanted}: {why}");
            Err(invalid(service, "spec.clusterIPs", gofmt::json(&Value::from(cluster_ips(service))), detail))
        }
    }
}

/// Ports of the same number (one per protocol) share a node port.
fn node_ports(service: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    let allocate = allocates_node_ports(service);
    let mut given: Vec<(i64, i64)> = Vec::new();
    for at in 0..ports(service).len() {
        let Some(port) = ports(service).get(at).cloned() else { continue };
        let (number, wanted) = (port.int_at(&["port"]).unwrap_or_default(), node_port(&port));
        if wanted == 0 && !allocate {
            continue;
        }
        let shared = given.iter().find(|(known, _)| *known == number).map(|(_, given)| *given);
        let chosen = match shared {
            Some(shared) if wanted == 0 || wanted == shared => shared,
            _ => {
                let sibling = ports(service)
                    .iter()
                    .find(|other| other.int_at(&["port"]) == Some(number) && node_port(other) != 0)
                    .map_or(0, node_port);
                take_node_port(service, at, if wanted == 0 { sibling } else { wanted }, context)?
            }
        };
        given.push((number, chosen));
        set_node_port(service, at, chosen);
    }
    Ok(())
}

fn changed_node_ports(new: &mut Object, old: &Object, context: &Context<'_>) -> Result<(), ApiError> {
    let mut held: Vec<i64> = ports(old).iter().map(node_port).filter(|port| *port != 0).collect();
    let allocate = allocates_node_ports(new);
    for at in 0..ports(new).len() {
        let wanted = ports(new).get(at).map_or(0, node_port);
        if (wanted == 0 && !allocate) || (wanted != 0 && held.contains(&wanted)) {
            continue;
        }
        let number = take_node_port(new, at, wanted, context)?;
        held.push(number);
        set_node_port(new, at, number);
    }
    Ok(())
}

fn set_node_port(service: &mut Object, at: usize, number: i64) {
    if let Some(port) = each(service.value_mut(), &["spec", "ports"]).nth(at) {
        port.set(&["nodePort"], number);
    }
}

fn take_node_port(service: &Object, at: usize, wanted: i64, context: &Context<'_>) -> Result<i64, ApiError> {
    let wish = (wanted != 0).then(|| u16::try_from(wanted).unwrap_or_default());
    context.allocators.node_port(wish).map(i64::from).map_err(|why| match why {
        AllocationError::Full => ApiError::internal("failed to allocate a nodePort: range is full"),
        why => invalid(service, &format!("spec.ports[{at}].nodePort"), wanted.to_string(), why.to_string()),
    })
}

fn health_check_port(service: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    let wanted = service.value().int_at(&["spec", "healthCheckNodePort"]).unwrap_or_default();
    let wish = (wanted != 0).then(|| u16::try_from(wanted).unwrap_or_default());
    let number = context.allocators.node_port(wish).map_err(|why| {
        ApiError::internal(format!("failed to allocate requested HealthCheck NodePort {wanted}: {why}"))
    })?;
    service.set(&["spec", "healthCheckNodePort"], i64::from(number));
    Ok(())
}
