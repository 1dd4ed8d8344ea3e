//! What a client should hear although its object is accepted.

use base64::Engine as _;
use lynceus_object::{Object, Value};

use super::prepare::{APP_ARMOR, old_app_armor};
use super::quality::amount_of;
use super::resources::Resource;
use super::validation::names;

/// Labels of nodes that have new names.
const OLD_LABELS: [(&str, &str); 4] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
];

/// Annotations that became fields.
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Sources of volumes that no longer work.
const OLD_VOLUMES: [(&str, &str); 9] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// What a client should hear although the object is accepted. Templates that did not change are not
/// complained about again.
pub fn warnings(resource: &Resource, new: &Object, old: Option<&Object>) -> Vec<String> {
    let mut out = Vec::new();
    let template: Option<(&[&str], &str)> = match resource.kind.as_str() {
        "Pod" => Some((&[], "")),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => {
            Some((&["spec", "template"], "spec.template."))
        }
        "CronJob" => Some((&["spec", "jobTemplate", "spec", "template"], "spec.jobTemplate.spec.template.")),
        _ => None,
    };
    if let Some((path, prefix)) = template {
        host_name(resource, new, old, &mut out);
        let was = old.and_then(|old| old.value().at(path)).and_then(|was| was.get("spec"));
        if let Some(is) = new.value().at(path).filter(|is| is.get("spec") != was) {
            pod(is, prefix, &mut out);
        }
    }
    match resource.kind.as_str() {
        "Ingress" if old.is_none() && new.annotation("kubernetes.io/ingress.class").is_some() => {
            let words = "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead";
            out.push(words.to_owned());
        }
        "PersistentVolumeClaim" => {
            let amount = new.value().at(&["spec", "resources", "requests", "storage"]).and_then(amount_of);
            if let Some(amount) = amount.filter(|amount| !amount.is_whole()) {
                out.push(format!(
                    "spec.resources.requests[storage]: fractional byte value \"{amount}\" is invalid, must be an integer"
                ));
            }
        }
        "Secret" if new.value().str_at(&["type"]) == Some("kubernetes.io/tls") => out.extend(key_pair(new)),
        _ => {}
    }
    out
}

/// What is wrong with a certificate and its key at first sight, in the words of Go's TLS.
fn key_pair(secret: &Object) -> Option<String> {
    let has_pem = |field: &str| {
        let text = secret.value().str_at(&["data", field]).unwrap_or_default();
        let decoded = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
        String::from_utf8_lossy(&decoded).contains("-----BEGIN ")
    };
    let lacking =
        [("tls.crt", "certificate"), ("tls.key", "key")].into_iter().find(|(field, _)| !has_pem(field))?;
    Some(format!("tls: failed to find any PEM data in {} input", lacking.1))
}

/// Names of these objects become host names, which are shorter than names may be.
fn host_name(resource: &Resource, new: &Object, old: Option<&Object>, out: &mut Vec<String>) {
    if old.is_some() {
        return;
    }
    let problems = names::dns_label(new.name());
    if problems.is_empty() {
        return;
    }
    let used = match resource.kind.as_str() {
        "Pod" => "the Pod's hostname",
        "Deployment" | "ReplicaSet" | "Job" | "CronJob" | "ReplicationController" => {
            "Pod names and hostnames"
        }
        _ => return,
    };
    let problems = problems.iter().map(|problem| format!("{problem:?}")).collect::<Vec<_>>().join(" ");
    out.push(format!(
        "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{problems}]"
    ));
}

fn pod(pod: &Value, prefix: &str, out: &mut Vec<String>) {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    for (label, words) in OLD_LABELS.iter().filter(|(label, _)| spec.at(&["nodeSelector", label]).is_some()) {
        out.push(format!("{prefix}spec.nodeSelector[{label}]: {words}"));
    }
    for (annotation, words) in OLD_ANNOTATIONS {
        if pod.at(&["metadata", "annotations", annotation]).is_some() {
            out.push(format!("{prefix}metadata.annotations[{annotation}]: {words}"));
        }
    }
    for (at, volume) in spec.items_at(&["volumes"]).iter().enumerate() {
        for (source, words) in OLD_VOLUMES.iter().filter(|(source, _)| volume.get(source).is_some()) {
            // The original has another name for this one here than in the object.
            let source = if *source == "storageos" { "storageOS" } else { source };
            out.push(format!("{prefix}spec.volumes[{at}].{source}: {words}"));
        }
    }
    doubled_names(spec, prefix, out);
    fractions(spec.get("overhead"), &format!("{prefix}spec.overhead"), &["memory", "ephemeral-storage"], out);
    if !is_set(spec, "seccompProfile") {
        seccomp(pod, "seccomp.security.alpha.kubernetes.io/pod", prefix, out);
    }
    for list in ["initContainers", "containers"] {
        for (at, container) in spec.items_at(&[list]).iter().enumerate() {
            let name = container.str_at(&["name"]).unwrap_or_default();
            if !is_set(container, "seccompProfile") {
                seccomp(pod, &format!("container.seccomp.security.alpha.kubernetes.io/{name}"), prefix, out);
            }
            if !prefix.is_empty() {
                out.extend(app_armor(pod, prefix, Some(name)));
            }
            let place = format!("{prefix}spec.{list}[{at}]");
            for resource in ["memory", "ephemeral-storage"] {
                for list in ["limits", "requests"] {
                    let amounts = container.at(&["resources", list]);
                    fractions(amounts, &format!("{place}.resources.{list}"), &[resource], out);
                }
            }
            hidden_variables(container, &place, out);
        }
    }
    doubled_ports(spec, prefix, out);
}

