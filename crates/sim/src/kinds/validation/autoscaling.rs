//! Autoscalers and disruption budgets.

use lynceus_object::{Object, Value};

use super::meta;
use super::names;
use super::report::{Path, Report};
use super::selector;
use super::workload::{at_most_all, count_or_percent};
use crate::kinds::amount_of;

/// Checks an autoscaler; version 1 has no metrics of its own.
pub(crate) fn autoscaler(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    autoscaler_spec(object, report);
}

/// Checks the spec of an autoscaler.
pub(crate) fn autoscaler_spec(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let (least, most) = (spec.int_at(&["minReplicas"]), spec.int_at(&["maxReplicas"]).unwrap_or_default());
    if let Some(least) = least.filter(|least| *least < 1) {
        report.invalid_number(&at.child("minReplicas"), least, "must be greater than or equal to 1");
    }
    if most == 0 {
        report.required(&at.child("maxReplicas"), "must be set and greater than 0");
    } else if most < 1 {
        report.invalid_number(&at.child("maxReplicas"), most, "must be greater than or equal to 1");
    }
    if least.is_some_and(|least| most < least) {
        report.invalid_number(
            &at.child("maxReplicas"),
            most,
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = spec.get("scaleTargetRef").unwrap_or(&Value::Null);
    reference(target, &at.child("scaleTargetRef"), report);
    api_version(target, &at.child("scaleTargetRef"), report);
    if least == Some(0)
        && !spec
            .items_at(&["metrics"])
            .iter()
            .any(|metric| matches!(metric.str_at(&["type"]), Some("Object" | "External")))
    {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        report.forbidden(&at.child("metrics"), why);
    }
    for (index, metric) in spec.items_at(&["metrics"]).iter().enumerate() {
        metric_spec(metric, &at.child("metrics").index(index), report);
    }
    for direction in ["scaleUp", "scaleDown"] {
        if let Some(rules) = spec.at(&["behavior", direction]).filter(|rules| !rules.is_null()) {
            scaling_rules(rules, &at.child("behavior").child(direction), report);
        }
    }
}

fn reference(reference: &Value, at: &Path, report: &mut Report) {
    for field in ["kind", "name"] {
        match reference.str_at(&[field]).unwrap_or_default() {
            "" => report.required(&at.child(field), ""),
            text => report.each(&at.child(field), text, names::path_segment(text)),
        }
    }
}

/// What is scaled is never of the core group but for one kind.
fn api_version(target: &Value, at: &Path, report: &mut Report) {
    let text = target.str_at(&["apiVersion"]).unwrap_or_default();
    let core = text == "v1" && target.str_at(&["kind"]) == Some("ReplicationController");
    let at = at.child("apiVersion");
    if text.matches('/').count() > 1 {
        report.invalid_text(&at, text, format!("unexpected GroupVersion string: {text}"));
    } else if !text.contains('/') && !core {
        report.invalid_text(&at, text, "apiVersion must specify API group");
    }
}

fn scaling_rules(rules: &Value, at: &Path, report: &mut Report) {
    if let Some(seconds) = rules.int_at(&["stabilizationWindowSeconds"]) {
        let at = at.child("stabilizationWindowSeconds");
        if seconds < 0 {
            report.invalid_number(&at, seconds, "must be greater than or equal to zero");
        }
        if seconds > 3600 {
            report.invalid_number(&at, seconds, "must be less than or equal to 3600");
        }
    }
    let select = ["Disabled", "Max", "Min"];
    if let Some(policy) = rules.str_at(&["selectPolicy"]).filter(|policy| !select.contains(policy)) {
        report.not_supported(&at.child("selectPolicy"), policy, &select);
    }
    let at = at.child("policies");
    let policies = rules.items_at(&["policies"]);
    if policies.is_empty() {
        report.required(&at, "must specify at least one Policy");
    }
    for (index, policy) in policies.iter().enumerate() {
        let at = at.index(index);
        let kind = policy.str_at(&["type"]).unwrap_or_default();
        if !matches!(kind, "Percent" | "Pods") {
            report.not_supported(&at.child("type"), kind, &["Percent", "Pods"]);
        }
        let number = |field: &str| policy.int_at(&[field]).unwrap_or_default();
        for field in ["value", "periodSeconds"] {
            if number(field) <= 0 {
                report.invalid_number(&at.child(field), number(field), "must be greater than zero");
            }
        }
        if number("periodSeconds") > 1800 {
            let why = "must be less than or equal to 1800";
            report.invalid_number(&at.child("periodSeconds"), number("periodSeconds"), why);
        }
    }
}

fn metric_spec(metric: &Value, at: &Path, report: &mut Report) {
    const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
    const FIELDS: [(&str, &str); 5] = [
        ("Object", "object"),
        ("Pods", "pods"),
        ("Resource", "resource"),
        ("External", "external"),
        ("ContainerResource", "containerResource"),
    ];
    let kind = metric.str_at(&["type"]).unwrap_or_default();
    if kind.is_empty() {
        report.required(&at.child("type"), "must specify a metric source type");
    }
    if !TYPES.contains(&kind) {
        report.not_supported(&at.child("type"), kind, &TYPES);
    }
    let part = |field: &str| metric.get(field).filter(|part| !part.is_null());
    for (_, field) in FIELDS {
        if let Some(source) = part(field) {
            metric_source(field, source, &at.child(field), report);
        }
    }
    let Some((_, expected)) = FIELDS.iter().find(|(known, _)| *known == kind) else { return };
    if part(expected).is_none() {
        report.required(&at.child(expected), "must populate information for the given metric source");
    }
    for (_, field) in FIELDS.iter().filter(|(known, field)| *known != kind && part(field).is_some()) {
        report.forbidden(&at.child(field), "must populate the given metric source only");
    }
}

fn metric_source(field: &str, source: &Value, at: &Path, report: &mut Report) {
    let target = source.get("target").unwrap_or(&Value::Null);
    let has = |name: &str| target.get(name).is_some_and(|value| !value.is_null());
    let at_target = at.child("target");
    if field == "object" {
        reference(
            source.get("describedObject").unwrap_or(&Value::Null),
            &at.child("describedObject"),
            report,
        );
    }
    if matches!(field, "resource" | "containerResource") {
        if source.str_at(&["name"]).unwrap_or_default().is_empty() {
            report.required(&at.child("name"), "must specify a resource name");
        }
        if field == "containerResource" && source.str_at(&["container"]).unwrap_or_default().is_empty() {
            report.required(&at.child("container"), "must specify a container");
        }
    } else {
        match source.str_at(&["metric", "name"]).unwrap_or_default() {
            "" => report.required(&at.child("metric").child("name"), "must specify a metric name"),
            name => report.each(&at.child("metric").child("name"), name, names::path_segment(name)),
        }
    }
    metric_target(target, &at_target, report);
    let (average, value, use_) = (has("averageValue"), has("value"), has("averageUtilization"));
    match field {
        "object" if !average && !value => {
            report
                .required(&at_target.child("averageValue"), "must set either a target value or averageValue");
        }
        "external" if !average && !value => {
            let why = "must set either a target value for metric or a per-pod target";
            report.required(&at_target.child("averageValue"), why);
        }
        "external" if average && value => {
            let why = "may not set both a target value for metric and a per-pod target";
            report.forbidden(&at_target.child("value"), why);
        }
        "pods" if !average => {
            report.required(&at_target.child("averageValue"), "must specify a positive target averageValue");
        }
        "resource" | "containerResource" if !average && !use_ => {
            let why = "must set either a target raw value or a target utilization";
            report.required(&at_target.child("averageUtilization"), why);
        }
        "resource" | "containerResource" if average && use_ => {
            let why = "may not set both a target raw value and a target utilization";
            report.forbidden(&at_target.child("averageValue"), why);
        }
        _ => {}
    }
}

fn metric_target(target: &Value, at: &Path, report: &mut Report) {
    match target.str_at(&["type"]).unwrap_or_default() {
        "Utilization" | "Value" | "AverageValue" => {}
        other => {
            if other.is_empty() {
                report.required(&at.child("type"), "must specify a metric target type");
            }
            let why = "must be either Utilization, Value, or AverageValue";
            report.invalid_text(&at.child("type"), other, why);
        }
    }
    for field in ["value", "averageValue"] {
        if let Some(amount) =
            target.get(field).and_then(amount_of).filter(|amount| amount.is_zero() || amount.is_negative())
        {
            report.invalid_text(&at.child(field), &amount.to_string(), "must be positive");
        }
    }
    if let Some(percent) = target.int_at(&["averageUtilization"]).filter(|percent| *percent < 1) {
        report.invalid_number(&at.child("averageUtilization"), percent, "must be greater than 0");
    }
}

/// Checks a PodDisruptionBudget.
pub(crate) fn budget(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let part = |field: &str| spec.get(field).filter(|part| !part.is_null());
    if part("minAvailable").is_some() && part("maxUnavailable").is_some() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            crate::kinds::gofmt::json(part("minAvailable").unwrap_or(&Value::Null)),
            crate::kinds::gofmt::json(part("selector").unwrap_or(&Value::Null)),
            crate::kinds::gofmt::json(part("maxUnavailable").unwrap_or(&Value::Null)),
            crate::kinds::gofmt::json(part("unhealthyPodEvictionPolicy").unwrap_or(&Value::Null)),
        );
        let why = "minAvailable and maxUnavailable cannot be both set";
        report.push(crate::FieldError::invalid(at.to_string(), shown, why));
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = part(field) {
            count_or_percent(Some(value), &at.child(field), report);
            at_most_all(Some(value), &at.child(field), report);
        }
    }
    selector::label_selector(part("selector"), &at.child("selector"), report);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    if let Some(policy) =
        spec.str_at(&["unhealthyPodEvictionPolicy"]).filter(|policy| !policies.contains(policy))
    {
        report.not_supported(&at.child("unhealthyPodEvictionPolicy"), policy, &policies);
    }
}
