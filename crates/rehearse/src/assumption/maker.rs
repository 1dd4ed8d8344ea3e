//! Secrets that pods read and that something makes which nobody plays: a controller for whose kind no operator is declared, or the
//! script of a Job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lynceus_doctor::{Pods, may_make};
use lynceus_engine::AppKey;
use lynceus_object::{GroupKind, Object, ObjectKey, Str, Value, value, yaml};
use lynceus_sim::operators::{Operator, SHIPPED};

use super::{Assumed, Needs, Sort, There, operator};
use crate::survey::Survey;

/// What stands in for what is secret: `simulated`.
const CONTENT: &str = "c2ltdWxhdGVk";

/// Secrets that pods read and nobody brings: namespace and name, and the keys that are read.
type Missing<'a> = BTreeMap<(Str, Str), (&'a AppKey, BTreeSet<Str>)>;

/// What is made, by the kind and the name of its maker.
type Made = BTreeMap<GroupKind, BTreeMap<Str, Vec<Value>>>;

pub(crate) fn assume(
    surveys: &[&Survey],
    (there, before): (&There, &[Object]),
    operators: &[Arc<Operator>],
    assumed: &mut Assumed,
    needs: &mut Needs,
) {
    let missing = missing(surveys, there);
    if missing.is_empty() {
        return;
    }
    let shipped = SHIPPED.iter().filter_map(|(_, text)| yaml::parse_str(text).ok());
    let mut played: BTreeSet<GroupKind> = shipped.flat_map(|declared| operator::kinds(&declared)).collect();
    played.extend(operators.iter().flat_map(|one| one.kinds()));
    // What was there and has not made its Secret does not make it now.
    let idle: BTreeSet<_> = before.iter().map(Object::key).collect();
    let mut made = Made::new();
    for one in surveys.iter().flat_map(|survey| survey.applications.values()) {
        let home = &one.application.spec.destination.namespace;
        let makers = one.outcome.objects().filter(|object| is_plain(object.name()));
        for object in makers.filter(|object| !played.contains(&object.group_kind())) {
            let namespace = if object.namespace().is_empty() { home.as_str() } else { object.namespace() };
            for ((_, name), (key, keys)) in missing.iter().filter(|((one, _), _)| one == namespace) {
                let key_of = ObjectKey::new(object.group(), object.kind(), namespace, object.name());
                if may_make(object, name) && !idle.contains(&key_of) {
                    needs.add(Sort::Secret, name.as_str(), key);
                    let by = made.entry(object.group_kind()).or_default();
                    by.entry(object.name().into()).or_default().push(secret(name, keys));
                }
            }
        }
    }
    assumed.operators.extend(operator_of(made));
}

fn missing<'a>(surveys: &[&'a Survey], there: &There) -> Missing<'a> {
    let mut missing = Missing::new();
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        let home = &one.application.spec.destination.namespace;
        for object in one.outcome.objects() {
            let needs = Pods::of(object).map(|pods| pods.needs()).unwrap_or_default();
            for (secret, _, part) in needs.into_iter().filter(|(secret, ..)| secret.kind == "Secret") {
                if there.has("", "Secret", &secret.name) || !is_plain(&secret.name) {
                    continue;
                }
                let namespace =
                    if secret.namespace.is_empty() { home.clone() } else { secret.namespace.clone() };
                let entry = missing.entry((namespace, secret.name.clone())).or_insert((key, BTreeSet::new()));
                entry.1.extend(part.filter(|key| is_plain(key)));
            }
        }
    }
    missing
}

/// Whether a name is one that a Secret or a key of one can have. Others come to nothing, and would be read as expressions.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

fn secret(name: &str, keys: &BTreeSet<Str>) -> Value {
    let mut secret = value!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": name},
    });
    secret.set(&["metadata", "ownerReferences"], Vec::<Value>::new());
    for key in keys.iter().map(Str::as_str).chain(keys.is_empty().then_some("simulated")) {
        secret.set(&["data", key], CONTENT);
    }
    secret
}

/// An operator that makes them, each when its maker is there.
fn operator_of(made: Made) -> Option<Arc<Operator>> {
    let case = |(name, secrets): (Str, Vec<Value>)| {
        let mut case = value!({"when": format!("self.metadata.name == {:?}", name.as_str()), "after": "1s"});
        case.set(&["create"], secrets);
        case
    };
    let rule = |(kind, by): (GroupKind, BTreeMap<Str, Vec<Value>>)| {
        let mut rule = value!({"kind": format!("{}/{}", kind.group, kind.kind)});
        rule.set(&["cases"], by.into_iter().map(case).collect::<Vec<Value>>());
        rule
    };
    let rules: Vec<Value> = made.into_iter().map(rule).collect();
    if rules.is_empty() {
        return None;
    }
    let mut declared = value!({
        "apiVersion": "sim.lynceus.dev/v1alpha1", "kind": "Operator", "metadata": {"name": "makers"},
    });
    declared.set(&["spec", "rules"], rules);
    Operator::read(&yaml::to_string(&declared)).ok().map(Arc::new)
}
