//! What an autoscaler gets.

use crate::{Value, value};

use crate::edit::{fill, fill_from, has, part_or_new};

/// Fills in an autoscaler of either version.
pub(super) fn fill_in(version: &str, value: &mut Value) {
    let spec = part_or_new(value, "spec");
    fill(spec, "minReplicas", 1);
    if version == "v1" {
        return;
    }
    if spec.items_at(&["metrics"]).is_empty() {
        spec.set(
            &["metrics"],
            value!([{
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
            }]),
        );
    }
    if has(spec, "behavior") {
        let behavior = part_or_new(spec, "behavior");
        rules(behavior, "scaleUp", &scale_up());
        rules(behavior, "scaleDown", &scale_down());
    }
}

fn rules(behavior: &mut Value, direction: &str, defaults: &Value) {
    if let Some(defaults) = defaults.as_map() {
        fill_from(part_or_new(behavior, direction), defaults);
    }
}

fn scale_up() -> Value {
    value!({
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    })
}

fn scale_down() -> Value {
    value!({"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]})
}
