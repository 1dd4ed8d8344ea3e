//! The documents as clients use them.

use super::*;

fn registry() -> Registry {
    Registry::new(&[], &Registry::default())
}

fn document(path: &str) -> Value {
    v3_group(&registry(), path).unwrap()
}

fn schema<'a>(document: &'a Value, name: &str) -> &'a Value {
    document.at(&["components", "schemas", name]).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_index_names_every_group_version() {
    let index = v3_index(&registry());
    let paths = index.get("paths").and_then(Value::as_map).unwrap();
    assert!(
        paths.contains("api/v1") && paths.contains("apis/apps/v1") && paths.contains("apis/autoscaling/v2")
    );
    let url = index.str_at(&["paths", "apis/apps/v1", "serverRelativeURL"]).unwrap();
    assert!(url.starts_with("/openapi/v3/apis/apps/v1?hash="), "{url}");
}

#[test]
fn a_kind_has_its_fields_with_their_merge_rules() {
    let document = document("apis/apps/v1");
    let deployment = schema(&document, "io.k8s.api.apps.v1.Deployment");
    let kinds = deployment.items_at(&["x-kubernetes-group-version-kind"]);
    assert_eq!(kinds, [value!({"group": "apps", "kind": "Deployment", "version": "v1"})]);
    let spec = schema(&document, "io.k8s.api.apps.v1.DeploymentSpec");
    assert_eq!(spec.get("required"), Some(&value!(["selector", "template"])));
    assert_eq!(
        spec.at(&["properties", "replicas"]),
        Some(
            &value!({"type": "integer", "format": "int32", "description": "How many pods there should be."})
        )
    );
    let containers =
        schema(&document, "io.k8s.api.core.v1.PodSpec").at(&["properties", "containers"]).unwrap();
    assert_eq!(containers.str_at(&["x-kubernetes-list-type"]), Some("map"));
    assert_eq!(containers.str_at(&["x-kubernetes-patch-merge-key"]), Some("name"));
    assert_eq!(
        containers.get("items"),
        Some(
            &value!({"allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}], "default": {}})
        )
    );
}

#[test]
fn kubectl_finds_the_kind_of_a_resource_and_the_parameters_of_a_patch() {
    let document = document("apis/apps/v1");
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
    let patch = document.at(&["paths", path, "patch"]).unwrap();
    assert_eq!(patch.str_at(&["x-kubernetes-group-version-kind", "kind"]), Some("Deployment"));
    let names: Vec<_> = patch.items_at(&["parameters"]).iter().filter_map(|p| p.str_at(&["name"])).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert!(patch.at(&["requestBody", "content", "application/strategic-merge-patch+json"]).is_some());
}

#[test]
fn every_reference_leads_somewhere() {
    fn refs(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    match value.as_str() {
                        Some(target) if key == "$ref" => out.push(target.to_owned()),
                        _ => refs(value, out),
                    }
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| refs(item, out)),
            _ => {}
        }
    }
    let registry = registry();
    let documents = groups(&registry).into_iter().map(|(path, _)| document(&path)).chain([v2(&registry)]);
    for document in documents {
        let mut found = Vec::new();
        refs(&document, &mut found);
        for target in found {
            let path: Vec<&str> = target.trim_start_matches("#/").split('/').collect();
            assert!(document.at(&path).is_some_and(|schema| !schema.is_null()), "{target}");
        }
    }
}

#[test]
fn version_2_writes_references_beside_descriptions() {
    let document = v2(&registry());
    let spec = document.at(&["definitions", "io.k8s.api.apps.v1.Deployment", "properties", "spec"]).unwrap();
    assert_eq!(spec.str_at(&["$ref"]), Some("#/definitions/io.k8s.api.apps.v1.DeploymentSpec"));
    assert_eq!(spec.str_at(&["description"]), Some("What is wanted."));
    assert!(document.at(&["paths", "/api/v1/namespaces/{namespace}/pods/{name}/exec", "get"]).is_some());
}
