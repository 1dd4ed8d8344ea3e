//! Workloads: what makes pods, scales them and protects them.

use jiff::Timestamp;
use lynceus_object::{Quantity, Value};

use super::{Row, human_duration, line};

const TEMPLATE: [&str; 4] = ["spec", "template", "spec", "containers"];

/// The cells of a workload.
pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    let (names, images) = row.containers(&TEMPLATE);
    Some(match kind {
        "Deployment" => line![
            row.name(),
            ready(row),
            row.int(&["status", "updatedReplicas"]),
            row.int(&["status", "availableReplicas"]),
            row.age(),
            names,
            images,
            crate::kinds::selector_text(row.value().at(&["spec", "selector"]).unwrap_or(&Value::Null)),
        ],
        "StatefulSet" => line![row.name(), ready(row), row.age(), names, images],
        "ReplicaSet" | "ReplicationController" => line![
            row.name(),
            row.int(&["spec", "replicas"]),
            row.int(&["status", "replicas"]),
            row.int(&["status", "readyReplicas"]),
            row.age(),
            names,
            images,
            row.selector(&["spec", "selector"]),
        ],
        "DaemonSet" => line![
            row.name(),
            row.int(&["status", "desiredNumberScheduled"]),
            row.int(&["status", "currentNumberScheduled"]),
            row.int(&["status", "numberReady"]),
            row.int(&["status", "updatedNumberScheduled"]),
            row.int(&["status", "numberAvailable"]),
            row.labels(&["spec", "template", "spec", "nodeSelector"]),
            row.age(),
            names,
            images,
            row.selector(&["spec", "selector"]),
        ],
        "Job" => line![
            row.name(),
            job_status(row),
            completions(row),
            job_duration(row),
            row.age(),
            names,
            images,
            row.selector(&["spec", "selector"]),
        ],
        "CronJob" => cron_job(row),
        "PodTemplate" => {
            let (names, images) = row.containers(&["template", "spec", "containers"]);
            line![row.name(), names, images, row.labels(&["template", "metadata", "labels"])]
        }
        "ControllerRevision" => line![row.name(), controller(row), row.int(&["revision"]), row.age()],
        "HorizontalPodAutoscaler" => autoscaler(row),
        "PodDisruptionBudget" => line![
            row.name(),
            int_or_string(row, &["spec", "minAvailable"]),
            int_or_string(row, &["spec", "maxUnavailable"]),
            row.int(&["status", "disruptionsAllowed"]),
            row.age(),
        ],
        _ => return None,
    })
}

fn ready(row: &Row<'_>) -> String {
    format!("{}/{}", row.int(&["status", "readyReplicas"]), row.int(&["spec", "replicas"]))
}

fn job_status(row: &Row<'_>) -> &'static str {
    if row.condition("Complete") {
        "Complete"
    } else if row.condition("Failed") {
        "Failed"
    } else if row.is_deleting() {
        "Terminating"
    } else if row.condition("Suspended") {
        "Suspended"
    } else if row.condition("FailureTarget") {
        "FailureTarget"
    } else if row.condition("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(row: &Row<'_>) -> String {
    let done = row.int(&["status", "succeeded"]);
    match (row.value().int_at(&["spec", "completions"]), row.int(&["spec", "parallelism"])) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallel) if parallel > 1 => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    }
}

fn job_duration(row: &Row<'_>) -> String {
    let time = |path: &[&str]| row.str(path).parse::<Timestamp>().ok();
    let Some(start) = time(&["status", "startTime"]) else { return String::new() };
    let end = time(&["status", "completionTime"]).unwrap_or(row.now);
    human_duration(end.duration_since(start))
}

