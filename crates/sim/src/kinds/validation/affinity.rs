//! Where a pod may run: affinity, tolerations, spreading.

use lynceus_object::Value;

use super::meta;
use super::names;
use super::report::{Path, Report};
use super::selector;

/// Checks which nodes and pods a pod wants to be near to or away from.
pub(crate) fn affinity(spec: &Value, at: &Path, report: &mut Report) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let Some(affinity) = spec.get("affinity").filter(|affinity| !affinity.is_null()) else { return };
    if let Some(node) = affinity.get("nodeAffinity") {
        let at = at.child("nodeAffinity");
        if let Some(required) = node.get(REQUIRED).filter(|required| !required.is_null()) {
            node_selector(required, &at.child(REQUIRED), report);
        }
        for (index, term) in node.items_at(&[PREFERRED]).iter().enumerate() {
            let at = at.child(PREFERRED).index(index);
            weight(term, &at, report);
            node_term(term.get("preference").unwrap_or(&Value::Null), true, &at.child("preference"), report);
        }
    }
    for side in ["podAffinity", "podAntiAffinity"] {
        let Some(pod) = affinity.get(side) else { continue };
        let at = at.child(side);
        for (index, term) in pod.items_at(&[REQUIRED]).iter().enumerate() {
            pod_term(term, &at.child(REQUIRED).index(index), report);
        }
        for (index, term) in pod.items_at(&[PREFERRED]).iter().enumerate() {
            let at = at.child(PREFERRED).index(index);
            weight(term, &at, report);
            let empty = Value::Map(Default::default());
            pod_term(term.get("podAffinityTerm").unwrap_or(&empty), &at.child("podAffinityTerm"), report);
        }
    }
}

fn weight(term: &Value, at: &Path, report: &mut Report) {
    let weight = term.int_at(&["weight"]).unwrap_or_default();
    if !(1..=100).contains(&weight) {
        report.invalid_number(&at.child("weight"), weight, "must be in the range 1-100");
    }
}

/// Checks a selector of nodes.
pub(crate) fn node_selector(selector: &Value, at: &Path, report: &mut Report) {
    let terms = selector.items_at(&["nodeSelectorTerms"]);
    let at = at.child("nodeSelectorTerms");
    if terms.is_empty() {
        report.required(&at, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        node_term(term, false, &at.index(index), report);
    }
}

fn node_term(term: &Value, any_value: bool, at: &Path, report: &mut Report) {
    for (index, requirement) in term.items_at(&["matchExpressions"]).iter().enumerate() {
        node_requirement(requirement, any_value, &at.child("matchExpressions").index(index), report);
    }
    for (index, requirement) in term.items_at(&["matchFields"]).iter().enumerate() {
        node_field(requirement, &at.child("matchFields").index(index), report);
    }
}

fn node_requirement(requirement: &Value, any_value: bool, at: &Path, report: &mut Report) {
    let values = requirement.items_at(&["values"]);
    match requirement.str_at(&["operator"]).unwrap_or_default() {
        "In" | "NotIn" if values.is_empty() => {
            report.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            report.forbidden(&at.child("values"), why);
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            report.required(&at.child("values"), why);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => report.invalid_text(&at.child("operator"), other, "not a valid selector operator"),
    }
    let key = requirement.str_at(&["key"]).unwrap_or_default();
    report.each(&at.child("key"), key, names::label_key(key));
    if !any_value {
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
            report.each(&at.child("values").index(index), value, names::label_value(value));
        }
    }
}

fn node_field(requirement: &Value, at: &Path, report: &mut Report) {
    let values = requirement.items_at(&["values"]);
    match requirement.str_at(&["operator"]).unwrap_or_default() {
        "In" | "NotIn" if values.len() != 1 => {
            let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            report.required(&at.child("values"), why);
        }
        "In" | "NotIn" => {}
        other => report.invalid_text(&at.child("operator"), other, "not a valid selector operator"),
    }
    match requirement.str_at(&["key"]).unwrap_or_default() {
        "metadata.name" => {
            for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
                report.each(&at.child("values").index(index), value, names::dns_subdomain(value));
            }
        }
        key => report.invalid_text(&at.child("key"), key, "not a valid field selector key"),
    }
}

fn pod_term(term: &Value, at: &Path, report: &mut Report) {
    selector::label_selector(term.get("labelSelector"), &at.child("labelSelector"), report);
    selector::label_selector(term.get("namespaceSelector"), &at.child("namespaceSelector"), report);
    for namespace in term.items_at(&["namespaces"]).iter().filter_map(Value::as_str) {
        report.each(&at.child("namespace"), namespace, names::dns_label(namespace));
    }
    label_keys(term, at, report);
    let key = term.str_at(&["topologyKey"]).unwrap_or_default();
    if key.is_empty() {
        report.required(&at.child("topologyKey"), "can not be empty");
    }
    report.each(&at.child("topologyKey"), key, names::label_key(key));
}

