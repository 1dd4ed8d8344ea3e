//! Label selectors.

use lynceus_object::Value;

use super::meta;
use super::names;
use super::report::{Path, Report};

/// Checks a label selector with its two lists of conditions.
pub(crate) fn label_selector(selector: Option<&Value>, at: &Path, report: &mut Report) {
    let Some(selector) = selector.filter(|selector| !selector.is_null()) else { return };
    meta::labels(selector.get("matchLabels"), &at.child("matchLabels"), report);
    for (index, expression) in selector.items_at(&["matchExpressions"]).iter().enumerate() {
        requirement(expression, &at.child("matchExpressions").index(index), report);
    }
}

fn requirement(expression: &Value, at: &Path, report: &mut Report) {
    let values = expression.items_at(&["values"]);
    match expression.str_at(&["operator"]).unwrap_or_default() {
        "In" | "NotIn" if values.is_empty() => {
            report.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            report.forbidden(&at.child("values"), why);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => report.invalid_text(&at.child("operator"), other, "not a valid selector operator"),
    }
    let key = expression.str_at(&["key"]).unwrap_or_default();
    report.each(&at.child("key"), key, names::label_key(key));
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        report.each(&at.child("values").index(index), value, names::label_value(value));
    }
}

/// Whether a selector can be used at all.
pub(crate) fn is_usable(selector: &Value) -> bool {
    let mut report = Report::default();
    label_selector(Some(selector), &Path::new(""), &mut report);
    report.len() == 0
}

/// Whether a selector asks for nothing, and so selects everything.
pub(crate) fn is_empty(selector: &Value) -> bool {
    selector.get("matchLabels").is_none_or(Value::is_empty)
        && selector.items_at(&["matchExpressions"]).is_empty()
}

/// Whether labels are what a selector asks for.
pub(crate) fn matches(selector: &Value, labels: Option<&Value>) -> bool {
    let label = |key: &str| labels.and_then(|labels| labels.str_at(&[key]));
    let plain = selector.get("matchLabels").and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    let mut plain = plain.map(|(key, value)| label(key) == value.as_str());
    plain.all(|matched| matched)
        && selector.items_at(&["matchExpressions"]).iter().all(|expression| {
            let found = label(expression.str_at(&["key"]).unwrap_or_default());
            let listed = expression
                .items_at(&["values"])
                .iter()
                .any(|value| value.as_str() == found && found.is_some());
            match expression.str_at(&["operator"]).unwrap_or_default() {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}