fn cron_job(row: &Row<'_>) -> Vec<Value> {
    let last = row.str(&["status", "lastScheduleTime"]);
    let suspended = match row.value().bool_at(&["spec", "suspend"]) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let (names, images) = row.containers(&["spec", "jobTemplate", "spec", "template", "spec", "containers"]);
    line![
        row.name(),
        row.text(&["spec", "schedule"]),
        row.text_or(&["spec", "timeZone"], "<none>"),
        suspended,
        row.items(&["status", "active"]).len(),
        if last.is_empty() { "<none>".to_owned() } else { row.since(last) },
        row.age(),
        names,
        images,
        row.selector(&["spec", "jobTemplate", "spec", "selector"]),
    ]
}

fn controller(row: &Row<'_>) -> String {
    row.object.controller().map_or_else(
        || "<none>".to_owned(),
        |owner| {
            let (group, _) = lynceus_object::split_api_version(&owner.api_version);
            let kind =
                if group.is_empty() { owner.kind.to_string() } else { format!("{}.{group}", owner.kind) };
            format!("{}/{}", kind.to_lowercase(), owner.name)
        },
    )
}

fn int_or_string(row: &Row<'_>, path: &[&str]) -> String {
    match row.value().at(path) {
        Some(Value::Str(text)) => text.to_string(),
        Some(Value::Int(number)) => number.to_string(),
        _ => "N/A".to_owned(),
    }
}

fn autoscaler(row: &Row<'_>) -> Vec<Value> {
    let least = row.value().int_at(&["spec", "minReplicas"]);
    line![
        row.name(),
        format!(
            "{}/{}",
            row.str(&["spec", "scaleTargetRef", "kind"]),
            row.str(&["spec", "scaleTargetRef", "name"])
        ),
        metrics(row),
        least.map_or_else(|| "<unset>".to_owned(), |least| least.to_string()),
        row.int(&["spec", "maxReplicas"]),
        row.int(&["status", "currentReplicas"]),
        row.age(),
    ]
}

fn metrics(row: &Row<'_>) -> String {
    const SHOWN: usize = 2;
    let wanted = row.items(&["spec", "metrics"]);
    if wanted.is_empty() {
        return "<none>".to_owned();
    }
    let current = row.items(&["status", "currentMetrics"]);
    let mut list: Vec<String> =
        wanted.iter().enumerate().map(|(at, metric)| metric_text(metric, current.get(at))).collect();
    let more = list.len().saturating_sub(SHOWN);
    list.truncate(SHOWN);
    let text = list.join(", ");
    if more > 0 { format!("{text} + {more} more...") } else { text }
}

fn metric_text(metric: &Value, current: Option<&Value>) -> String {
    let field = match metric.str_at(&["type"]).unwrap_or_default() {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let target = |name: &str| metric.at(&[field, "target", name]).filter(|value| !value.is_null());
    let now = |name: &str| current.and_then(|current| current.at(&[field, "current", name]));
    let amount = |value: Option<&Value>| value.map_or_else(|| "<unknown>".to_owned(), canonical);
    let named = matches!(field, "resource" | "containerResource");
    let average = target("averageValue").is_some() || field == "pods";
    if named && !average {
        let percent = |value: Option<&Value>, absent: &str| {
            value.and_then(Value::as_int).map_or_else(|| absent.to_owned(), |percent| format!("{percent}%"))
        };
        let name = metric.str_at(&[field, "name"]).unwrap_or_default();
        let is = percent(now("averageUtilization"), "<unknown>");
        return format!("{name}: {is}/{}", percent(target("averageUtilization"), "<auto>"));
    }
    let side = if average { "averageValue" } else { "value" };
    let text = format!("{}/{}", amount(now(side)), target(side).map_or_else(|| "0".to_owned(), canonical));
    match field {
        "resource" | "containerResource" => {
            format!("{}: {text}", metric.str_at(&[field, "name"]).unwrap_or_default())
        }
        "external" | "object" if average => format!("{text} (avg)"),
        _ => text,
    }
}

fn canonical(value: &Value) -> String {
    let amount: Option<Quantity> = crate::kinds::amount_of(value);
    amount.map_or_else(|| "0".to_owned(), |amount| amount.to_string())
}
