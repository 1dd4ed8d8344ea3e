//! Deployments and the other kinds that keep pods running.

use lynceus_object::{Object, Value};

use super::claim;
use super::meta;
use super::names;
use super::pod;
use super::report::{Path, Report, same};
use super::selector;

/// Checks a new object of one of the kinds.
pub(crate) fn create(kind: &str, object: &Object, report: &mut Report) {
    let name: names::NameCheck = match kind {
        "StatefulSet" => names::dns_label,
        "ReplicationController" => names::dns_subdomain_in_bytes,
        _ => names::dns_subdomain,
    };
    meta::create(object, true, name, report);
    match kind {
        "ControllerRevision" => revision(object, report),
        _ => spec(kind, object, true, report),
    }
}

/// Checks a changed object of one of the kinds.
pub(crate) fn update(kind: &str, new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    match kind {
        "ControllerRevision" => {
            meta::create(new, true, names::dns_subdomain, report);
            report.not_negative(&Path::new("revision"), new.value().int_at(&["revision"]));
            report.immutable(&Path::new("data"), new.at(&["data"]), old.at(&["data"]));
        }
        "StatefulSet" => {
            spec(kind, new, false, report);
            stateful_set_changes(new, old, report);
        }
        "DaemonSet" => {
            meta::immutable(new, old, &[&["spec", "selector"]], report);
            spec(kind, new, false, report);
        }
        "ReplicationController" => spec(kind, new, false, report),
        _ => {
            spec(kind, new, false, report);
            meta::immutable(new, old, &[&["spec", "selector"]], report);
        }
    }
}

/// Checks a reported status: counts are not negative and do not exceed what there is.
pub(crate) fn status_update(kind: &str, new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    let at = Path::new("status");
    let status = new.at(&["status"]).unwrap_or(&Value::Null);
    for (field, value) in status.as_map().into_iter().flat_map(|map| map.iter()) {
        report.not_negative(&at.child(field), value.as_int());
    }
    let number = |field: &str| status.int_at(&[field]).unwrap_or_default();
    if kind == "DaemonSet" {
        return;
    }
    for field in
        ["fullyLabeledReplicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"]
    {
        if number(field) > number("replicas") {
            report.invalid_number(&at.child(field), number(field), "cannot be greater than status.replicas");
        }
    }
    if number("availableReplicas") > number("readyReplicas") {
        let why = if kind == "StatefulSet" {
            "cannot be greater than status.readyReplicas"
        } else {
            "cannot be greater than readyReplicas"
        };
        report.invalid_number(&at.child("availableReplicas"), number("availableReplicas"), why);
    }
}

fn revision(object: &Object, report: &mut Report) {
    report.not_negative(&Path::new("revision"), object.value().int_at(&["revision"]));
    match object.at(&["data"]) {
        None | Some(Value::Null) => report.required(&Path::new("data"), "data is mandatory"),
        Some(Value::Map(_)) => {}
        Some(_) => report.required(&Path::new("data"), "data must be a valid JSON object"),
    }
}

fn spec(kind: &str, object: &Object, new: bool, report: &mut Report) {
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let at = Path::new("spec");
    let number = |field: &str| spec.int_at(&[field]);
    match kind {
        "Deployment" => {
            report.not_negative(&at.child("replicas"), number("replicas"));
            selected_template(kind, spec, &at, report);
            deployment_strategy(spec.get("strategy").unwrap_or(&Value::Null), &at.child("strategy"), report);
            report.not_negative(&at.child("minReadySeconds"), number("minReadySeconds"));
            report.not_negative(&at.child("revisionHistoryLimit"), number("revisionHistoryLimit"));
            if let Some(deadline) = number("progressDeadlineSeconds") {
                let at = at.child("progressDeadlineSeconds");
                report.not_negative(&at, Some(deadline));
                if deadline <= number("minReadySeconds").unwrap_or_default() {
                    report.invalid_number(&at, deadline, "must be greater than minReadySeconds");
                }
            }
        }
        "ReplicaSet" => {
            report.not_negative(&at.child("replicas"), number("replicas"));
            report.not_negative(&at.child("minReadySeconds"), number("minReadySeconds"));
            selected_template(kind, spec, &at, report);
        }
        "StatefulSet" => stateful_set(spec, new, &at, report),
        "DaemonSet" => daemon_set(spec, &at, report),
        _ => replication_controller(spec, &at, report),
    }
}

/// The template of a Deployment or ReplicaSet, and the selector that has to match it.
fn selected_template(kind: &str, spec: &Value, at: &Path, report: &mut Report) {
    let wanted = checked_selector("deployment", spec, at, report);
    if let Selected::Unusable(selector) = wanted {
        report.invalid(&at.child("selector"), selector, "invalid label selector");
        return;
    }
    let at = at.child("template");
    let template = spec.get("template").unwrap_or(&Value::Null);
    matching_labels(&wanted, spec, &at, report);
    pod::template(template, &at, report);
    always_restarting(if kind == "Deployment" { "ReplicaSet" } else { kind }, template, &at, report);
}

