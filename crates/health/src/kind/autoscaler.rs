//! A HorizontalPodAutoscaler is healthy when it is able to scale.

use lynceus_object::{Object, Value, json};

use crate::{Condition, Health, conditions, unsupported};

/// Where version 1, which has no conditions, keeps them.
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

pub(super) fn check(object: &Object) -> Health {
    match object.api_version() {
        "autoscaling/v1" => from_annotation(object),
        "autoscaling/v2" | "autoscaling/v2beta1" | "autoscaling/v2beta2" => judge(conditions(object)),
        _ => unsupported(object),
    }
}

fn from_annotation(object: &Object) -> Health {
    let Some(text) = object.annotation(CONDITIONS) else { return waiting() };
    match json::parse(text.as_bytes()) {
        Ok(Value::Seq(list)) => judge(list.iter().map(Condition::from)),
        Ok(_) => waiting(),
        Err(error) => Health::unknown(format!("failed to convert conditions annotation to typed: {error}")),
    }
}

/// The first condition that says something decides.
fn judge<'a>(conditions: impl Iterator<Item = Condition<'a>>) -> Health {
    for condition in conditions {
        match (condition.kind, condition.reason) {
            ("AbleToScale", "FailedGetScale" | "FailedUpdateScale")
            | ("ScalingActive", "FailedGetResourceMetric" | "InvalidSelector") => {
                return Health::degraded(condition.message);
            }
            ("AbleToScale" | "ScalingLimited", _) if condition.status == "True" => {
                return Health::healthy(condition.message);
            }
            _ => {}
        }
    }
    waiting()
}

fn waiting() -> Health {
    Health::progressing("Waiting to Autoscale")
}
