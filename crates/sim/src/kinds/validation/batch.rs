//! Jobs and cron jobs.

use lynceus_object::{Object, Value};

use super::meta;
use super::names;
use super::pod;
use super::report::{Path, Report, same};
use super::schedule;
use super::selector;

const INDEXED_PARALLELISM: i64 = 100_000;

/// Checks a new job.
pub(crate) fn create(job: &Object, report: &mut Report) {
    meta::create(job, true, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = job.at(&["spec"]).unwrap_or(&Value::Null);
    generated_selector(job, report);
    whole_spec(spec, &at, report);
    if let ("Indexed", Some(count)) = (mode(spec), spec.int_at(&["completions"]).filter(|count| *count > 0)) {
        let host = format!("{}-{}", job.name(), count - 1);
        if !names::dns_label(&host).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {host}");
            report.invalid_text(&Path::new("metadata.name"), job.name(), why);
        }
    }
}

/// Checks a changed job: what pods it runs cannot be changed.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    // The original checks a changed job as a new one first.
    create(new, report);
    meta::update(new, old, report);
    let at = Path::new("spec");
    let (is, was) = (new.at(&["spec"]).unwrap_or(&Value::Null), old.at(&["spec"]).unwrap_or(&Value::Null));
    whole_spec(is, &at, report);
    completions(is, was, &at.child("completions"), report);
    report.immutable(&at.child("selector"), is.get("selector"), was.get("selector"));
    template_changes(is, was, &at.child("template"), report);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        report.immutable(&at.child(field), is.get(field), was.get(field));
    }
}

fn mode(spec: &Value) -> &str {
    spec.str_at(&["completionMode"]).unwrap_or("NonIndexed")
}

/// An indexed job may grow or shrink as long as it runs all of its indexes at once.
fn completions(is: &Value, was: &Value, at: &Path, report: &mut Report) {
    let changed = is.get("completions") != was.get("completions");
    let elastic = mode(is) == "Indexed" && is.int_at(&["completions"]).is_some();
    if !elastic {
        report.immutable(at, is.get("completions"), was.get("completions"));
    } else if changed && is.int_at(&["completions"]) != is.int_at(&["parallelism"]) {
        let why = format!("can only be modified in tandem with {}", Path::new("spec").child("parallelism"));
        report.invalid(at, is.get("completions").unwrap_or(&Value::Null), why);
    }
}

fn template_changes(is: &Value, was: &Value, at: &Path, report: &mut Report) {
    let (new, mut old) =
        (is.get("template").cloned().unwrap_or_default(), was.get("template").cloned().unwrap_or_default());
    // A job that has never started may still be told where its pods should run.
    if was.bool_at(&["suspend"]) == Some(true) {
        for path in [
            &["spec", "nodeSelector"][..],
            &["spec", "tolerations"],
            &["spec", "affinity"],
            &["spec", "schedulingGates"],
            &["metadata", "annotations"],
            &["metadata", "labels"],
        ] {
            match new.at(path) {
                Some(value) => old.set(path, value.clone()),
                None => {
                    old.remove(path);
                }
            }
        }
        for list in ["containers", "initContainers"] {
            let wanted = new.items_at(&["spec", list]).to_vec();
            for (container, wanted) in crate::kinds::edit::each(&mut old, &["spec", list]).zip(wanted) {
                if let Some(resources) = wanted.get("resources") {
                    container.set(&["resources"], resources.clone());
                }
            }
        }
    }
    if !same(Some(&new), Some(&old)) {
        report.invalid(at, &new, "field is immutable");
    }
}

/// A selector that was made for the job has to stay as it was made.
fn generated_selector(job: &Object, report: &mut Report) {
    if job.value().bool_at(&["spec", "manualSelector"]) == Some(true) {
        return;
    }
    let Some(wanted) = job.at(&["spec", "selector"]).filter(|selector| !selector.is_null()) else { return };
    let at = Path::new("spec.template.metadata");
    let uid = job.value().str_at(&["metadata", "uid"]).unwrap_or_default();
    let labels = [
        ("controller-uid", uid),
        ("job-name", job.name()),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", job.name()),
    ];
    let mut expected = Value::Map(Default::default());
    for (label, value) in labels {
        expected.set(&[label], value);
        match job.value().str_at(&["spec", "template", "metadata", "labels", label]) {
            None => report.required(&at.child("labels").key(label), &format!("must be '{value}'")),
            Some(found) if found != value => {
                let shown = job.at(&["spec", "template", "metadata", "labels"]).unwrap_or(&Value::Null);
                report.invalid(&at.child("labels").key(label), shown, format!("must be '{value}'"));
            }
            Some(_) => {}
        }
    }
    if !selector::matches(wanted, Some(&expected)) {
        report.invalid(&Path::new("spec.selector"), wanted, "`selector` not auto-generated");
    }
}