/// What a selector makes of a template.
enum Selected<'a> {
    /// There is none, and so nothing matches.
    Nothing,
    /// It asks for nothing, and so everything matches.
    Everything,
    /// It cannot be used.
    Unusable(&'a Value),
    /// It may or may not match.
    Some(&'a Value),
}

fn checked_selector<'a>(kind: &str, spec: &'a Value, at: &Path, report: &mut Report) -> Selected<'a> {
    let at = at.child("selector");
    let Some(found) = spec.get("selector").filter(|selector| !selector.is_null()) else {
        report.required(&at, "");
        return Selected::Nothing;
    };
    selector::label_selector(Some(found), &at, report);
    if selector::is_empty(found) {
        report.invalid(&at, found, format!("empty selector is invalid for {kind}"));
        return Selected::Everything;
    }
    if selector::is_usable(found) { Selected::Some(found) } else { Selected::Unusable(found) }
}

fn matching_labels(wanted: &Selected<'_>, spec: &Value, at: &Path, report: &mut Report) {
    let labels = spec.at(&["template", "metadata", "labels"]);
    let matched = match wanted {
        Selected::Nothing => false,
        Selected::Everything | Selected::Unusable(_) => true,
        Selected::Some(wanted) => selector::matches(wanted, labels),
    };
    if !matched {
        let at = at.child("metadata").child("labels");
        report.invalid(&at, labels.unwrap_or(&Value::Null), "`selector` does not match template `labels`");
    }
}

fn always_restarting(kind: &str, template: &Value, at: &Path, report: &mut Report) {
    let at = at.child("spec");
    let policy = template.str_at(&["spec", "restartPolicy"]).unwrap_or_default();
    if policy != "Always" {
        report.not_supported(&at.child("restartPolicy"), policy, &["Always"]);
    }
    if template.int_at(&["spec", "activeDeadlineSeconds"]).is_some() {
        let why = format!("activeDeadlineSeconds in {kind} is not Supported");
        report.forbidden(&at.child("activeDeadlineSeconds"), why);
    }
}

/// Checks a number or percentage that is not negative.
pub(crate) fn count_or_percent(value: Option<&Value>, at: &Path, report: &mut Report) {
    match value {
        Some(Value::Str(text)) => report.each(at, text, names::percent(text)),
        Some(value) => report.not_negative(at, value.as_int()),
        None => {}
    }
}

/// The number, or the number of percents.
fn amount(value: Option<&Value>) -> i64 {
    match value {
        Some(Value::Str(text)) => text.trim_end_matches('%').parse().unwrap_or_default(),
        Some(value) => value.as_int().unwrap_or_default(),
        None => 0,
    }
}

/// Checks that a percentage is no more than all.
pub(crate) fn at_most_all(value: Option<&Value>, at: &Path, report: &mut Report) {
    if let Some(Value::Str(text)) = value
        && names::percent(text).is_empty()
        && amount(value) > 100
    {
        report.invalid_text(at, text, "must not be greater than 100%");
    }
}

fn deployment_strategy(strategy: &Value, at: &Path, report: &mut Report) {
    let update = strategy.get("rollingUpdate").filter(|update| !update.is_null());
    match (strategy.str_at(&["type"]).unwrap_or_default(), update) {
        ("Recreate", Some(_)) => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            report.forbidden(&at.child("rollingUpdate"), why);
        }
        ("Recreate", None) => {}
        ("RollingUpdate", None) => {
            report.required(&at.child("rollingUpdate"), "this should be defaulted and never be nil");
        }
        ("RollingUpdate", Some(update)) => {
            let at = at.child("rollingUpdate");
            let (unavailable, surge) = (update.get("maxUnavailable"), update.get("maxSurge"));
            count_or_percent(unavailable, &at.child("maxUnavailable"), report);
            count_or_percent(surge, &at.child("maxSurge"), report);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let value = unavailable.unwrap_or(&Value::Null);
                report.invalid(&at.child("maxUnavailable"), value, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(unavailable, &at.child("maxUnavailable"), report);
        }
        _ => unknown_strategy(strategy, at, &["Recreate", "RollingUpdate"], report),
    }
}

/// A strategy that is not known is shown whole, with the names that Go has for its fields.
fn unknown_strategy(strategy: &Value, at: &Path, known: &[&str], report: &mut Report) {
    let shown =
        shown_strategy(strategy, &[("maxUnavailable", "MaxUnavailable", "0"), ("maxSurge", "MaxSurge", "0")]);
    report.push(crate::FieldError::not_supported(at.to_string(), shown, known));
}

