//! Whoever serves the kinds that are assumed: objects of a kind from elsewhere become healthy as they would there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_api::HealthStatusCode;
use lynceus_engine::{Checks, health_of};
use lynceus_object::{GroupKind, Object, Value, value, yaml};
use lynceus_sim::operators::{Operator, SHIPPED};

use super::definition::Open;

/// The operators that serve assumed kinds: those that are shipped, without the pods that they would need, and for the rest one
/// that says of every object what it takes to be healthy.
pub(crate) fn at_work(
    open: &BTreeMap<GroupKind, Open>,
    defined: &BTreeSet<&GroupKind>,
) -> Vec<Arc<Operator>> {
    let mut served: BTreeSet<GroupKind> = BTreeSet::new();
    let mut operators = Vec::new();
    for (_, text) in SHIPPED {
        let Ok(mut declared) = yaml::parse_str(text) else { continue };
        let kinds = kinds(&declared);
        // One whose kinds the repository brings comes with its pods, or it is missing.
        if !kinds.iter().any(|kind| open.contains_key(kind))
            || kinds.iter().any(|kind| defined.contains(kind))
        {
            continue;
        }
        declared.remove(&["spec", "image"]);
        if let Ok(operator) = Operator::read(&yaml::to_string(&declared)) {
            operators.push(Arc::new(operator));
            served.extend(kinds);
        }
    }
    operators.extend(well_wisher(open.iter().filter(|(kind, _)| !served.contains(*kind))));
    operators
}

pub(super) fn kinds(declared: &Value) -> Vec<GroupKind> {
    let rules = declared.items_at(&["spec", "rules"]).iter();
    let kind = |rule: &Value| {
        let (group, kind) = rule.str_at(&["kind"])?.split_once('/')?;
        Some(GroupKind::new(group, kind))
    };
    rules.filter_map(kind).collect()
}

/// An operator that gives every object of some kinds the status of a healthy one.
fn well_wisher<'a>(open: impl Iterator<Item = (&'a GroupKind, &'a Open)>) -> Option<Arc<Operator>> {
    let rule = |(kind, open): (&GroupKind, &Open)| {
        let status = healthy_status(&open.example)?;
        let name = format!("{}/{}", kind.group, kind.kind);
        Some(value!({"kind": name, "cases": [{"after": "1s", "status": status}]}))
    };
    let rules: Vec<Value> = open.filter_map(rule).collect();
    if rules.is_empty() {
        return None;
    }
    let mut declared = value!({
        "apiVersion": "sim.lynceus.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "assumed"},
    });
    declared.set(&["spec", "rules"], rules);
    Operator::read(&yaml::to_string(&declared)).ok().map(Arc::new)
}

/// The status with which an object counts as healthy; none if it does without, or if none is known.
fn healthy_status(example: &Object) -> Option<Value> {
    let is_fine = |object: &Object| {
        let checks = Checks { custom: Arc::default(), children: false, now: Timestamp::UNIX_EPOCH };
        let health = health_of(Some(object), &checks);
        health.is_none_or(|health| health.status == HealthStatusCode::Healthy)
    };
    let mut bare = example.clone();
    bare.remove(&["status"]);
    if is_fine(&bare) {
        return None;
    }
    statuses().into_iter().find(|status| {
        let mut object = bare.clone();
        object.set(&["metadata", "generation"], Value::Int(1));
        object.set(&["status"], status.clone());
        is_fine(&object)
    })
}

/// What kinds say of themselves when all is well, the most usual first.
fn statuses() -> Vec<Value> {
    let condition = |kind: &str| value!({"type": kind, "status": "True", "reason": "Assumed", "message": "assumed", "observedGeneration": 1});
    let words = [
        "Ready",
        "Available",
        "Succeeded",
        "Healthy",
        "Synced",
        "Established",
        "Accepted",
        "Programmed",
        "Reconciled",
        "Complete",
        "Completed",
        "Valid",
        "Deployed",
        "ResourcesUpToDate",
        "Installed",
        "AtLatestKnown",
    ];
    let all: Vec<Value> = words.iter().map(|word| condition(word)).collect();
    let mut found: Vec<Value> = words
        .iter()
        .map(|word| {
            let mut status = value!({"observedGeneration": 1});
            status.set(&["conditions"], vec![condition(word)]);
            status
        })
        .collect();
    for (field, word) in [
        ("phase", "Ready"),
        ("phase", "Running"),
        ("phase", "Succeeded"),
        ("phase", "Available"),
        ("phase", "Active"),
        ("phase", "Bound"),
        ("phase", "Healthy"),
        ("phase", "Complete"),
        ("phase", "Completed"),
        ("phase", "Deployed"),
        ("state", "Ready"),
        ("state", "ready"),
        ("state", "Running"),
        ("state", "Active"),
        ("state", "AtLatestKnown"),
        ("status", "Ready"),
        ("status", "Completed"),
        ("health", "green"),
    ] {
        let mut status = value!({"observedGeneration": 1});
        status.set(&["conditions"], all.clone());
        status.set(&[field], word);
        if field == "health" {
            // Elastic's kinds say both.
            status.set(&["phase"], "Ready");
        }
        found.push(status);
    }
    found
}
