//! The status of a definition: which of its names it got, and whether it is served.

use jiff::Timestamp;
use lynceus_object::{Object, Value, value};

/// The finalizer that keeps a definition until its instances are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The definition with its status as the controllers would leave it, or `None` if that is how it is.
///
/// Names that another definition of the group has are not given twice; a definition that once had its
/// names goes on being served under those.
pub fn settle(definition: &Object, others: &[Object], now: Timestamp) -> Option<Object> {
    let mut out = definition.clone();
    names(&mut out, definition, others, now);
    (out != *definition).then_some(out)
}

/// The definition as a deletion leaves it: it stays until its instances are gone.
pub fn mark_deleted(definition: &mut Object, now: Timestamp) {
    if !definition.is_deleting() {
        definition.set(&["metadata", "deletionTimestamp"], crate::clock::text(now));
    }
    if !definition.finalizers().any(|finalizer| finalizer == CLEANUP) {
        let mut finalizers = definition.value().items_at(&["metadata", "finalizers"]).to_vec();
        finalizers.push(CLEANUP.into());
        definition.set(&["metadata", "finalizers"], finalizers);
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(definition, "Terminating", true, "InstanceDeletionPending", message, now);
}

/// The definition after its instances have gone.
pub fn mark_cleaned_up(definition: &mut Object) {
    let others: Vec<Value> = definition
        .value()
        .items_at(&["metadata", "finalizers"])
        .iter()
        .filter(|finalizer| finalizer.as_str() != Some(CLEANUP))
        .cloned()
        .collect();
    if others.is_empty() {
        definition.remove(&["metadata", "finalizers"]);
    } else {
        definition.set(&["metadata", "finalizers"], others);
    }
}

fn names(out: &mut Object, definition: &Object, others: &[Object], now: Timestamp) {
    let wanted = definition.at(&["spec", "names"]).cloned().unwrap_or_default();
    let had = definition.at(&["status", "acceptedNames"]).cloned().unwrap_or_default();
    let taken = taken_names(definition, others);
    let mut accepted = had.clone();
    let mut conflict: Option<(&str, String)> = None;
    for (field, reason, kinds) in [
        ("plural", "PluralConflict", false),
        ("singular", "SingularConflict", false),
        ("shortNames", "ShortNamesConflict", false),
        ("kind", "KindConflict", true),
        ("listKind", "ListKindConflict", true),
    ] {
        let used = if kinds { &taken.kinds } else { &taken.resources };
        let before = words(had.get(field));
        let clashes: Vec<String> = words(wanted.get(field))
            .into_iter()
            .filter(|word| !before.contains(word) && used.contains(word))
            .map(|word| format!("{word:?} is already in use"))
            .collect();
        match clashes.as_slice() {
            [] => copy(&mut accepted, &wanted, field),
            [one] => conflict = Some((reason, one.clone())),
            many => conflict = Some((reason, format!("[{}]", many.join(", ")))),
        }
    }
    copy(&mut accepted, &wanted, "categories");
    let accepted_all = conflict.is_none();
    let (reason, message) = conflict.unwrap_or(("NoConflicts", "no conflicts found".into()));
    out.set(&["status", "acceptedNames"], accepted);
    set_condition(out, "NamesAccepted", accepted_all, reason, &message, now);
    let established = is_true(definition, "Established");
    if accepted_all && !established {
        let message = "the initial names have been accepted";
        set_condition(out, "Established", true, "InitialNamesAccepted", message, now);
    } else if !established {
        set_condition(out, "Established", false, "NotAccepted", "not all names are accepted", now);
    }
}

struct Taken {
    resources: Vec<String>,
    kinds: Vec<String>,
}

fn taken_names(definition: &Object, others: &[Object]) -> Taken {
    let group = definition.at(&["spec", "group"]);
    let mut taken = Taken { resources: Vec::new(), kinds: Vec::new() };
    for other in others.iter().filter(|other| other.at(&["spec", "group"]) == group) {
        if other.name() == definition.name() {
            continue;
        }
        let Some(names) = other.at(&["status", "acceptedNames"]) else { continue };
        for field in ["plural", "singular", "shortNames"] {
            taken.resources.extend(words(names.get(field)));
        }
        for field in ["kind", "listKind"] {
            taken.kinds.extend(words(names.get(field)));
        }
    }
    taken
}

fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Str(text)) if !text.is_empty() => vec![text.to_string()],
        Some(Value::Seq(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn copy(to: &mut Value, from: &Value, field: &str) {
    match from.get(field).filter(|value| !value.is_empty()) {
        Some(value) => to.set(&[field], value.clone()),
        None => drop(to.remove(&[field])),
    }
}

/// Whether a condition of the definition is true.
pub fn is_true(definition: &Object, condition: &str) -> bool {
    definition
        .value()
        .items_at(&["status", "conditions"])
        .iter()
        .any(|found| found.str_at(&["type"]) == Some(condition) && found.str_at(&["status"]) == Some("True"))
}

/// Sets a condition; its time moves only when its status does.
pub fn set_condition(out: &mut Object, name: &str, is: bool, reason: &str, message: &str, now: Timestamp) {
    let status = if is { "True" } else { "False" };
    let mut conditions = out.value().items_at(&["status", "conditions"]).to_vec();
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut condition = value!({
        "type": name, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": seconds.to_string(),
    });
    match conditions.iter_mut().find(|known| known.str_at(&["type"]) == Some(name)) {
        Some(known) => {
            if known.str_at(&["status"]) == Some(status)
                && let Some(time) = known.get("lastTransitionTime")
            {
                condition.set(&["lastTransitionTime"], time.clone());
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
    out.set(&["status", "conditions"], conditions);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(plural: &str, kind: &str) -> Object {
        Object::new(value!({"metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")}}}))
        .unwrap()
    }

    #[test]
    fn a_new_definition_is_established_at_once() {
        let now = "2024-01-01T00:00:00Z".parse().unwrap();
        let settled = settle(&definition("tests", "Test"), &[], now).unwrap();
        assert_eq!(settled.at(&["status", "acceptedNames", "plural"]), Some(&value!("tests")));
        assert!(is_true(&settled, "NamesAccepted") && is_true(&settled, "Established"));
        assert_eq!(settle(&settled, std::slice::from_ref(&settled), now), None, "settled is settled");
    }

    #[test]
    fn a_name_is_given_once() {
        let now = "2024-01-01T00:00:00Z".parse().unwrap();
        let first = settle(&definition("tests", "Test"), &[], now).unwrap();
        let second = settle(&definition("others", "Test"), &[first], now).unwrap();
        let conditions = second.value().items_at(&["status", "conditions"]).to_vec();
        let told: Vec<(Option<&str>, Option<&str>)> =
            conditions.iter().map(|c| (c.str_at(&["reason"]), c.str_at(&["message"]))).collect();
        assert_eq!(
            told,
            [
                (Some("ListKindConflict"), Some("\"TestList\" is already in use")),
                (Some("NotAccepted"), Some("not all names are accepted"))
            ]
        );
    }
}