/// Bytes come in whole ones.
fn fractions(amounts: Option<&Value>, place: &str, resources: &[&str], out: &mut Vec<String>) {
    for resource in resources {
        let amount = amounts.and_then(|amounts| amounts.get(resource)).and_then(amount_of);
        if let Some(amount) = amount.filter(|amount| amount.milli_value() % 1000 != 0) {
            out.push(format!(
                "{place}[{resource}]: fractional byte value \"{amount}\" is invalid, must be an integer"
            ));
        }
    }
}

/// Addresses and pull secrets that stand there twice, and secrets without a name.
fn doubled_names(spec: &Value, prefix: &str, out: &mut Vec<String>) {
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let items = spec.items_at(&[list]);
        let name = |item: &Value| item.str_at(&[field]).unwrap_or_default().to_owned();
        for (at, item) in items.iter().enumerate() {
            if items[..at].iter().any(|other| name(other) == name(item)) {
                out.push(format!("{prefix}spec.{list}[{at}].{field}: duplicate {field} {:?}", name(item)));
            }
        }
    }
    for (at, secret) in spec.items_at(&["imagePullSecrets"]).iter().enumerate() {
        if secret.str_at(&["name"]).unwrap_or_default().is_empty() {
            out.push(format!("{prefix}spec.imagePullSecrets[{at}].name: invalid empty name \"\""));
        }
    }
}

fn is_set(of: &Value, field: &str) -> bool {
    of.at(&["securityContext", field]).is_some_and(|value| !value.is_null())
}

fn seccomp(pod: &Value, annotation: &str, prefix: &str, out: &mut Vec<String>) {
    if pod.at(&["metadata", "annotations", annotation]).is_some() {
        let words = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        out.push(format!("{prefix}metadata.annotations[{annotation}]: {words}"));
    }
}

/// What is said of a new pod as the client sent it: its annotations become fields in a moment.
pub fn warnings_as_sent(resource: &Resource, pod: &Object) -> Vec<String> {
    let linux = pod.value().str_at(&["spec", "os", "name"]) != Some("windows");
    if resource.is("", "pods") && linux { app_armor(pod.value(), "", None) } else { Vec::new() }
}

/// Containers that have their profile by annotation, unless the pod says the same.
fn app_armor(pod: &Value, prefix: &str, only: Option<&str>) -> Vec<String> {
    let of_pod = pod.at(&["spec", "securityContext", "appArmorProfile"]).filter(|value| !value.is_null());
    old_app_armor(pod)
        .filter(|(_, profile)| profile.is_none() || profile.as_ref() != of_pod)
        .map(|(container, _)| container.str_at(&["name"]).unwrap_or_default())
        .filter(|name| only.is_none_or(|only| only == *name))
        .map(|name| {
            let words = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
            format!("{prefix}metadata.annotations[{APP_ARMOR}{name}]: {words}")
        })
        .collect()
}

/// A variable that is set twice has the last value, unless the last refers to the first.
fn hidden_variables(container: &Value, place: &str, out: &mut Vec<String>) {
    let all = container.items_at(&["env"]);
    for (at, variable) in all.iter().enumerate() {
        let name = variable.str_at(&["name"]).unwrap_or_default();
        let refers = variable.str_at(&["value"]).unwrap_or_default().contains(&format!("$({name})"));
        if !refers && all[..at].iter().any(|other| other.str_at(&["name"]) == Some(name)) {
            out.push(format!(
                "{place}.env[{at}]: hides previous definition of {name:?}, which may be dropped when using apply"
            ));
        }
    }
}

/// Ports that stand there twice, in whichever containers.
fn doubled_ports(spec: &Value, prefix: &str, out: &mut Vec<String>) {
    let port = |port: &Value| {
        let number = port.int_at(&["containerPort"]).unwrap_or_default();
        (number, port.str_at(&["protocol"]).unwrap_or("TCP").to_owned())
    };
    let host = |port: &Value| {
        let address = port.str_at(&["hostIP"]).unwrap_or_default();
        (port.int_at(&["hostPort"]).unwrap_or_default(), address.to_owned())
    };
    let mut seen: Vec<(String, &Value)> = Vec::new();
    for list in ["initContainers", "containers"] {
        for (at, container) in spec.items_at(&[list]).iter().enumerate() {
            for (index, this) in container.items_at(&["ports"]).iter().enumerate() {
                let place = format!("{prefix}spec.{list}[{at}].ports[{index}]");
                for (other, that) in seen.iter().filter(|(_, that)| port(that) == port(this)) {
                    let ((a, from), (b, to)) = (host(this), host(that));
                    let how = if (a, &from) == (b, &to) {
                        "duplicate"
                    } else if a == 0 || b == 0 {
                        "overlapping"
                    } else if a == b && from.is_empty() != to.is_empty() {
                        "dangerously ambiguous"
                    } else {
                        continue;
                    };
                    out.push(format!("{place}: {how} port definition with {other}"));
                }
                seen.push((place, this));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::resources;
    use lynceus_object::value;

    fn of(plural: &str, object: Value) -> Vec<String> {
        let resource = resources().iter().find(|resource| resource.plural == plural).unwrap();
        warnings(resource, &Object::new(object).unwrap(), None)
    }

    #[test]
    fn doubled_variables_and_ports_are_pointed_out() {
        let pod = value!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c",
            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "A", "value": "$(A)3"}],
            "ports": [{"containerPort": 80}, {"containerPort": 80}]}]}});
        assert_eq!(
            of("pods", pod),
            [
                "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
                "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
            ]
        );
    }

    #[test]
    fn a_name_that_makes_a_bad_host_name_is_pointed_out() {
        let found =
            of("deployments", value!({"metadata": {"name": "a.b"}, "spec": {"template": {"spec": {}}}}));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("metadata.name: this is used in Pod names and hostnames"), "{found:?}");
    }
}