/// Checks the labels of a pod that others have to have too, or must not have. What they come to already stands among the
/// expressions of the selector.
fn label_keys(term: &Value, at: &Path, report: &mut Report) {
    let keys =
        |field: &str| -> Vec<&str> { term.items_at(&[field]).iter().filter_map(Value::as_str).collect() };
    let selector = term.get("labelSelector").filter(|selector| !selector.is_null());
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let at = at.child(field);
        if selector.is_none() && !keys(field).is_empty() {
            report.forbidden(&at, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys(field).into_iter().enumerate() {
            report.each(&at.index(index), key, names::label_key(key));
        }
    }
    let labels = selector.and_then(|selector| selector.get("matchLabels")).and_then(Value::as_map);
    let mut seen: Vec<&str> = labels.into_iter().flat_map(|map| map.keys()).map(|key| key.as_str()).collect();
    let expressions = selector.map(|selector| selector.items_at(&["matchExpressions"])).unwrap_or_default();
    for key in expressions.iter().filter_map(|expression| expression.str_at(&["key"])) {
        let own = keys("matchLabelKeys").iter().rposition(|own| *own == key);
        if let Some(index) = own.filter(|_| seen.contains(&key)) {
            report.invalid_text(&at.index(index), key, "exists in both matchLabelKeys and labelSelector");
        }
        seen.push(key);
    }
    for (index, key) in keys("matchLabelKeys").into_iter().enumerate() {
        if keys("mismatchLabelKeys").contains(&key) {
            let at = at.child("matchLabelKeys").index(index);
            report.invalid_text(&at, key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}

/// Checks the taints that a pod puts up with.
pub(crate) fn tolerations(spec: &Value, at: &Path, report: &mut Report) {
    for (index, toleration) in spec.items_at(&["tolerations"]).iter().enumerate() {
        let at = at.index(index);
        let text = |field: &str| toleration.str_at(&[field]).unwrap_or_default();
        let (key, operator, value, effect) = (text("key"), text("operator"), text("value"), text("effect"));
        if !key.is_empty() {
            report.each(&at.child("key"), key, names::label_key(key));
        } else if operator != "Exists" {
            let why =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            report.invalid_text(&at.child("operator"), operator, why);
        }
        if toleration.int_at(&["tolerationSeconds"]).is_some() && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            report.invalid_text(&at.child("effect"), effect, why);
        }
        match operator {
            "" | "Equal" => {
                let problems = names::label_value(value);
                if !problems.is_empty() {
                    report.invalid_text(&at.child("operator"), value, problems.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                report.invalid_text(
                    &at.child("operator"),
                    value,
                    "value must be empty when `operator` is 'Exists'",
                );
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                report.not_supported(&at.child("operator"), operator, &["Equal", "Exists", "Lt", "Gt"])
            }
            other => report.not_supported(&at.child("operator"), other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            taint_effect(effect, &at.child("effect"), report);
        }
    }
}

/// Checks what a taint does.
pub(crate) fn taint_effect(effect: &str, at: &Path, report: &mut Report) {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !EFFECTS.contains(&effect) {
        report.not_supported(at, effect, &EFFECTS);
    }
}

/// Checks how pods are spread over parts of the cluster.
pub(crate) fn spreading(spec: &Value, at: &Path, report: &mut Report) {
    let constraints = spec.items_at(&["topologySpreadConstraints"]);
    let same = |a: &Value, b: &Value| {
        a.get("topologyKey") == b.get("topologyKey")
            && a.get("whenUnsatisfiable") == b.get("whenUnsatisfiable")
    };
    for (index, constraint) in constraints.iter().enumerate() {
        let at = at.index(index);
        let text = |field: &str| constraint.str_at(&[field]).unwrap_or_default();
        positive(constraint.int_at(&["maxSkew"]).unwrap_or_default(), &at.child("maxSkew"), report);
        if text("topologyKey").is_empty() {
            report.required(&at.child("topologyKey"), "can not be empty");
        }
        let action = text("whenUnsatisfiable");
        if !matches!(action, "DoNotSchedule" | "ScheduleAnyway") {
            report.not_supported(
                &at.child("whenUnsatisfiable"),
                action,
                &["DoNotSchedule", "ScheduleAnyway"],
            );
        }
        if constraints.iter().skip(index + 1).any(|other| same(other, constraint)) {
            let shown = format!("{{{}, {action}}}", text("topologyKey"));
            report.duplicate(&at.child("{topologyKey, whenUnsatisfiable}"), &shown.as_str().into());
        }
        if let Some(domains) = constraint.int_at(&["minDomains"]) {
            positive(domains, &at.child("minDomains"), report);
            if action != "DoNotSchedule" {
                let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                report.invalid_number(&at.child("minDomains"), domains, why);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) =
                constraint.str_at(&[field]).filter(|policy| !matches!(*policy, "Honor" | "Ignore"))
            {
                report.not_supported(&at.child(field), policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(constraint, &at, report);
        selector::label_selector(constraint.get("labelSelector"), &at.child("labelSelector"), report);
    }
}

fn positive(number: i64, at: &Path, report: &mut Report) {
    if number <= 0 {
        report.invalid_number(at, number, "must be greater than zero");
    }
}

/// Checks the labels that a node must have.
pub(crate) fn node_labels(spec: &Value, at: &Path, report: &mut Report) {
    meta::labels(spec.get("nodeSelector"), at, report);
}
