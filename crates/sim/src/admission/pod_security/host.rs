//! What a pod may share with the node that it runs on.

use std::collections::BTreeSet;

use lynceus_object::Value;

use super::check::{Pod, Violation, bad_values, context, counted, listed, name, plural, setters, uses};

/// Namespaces of the kernel.
pub(super) fn namespaces(pod: &Pod<'_>) -> Option<Violation> {
    let shared: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|field| pod.spec.bool_at(&[field]) == Some(true))
        .map(|field| format!("{field}=true"))
        .collect();
    if shared.is_empty() { None } else { Violation::new("host namespaces", shared.join(", ")) }
}

/// Ports.
pub(super) fn ports(pod: &Pod<'_>) -> Option<Violation> {
    let mut found = BTreeSet::new();
    let names = pod.containers_that(|container| {
        let ports = container.items_at(&["ports"]).iter().filter_map(|port| port.int_at(&["hostPort"]));
        let ports: Vec<String> = ports.filter(|port| *port != 0).map(|port| port.to_string()).collect();
        let any = !ports.is_empty();
        found.extend(ports);
        any
    });
    if names.is_empty() {
        return None;
    }
    let ports = found.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let (who, use_) = (counted("container", &names), uses(names.len()));
    Violation::new("hostPort", format!("{who} {use_} {} {ports}", plural("hostPort", found.len())))
}

/// Hosts that probes and lifecycle hooks reach from the node.
pub(super) fn probes(pod: &Pod<'_>) -> Option<Violation> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let (names, hosts) = bad_values(pod, |container| {
        let handlers = HANDLERS.into_iter().filter_map(|path| container.at(path));
        handlers
            .flat_map(|handler| {
                ["httpGet", "tcpSocket"].into_iter().filter_map(|how| handler.str_at(&[how, "host"]))
            })
            .filter(|host| !host.is_empty())
            .collect()
    });
    if names.is_empty() {
        return None;
    }
    let names: Vec<&str> = names.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let (who, use_) = (counted("container", &names), uses(names.len()));
    let what = plural("probe or lifecycle host", hosts.len());
    Violation::new("probe or lifecycle host", format!("{who} {use_} {what} {}", listed(hosts)))
}

/// Processes on a Windows node itself.
pub(super) fn windows_process(pod: &Pod<'_>) -> Option<Violation> {
    let is_host = |of: &Value| {
        context(of, "windowsOptions").and_then(|options| options.bool_at(&["hostProcess"])) == Some(true)
    };
    let names: Vec<&str> = pod.containers().filter(|container| is_host(container)).map(name).collect();
    let who = setters(is_host(pod.spec), &names);
    if who.is_empty() {
        return None;
    }
    let detail = format!("{who} must not set securityContext.windowsOptions.hostProcess=true");
    Violation::new("hostProcess", detail)
}