fn whole_spec(spec: &Value, at: &Path, report: &mut Report) {
    job_spec(spec, at, report);
    let found = spec.get("selector").filter(|selector| !selector.is_null());
    if found.is_none() {
        report.required(&at.child("selector"), "");
    }
    selector::label_selector(found, &at.child("selector"), report);
    let labels = spec.at(&["template", "metadata", "labels"]);
    let matched =
        found.is_some_and(|wanted| !selector::is_usable(wanted) || selector::matches(wanted, labels));
    if !matched {
        let at = at.child("template").child("metadata").child("labels");
        report.invalid(&at, labels.unwrap_or(&Value::Null), "`selector` does not match template `labels`");
    }
}

fn job_spec(spec: &Value, at: &Path, report: &mut Report) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        report.not_negative(&at.child(field), spec.int_at(&[field]));
    }
    let number = |field: &str| spec.int_at(&[field]);
    if number("maxFailedIndexes").is_some() && number("backoffLimitPerIndex").is_none() {
        report.required(&at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    let found = mode(spec);
    if !matches!(found, "NonIndexed" | "Indexed") {
        report.not_supported(&at.child("completionMode"), found, &["NonIndexed", "Indexed"]);
    }
    if found == "Indexed" {
        indexed(spec, at, report);
    } else if found == "NonIndexed" {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(value) = number(field) {
                report.invalid_number(&at.child(field), value, "requires indexed completion mode");
            }
        }
    }
    failure_policy(spec, &at.child("podFailurePolicy"), report);
    replacement_policy(spec, &at.child("podReplacementPolicy"), report);
    let template = spec.get("template").unwrap_or(&Value::Null);
    let at = at.child("template");
    pod::template(template, &at, report);
    let at = at.child("spec").child("restartPolicy");
    match template.str_at(&["spec", "restartPolicy"]).unwrap_or_default() {
        "" | "Always" => report.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.get("podFailurePolicy").is_some_and(|policy| !policy.is_null()) => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            report.invalid_text(&at, "OnFailure", why);
        }
        "OnFailure" | "Never" => {}
        other => report.not_supported(&at, other, &["OnFailure", "Never"]),
    }
}

fn indexed(spec: &Value, at: &Path, report: &mut Report) {
    let number = |field: &str| spec.int_at(&[field]);
    let completions = number("completions");
    if completions.is_none() {
        report.required(&at.child("completions"), "when completion mode is Indexed");
    }
    if let Some(parallelism) = number("parallelism").filter(|number| *number > INDEXED_PARALLELISM) {
        let why =
            format!("must be less than or equal to {INDEXED_PARALLELISM} when completion mode is Indexed");
        report.invalid_number(&at.child("parallelism"), parallelism, why);
    }
    if let (Some(most), Some(all)) = (number("maxFailedIndexes"), completions)
        && most > all
    {
        report.invalid_number(
            &at.child("maxFailedIndexes"),
            most,
            "must be less than or equal to completions",
        );
    }
    if let Some(most) = number("maxFailedIndexes").filter(|most| *most > INDEXED_PARALLELISM) {
        let why = format!("must be less than or equal to {INDEXED_PARALLELISM}");
        report.invalid_number(&at.child("maxFailedIndexes"), most, why);
    }
}

