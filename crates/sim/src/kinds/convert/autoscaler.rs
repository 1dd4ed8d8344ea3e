//! Autoscalers in version 1 know the use of CPU only; the rest is carried along in annotations.

use lynceus_object::{Value, value};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// From version 1 to version 2.
pub(super) fn to_v2(hpa: &mut Value) {
    let mut metrics: Vec<Value> =
        carried(hpa, METRICS).into_iter().map(|m| metric_to_v2(m, "target")).collect();
    match hpa.remove(&["spec", "targetCPUUtilizationPercentage"]) {
        Some(Value::Int(percent)) => {
            metrics.push(cpu(value!({"type": "Utilization", "averageUtilization": percent})))
        }
        _ if metrics.is_empty() => {
            metrics.push(cpu(value!({"type": "Utilization", "averageUtilization": 80})))
        }
        _ => {}
    }
    hpa.set(&["spec", "metrics"], metrics);
    if let Some(behavior) = parsed(hpa, BEHAVIOR) {
        hpa.set(&["spec", "behavior"], behavior);
    }
    let mut current: Vec<Value> =
        carried(hpa, CURRENT).into_iter().map(|m| metric_to_v2(m, "current")).collect();
    if let Some(Value::Int(percent)) = hpa.remove(&["status", "currentCPUUtilizationPercentage"])
        && current.is_empty()
    {
        let now = value!({"averageUtilization": percent, "averageValue": "0"});
        current.push(value!({"type": "Resource", "resource": {"name": "cpu", "current": now}}));
    }
    if !current.is_empty() {
        hpa.set(&["status", "currentMetrics"], current);
    }
    if let Some(conditions) = parsed(hpa, CONDITIONS) {
        hpa.set(&["status", "conditions"], conditions);
    }
    for annotation in [METRICS, CURRENT, CONDITIONS, BEHAVIOR] {
        hpa.remove(&["metadata", "annotations", annotation]);
    }
    drop_empty(hpa, &["metadata", "annotations"]);
}

/// From version 2 to version 1.
pub(super) fn to_v1(hpa: &mut Value) {
    let metrics = taken(hpa, &["spec", "metrics"]);
    let mut others = Vec::new();
    for metric in metrics {
        match utilization(&metric, "target") {
            Some(percent) => hpa.set(&["spec", "targetCPUUtilizationPercentage"], percent),
            None => others.push(metric_to_v1(metric, "target")),
        }
    }
    let current = taken(hpa, &["status", "currentMetrics"]);
    for metric in &current {
        if let Some(percent) = utilization(metric, "current") {
            hpa.set(&["status", "currentCPUUtilizationPercentage"], percent);
        }
    }
    carry(hpa, METRICS, others);
    carry(hpa, CURRENT, current.into_iter().map(|metric| metric_to_v1(metric, "current")).collect());
    let conditions = taken(hpa, &["status", "conditions"]);
    carry(hpa, CONDITIONS, conditions);
    if let Some(behavior) = hpa.remove(&["spec", "behavior"]).filter(|behavior| !behavior.is_empty()) {
        annotate(hpa, BEHAVIOR, &behavior);
    }
}

