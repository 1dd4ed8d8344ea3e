//! A SparkApplication is healthy when it has the executors that it wants, or is done.

use lynceus_object::{Map, Object, Value};

use crate::{Health, present, text};

pub(super) fn check(object: &Object) -> Health {
    let error = text(object, &["status", "applicationState", "errorMessage"]);
    let Some(state) = object.value().str_at(&["status", "applicationState", "state"]) else {
        return waiting();
    };
    match state {
        "" => Health::progressing("SparkApplication was added, enqueuing it for submission"),
        "RUNNING" if has_executors(object) => Health::healthy("SparkApplication is Running"),
        "SUBMITTED" => Health::progressing("SparkApplication was submitted successfully"),
        "COMPLETED" => Health::healthy("SparkApplication was Completed"),
        "FAILED" | "SUBMISSION_FAILED" | "FAILING" => Health::degraded(error),
        "PENDING_RERUN" => Health::progressing("SparkApplication is Pending Rerun"),
        "INVALIDATING" => {
            Health::new(lynceus_api::HealthStatusCode::Missing, "SparkApplication is in InvalidatingState")
        }
        "SUCCEEDING" => Health::progressing(SUCCEEDING),
        "UNKNOWN" => Health::progressing(UNKNOWN),
        _ => waiting(),
    }
}

/// Argo CD's message goes over two lines, with the spaces between them.
const SUCCEEDING: &str = "The driver pod has been completed successfully. The executor pods terminate and are cleaned up.\n                                Under this circumstances, we assume the executor pod are completed.";

const UNKNOWN: &str = "SparkApplication is in UnknownState because either driver pod or one or all executor pods in unknown state  ";

fn waiting() -> Health {
    Health::progressing("Waiting for Executor pods")
}

/// Whether as many executors run as the application wants, which it can say in four ways.
fn has_executors(object: &Object) -> bool {
    let Some(executors) = object.at(&["status", "executorState"]).filter(|states| !states.is_null()) else {
        return false;
    };
    let states = executors.as_map().into_iter().flat_map(Map::values);
    let running = states.filter(|state| state.as_str() == Some("RUNNING")).count() as f64;
    let wanted = object.at(&["spec", "executor", "instances"]).and_then(Value::as_float);
    if wanted == Some(running) {
        return true;
    }
    if let Some((least, most)) = range(object) {
        return (least..=most).contains(&running);
    }
    !present(object, &["spec", "dynamicAllocation"]) && wanted.is_none() && running >= 1.0
}

/// How many executors there may be, if their number changes by itself.
fn range(object: &Object) -> Option<(f64, f64)> {
    let bounds =
        |least: Option<f64>, most: Option<f64>| (least.unwrap_or(0.0), most.unwrap_or(f64::INFINITY));
    let dynamic = |field| object.at(&["spec", "dynamicAllocation", field]);
    if dynamic("enabled").is_some_and(|enabled| !matches!(enabled, Value::Null | Value::Bool(false))) {
        let bound = |field| dynamic(field).and_then(Value::as_float);
        return Some(bounds(bound("minExecutors"), bound("maxExecutors")));
    }
    ["spark.streaming.dynamicAllocation", "spark.dynamicAllocation"].iter().find_map(|prefix| {
        let setting = |name: &str| object.value().str_at(&["spec", "sparkConf", &format!("{prefix}.{name}")]);
        let bound = |name| setting(name).and_then(|text| text.parse().ok());
        (setting("enabled") == Some("true")).then(|| bounds(bound("minExecutors"), bound("maxExecutors")))
    })
}
