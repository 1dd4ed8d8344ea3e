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

/// One condition that tells of a failure outweighs those that tell of none.
fn judge<'a>(conditions: impl Iterator<Item = Condition<'a>>) -> Health {
    let conditions: Vec<Condition<'_>> = conditions.collect();
    if let Some(failure) = conditions.iter().find(|condition| has_failed(condition)) {
        return Health::degraded(failure.message);
    }
    let able = |condition: &&Condition<'_>| {
        matches!(condition.kind, "AbleToScale" | "ScalingLimited") && condition.status == "True"
    };
    conditions.iter().find(able).map_or_else(waiting, |condition| Health::healthy(condition.message))
}

fn has_failed(condition: &Condition<'_>) -> bool {
    match condition.kind {
        "AbleToScale" => matches!(condition.reason, "FailedGetScale" | "FailedUpdateScale"),
        "ScalingActive" => matches!(
            condition.reason,
            "FailedGetResourceMetric"
                | "FailedGetObjectMetric"
                | "FailedGetPodsMetric"
                | "FailedGetExternalMetric"
                | "FailedComputeMetricsReplicas"
                | "InvalidSelector"
        ),
        _ => false,
    }
}

fn waiting() -> Health {
    Health::progressing("Waiting to Autoscale")
}
