//! The CustomResourceDefinitions of Argo CD's kinds, made from the wire types.

use lynceus_object::{Object, Str, Value, value};

use crate::application::Application;
use crate::applicationset::ApplicationSet;
use crate::project::AppProject;
use crate::wire::Wire;
use crate::{GROUP, VERSION};

/// The definitions of Application, AppProject and ApplicationSet, in the order in which to install them.
pub fn crds() -> Vec<Object> {
    vec![
        definition(
            &Names { kind: "Application", plural: "applications", short: ["app", "apps"] },
            root(Application::schema(true)),
            // The controller writes spec and status in one go, so there is no status subresource.
            Some(value!({})),
            value!([
                {"name": "Sync Status", "jsonPath": ".status.sync.status", "type": "string"},
                {"name": "Health Status", "jsonPath": ".status.health.status", "type": "string"},
                {"name": "Revision", "jsonPath": ".status.sync.revision", "type": "string", "priority": 10},
                {"name": "Project", "jsonPath": ".spec.project", "type": "string", "priority": 10},
            ]),
        ),
        definition(
            &Names { kind: "AppProject", plural: "appprojects", short: ["appproj", "appprojs"] },
            root(AppProject::schema(true)),
            None,
            Value::Null,
        ),
        definition(
            &Names { kind: "ApplicationSet", plural: "applicationsets", short: ["appset", "appsets"] },
            // A template stands in every generator: with descriptions the definition would be too large to store.
            without_inner_templates(root(ApplicationSet::schema(false))),
            Some(value!({"status": {}})),
            Value::Null,
        ),
    ]
}

struct Names {
    kind: &'static str,
    plural: &'static str,
    short: [&'static str; 2],
}

/// The API server knows better than any schema what metadata is.
fn root(mut schema: Value) -> Value {
    schema.set(&["properties", "metadata"], value!({"type": "object"}));
    schema
}

/// Leaves open what a template inside a matrix or a merge looks like. Nobody reads one there, and written out fourteen
/// times they make the definition too large for `kubectl apply`, which keeps a copy of it in an annotation.
fn without_inner_templates(mut schema: Value) -> Value {
    let outer = ["properties", "spec", "properties", "generators", "items", "properties"];
    for generator in ["matrix", "merge"] {
        let inner = [&outer[..], &[generator, "properties", "generators", "items", "properties"]].concat();
        let inside = schema.at(&inner).and_then(Value::as_map);
        let names: Vec<Str> = inside.map(|map| map.keys().cloned().collect()).unwrap_or_default();
        for name in names {
            let template = [&inner[..], &[name.as_str(), "properties", "template"]].concat();
            if schema.at(&template).is_some() {
                schema
                    .set(&template, value!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
            }
        }
    }
    schema
}

fn definition(names: &Names, schema: Value, subresources: Option<Value>, columns: Value) -> Object {
    let Names { kind, plural, short } = names;
    let mut version = value!({
        "name": VERSION, "served": true, "storage": true,
    });
    version.set(&["schema", "openAPIV3Schema"], schema);
    if let Some(subresources) = subresources {
        version.set(&["subresources"], subresources);
    }
    if !columns.is_null() {
        version.set(&["additionalPrinterColumns"], columns);
    }
    let name = format!("{plural}.{GROUP}");
    let mut crd = value!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "argocd"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind, "listKind": format!("{kind}List"), "plural": plural,
                "singular": kind.to_lowercase(), "shortNames": short,
            },
        },
    });
    crd.set(&["spec", "versions"], vec![version]);
    Object::new(crd).unwrap_or_default()
}
