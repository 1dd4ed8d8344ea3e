//! Pods and the templates that they are made from.

use lynceus_object::{Object, Value};

use super::affinity;
use super::annotation;
use super::container::{self, Pod};
use super::meta;
use super::names;
use super::os;
use super::report::{Path, Report, same};
use super::resources;
use super::security;
use super::volume;

/// Checks a new pod.
pub(crate) fn create(pod: &Object, report: &mut Report) {
    meta::create(pod, true, names::dns_subdomain, report);
    whole_spec(pod, report);
    let spec = pod.at(&["spec"]).unwrap_or(&Value::Null);
    let at = Path::new("spec");
    if !spec.items_at(&["ephemeralContainers"]).is_empty() {
        report.forbidden(&at.child("ephemeralContainers"), "cannot be set on create");
    }
    let gated = !spec.items_at(&["schedulingGates"]).is_empty();
    if gated && !spec.str_at(&["nodeName"]).unwrap_or_default().is_empty() {
        report.forbidden(&at.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
}

fn whole_spec(pod: &Object, report: &mut Report) {
    let spec = pod.at(&["spec"]).unwrap_or(&Value::Null);
    let at = Path::new("spec");
    annotation::of_pod(pod, report);
    pod_spec(spec, Some(pod.name()), true, &at, report);
    if spec.str_at(&["serviceAccountName"]).unwrap_or_default().is_empty() {
        for (index, volume) in spec.items_at(&["volumes"]).iter().enumerate() {
            for (number, source) in volume.items_at(&["projected", "sources"]).iter().enumerate() {
                if source.get("serviceAccountToken").is_some_and(|token| !token.is_null()) {
                    let at =
                        at.child("volumes").index(index).child("projected").child("sources").index(number);
                    let why = "must not be specified when serviceAccountName is not set";
                    report.forbidden(&at.child("serviceAccountToken"), why);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        container::images_without_spaces(spec, list, &at, report);
    }
}

/// Checks the template of a workload.
pub(crate) fn template(template: &Value, at: &Path, report: &mut Report) {
    meta::labels(template.at(&["metadata", "labels"]), &at.child("labels"), report);
    meta::annotations(template.at(&["metadata", "annotations"]), &at.child("annotations"), report);
    let spec = template.get("spec").unwrap_or(&Value::Null);
    pod_spec(spec, None, false, &at.child("spec"), report);
    if !spec.items_at(&["ephemeralContainers"]).is_empty() {
        let at = at.child("spec").child("ephemeralContainers");
        report.forbidden(&at, "ephemeral containers not allowed in pod template");
    }
}

/// Checks the spec of a pod or of a template; `owner` is the name of the pod.
pub(crate) fn pod_spec(spec: &Value, owner: Option<&str>, whole: bool, at: &Path, report: &mut Report) {
    if spec.int_at(&["terminationGracePeriodSeconds"]).is_none() {
        report.required(&at.child("terminationGracePeriodSeconds"), "");
    }
    let volumes = volume::volumes(spec, owner.filter(|name| !name.is_empty()), &at.child("volumes"), report);
    let pod = Pod { spec, volumes, whole };
    resource_claims(spec, &at.child("resourceClaims"), report);
    container::containers(&pod, &at.child("containers"), report);
    container::init_containers(&pod, &at.child("initContainers"), report);
    container::ephemeral_containers(&pod, &at.child("ephemeralContainers"), report);
    if let Some(whole) = spec.get("resources").filter(|whole| !whole.is_null()) {
        whole_resources(spec, whole, &at.child("resources"), report);
    }
    host_network(&pod, at, report);
    let restart = spec.str_at(&["restartPolicy"]).unwrap_or_default();
    report.one_of(&at.child("restartPolicy"), restart, &["Always", "OnFailure", "Never"]);
    let dns = spec.str_at(&["dnsPolicy"]).unwrap_or_default();
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    report.one_of(&at.child("dnsPolicy"), dns, &policies);
    affinity::node_labels(spec, &at.child("nodeSelector"), report);
    security::pod(spec, &at.child("securityContext"), report);
    affinity::affinity(spec, &at.child("affinity"), report);
    dns_config(spec, dns, &at.child("dnsConfig"), report);
    gates(spec, at, report);
    affinity::spreading(spec, &at.child("topologySpreadConstraints"), report);
    os::host_users(spec, at, report);
    os::host_name(spec, at, report);
    named_things(spec, at, report);
    affinity::tolerations(spec, &at.child("tolerations"), report);
    host_aliases(spec, &at.child("hostAliases"), report);
    classes(spec, at, report);
}

/// Checks what a pod asks for and may use as a whole, which has to be enough for its containers.
fn whole_resources(spec: &Value, whole: &Value, at: &Path, report: &mut Report) {
    if spec.str_at(&["os", "name"]) == Some("windows") {
        report.forbidden(at, "may not be set for a windows pod");
        return;
    }
    if whole.get("claims").is_some_and(|claims| !claims.is_null()) {
        report.forbidden(&at.child("claims"), "claims may not be set for Resources at pod-level");
    }
    resources::requirements(whole, pod_resource, at, report);
    let mut bare = spec.clone();
    bare.remove(&["resources"]);
    let sum = crate::kinds::usage::of_pod(&lynceus_object::value!({"spec": bare}), "requests");
    for (resource, amount) in resources::amounts(whole.get("requests")) {
        if let Some(sum) = sum.get(resource).filter(|sum| **sum > amount) {
            let why = format!("must be greater than or equal to aggregate container requests of {sum}");
            report.invalid_text(&at.child("requests").key(resource), &amount.to_string(), why);
        }
    }
    for (index, container) in spec.items_at(&["containers"]).iter().enumerate() {
        for (resource, limit) in resources::amounts(container.at(&["resources", "limits"])) {
            let most = whole.at(&["limits", resource]).and_then(crate::kinds::amount_of);
            if let Some(most) = most.filter(|most| limit > *most) {
                let at = at.child("containers").index(index).key(resource).child("limits");
                let why = format!("must be less than or equal to pod limits of {most}");
                report.invalid_text(&at, &limit.to_string(), why);
            }
        }
    }
}

fn pod_resource(resource: &str, at: &Path, report: &mut Report) {
    let known = matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-");
    if !known {
        report.not_supported(at, resource, &["cpu", "hugepages-", "memory"]);
    }
}

fn resource_claims(spec: &Value, at: &Path, report: &mut Report) {
    let mut known: Vec<&str> = Vec::new();
    for (index, claim) in spec.items_at(&["resourceClaims"]).iter().enumerate() {
        let at = at.index(index);
        let name = claim.str_at(&["name"]).unwrap_or_default();
        if name.is_empty() {
            report.required(&at.child("name"), "");
        } else if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        } else {
            report.each(&at.child("name"), name, names::dns_label(name));
            known.push(name);
        }
        let (one, template) =
            (claim.str_at(&["resourceClaimName"]), claim.str_at(&["resourceClaimTemplateName"]));
        let why = match (one, template) {
            (Some(_), Some(_)) => {
                Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
            }
            (None, None) => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(why) = why {
            let shown =
                |name: Option<&str>| name.map_or_else(|| "null".to_owned(), crate::kinds::gofmt::quoted);
            let shown = format!(
                "{{\"Name\":{},\"ResourceClaimName\":{},\"ResourceClaimTemplateName\":{}}}",
                shown(Some(name)),
                shown(one),
                shown(template)
            );
            report.push(crate::FieldError::invalid(at.to_string(), shown, why));
        }
        for (field, name) in [("resourceClaimName", one), ("resourceClaimTemplateName", template)] {
            if let Some(name) = name {
                report.each(&at.child(field), name, names::dns_subdomain(name));
            }
        }
    }
}

fn host_network(pod: &Pod<'_>, at: &Path, report: &mut Report) {
    if pod.spec.bool_at(&["hostNetwork"]) != Some(true) {
        return;
    }
    for (index, container) in pod.spec.items_at(&["containers"]).iter().enumerate() {
        for (number, port) in container.items_at(&["ports"]).iter().enumerate() {
            let host = port.int_at(&["hostPort"]).unwrap_or_default();
            let own = port.int_at(&["containerPort"]).unwrap_or_default();
            if (pod.whole || host != 0) && host != own {
                let at = at.child("containers").index(index).child("ports").index(number).child("hostPort");
                report.invalid_number(&at, host, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn dns_config(spec: &Value, policy: &str, at: &Path, report: &mut Report) {
    let config = spec.get("dnsConfig").filter(|config| !config.is_null());
    let servers = config.map(|config| config.items_at(&["nameservers"])).unwrap_or_default();
    if policy == "None" {
        if config.is_none() {
            report.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            report.required(&at.child("nameservers"), why);
            return;
        }
    }
    let Some(config) = config else { return };
    if servers.len() > 3 {
        let list = config.get("nameservers").unwrap_or(&Value::Null);
        report.invalid(&at.child("nameservers"), list, "must not have more than 3 nameservers");
    }
    for (index, server) in servers.iter().filter_map(Value::as_str).enumerate() {
        report.each(&at.child("nameservers").index(index), server, names::ip_problems(server));
    }
    let searches: Vec<&str> = config.items_at(&["searches"]).iter().filter_map(Value::as_str).collect();
    let list = config.get("searches").unwrap_or(&Value::Null);
    if searches.len() > 32 {
        report.invalid(&at.child("searches"), list, "must not have more than 32 search paths");
    }
    if searches.join(" ").len() > 2048 {
        let why = "must not have more than 2048 characters (including spaces) in the search list";
        report.invalid(&at.child("searches"), list, why);
    }
    for (index, search) in searches.iter().enumerate().filter(|(_, search)| **search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        report.each(&at.child("searches").index(index), search, names::dns_search(search));
    }
    for (index, option) in config.items_at(&["options"]).iter().enumerate() {
        if option.str_at(&["name"]).unwrap_or_default().is_empty() {
            report.required(&at.child("options").index(index), "must not be empty");
        }
    }
}

fn gates(spec: &Value, at: &Path, report: &mut Report) {
    for (index, gate) in spec.items_at(&["readinessGates"]).iter().enumerate() {
        let name = gate.str_at(&["conditionType"]).unwrap_or_default();
        let at = at.child("readinessGates").index(index).child("conditionType");
        report.each(&at, name, names::label_key(name));
    }
    let mut known: Vec<&str> = Vec::new();
    for (index, gate) in spec.items_at(&["schedulingGates"]).iter().enumerate() {
        let name = gate.str_at(&["name"]).unwrap_or_default();
        let at = at.child("schedulingGates").index(index);
        report.each(&at, name, names::label_key(name));
        if known.contains(&name) {
            report.duplicate(&at, &name.into());
        }
        known.push(name);
    }
}

fn named_things(spec: &Value, at: &Path, report: &mut Report) {
    let checks: [(&str, names::NameCheck); 4] = [
        ("serviceAccountName", names::dns_subdomain),
        ("nodeName", names::dns_subdomain),
        ("hostname", names::dns_label),
        ("subdomain", names::dns_label),
    ];
    for (field, check) in checks {
        if let Some(name) = spec.str_at(&[field]).filter(|name| !name.is_empty()) {
            report.each(&at.child(field), name, check(name));
        }
        if field == "nodeName" {
            let most = i64::from(i32::MAX);
            if let Some(seconds) = spec.int_at(&["activeDeadlineSeconds"]) {
                for problem in names::in_range(seconds, 1, most) {
                    report.invalid_number(&at.child("activeDeadlineSeconds"), seconds, problem);
                }
            }
        }
    }
}

fn host_aliases(spec: &Value, at: &Path, report: &mut Report) {
    for (index, alias) in spec.items_at(&["hostAliases"]).iter().enumerate() {
        let ip = alias.str_at(&["ip"]).unwrap_or_default();
        report.each(&at.index(index).child("ip"), ip, names::ip_problems(ip));
        for (number, host) in alias.items_at(&["hostnames"]).iter().filter_map(Value::as_str).enumerate() {
            let at = at.index(index).child("hostnames").index(number);
            report.each(&at, host, names::dns_subdomain(host));
        }
    }
}

fn classes(spec: &Value, at: &Path, report: &mut Report) {
    for field in ["priorityClassName", "runtimeClassName"] {
        if let Some(name) =
            spec.str_at(&[field]).filter(|name| field == "runtimeClassName" || !name.is_empty())
        {
            report.each(&at.child(field), name, names::dns_subdomain(name));
        }
    }
    if let Some(policy) = spec.str_at(&["preemptionPolicy"]) {
        report.one_of(&at.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
    for (resource, amount) in resources::amounts(spec.get("overhead")) {
        let at = at.child("overhead").key(resource);
        resources::container_resource(resource, &at, report);
        resources::resource_amount(resource, amount, &at, report);
    }
    os::system(spec, at, report);
}

/// Checks a changed pod: little of a pod can be changed.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    meta::create(new, true, names::dns_subdomain, report);
    // What is checked depends on these two and on the name.
    if ![["spec"].as_slice(), &["metadata", "annotations"]]
        .into_iter()
        .all(|path| meta::is_shared(new, old, path))
    {
        whole_spec(new, report);
    }
    annotation::update(new, old, report);
    let at = Path::new("spec");
    for list in ["containers", "initContainers"] {
        if new.value().items_at(&["spec", list]).len() != old.value().items_at(&["spec", list]).len() {
            report.forbidden(&at.child(list), "pod updates may not add or remove containers");
            return;
        }
    }
    if !deadline(new, old, &at.child("activeDeadlineSeconds"), report) {
        return;
    }
    only_added_tolerations(new, old, &at.child("tolerations"), report);
    only_removed_gates(new, old, &at.child("schedulingGates"), report);
    only_added_labels(new, old, &at.child("nodeSelector"), report);
    let munged = munged_spec(new, old);
    if !same(Some(&munged), old.at(&["spec"])) {
        let fields = [
            "`spec.containers[*].image`",
            "`spec.initContainers[*].image`",
            "`spec.activeDeadlineSeconds`",
            "`spec.tolerations` (only additions to existing tolerations)",
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ];
        let diff = super::diff::lines(old.at(&["spec"]).unwrap_or(&Value::Null), &munged);
        let why = format!("pod updates may not change fields other than {}\n{diff}", fields.join(","));
        report.forbidden(&at, why);
    }
}

/// The deadline of a running pod can only come closer. Says whether it is worth going on.
fn deadline(new: &Object, old: &Object, at: &Path, report: &mut Report) -> bool {
    let seconds = |pod: &Object| pod.value().int_at(&["spec", "activeDeadlineSeconds"]);
    match (seconds(new), seconds(old)) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            report.invalid_number(at, new, format!("must be between 0 and {}, inclusive", i32::MAX));
            false
        }
        (Some(new), Some(old)) if old < new => {
            report.invalid_number(at, new, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            report.invalid(at, &Value::Null, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

fn only_added_tolerations(new: &Object, old: &Object, at: &Path, report: &mut Report) {
    let list = |pod: &Object| pod.value().items_at(&["spec", "tolerations"]).to_vec();
    let without_time = |toleration: &Value| {
        let mut toleration = toleration.clone();
        toleration.remove(&["tolerationSeconds"]);
        toleration
    };
    for old in list(old) {
        if !list(new).iter().any(|new| without_time(new) == without_time(&old)) {
            report.forbidden(at, "existing toleration can not be modified except its tolerationSeconds");
            return;
        }
    }
}

fn only_removed_gates(new: &Object, old: &Object, at: &Path, report: &mut Report) {
    let names = |pod: &Object| -> Vec<String> {
        let gates = pod.value().items_at(&["spec", "schedulingGates"]).iter();
        gates.filter_map(|gate| gate.str_at(&["name"]).map(ToOwned::to_owned)).collect()
    };
    let was = names(old);
    for (index, name) in names(new).iter().enumerate() {
        if !was.contains(name) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            report.forbidden(&at.index(index).child("name"), why);
        }
    }
}

/// A pod that waits at a gate may be bound to more labels of nodes, and not to other ones.
fn only_added_labels(new: &Object, old: &Object, at: &Path, report: &mut Report) {
    if old.value().items_at(&["spec", "schedulingGates"]).is_empty() {
        return;
    }
    let labels = |pod: &Object| pod.at(&["spec", "nodeSelector"]).cloned().unwrap_or_default();
    let (now, was) = (labels(new), labels(old));
    let kept = |(key, value): (&lynceus_object::Str, &Value)| now.get(key) == Some(value);
    if !was.as_map().into_iter().flat_map(|map| map.iter()).all(kept) {
        let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        report.invalid(at, &now, why);
    }
}

/// The new spec with everything put back that may change.
fn munged_spec(new: &Object, old: &Object) -> Value {
    let mut spec = new.at(&["spec"]).cloned().unwrap_or_default();
    let was = old.at(&["spec"]).cloned().unwrap_or_default();
    for list in ["containers", "initContainers"] {
        let old_list = was.items_at(&[list]).to_vec();
        for (container, old) in crate::kinds::edit::each(&mut spec, &[list]).zip(&old_list) {
            if let Some(image) = old.get("image") {
                container.set(&["image"], image.clone());
            }
        }
    }
    let mut kept = vec!["activeDeadlineSeconds", "schedulingGates", "tolerations"];
    if !was.items_at(&["schedulingGates"]).is_empty() {
        kept.extend(["nodeSelector", "affinity"]);
    }
    let negative = was.int_at(&["terminationGracePeriodSeconds"]).is_some_and(|seconds| seconds < 0);
    if negative && spec.int_at(&["terminationGracePeriodSeconds"]) == Some(1) {
        kept.push("terminationGracePeriodSeconds");
    }
    for field in kept {
        match was.get(field) {
            Some(value) => spec.set(&[field], value.clone()),
            None => {
                spec.remove(&[field]);
            }
        }
    }
    spec
}

/// Checks what a node reports about a pod.
pub(crate) fn status_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    let at = Path::new("status");
    report.immutable(&at.child("qosClass"), new.at(&["status", "qosClass"]), old.at(&["status", "qosClass"]));
    for (index, condition) in new.value().items_at(&["status", "conditions"]).iter().enumerate() {
        let kind = condition.str_at(&["type"]).unwrap_or_default();
        if kind.contains('/') {
            report.each(&at.child("conditions").index(index).child("Type"), kind, names::label_key(kind));
        }
    }
    if let Some(name) = new.value().str_at(&["status", "nominatedNodeName"]).filter(|name| !name.is_empty())
        && old.value().str_at(&["status", "nominatedNodeName"]) != Some(name)
    {
        let at = at.child("nominatedNodeName");
        report.each(&at, name, names::dns_subdomain(name));
        if !old.value().str_at(&["spec", "nodeName"]).unwrap_or_default().is_empty() {
            report.forbidden(&at, "may not be set on pods that are already bound to a node");
        }
    }
    for list in ["podIPs", "hostIPs"] {
        for (index, ip) in new.value().items_at(&["status", list]).iter().enumerate() {
            let ip = ip.str_at(&["ip"]).unwrap_or_default();
            report.each(&at.child(list).index(index), ip, names::ip_problems(ip));
        }
    }
}

/// Checks containers that are added to look inside a running pod.
pub(crate) fn ephemeral_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    meta::create(new, true, names::dns_subdomain, report);
    whole_spec(new, report);
    let at = Path::new("spec").child("ephemeralContainers");
    let now = new.value().items_at(&["spec", "ephemeralContainers"]);
    for was in old.value().items_at(&["spec", "ephemeralContainers"]) {
        let name = was.str_at(&["name"]).unwrap_or_default();
        match now.iter().find(|now| now.str_at(&["name"]) == Some(name)) {
            None => {
                report.forbidden(&at, format!("existing ephemeral containers {name:?} may not be removed\n"))
            }
            Some(now) if now != was => {
                let diff = super::diff::lines(was, now);
                let why = format!("existing ephemeral containers {name:?} may not be changed\n{diff}");
                report.forbidden(&at, why);
            }
            Some(_) => {}
        }
    }
}

/// Checks other amounts of resources for the containers of a running pod.
pub(crate) fn resize(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    meta::create(new, true, names::dns_subdomain, report);
    whole_spec(new, report);
    let before = crate::kinds::quality::class(old.value());
    if before != crate::kinds::quality::class(new.value()) {
        let why = "Pod QOS Class may not change as a result of resizing";
        report.invalid_text(&Path::new("spec"), before, why);
    }
}