fn cpu(target: Value) -> Value {
    value!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

/// The use of CPU, if that is what the metric is about.
fn utilization(metric: &Value, side: &str) -> Option<i64> {
    let resource = metric.get("resource").filter(|resource| resource.str_at(&["name"]) == Some("cpu"))?;
    resource.int_at(&[side, "averageUtilization"])
}

/// Each kind of metric has its own field; version 1 spreads its numbers over more names.
const SOURCES: [&str; 5] = ["resource", "containerResource", "pods", "object", "external"];

fn metric_to_v1(metric: Value, side: &str) -> Value {
    let mut out = value!({"type": metric.str_at(&["type"]).unwrap_or_default()});
    for field in SOURCES {
        let Some(source) = metric.get(field) else { continue };
        let mut old = value!({});
        copy(source, &["name"], &mut old, "name");
        copy(source, &["container"], &mut old, "container");
        copy(source, &["metric", "name"], &mut old, "metricName");
        let selector = if field == "external" { "metricSelector" } else { "selector" };
        copy(source, &["metric", "selector"], &mut old, selector);
        copy(source, &["describedObject"], &mut old, "target");
        copy(source, &[side, "averageUtilization"], &mut old, &named(side, "AverageUtilization"));
        let average = if field == "object" { "averageValue".to_owned() } else { named(side, "AverageValue") };
        copy(source, &[side, "averageValue"], &mut old, &average);
        copy(source, &[side, "value"], &mut old, &named(side, "Value"));
        out.set(&[field], old);
    }
    out
}

fn metric_to_v2(metric: Value, side: &str) -> Value {
    let mut out = value!({"type": metric.str_at(&["type"]).unwrap_or_default()});
    for field in SOURCES {
        let Some(source) = metric.get(field) else { continue };
        let mut new = value!({});
        copy(source, &["name"], &mut new, "name");
        copy(source, &["container"], &mut new, "container");
        copy(source, &["target"], &mut new, "describedObject");
        let selector = if field == "external" { "metricSelector" } else { "selector" };
        let mut identity = value!({});
        copy(source, &["metricName"], &mut identity, "name");
        copy(source, &[selector], &mut identity, "selector");
        if !identity.is_empty() {
            new.set(&["metric"], identity);
        }
        let mut amount = value!({});
        copy(source, &[&named(side, "AverageUtilization")], &mut amount, "averageUtilization");
        let average = if field == "object" { "averageValue".to_owned() } else { named(side, "AverageValue") };
        copy(source, &[&average], &mut amount, "averageValue");
        copy(source, &[&named(side, "Value")], &mut amount, "value");
        if side == "target" {
            let kind = if amount.get("averageUtilization").is_some() {
                "Utilization"
            } else if amount.get("averageValue").is_some() {
                "AverageValue"
            } else {
                "Value"
            };
            amount.set(&["type"], kind);
        }
        new.set(&[side], amount);
        out.set(&[field], new);
    }
    out
}

fn named(side: &str, rest: &str) -> String {
    format!("{side}{rest}")
}

fn copy(from: &Value, path: &[&str], to: &mut Value, name: &str) {
    if let Some(value) = from.at(path).filter(|value| !value.is_null()) {
        to.set(&[name], value.clone());
    }
}

fn taken(hpa: &mut Value, path: &[&str]) -> Vec<Value> {
    match hpa.remove(path) {
        Some(Value::Seq(items)) => items.into_iter().collect(),
        _ => Vec::new(),
    }
}

fn carry(hpa: &mut Value, annotation: &str, items: Vec<Value>) {
    if !items.is_empty() {
        annotate(hpa, annotation, &Value::from(items));
    }
}

fn annotate(hpa: &mut Value, annotation: &str, value: &Value) {
    if let Ok(text) = serde_json::to_string(value) {
        hpa.set(&["metadata", "annotations", annotation], text);
    }
}

fn carried(hpa: &Value, annotation: &str) -> Vec<Value> {
    match parsed(hpa, annotation) {
        Some(Value::Seq(items)) => items.into_iter().collect(),
        _ => Vec::new(),
    }
}

/// What an annotation carries; a text that cannot be read carries nothing, as with the original.
fn parsed(hpa: &Value, annotation: &str) -> Option<Value> {
    serde_json::from_str(hpa.str_at(&["metadata", "annotations", annotation])?).ok()
}

fn drop_empty(value: &mut Value, path: &[&str]) {
    if value.at(path).is_some_and(Value::is_empty) {
        value.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_cpu_has_a_field_of_its_own_in_version_1() {
        let mut hpa = value!({"metadata": {}, "spec": {"metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        ]}});
        let before = hpa.clone();
        to_v1(&mut hpa);
        assert_eq!(hpa, value!({"metadata": {}, "spec": {"targetCPUUtilizationPercentage": 50}}));
        to_v2(&mut hpa);
        assert_eq!(hpa, before);
    }

    #[test]
    fn other_metrics_and_behavior_survive_version_1() {
        let mut hpa = value!({"metadata": {}, "spec": {"behavior": {"scaleUp": {"selectPolicy": "Max"}}, "metrics": [
            {"type": "Object", "object": {"describedObject": {"kind": "Ingress", "name": "main"},
                "metric": {"name": "rps"}, "target": {"type": "Value", "value": "2k"}}},
            {"type": "External", "external": {"metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "AverageValue", "averageValue": "30"}}},
        ]}});
        let before = hpa.clone();
        to_v1(&mut hpa);
        assert!(hpa.at(&["spec", "metrics"]).is_none());
        assert!(
            hpa.str_at(&["metadata", "annotations", METRICS]).unwrap().contains("\"metricName\":\"rps\"")
        );
        to_v2(&mut hpa);
        assert_eq!(hpa, before);
    }
}
