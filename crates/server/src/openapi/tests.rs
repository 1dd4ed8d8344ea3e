//! The description is complete, its references lead somewhere, and the server answers as it says.

use std::collections::{BTreeMap, BTreeSet};

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use lynceus_object::{Value, json, value};

use super::described;
use super::operation::{path, ways};
use crate::access::tests::{Said, Stage, accounts};
use crate::method::{Flow, Method, methods};

#[test]
fn every_way_of_the_table_is_described() {
    let document = described();
    let mut ids = BTreeSet::new();
    for method in methods().iter() {
        for way in &method.ways {
            let operation = document.at(&["paths", &path(way), &way.verb.to_ascii_lowercase()]);
            let operation = operation.unwrap_or_else(|| panic!("{} {}", way.verb, path(way)));
            if !method.is_superseded() {
                let id = operation.str_at(&["operationId"]).unwrap_or_default();
                assert!(ids.insert(id.to_owned()), "{id} is there twice");
            }
        }
    }
    assert!(ids.len() > 100, "{}", ids.len());
}

#[test]
fn every_reference_leads_to_a_definition() {
    let document = described();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 200, "{}", found.len());
    for reference in found {
        let steps: Vec<&str> = reference.trim_start_matches("#/").split('/').collect();
        assert!(document.at(&steps).is_some_and(|definition| !definition.is_null()), "{reference}");
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Map(map) => {
            for (key, inner) in map.iter() {
                match inner.as_str() {
                    Some(text) if key.as_str() == "$ref" => drop(found.insert(text.to_owned())),
                    _ => references(inner, found),
                }
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn no_two_messages_share_a_definition() {
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for method in methods().iter() {
        for ty in [method.input, method.output] {
            let name =
                super::model::Models::default().of(ty).str_at(&["$ref"]).unwrap_or_default().to_owned();
            let first = names.entry(name.clone()).or_insert(ty.full_name());
            assert_eq!(*first, ty.full_name(), "{name}");
        }
    }
}

#[test]
fn a_method_is_described_with_its_path_its_query_its_body_and_its_right() {
    let document = described();
    let shown = |path: &str, verb: &str| {
        let operation = document.at(&["paths", path, verb]).cloned().unwrap_or_default();
        let parameters = operation.items_at(&["parameters"]).iter().map(|parameter| {
            let text = |field: &str| parameter.str_at(&[field]).unwrap_or_default();
            let reference = text("$ref").rsplit('/').next().unwrap_or_default();
            format!("{}{}:{}", reference, text("name"), text("in"))
        });
        let parameters: Vec<String> = parameters.collect();
        let answer = operation.at(&["responses", "200", "schema"]).map(json::to_string).unwrap_or_default();
        format!(
            "{} | {} | {answer}",
            parameters.join(" "),
            operation.str_at(&["description"]).unwrap_or_default()
        )
    };
    assert_eq!(
        shown("/api/v1/clusters/{id.value}", "get"),
        "id.value:path id.type:query name:query server:query fields: | Needs `clusters, get`. | \
         {\"$ref\":\"#/definitions/v1alpha1Cluster\"}"
    );
    assert_eq!(
        shown("/api/v1/applications/{name}/sync", "post"),
        "name:path body:body | Needs `applications, sync`. | {\"$ref\":\"#/definitions/v1alpha1Application\"}"
    );
    assert_eq!(
        shown("/api/v1/projects", "get"),
        "name:query fields: limit: offset: | For those who are logged in; answers what they may see. | \
         {\"$ref\":\"#/definitions/v1alpha1AppProjectList\"}"
    );
    assert_eq!(
        shown("/api/v1/doctor", "get"),
        "application:query verify:query fields: | For those who are logged in; answers what they may see. | \
         {\"type\":\"object\"}"
    );
    let stream = shown("/api/v1/stream/applications/{applicationName}/resource-tree", "get");
    assert!(stream.contains(r##""result":{"$ref":"#/definitions/v1alpha1ApplicationTree"}"##), "{stream}");
}

#[tokio::test]
async fn everybody_is_told_compressed_or_not() {
    let stage = Stage::new("").await;
    let said = stage.ask("GET", "/swagger.json", "", "").await;
    assert_eq!((said.status, said.text("swagger")), (200, "2.0"));
    let request = axum::http::Request::get("/swagger.json").header("accept-encoding", "gzip, br");
    let packed = stage.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(packed.headers.get("content-encoding").unwrap(), "gzip");
    let page = stage.ask("GET", "/swagger-ui", "", "").await;
    assert_eq!(page.headers.get("content-type").unwrap(), "text/html; charset=utf-8");
}

/// The definitions as a schema that takes no field that is not described, and `null` where it may be.
struct Judge {
    schemas: Schemas,
    compiler: Compiler,
}

const ADDRESS: &str = "file:///swagger.json";

impl Judge {
    fn new() -> Self {
        let mut document = described();
        if let Some(Value::Map(definitions)) = document.at(&["definitions"]).cloned() {
            for (name, definition) in definitions.iter() {
                document.set(&["definitions", name.as_str()], strict(definition));
            }
        }
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V4);
        let document = serde_json::from_slice(&json::to_vec(&document)).unwrap();
        compiler.add_resource(ADDRESS, document).unwrap();
        Judge { schemas: Schemas::new(), compiler }
    }

    /// What is wrong with an answer.
    fn verdict(&mut self, schema: &Value, answer: &Value) -> Option<String> {
        let reference = schema.str_at(&["$ref"])?;
        let index: SchemaIndex =
            self.compiler.compile(&format!("{ADDRESS}{reference}"), &mut self.schemas).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&json::to_vec(answer)).unwrap();
        self.schemas.validate(&answer, index).err().map(|error| format!("{error:#}"))
    }
}

fn strict(definition: &Value) -> Value {
    let mut strict = definition.clone();
    let Some(Value::Map(properties)) = definition.get("properties") else { return strict };
    for (name, property) in properties.iter() {
        if property.bool_at(&["x-nullable"]) == Some(true) {
            strict
                .set(&["properties", name.as_str()], value!({"anyOf": [property.clone(), {"type": "null"}]}));
        }
    }
    strict.set(&["additionalProperties"], false);
    strict
}

const SHOP: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: 'example/web:1'}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
";

/// The ways that are not asked, with what stands in the way.
const NOT_ASKED: [(&str, &str); 9] = [
    ("/api/v1/applicationsets/{name}", "there is none"),
    ("/api/v1/notifications", "there is nothing that they could be read from"),
    ("chartdetails", "the application is no chart"),
    ("ocimetadata", "the application is no artifact"),
    ("helmcharts", "the repository has no charts"),
    ("oci-tags", "the repository is no registry"),
    ("/api/v1/gpgkeys/{keyID}", "there is no key"),
    ("/api/v1/write-repositories/{repo}", "there is none"),
    ("server-side-diff", "it takes manifests"),
];

/// The path of a way with names that there are, and the query that it needs.
fn address(method: &Method, path: &str, repository: &str) -> String {
    let name = if path.starts_with("/api/v1/projects") { "default" } else { "shop" };
    let name = if path.starts_with("/api/v1/account") { "admin" } else { name };
    let path = path
        .replace("{name}", name)
        .replace("{applicationName}", "shop")
        .replace("{id.value}", "https%3A%2F%2Fkubernetes.default.svc")
        .replace("{repo}", repository)
        .replace("{resource}", "applications")
        .replace("{action}", "get")
        .replace("{subresource}", "default/shop")
        .replace("{revision}", "main")
        .replace("{code}", "LYN0101");
    let (_, method) = method.id();
    let query = match method {
        "GetResource" | "ListResourceActions" | "ListResourceLinks" => {
            "?group=apps&version=v1&kind=Deployment&namespace=default&resourceName=web"
        }
        _ => "",
    };
    format!("{path}{query}")
}

#[tokio::test]
async fn what_is_answered_is_what_is_described() {
    let stage = Stage::new(&accounts()).await;
    stage.world.commit(&[("shop/all.yaml", SHOP)]);
    let automated = value!({"syncPolicy": {"automated": {"prune": true}}});
    stage.world.deliver("shop", "shop", &automated).await;
    stage.world.until("shop", |world| world.state("shop") == "Synced Healthy Succeeded").await;
    let repository = stage.world.repository();
    let token = stage.session("admin", &stage.initial_password().await).await;
    let body = json::to_string(&value!({"repo": repository.as_str()}));
    let said = stage.ask("POST", "/api/v1/repositories", &token, &body).await;
    assert_eq!(said.status, 200, "{}", said.text("message"));
    let repository = repository.replace(':', "%3A").replace('/', "%2F");
    let (document, mut judge) = (described(), Judge::new());
    let mut wrong = Vec::new();
    for (method, way) in ways().filter(|(method, way)| way.verb == "GET" && method.flow == Flow::Single) {
        let path = path(way);
        if NOT_ASKED.iter().any(|(part, _)| path.contains(part)) {
            continue;
        }
        let said = stage.ask("GET", &address(method, &path, &repository), &token, "").await;
        wrong.extend(verdict(&document, &mut judge, &path, &said));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn verdict(document: &Value, judge: &mut Judge, path: &str, said: &Said) -> Option<String> {
    if said.status != 200 {
        return Some(format!("{path}: {} {}", said.status, said.text("message")));
    }
    let schema = document.at(&["paths", path, "get", "responses", "200", "schema"])?;
    judge.verdict(schema, &said.body).map(|why| format!("{path}: {why}"))
}
