//! The definitions say what Argo CD's own say.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use lynceus_api::crds;
use lynceus_object::{Object, Value};

fn crd(name: &str) -> Object {
    crds().into_iter().find(|crd| crd.name() == name).unwrap()
}

fn schema(name: &str, path: &[&str]) -> Value {
    let crd = crd(name);
    let version = &crd.value().items_at(&["spec", "versions"])[0];
    let root = version.at(&["schema", "openAPIV3Schema"]).unwrap();
    path.iter().fold(root, |schema, field| schema.at(&["properties", field]).unwrap()).clone()
}

#[test]
fn names_are_those_that_people_type() {
    let names: Vec<String> = crds()
        .iter()
        .map(|crd| {
            crd.at(&["spec", "names"])
                .unwrap()
                .items_at(&["shortNames"])
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    assert_eq!(names, ["app,apps", "appproj,appprojs", "appset,appsets"]);
}

#[test]
fn only_application_sets_have_a_status_subresource() {
    for (name, expected) in [
        ("applications.argoproj.io", Some(false)),
        ("appprojects.argoproj.io", None),
        ("applicationsets.argoproj.io", Some(true)),
    ] {
        let crd = crd(name);
        let version = &crd.value().items_at(&["spec", "versions"])[0];
        assert_eq!(version.get("subresources").map(|sub| sub.get("status").is_some()), expected, "{name}");
    }
}

#[test]
fn kubectl_can_keep_a_copy_of_each_in_an_annotation() {
    for crd in crds() {
        let bytes = lynceus_object::json::to_vec(crd.value()).len();
        assert!(bytes < 256 << 10, "{} has {bytes} bytes", crd.name());
    }
}

#[test]
fn values_of_any_shape_are_kept() {
    let values = schema("applications.argoproj.io", &["spec", "source", "helm", "valuesObject"]);
    assert_eq!(values.bool_at(&["x-kubernetes-preserve-unknown-fields"]), Some(true));
    assert_eq!(values.str_at(&["type"]), Some("object"));
}

#[test]
fn required_fields_are_those_that_go_always_writes() {
    let spec = schema("applications.argoproj.io", &["spec"]);
    assert_eq!(spec.items_at(&["required"]), [Value::from("destination"), Value::from("project")]);
    let root = schema("applications.argoproj.io", &[]);
    assert_eq!(root.items_at(&["required"]), [Value::from("metadata"), Value::from("spec")]);
}

#[test]
fn fields_are_described_where_there_is_room() {
    let url = schema("applications.argoproj.io", &["spec", "source", "repoURL"]);
    assert_eq!(url.str_at(&["description"]), Some("The Git, Helm or OCI repository."));
    let text = serde_json::to_string(crd("applicationsets.argoproj.io").value()).unwrap();
    assert!(text.len() < 1 << 20, "{} bytes do not fit into a store that takes 1.5 MiB", text.len());
}

#[test]
fn a_field_named_description_is_a_field() {
    let field = schema("appprojects.argoproj.io", &["spec", "description"]);
    assert_eq!(field.int_at(&["maxLength"]), Some(255));
}
