//! The `scale` part of the workloads.

use lynceus_object::{Object, Value, value};

use super::resources::Resource;
use crate::ApiError;

/// The `autoscaling/v1` Scale of an object.
pub fn scale(resource: &Resource, object: &Object) -> Result<Object, ApiError> {
    if resource.subresource("scale").is_none() {
        return Err(ApiError::method_not_allowed());
    }
    let mut metadata = value!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.at(&["metadata", field]) {
            metadata.set(&[field], value.clone());
        }
    }
    let mut scale = value!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": {},
        "status": {"replicas": object.value().int_at(&["status", "replicas"]).unwrap_or(0)},
    });
    // Zero is left out, as Go leaves it out.
    if let Some(replicas) = object.value().int_at(&["spec", "replicas"]).filter(|replicas| *replicas != 0) {
        scale.set(&["spec", "replicas"], replicas);
    }
    let selector = selector_text(object.at(&["spec", "selector"]).unwrap_or(&Value::Null));
    if !selector.is_empty() {
        scale.set(&["status", "selector"], selector);
    }
    Object::new(scale).map_err(|_| ApiError::internal("a scale is a map"))
}

/// Writes a Scale's wish into the object.
pub fn set_scale(resource: &Resource, object: &mut Object, scale: &Object) -> Result<(), ApiError> {
    if resource.subresource("scale").is_none() {
        return Err(ApiError::method_not_allowed());
    }
    object.set(&["spec", "replicas"], scale.value().int_at(&["spec", "replicas"]).unwrap_or(0));
    if let Some(version) = scale.at(&["metadata", "resourceVersion"]).filter(|version| !version.is_empty()) {
        object.set(&["metadata", "resourceVersion"], version.clone());
    }
    Ok(())
}

/// A selector as clients type it: `app=web,tier in (a,b)`. Both a plain map and a LabelSelector are read.
pub(crate) fn selector_text(selector: &Value) -> String {
    let plain = !matches!(
        (selector.get("matchLabels"), selector.get("matchExpressions")),
        (Some(Value::Map(_)), _) | (_, Some(Value::Seq(_)))
    );
    let labels = if plain { selector } else { selector.get("matchLabels").unwrap_or(&Value::Null) };
    let mut terms: Vec<(String, String)> = Vec::new();
    for (key, value) in labels.as_map().into_iter().flat_map(|map| map.iter()) {
        terms.push((key.to_string(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    if !plain {
        for expression in selector.items_at(&["matchExpressions"]) {
            terms.push(expression_text(expression));
        }
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    terms.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

fn expression_text(expression: &Value) -> (String, String) {
    let key = expression.str_at(&["key"]).unwrap_or_default();
    let mut values: Vec<&str> = expression.items_at(&["values"]).iter().filter_map(Value::as_str).collect();
    values.sort_unstable();
    let list = values.join(",");
    let text = match expression.str_at(&["operator"]).unwrap_or_default() {
        "In" => format!("{key} in ({list})"),
        "NotIn" => format!("{key} notin ({list})"),
        "DoesNotExist" => format!("!{key}"),
        _ => key.to_owned(),
    };
    (key.to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::resources;

    #[test]
    fn a_scale_shows_wish_state_and_selector() {
        let deployments = resources().iter().find(|resource| resource.plural == "deployments").unwrap();
        let object = Object::new(value!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]}, {"key": "gone", "operator": "DoesNotExist"},
            ]}},
            "status": {"replicas": 2},
        }))
        .unwrap();
        let expected = value!({
            "kind": "Scale", "apiVersion": "autoscaling/v1",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7"},
            "spec": {"replicas": 3},
            "status": {"replicas": 2, "selector": "app=web,!gone,tier in (a,b)"},
        });
        assert_eq!(*scale(deployments, &object).unwrap().value(), expected);
    }
}
