//! What is done to the resources when everything else has been done.

use lynceus_object::{Map, Str, Value};

use crate::error::KustomizeError;
use crate::kustomization::Kustomization;
use crate::origin::{ORIGIN, TRANSFORMATIONS, transformations_text};
use crate::read::{self, spelled};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::written::Step;

/// What takes a resource out of the result.
const LOCAL: &str = "config.kubernetes.io/local-config";
/// The label of what Kustomize made, and what Kustomize says there.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kustomize-v5.8.1");

/// The annotations that Kustomize uses for itself and does not print.
const OWN: [&str; 19] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "internal.config.kubernetes.io/helm-generated",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
];

/// Takes out what is only there to be referred to. What is left has to be whole.
pub(crate) fn drop_local(resources: &mut Resources) -> Result<(), KustomizeError> {
    resources.list.retain(|resource| !resource.value.is_empty());
    for resource in &resources.list {
        read::check(&resource.value).map_err(|error| match &resource.span {
            Some(span) => error.at(span.clone()),
            None => error,
        })?;
    }
    resources.list.retain(|resource| {
        let local = resource.value.at(&["metadata", "annotations", LOCAL]);
        local.is_none_or(|value| spelled(value) == "false")
    });
    Ok(())
}

/// Says of everything that Kustomize made it.
pub(crate) fn label_managed_by(resources: &mut Resources) {
    for resource in &mut resources.list {
        resource.value.set(&["metadata", "labels", MANAGED_BY.0], MANAGED_BY.1);
        // A label that is also in selectors is the same there.
        resource.settle();
    }
}

/// Annotations as they are printed: texts, without Kustomize's own, with what was asked for.
pub(crate) fn write_annotations(resources: &mut Resources, kustomization: &Kustomization) {
    let asks = |option: &str| kustomization.build_metadata.iter().any(|asked| asked == option);
    let (origins, transformations) = (asks("originAnnotations"), asks("transformerAnnotations"));
    for resource in &mut resources.list {
        if resource.value.get("metadata").is_none() {
            // To look for annotations, Kustomize makes a place for them.
            resource.value.set(&["metadata"], Map::new());
        }
        let found = resource.value.at(&["metadata", "annotations"]);
        let has_any = found.is_some();
        if !has_any && !origins && !transformations {
            continue;
        }
        if is_clean(found) && !origins && !transformations {
            continue;
        }
        let mut annotations: Map = match found {
            Some(Value::Map(map)) => {
                let text = |key: &Str, value: &Value| match value {
                    Value::Seq(_) | Value::Map(_) => Str::new(),
                    Value::Null if resource.written.is_left_out(&annotation(key)) => Str::new(),
                    Value::Null => match resource.written.text(&annotation(key), value) {
                        text if text.is_empty() => "null".into(),
                        text => text,
                    },
                    Value::Str(text) if may_be_date(text) => resource.written.date(&annotation(key), text),
                    scalar => resource.written.text(&annotation(key), scalar),
                };
                map.iter().map(|(key, value)| (key.clone(), Value::Str(text(key, value)))).collect()
            }
            _ => Map::new(),
        };
        if origins && transformations && annotations.is_empty() && resource.origin.is_none() {
            continue;
        }
        annotations.retain(|key, _| !OWN.contains(&key));
        annotate(&mut annotations, resource, origins, transformations);
        if annotations.is_empty() {
            resource.value.remove(&["metadata", "annotations"]);
        } else {
            resource.value.set(&["metadata", "annotations"], annotations);
        }
    }
}

/// The way to an annotation.
fn annotation(key: &Str) -> [Step; 3] {
    ["metadata", "annotations", key].map(|name| Step::Field(name.into()))
}

/// Whether a text may be a date that was written otherwise.
fn may_be_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes[0].is_ascii_digit() && bytes[4] == b'-' && bytes[10] == b'T'
}

/// Whether annotations are printed as they are.
fn is_clean(annotations: Option<&Value>) -> bool {
    let Some(Value::Map(map)) = annotations else { return false };
    let is_printed = |key: &str| key != ORIGIN && key != TRANSFORMATIONS && !OWN.contains(&key);
    !map.is_empty()
        && map
            .iter()
            .all(|(key, value)| matches!(value, Value::Str(text) if !may_be_date(text)) && is_printed(key))
}

fn annotate(annotations: &mut Map, resource: &Resource, origins: bool, transformations: bool) {
    match &resource.origin {
        Some(origin) if origins => {
            annotations.insert(ORIGIN, origin.to_text());
        }
        _ if !origins => {
            annotations.remove(ORIGIN);
        }
        _ => {}
    }
    if !transformations {
        annotations.remove(TRANSFORMATIONS);
    } else if !resource.transformations.is_empty() {
        let text = transformations_text(resource.transformations.iter().map(|origin| &**origin));
        annotations.insert(TRANSFORMATIONS, text);
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::{json, value};

    use super::*;

    fn written(annotations: Value) -> String {
        let object = value!({"kind": "A", "metadata": {"name": "a", "annotations": annotations}});
        printed(Resources { list: vec![Resource::new(object)] })
    }

    fn printed(mut resources: Resources) -> String {
        write_annotations(&mut resources, &Kustomization::default());
        json::to_string(resources.list[0].value.get("metadata").unwrap())
    }

    #[test]
    fn annotations_are_texts_and_empty_ones_vanish() {
        assert_eq!(
            written(value!({"a": 1, "b": true})),
            r#"{"annotations":{"a":"1","b":"true"},"name":"a"}"#
        );
        assert_eq!(written(value!({})), r#"{"name":"a"}"#);
        assert_eq!(written(Value::Null), r#"{"name":"a"}"#);
        assert_eq!(written(value!({"config.kubernetes.io/path": "x"})), r#"{"name":"a"}"#);
        assert_eq!(written(value!({"config.kubernetes.io/origin": "x"})), r#"{"name":"a"}"#);
    }

    #[test]
    fn annotations_are_texts_as_they_were_written() {
        let text = "kind: A\nmetadata:\n  name: a\n  annotations:\n    a: 1.10\n    b: True\n    c:\n    d: null\n    \
                    e: {x: y}\n    f: ~ # none\n    g: text\n";
        assert_eq!(
            printed(crate::fixture::resources(text)),
            r#"{"annotations":{"a":"1.10","b":"True","c":"","d":"null","e":"","f":"~","g":"text"},"name":"a"}"#
        );
    }

    #[test]
    fn what_is_local_is_dropped() {
        let one = |local: Value| {
            Resource::new(value!({"kind": "A", "metadata": {"name": "a", "annotations": {LOCAL: local}}}))
        };
        let mut resources =
            Resources { list: vec![one(value!("true")), one(value!("false")), one(value!(""))] };
        drop_local(&mut resources).unwrap();
        assert_eq!(resources.list.len(), 1);
    }
}
