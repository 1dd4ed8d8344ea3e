//! ClusterRoles that are made of others, by label.

use lynceus_object::{Object, Value};

/// A role with the rules of those that its `aggregationRule` selects, or `None` if it has them already
/// (or aggregates nothing). `all` are all ClusterRoles, in order of name.
pub fn aggregated(role: &Object, all: &[Object]) -> Option<Object> {
    let selectors = role.value().items_at(&["aggregationRule", "clusterRoleSelectors"]);
    if selectors.is_empty() {
        return None;
    }
    let mut rules: Vec<Value> = Vec::new();
    for other in all.iter().filter(|other| other.name() != role.name()) {
        if !selectors.iter().any(|selector| selects(selector, other)) {
            continue;
        }
        for rule in other.value().items_at(&["rules"]) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    if role.value().items_at(&["rules"]) == rules {
        return None;
    }
    let mut out = role.clone();
    out.set(&["rules"], rules);
    Some(out)
}

/// Whether a LabelSelector selects an object.
pub fn selects(selector: &Value, object: &Object) -> bool {
    let label = |key: &str| object.label(key);
    let labels = selector.get("matchLabels").and_then(Value::as_map);
    let by_labels = labels
        .into_iter()
        .flat_map(lynceus_object::Map::iter)
        .all(|(key, value)| label(key).is_some_and(|found| Some(found) == value.as_str()));
    let by_expressions = selector.items_at(&["matchExpressions"]).iter().all(|expression| {
        let found = label(expression.str_at(&["key"]).unwrap_or_default());
        let listed = found.is_some_and(|found| {
            expression.items_at(&["values"]).iter().any(|value| value.as_str() == Some(found))
        });
        match expression.str_at(&["operator"]).unwrap_or_default() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    });
    by_labels && by_expressions
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn rules_come_from_roles_with_the_label() {
        let role = |name: &str, labels: Value, rules: Value| {
            Object::new(value!({"metadata": {"name": name, "labels": labels}, "rules": rules})).unwrap()
        };
        let mut sum = role("sum", value!({}), value!([]));
        sum.set(&["aggregationRule", "clusterRoleSelectors"], value!([{"matchLabels": {"into": "sum"}}]));
        let rule = value!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]});
        let part = role("part", value!({"into": "sum"}), value!([rule]));
        let other = role("other", value!({}), value!([{"verbs": ["delete"]}]));
        let all = [other, part, sum.clone()];
        let made = aggregated(&sum, &all).unwrap();
        assert_eq!(made.value().items_at(&["rules"]), [rule]);
        assert_eq!(aggregated(&made, &all), None);
    }
}