/// Each field with the name that Go has for it and what it prints where it is absent.
fn shown_strategy(strategy: &Value, fields: &[(&str, &str, &str)]) -> String {
    let kind = crate::kinds::gofmt::quoted(strategy.str_at(&["type"]).unwrap_or_default());
    let update = match strategy.get("rollingUpdate").filter(|update| !update.is_null()) {
        None => "null".to_owned(),
        Some(update) => {
            let field = |(name, shown, absent): &(&str, &str, &str)| {
                let value = update.get(name).filter(|value| !value.is_null());
                format!(
                    "\"{shown}\":{}",
                    value.map_or_else(|| (*absent).to_owned(), crate::kinds::gofmt::json)
                )
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
    };
    format!("{{\"Type\":{kind},\"RollingUpdate\":{update}}}")
}

fn daemon_set(spec: &Value, at: &Path, report: &mut Report) {
    let found = spec.get("selector").filter(|selector| !selector.is_null());
    selector::label_selector(found, &at.child("selector"), report);
    let template_at = at.child("template");
    let wanted = match found {
        None => Selected::Nothing,
        Some(found) if !selector::is_usable(found) => Selected::Unusable(found),
        Some(found) => Selected::Some(found),
    };
    matching_labels(&wanted, spec, &template_at, report);
    if let Some(empty) = found.filter(|selector| selector::is_empty(selector)) {
        report.invalid(&at.child("selector"), empty, "empty selector is invalid for daemonset");
    }
    let template = spec.get("template").unwrap_or(&Value::Null);
    pod::template(template, &template_at, report);
    always_restarting("DaemonSet", template, &template_at, report);
    report.not_negative(&at.child("minReadySeconds"), spec.int_at(&["minReadySeconds"]));
    let strategy = spec.get("updateStrategy").unwrap_or(&Value::Null);
    let at_strategy = at.child("updateStrategy");
    match strategy.str_at(&["type"]).unwrap_or_default() {
        "OnDelete" => {}
        "RollingUpdate" => daemon_rolling(strategy, &at_strategy, report),
        _ => unknown_strategy(strategy, &at_strategy, &["RollingUpdate", "OnDelete"], report),
    }
    report.not_negative(&at.child("revisionHistoryLimit"), spec.int_at(&["revisionHistoryLimit"]));
}

fn daemon_rolling(strategy: &Value, at: &Path, report: &mut Report) {
    let at = at.child("rollingUpdate");
    let Some(update) = strategy.get("rollingUpdate").filter(|update| !update.is_null()) else {
        report.required(&at, "");
        return;
    };
    let (unavailable, surge) = (update.get("maxUnavailable"), update.get("maxSurge"));
    count_or_percent(unavailable, &at.child("maxUnavailable"), report);
    count_or_percent(surge, &at.child("maxSurge"), report);
    at_most_all(unavailable, &at.child("maxUnavailable"), report);
    at_most_all(surge, &at.child("maxSurge"), report);
    match (amount(unavailable) != 0, amount(surge) != 0) {
        (true, true) => {
            let value = surge.unwrap_or(&Value::Null);
            report.invalid(&at.child("maxSurge"), value, "may not be set when maxUnavailable is non-zero");
        }
        (false, false) => report.required(&at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

fn stateful_set(spec: &Value, new: bool, at: &Path, report: &mut Report) {
    let policy = spec.str_at(&["podManagementPolicy"]).unwrap_or_default();
    match policy {
        "" => report.required(&at.child("podManagementPolicy"), ""),
        "OrderedReady" | "Parallel" => {}
        other => {
            report.invalid_text(
                &at.child("podManagementPolicy"),
                other,
                "must be 'OrderedReady' or 'Parallel'",
            );
        }
    }
    stateful_strategy(
        spec.get("updateStrategy").unwrap_or(&Value::Null),
        &at.child("updateStrategy"),
        report,
    );
    for field in ["whenDeleted", "whenScaled"] {
        if let Some(policy) = spec.str_at(&["persistentVolumeClaimRetentionPolicy", field])
            && !matches!(policy, "Retain" | "Delete")
        {
            let at = at.child("persistentVolumeClaimRetentionPolicy").child(field);
            report.not_supported(&at, policy, &["Retain", "Delete"]);
        }
    }
    if new {
        for (index, template) in spec.items_at(&["volumeClaimTemplates"]).iter().enumerate() {
            let at = at.child("volumeClaimTemplates").index(index).child("spec");
            claim::spec(template.get("spec").unwrap_or(&Value::Null), &at, report);
        }
    }
    for field in ["replicas", "minReadySeconds"] {
        report.not_negative(&at.child(field), spec.int_at(&[field]));
    }
    report.not_negative(&at.child("ordinals.start"), spec.int_at(&["ordinals", "start"]));
    if let (true, Some(name)) = (new, spec.str_at(&["serviceName"]).filter(|name| !name.is_empty())) {
        report.each(&at.child("serviceName"), name, names::dns_label(name));
    }
    let wanted = checked_selector("statefulset", spec, at, report);
    let template = with_claims(spec);
    let at_template = at.child("template");
    if let Selected::Unusable(selector) = wanted {
        report.invalid(&at.child("selector"), selector, "");
    } else {
        let at = &at_template;
        matching_labels(&wanted, spec, at, report);
        pod::template(&template, at, report);
        // The original looks at labels and annotations twice.
        meta::labels(template.at(&["metadata", "labels"]), &at.child("labels"), report);
        meta::annotations(template.at(&["metadata", "annotations"]), &at.child("annotations"), report);
    }
    let at = at_template;
    always_restarting("StatefulSet", &template, &at, report);
}

/// The template with a volume for each claim, as its pods will have.
fn with_claims(spec: &Value) -> Value {
    let mut template = spec.get("template").cloned().unwrap_or_default();
    template.remove(&["spec", "subdomain"]);
    template.remove(&["spec", "hostname"]);
    let claims = spec.items_at(&["volumeClaimTemplates"]);
    if claims.is_empty() {
        return template;
    }
    let name = |value: &Value| value.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|claim| {
            let name = name(claim);
            lynceus_object::value!({"name": name, "persistentVolumeClaim": {"claimName": name}})
        })
        .collect();
    volumes.dedup_by(|a, b| a == b);
    let own = template.items_at(&["spec", "volumes"]).iter();
    volumes.extend(
        own.filter(|own| claims.iter().all(|claim| own.str_at(&["name"]) != Some(&name(claim)))).cloned(),
    );
    template.set(&["spec", "volumes"], volumes);
    template
}

fn stateful_strategy(strategy: &Value, at: &Path, report: &mut Report) {
    let update = strategy.get("rollingUpdate").filter(|update| !update.is_null());
    match (strategy.str_at(&["type"]).unwrap_or_default(), update) {
        ("", _) => report.required(at, ""),
        ("OnDelete", Some(update)) => {
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            report.invalid(&at.child("rollingUpdate"), update, why);
        }
        ("OnDelete", None) | ("RollingUpdate", None) => {}
        ("RollingUpdate", Some(update)) => {
            let at = at.child("rollingUpdate");
            report.not_negative(&at.child("partition"), update.int_at(&["partition"]));
            if let Some(unavailable) = update.get("maxUnavailable").filter(|value| !value.is_null()) {
                let at = at.child("maxUnavailable");
                count_or_percent(Some(unavailable), &at, report);
                if amount(Some(unavailable)) == 0 {
                    report.invalid(&at, unavailable, "cannot be 0");
                }
                at_most_all(Some(unavailable), &at, report);
            }
        }
        _ => {
            let fields = [("partition", "Partition", "0"), ("maxUnavailable", "MaxUnavailable", "null")];
            let shown = shown_strategy(strategy, &fields);
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            report.push(crate::FieldError::invalid(at.to_string(), shown, why));
        }
    }
}

fn stateful_set_changes(new: &Object, old: &Object, report: &mut Report) {
    const MUTABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let fixed = |object: &Object| {
        let mut spec = object.at(&["spec"]).cloned().unwrap_or_default();
        for field in MUTABLE {
            spec.remove(&[field]);
        }
        spec
    };
    if !same(Some(&fixed(new)), Some(&fixed(old))) {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        report.forbidden(&Path::new("spec"), why);
    }
}

fn replication_controller(spec: &Value, at: &Path, report: &mut Report) {
    report.not_negative(&at.child("minReadySeconds"), spec.int_at(&["minReadySeconds"]));
    let wanted = spec.get("selector").filter(|selector| !selector.is_empty());
    if wanted.is_none() {
        report.required(&at.child("selector"), "");
    }
    report.not_negative(&at.child("replicas"), spec.int_at(&["replicas"]));
    let at = at.child("template");
    let Some(template) = spec.get("template").filter(|template| !template.is_null()) else {
        report.required(&at, "");
        return;
    };
    if let Some(wanted) = wanted {
        let labels = template.at(&["metadata", "labels"]);
        let selector = lynceus_object::value!({"matchLabels": wanted});
        if !selector::matches(&selector, labels) {
            let at = at.child("metadata").child("labels");
            report.invalid(
                &at,
                labels.unwrap_or(&Value::Null),
                "`selector` does not match template `labels`",
            );
        }
    }
    pod::template(template, &at, report);
    always_restarting("ReplicationController", template, &at, report);
}
