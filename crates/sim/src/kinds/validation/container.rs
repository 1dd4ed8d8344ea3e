//! Containers.

use std::collections::BTreeMap;

use lynceus_object::Value;

use super::env;
use super::names;
use super::probe;
use super::report::{Path, Report};
use super::resources;
use super::security;
use super::volume;

/// What containers of a pod share.
pub(crate) struct Pod<'a> {
    pub(crate) spec: &'a Value,
    /// The volumes that are in order, by name.
    pub(crate) volumes: BTreeMap<&'a str, &'a Value>,
    /// Whether this is a pod rather than a template.
    pub(crate) whole: bool,
}

impl Pod<'_> {
    pub(crate) fn grace_period(&self) -> Option<i64> {
        self.spec.int_at(&["terminationGracePeriodSeconds"])
    }
}

/// Checks the containers that make up a pod.
pub(crate) fn containers(pod: &Pod<'_>, at: &Path, report: &mut Report) {
    let containers = pod.spec.items_at(&["containers"]);
    if containers.is_empty() {
        report.required(at, "");
        return;
    }
    let mut known: Vec<&str> = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        let at = at.index(index);
        common(pod, container, &at, report);
        let name = container.str_at(&["name"]).unwrap_or_default();
        if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
        probe::lifecycle(container, pod.grace_period(), &at, report);
        probe::probes(container, &at, report);
        restart_policy(container, &at, report);
    }
    host_ports(containers, at, report);
}

/// Checks the containers that run before the others.
pub(crate) fn init_containers(pod: &Pod<'_>, at: &Path, report: &mut Report) {
    let mut known: Vec<&str> = named(pod.spec, "containers");
    for (index, container) in pod.spec.items_at(&["initContainers"]).iter().enumerate() {
        let here = at.index(index);
        common(pod, container, &here, report);
        restart_policy(container, &here, report);
        let name = container.str_at(&["name"]).unwrap_or_default();
        if known.contains(&name) {
            report.duplicate(&here.child("name"), &name.into());
        } else if !name.is_empty() {
            known.push(name);
        }
        host_ports(std::slice::from_ref(container), at, report);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            probe::lifecycle(container, pod.grace_period(), &here, report);
            probe::probes(container, &here, report);
        } else {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if container.get(field).is_some_and(|value| !value.is_null()) {
                    let why = "may not be set for init containers without restartPolicy=Always";
                    report.forbidden(&here.child(field), why);
                }
            }
        }
    }
}

/// Checks the containers that were added to look inside a pod.
pub(crate) fn ephemeral_containers(pod: &Pod<'_>, at: &Path, report: &mut Report) {
    const FORBIDDEN: [&str; 8] = [
        "lifecycle",
        "livenessProbe",
        "ports",
        "readinessProbe",
        "resizePolicy",
        "resources",
        "restartPolicy",
        "startupProbe",
    ];
    let others = [named(pod.spec, "containers"), named(pod.spec, "initContainers")].concat();
    let mut known = others.clone();
    for (index, container) in pod.spec.items_at(&["ephemeralContainers"]).iter().enumerate() {
        let at = at.index(index);
        common(pod, container, &at, report);
        image_without_spaces(container, &at, report);
        let name = container.str_at(&["name"]).unwrap_or_default();
        if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
        let target = container.str_at(&["targetContainerName"]).unwrap_or_default();
        if !target.is_empty() && !others.contains(&target) {
            report.not_found(&at.child("targetContainerName"), target);
        }
        for field in FORBIDDEN {
            if container.get(field).is_some_and(|value| !value.is_empty()) {
                report.forbidden(&at.child(field), "cannot be set for an Ephemeral Container");
            }
        }
        for (index, mount) in container.items_at(&["volumeMounts"]).iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !mount.str_at(&[field]).unwrap_or_default().is_empty() {
                    let at = at.child("volumeMounts").index(index).child(field);
                    report.forbidden(&at, "cannot be set for an Ephemeral Container");
                }
            }
        }
    }
}

/// Checks that images of a pod have no spaces around them, which templates may have.
pub(crate) fn images_without_spaces(spec: &Value, list: &str, at: &Path, report: &mut Report) {
    for (index, container) in spec.items_at(&[list]).iter().enumerate() {
        image_without_spaces(container, &at.child(list).index(index), report);
    }
}

fn image_without_spaces(container: &Value, at: &Path, report: &mut Report) {
    let image = container.str_at(&["image"]).unwrap_or_default();
    if image.trim() != image {
        report.invalid_text(&at.child("image"), image, "must not have leading or trailing whitespace");
    }
}

fn named<'a>(spec: &'a Value, list: &str) -> Vec<&'a str> {
    spec.items_at(&[list]).iter().map(|container| container.str_at(&["name"]).unwrap_or_default()).collect()
}