fn failure_policy(spec: &Value, at: &Path, report: &mut Report) {
    const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
    let rules = spec.items_at(&["podFailurePolicy", "rules"]);
    let at = at.child("rules");
    if rules.len() > 20 {
        report.too_many(&at, rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = at.index(index);
        match rule.str_at(&["action"]).unwrap_or_default() {
            "" => {
                let why = "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]";
                report.required(&at.child("action"), why);
            }
            "FailIndex" if spec.int_at(&["backoffLimitPerIndex"]).is_none() => {
                let why = "requires the backoffLimitPerIndex to be set";
                report.invalid_text(&at.child("action"), "FailIndex", why);
            }
            action if !ACTIONS.contains(&action) => {
                report.not_supported(&at.child("action"), action, &ACTIONS)
            }
            _ => {}
        }
        if let Some(codes) = rule.get("onExitCodes").filter(|codes| !codes.is_null()) {
            exit_codes(spec, codes, &at.child("onExitCodes"), report);
        }
        for (index, pattern) in rule.items_at(&["onPodConditions"]).iter().enumerate() {
            let at = at.child("onPodConditions").index(index);
            let kind = pattern.str_at(&["type"]).unwrap_or_default();
            report.each(&at.child("type"), kind, names::label_key(kind));
            let status = pattern.str_at(&["status"]).unwrap_or_default();
            report.one_of(&at.child("status"), status, &["False", "True", "Unknown"]);
        }
        let codes = rule.get("onExitCodes").is_some_and(|codes| !codes.is_null());
        let conditions = !rule.items_at(&["onPodConditions"]).is_empty();
        let why = match (codes, conditions) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        report.push(crate::FieldError::invalid(at.to_string(), "", why));
    }
}

fn exit_codes(spec: &Value, codes: &Value, at: &Path, report: &mut Report) {
    let operator = codes.str_at(&["operator"]).unwrap_or_default();
    match operator {
        "" => report.required(&at.child("operator"), "valid values: [\"In\" \"NotIn\"]"),
        "In" | "NotIn" => {}
        other => report.not_supported(&at.child("operator"), other, &["In", "NotIn"]),
    }
    if let Some(name) = codes.str_at(&["containerName"]) {
        let lists = ["containers", "initContainers"].map(|list| spec.items_at(&["template", "spec", list]));
        if !lists
            .iter()
            .flat_map(|list| list.iter())
            .any(|container| container.str_at(&["name"]) == Some(name))
        {
            let why = "must be one of the container or initContainer names in the pod template";
            report.invalid_text(&at.child("containerName"), name, why);
        }
    }
    let at = at.child("values");
    let values: Vec<i64> = codes.items_at(&["values"]).iter().filter_map(Value::as_int).collect();
    if values.is_empty() {
        report.invalid(&at, codes.get("values").unwrap_or(&Value::Null), "at least one value is required");
    } else if values.len() > 255 {
        report.too_many(&at, values.len(), 255);
    }
    for (index, value) in values.iter().enumerate() {
        let at = at.index(index);
        if operator == "In" && *value == 0 {
            report.invalid_number(&at, 0, "must not be 0 for the In operator");
        }
        if values[..index].contains(value) {
            report.duplicate(&at, &Value::Int(*value));
        } else if values[..index].last().is_some_and(|before| before > value) {
            let list: Value = values.iter().copied().collect();
            report.invalid(&at.clone(), &list, "must be ordered");
        }
    }
}

fn replacement_policy(spec: &Value, at: &Path, report: &mut Report) {
    let Some(policy) = spec.str_at(&["podReplacementPolicy"]) else { return };
    let words: &[&str] = match spec.get("podFailurePolicy").is_some_and(|policy| !policy.is_null()) {
        true => &["Failed"],
        false => &["Failed", "TerminatingOrFailed"],
    };
    if !words.contains(&policy) {
        report.not_supported(at, policy, words);
    }
}

/// Checks a new cron job.
pub(crate) fn cron_create(job: &Object, report: &mut Report) {
    meta::create(job, true, names::dns_subdomain, report);
    cron_spec(job, None, report);
    if job.name().len() > 52 {
        report.invalid_text(&Path::new("metadata.name"), job.name(), "must be no more than 52 characters");
    }
}

/// Checks a changed cron job.
pub(crate) fn cron_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    cron_spec(new, Some(old), report);
}

fn cron_spec(job: &Object, old: Option<&Object>, report: &mut Report) {
    let at = Path::new("spec");
    let spec = job.at(&["spec"]).unwrap_or(&Value::Null);
    let zone = spec.str_at(&["timeZone"]);
    match spec.str_at(&["schedule"]).unwrap_or_default() {
        "" => report.required(&at.child("schedule"), ""),
        text => {
            let at = at.child("schedule");
            if let Err(why) = schedule::check(text) {
                report.invalid_text(&at, text, why);
            }
            let had_zone = old.is_some_and(|old| {
                old.value().str_at(&["spec", "schedule"]).is_some_and(|s| s.contains("TZ"))
            });
            if text.contains("TZ") && !had_zone {
                report.invalid_text(
                    &at,
                    text,
                    "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
                );
            } else if text.contains("TZ") && zone.is_some() {
                report.invalid_text(
                    &at,
                    text,
                    "cannot use both timeZone field and TZ or CRON_TZ in schedule",
                );
            }
        }
    }
    report.not_negative(&at.child("startingDeadlineSeconds"), spec.int_at(&["startingDeadlineSeconds"]));
    if old.is_none_or(|old| old.value().str_at(&["spec", "timeZone"]) != zone) {
        time_zone(zone, &at.child("timeZone"), report);
    }
    let policy = spec.str_at(&["concurrencyPolicy"]).unwrap_or_default();
    report.one_of(&at.child("concurrencyPolicy"), policy, &["Allow", "Forbid", "Replace"]);
    let template = spec.at(&["jobTemplate", "spec"]).unwrap_or(&Value::Null);
    let at_job = at.child("jobTemplate").child("spec");
    job_spec(template, &at_job, report);
    if let Some(selector) = template.get("selector").filter(|selector| !selector.is_null()) {
        report.invalid(&at_job.child("selector"), selector, "`selector` will be auto-generated");
    }
    if template.bool_at(&["manualSelector"]) == Some(true) {
        let at = at_job.child("manualSelector");
        report.push(crate::FieldError::not_supported(at.to_string(), "true", &["nil", "false"]));
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        report.not_negative(&at.child(field), spec.int_at(&[field]));
    }
}

fn time_zone(zone: Option<&str>, at: &Path, report: &mut Report) {
    let Some(zone) = zone else { return };
    if zone.is_empty() {
        report.invalid_text(at, zone, "timeZone must be nil or non-empty string");
        return;
    }
    let odd = |part: &str| {
        part == "."
            || part == ".."
            || part.starts_with('-')
            || part.is_empty()
            || part.len() > 14
            || !part.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
    };
    if zone.split('/').any(odd) || !schedule::is_time_zone(zone) {
        report.invalid_text(at, zone, format!("unknown time zone {zone}"));
    } else if zone.eq_ignore_ascii_case("local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        report.invalid_text(at, zone, why);
    }
}
