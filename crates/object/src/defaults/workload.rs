//! What the groups apps and batch get.

use crate::{Value, value};

use super::{labels_from_template, pod};
use crate::edit::{each, fill, fill_text, has, part, part_or_new};

/// Fills in an object of one of the workload kinds.
pub(super) fn fill_in(kind: &str, value: &mut Value) {
    match kind {
        "Deployment" => deployment(part_or_new(value, "spec")),
        "ReplicaSet" => {
            let spec = part_or_new(value, "spec");
            fill(spec, "replicas", 1);
            template(spec);
        }
        "StatefulSet" => stateful_set(part_or_new(value, "spec")),
        "DaemonSet" => daemon_set(part_or_new(value, "spec")),
        "Job" => {
            labels_from_template(value);
            job(part_or_new(value, "spec"));
        }
        "CronJob" => cron_job(part_or_new(value, "spec")),
        _ => {}
    }
}

/// Fills in the pod template of a workload's spec.
pub(super) fn template(spec: &mut Value) {
    pod::pod_spec(part_or_new(part_or_new(spec, "template"), "spec"));
}

fn deployment(spec: &mut Value) {
    fill(spec, "replicas", 1);
    rolling(part_or_new(spec, "strategy"), value!("25%"), value!("25%"));
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    template(spec);
}

fn rolling(strategy: &mut Value, unavailable: Value, surge: Value) {
    fill_text(strategy, "type", "RollingUpdate");
    if strategy.str_at(&["type"]) == Some("RollingUpdate") {
        let update = part_or_new(strategy, "rollingUpdate");
        fill(update, "maxUnavailable", unavailable);
        fill(update, "maxSurge", surge);
    }
}

fn daemon_set(spec: &mut Value) {
    rolling(part_or_new(spec, "updateStrategy"), value!(1), value!(0));
    fill(spec, "revisionHistoryLimit", 10);
    template(spec);
}

fn stateful_set(spec: &mut Value) {
    fill_text(spec, "podManagementPolicy", "OrderedReady");
    let strategy = part_or_new(spec, "updateStrategy");
    if strategy.str_at(&["type"]).unwrap_or_default().is_empty() {
        strategy.set(&["type"], "RollingUpdate");
        part_or_new(strategy, "rollingUpdate");
    }
    if strategy.str_at(&["type"]) == Some("RollingUpdate")
        && let Some(update) = part(strategy, &["rollingUpdate"])
    {
        // `maxUnavailable` stays out: the feature that fills it in is off in a stock server.
        fill(update, "partition", 0);
    }
    let retention = part_or_new(spec, "persistentVolumeClaimRetentionPolicy");
    fill_text(retention, "whenDeleted", "Retain");
    fill_text(retention, "whenScaled", "Retain");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    template(spec);
    for claim in each(spec, &["volumeClaimTemplates"]) {
        fill(part_or_new(claim, "spec"), "volumeMode", "Filesystem");
        fill_text(part_or_new(claim, "status"), "phase", "Pending");
    }
}

fn job(spec: &mut Value) {
    if !has(spec, "completions") && !has(spec, "parallelism") {
        spec.set(&["completions"], 1);
    }
    fill(spec, "parallelism", 1);
    let per_index = has(spec, "backoffLimitPerIndex");
    fill(spec, "backoffLimit", if per_index { i32::MAX } else { 6 });
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    let replacement = if has(spec, "podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    fill(spec, "podReplacementPolicy", replacement);
    job_template(spec);
}

/// What a job in a cron job gets too: the rest waits until the job is made.
fn job_template(spec: &mut Value) {
    for rule in each(spec, &["podFailurePolicy", "rules"]) {
        each(rule, &["onPodConditions"]).for_each(|pattern| fill_text(pattern, "status", "True"));
    }
    template(spec);
}

fn cron_job(spec: &mut Value) {
    fill_text(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    job_template(part_or_new(part_or_new(spec, "jobTemplate"), "spec"));
}