fn common(pod: &Pod<'_>, container: &Value, at: &Path, report: &mut Report) {
    let text = |field: &str| container.str_at(&[field]).unwrap_or_default();
    if text("name").is_empty() {
        report.required(&at.child("name"), "");
    } else {
        report.each(&at.child("name"), text("name"), names::dns_label(text("name")));
    }
    if text("image").is_empty() {
        report.required(&at.child("image"), "");
    }
    let policy = text("terminationMessagePolicy");
    report.one_of(&at.child("terminationMessagePolicy"), policy, &["File", "FallbackToLogsOnError"]);
    ports(container, &at.child("ports"), report);
    env::variables(container, &at.child("env"), report);
    env::sources(container, &at.child("envFrom"), report);
    volume::mounts(pod, container, &at.child("volumeMounts"), report);
    volume::devices(pod, container, &at.child("volumeDevices"), report);
    let pull = text("imagePullPolicy");
    report.one_of(&at.child("imagePullPolicy"), pull, &["Always", "IfNotPresent", "Never"]);
    resources::container(pod, container, &at.child("resources"), report);
    resize_policy(pod, container, &at.child("resizePolicy"), report);
    security::container(container, &at.child("securityContext"), report);
}

fn ports(container: &Value, at: &Path, report: &mut Report) {
    let mut known: Vec<&str> = Vec::new();
    for (index, port) in container.items_at(&["ports"]).iter().enumerate() {
        let at = at.index(index);
        let name = port.str_at(&["name"]).unwrap_or_default();
        if !name.is_empty() {
            let problems = names::port_name(name);
            if !problems.is_empty() {
                report.each(&at.child("name"), name, problems);
            } else if known.contains(&name) {
                report.duplicate(&at.child("name"), &name.into());
            } else {
                known.push(name);
            }
        }
        match port.int_at(&["containerPort"]).unwrap_or_default() {
            0 => report.required(&at.child("containerPort"), ""),
            number => port_number(&at.child("containerPort"), number, report),
        }
        match port.int_at(&["hostPort"]).unwrap_or_default() {
            0 => {}
            number => port_number(&at.child("hostPort"), number, report),
        }
        let protocol = port.str_at(&["protocol"]).unwrap_or_default();
        report.one_of(&at.child("protocol"), protocol, &["SCTP", "TCP", "UDP"]);
    }
}

/// Checks the number of a port.
pub(crate) fn port_number(at: &Path, number: i64, report: &mut Report) {
    for problem in names::port_number(number) {
        report.invalid_number(at, number, problem);
    }
}

/// Checks a port that is a number or a name.
pub(crate) fn port_or_name(port: Option<&Value>, at: &Path, report: &mut Report) {
    match port {
        Some(Value::Str(name)) => report.each(at, name, names::port_name(name)),
        other => port_number(at, other.and_then(Value::as_int).unwrap_or_default(), report),
    }
}

/// Two containers of a pod cannot have the same port of the node.
fn host_ports(containers: &[Value], at: &Path, report: &mut Report) {
    let mut taken: Vec<String> = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        for (number, port) in container.items_at(&["ports"]).iter().enumerate() {
            let host = port.int_at(&["hostPort"]).unwrap_or_default();
            if host == 0 {
                continue;
            }
            let text = |field: &str| port.str_at(&[field]).unwrap_or_default();
            let key = format!("{}/{}/{host}", text("protocol"), text("hostIP"));
            if taken.contains(&key) {
                let at = at.index(index).child("ports").index(number).child("hostPort");
                report.duplicate(&at, &key.as_str().into());
            } else {
                taken.push(key);
            }
        }
    }
}

fn resize_policy(pod: &Pod<'_>, container: &Value, at: &Path, report: &mut Report) {
    let mut known: Vec<&str> = Vec::new();
    for (index, policy) in container.items_at(&["resizePolicy"]).iter().enumerate() {
        let resource = policy.str_at(&["resourceName"]).unwrap_or_default();
        if known.contains(&resource) {
            report.duplicate(&at.index(index), &resource.into());
        }
        known.push(resource);
        report.one_of(at, resource, &["cpu", "memory"]);
        let restart = policy.str_at(&["restartPolicy"]).unwrap_or_default();
        report.one_of(at, restart, &["NotRequired", "RestartContainer"]);
        if pod.spec.str_at(&["restartPolicy"]) == Some("Never") && restart != "NotRequired" {
            report.invalid_text(at, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

fn restart_policy(container: &Value, at: &Path, report: &mut Report) {
    let rules = container.items_at(&["restartPolicyRules"]);
    let policy = container.str_at(&["restartPolicy"]);
    match policy {
        None if rules.is_empty() => return,
        None => {
            let why = "must specify restartPolicy when restart rules are used";
            report.required(&at.child("restartPolicy"), why);
        }
        Some("Always" | "Never" | "OnFailure") => {}
        Some(other) => {
            report.not_supported(&at.child("restartPolicy"), other, &["Always", "Never", "OnFailure"]);
        }
    }
    if rules.len() > 20 {
        report.too_many(&at.child("restartPolicyRules"), rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = at.child("restartPolicyRules").index(index);
        let action = rule.str_at(&["action"]).unwrap_or_default();
        if !matches!(action, "Restart" | "RestartAllContainers") {
            report.not_supported(&at.child("action"), action, &["Restart", "RestartAllContainers"]);
        }
        let Some(codes) = rule.get("exitCodes").filter(|codes| !codes.is_null()) else {
            report.required(&at.child("exitCodes"), "must be specified");
            continue;
        };
        let at = at.child("exitCodes");
        let operator = codes.str_at(&["operator"]).unwrap_or_default();
        if !matches!(operator, "In" | "NotIn") {
            report.not_supported(&at.child("operator"), operator, &["In", "NotIn"]);
        }
        let values = codes.items_at(&["values"]).len();
        if values > 255 {
            report.too_many(&at.child("values"), values, 255);
        }
    }
}
