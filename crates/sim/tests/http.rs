//! The API as a client sees it, request by request.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use lynceus_object::{Value, json, value};
use lynceus_sim::attributes::User;
use lynceus_sim::clock::ManualClock;
use lynceus_sim::http::Service;
use lynceus_sim::kinds::Additions;
use lynceus_sim::{Options, Sim, Stage};
use tower::ServiceExt;

struct Client(Service, ManualClock);

struct Answer {
    status: u16,
    headers: http::HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        json::parse(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    fn message(&self) -> String {
        format!("{} {}", self.status, self.json().str_at(&["message"]).unwrap_or_default())
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        let list = self.json();
        let name = |item: &Value| item.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        list.items_at(&["items"]).iter().map(name).collect()
    }
}

impl Client {
    async fn start() -> Self {
        let clock = ManualClock::from_2026();
        let options = Options {
            clock: Some(clock.clone()),
            without_controllers: true,
            ..Options::by_hand(Stage::default())
        };
        let sim = Sim::start(options).await.unwrap();
        Client(sim.service(User::admin()), clock)
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (parts, body) = self.stream(method, path, headers, body).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    async fn stream(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> http::Response<lynceus_sim::http::Body> {
        let request = http::Request::builder().method(method).uri(path).header("user-agent", "test/1");
        let mut request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        self.0.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], &json::to_string(&body)).await
    }

    async fn patch(&self, path: &str, kind: &str, body: &str) -> Answer {
        self.send("PATCH", path, &[("content-type", kind)], body).await
    }

    async fn config_map(&self, name: &str, label: &str) {
        let object = value!({"metadata": {"name": name, "labels": {"app": label}}, "data": {"a": "1"}});
        assert_eq!(self.post(MAPS, object).await.status, 201);
    }
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MERGE: &str = "application/merge-patch+json";

#[tokio::test]
async fn paths_that_lead_nowhere_say_so_in_two_ways() {
    let client = Client::start().await;
    for (path, expected) in [
        ("/nowhere", "404 page not found\n"),
        ("/apis/example.com/v1/things", "404 page not found\n"),
        ("/api/v1/things", "the server could not find the requested resource"),
        ("/apis/apps/v7", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/pods/p/nothing", "the server could not find the requested resource"),
    ] {
        let answer = client.get(path).await;
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(answer.status, 404, "{path}");
        assert!(text.contains(expected), "{path}: {text}");
    }
}

#[tokio::test]
async fn methods_and_media_types_are_checked() {
    let client = Client::start().await;
    assert_eq!(client.send("PUT", MAPS, &[], "").await.status, 405);
    assert_eq!(client.send("POST", MAPS, &[("content-type", "text/plain")], "x").await.status, 415);
    assert_eq!(client.send("GET", MAPS, &[("accept", "text/html")], "").await.status, 406);
    let long = format!("{{\"data\": {{\"a\": \"{}\"}}}}", "x".repeat(3 * 1024 * 1024));
    let answer = client.send("POST", MAPS, &[("content-type", "application/json")], &long).await;
    assert_eq!((answer.status, answer.json().str_at(&["reason"])), (413, Some("RequestEntityTooLarge")));
}

#[tokio::test]
async fn bodies_that_are_no_objects_are_named() {
    let client = Client::start().await;
    let json = [("content-type", "application/json")];
    for (body, expected) in [
        (
            "apiVersion: v1",
            "400 the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
             parse error: invalid character 'a' looking for beginning of value (61706956657273696f6e3a207631)",
        ),
        (
            r#"{"kind":"Pod","apiVersion":"v1"}"#,
            "400 Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): \
             unknown conversion",
        ),
        (
            r#"{"metadata":{"name":"x","namespace":"other"}}"#,
            "400 the namespace of the provided object does not match the namespace sent on the request",
        ),
    ] {
        assert_eq!(client.send("POST", MAPS, &json, body).await.message(), expected);
    }
    let strict = format!("{MAPS}?fieldValidation=Strict");
    let answer = client
        .send("POST", &strict, &json, r#"{"metadata":{"name":"x"},"nope":1,"data":{"a":"1","a":"2"}}"#)
        .await;
    assert_eq!(
        answer.message(),
        "400 ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: duplicate field \
         \"data.a\", unknown field \"nope\""
    );
    let answer = client.send("POST", MAPS, &json, r#"{"metadata":{"name":"x"},"nope":1}"#).await;
    assert_eq!((answer.status, answer.header("warning")), (201, "299 - \"unknown field \\\"nope\\\"\""));
}

#[tokio::test]
async fn json_has_fields_in_the_order_of_go_and_lines_for_people() {
    let client = Client::start().await;
    let get = async |path: &str, agent: &str| {
        let answer = client.send("GET", path, &[("user-agent", agent)], "").await;
        String::from_utf8(answer.body.to_vec()).unwrap()
    };
    let resources = get("/api/v1", "kubectl/v1").await;
    assert!(resources.starts_with(r#"{"kind":"APIResourceList","groupVersion":"v1","resources":["#));
    let pods = r#"{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],"categories":["all"],"storageVersionHash":"#;
    assert!(resources.contains(pods), "{resources}");
    let namespace = "/api/v1/namespaces/default";
    let compact = r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default","uid":"#;
    assert!(get(namespace, "kubectl/v1").await.starts_with(compact));
    let lines = "{\n  \"kind\": \"Namespace\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n    \"name\": \"default\",\n";
    let shown = get(namespace, "curl/8.5").await;
    assert!(shown.starts_with(lines), "{shown}");
    assert!(get(&format!("{namespace}?pretty=true"), "kubectl/v1").await.starts_with(lines));
    assert!(get(&format!("{namespace}?pretty=false"), "curl/8.5").await.starts_with(compact));
}

#[tokio::test]
async fn groups_of_definitions_are_listed_by_name() {
    let client = Client::start().await;
    for group in ["zeta.example", "alpha.example"] {
        let definition = value!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("as.{group}")},
            "spec": {
                "group": group, "scope": "Namespaced", "names": {"plural": "as", "kind": "A"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let answer = client.send("POST", path, &[], &json::to_string(&definition)).await;
        assert_eq!(answer.status, 201);
    }
    let groups = client.send("GET", "/apis", &[], "").await.json();
    let groups: Vec<_> =
        groups.items_at(&["groups"]).iter().filter_map(|group| group.str_at(&["name"])).collect();
    assert_eq!(groups[groups.len() - 3..], ["alpha.example", "sim.lynceus.dev", "zeta.example"]);
}

#[tokio::test]
async fn yaml_goes_in_and_out() {
    let client = Client::start().await;
    let headers = [("content-type", "application/yaml"), ("accept", "application/yaml")];
    let answer = client.send("POST", MAPS, &headers, "metadata:\n  name: x\ndata:\n  a: 'yes'\n").await;
    assert_eq!((answer.status, answer.header("content-type")), (201, "application/yaml"));
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.starts_with("apiVersion: v1\ndata:\n  a: \"yes\"\nkind: ConfigMap\n"), "{text}");
}

#[tokio::test]
async fn a_change_that_names_another_object_is_refused() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let path = format!("{MAPS}/a");
    let patched = client.patch(&path, MERGE, r#"{"metadata":{"uid":"other"}}"#).await;
    assert_eq!(
        patched.message(),
        "422 ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"other\": field is immutable"
    );
    let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"other"}}"#;
    let replaced = client.send("PUT", &path, &[("content-type", "application/json")], body).await.message();
    assert!(replaced.contains("Key: /registry/configmaps/default/a, ResourceVersion: 0"), "{replaced}");
}

#[tokio::test]
async fn others_can_learn_how_to_check_tokens() {
    let client = Client::start().await;
    let document = client.get("/.well-known/openid-configuration").await.json();
    assert_eq!(document.str_at(&["issuer"]), Some("https://kubernetes.default.svc.cluster.local"));
    let keys = client.get("/openid/v1/jwks").await;
    assert_eq!(keys.header("content-type"), "application/jwk-set+json");
    assert_eq!(keys.json().items_at(&["keys"])[0].str_at(&["alg"]), Some("ES256"));
}

#[tokio::test]
async fn the_openapi_document_comes_in_protobuf_for_libraries_of_go() {
    let client = Client::start().await;
    let accept = ("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    let answer = client.send("GET", "/openapi/v2", &[accept], "").await;
    assert_eq!(answer.header("content-type"), "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    assert_eq!(answer.header("vary"), "Accept");
    // Field 1 of the document is the version of the format.
    assert!(answer.body.windows(5).any(|bytes| bytes == b"\x0a\x032.0"));
    let known = ("if-none-match", answer.header("etag"));
    assert_eq!(client.send("GET", "/openapi/v2", &[accept, known], "").await.status, 304);
    assert_eq!(client.send("GET", "/openapi/v2", &[("accept", "text/html")], "").await.status, 406);
}

#[tokio::test]
async fn protobuf_goes_in_and_out() {
    let client = Client::start().await;
    let object = lynceus_object::Object::new(value!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
    }))
    .unwrap();
    let bytes = lynceus_object::protobuf::encode(&object).unwrap();
    let media_type = "application/vnd.kubernetes.protobuf";
    let request = http::Request::post("/api/v1/namespaces")
        .header("content-type", media_type)
        .header("accept", media_type)
        .body(Full::new(Bytes::from(bytes)))
        .unwrap();
    let response = client.0.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let created = lynceus_object::protobuf::decode(&body).unwrap();
    assert_eq!((created.name(), created.kind()), ("shop", "Namespace"));
}

#[tokio::test]
async fn a_list_comes_in_pages_of_one_moment() {
    let client = Client::start().await;
    for name in ["a", "b", "c", "d"] {
        client.config_map(name, "x").await;
    }
    let first = client.get(&format!("{MAPS}?limit=2")).await;
    assert_eq!(first.names(), ["a", "b"]);
    assert_eq!(first.json().int_at(&["metadata", "remainingItemCount"]), Some(2));
    let token = first.json().str_at(&["metadata", "continue"]).unwrap().to_owned();
    client.send("DELETE", &format!("{MAPS}/c"), &[], "").await;
    client.config_map("e", "x").await;
    let second = client.get(&format!("{MAPS}?limit=2&continue={token}")).await;
    assert_eq!(second.names(), ["c", "d"]);
    let selected =
        client.get(&format!("{MAPS}?labelSelector=app%20in%20(x)&fieldSelector=metadata.name!%3Da")).await;
    assert_eq!(selected.names(), ["b", "d", "e"]);
    let version = first.json().str_at(&["metadata", "resourceVersion"]).unwrap().to_owned();
    let then = client.get(&format!("{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact")).await;
    assert_eq!(then.names(), ["a", "b", "c", "d"]);
    assert_eq!(client.get(&format!("{MAPS}?resourceVersion=99999")).await.status, 504);
}

#[tokio::test]
async fn metadata_and_tables_can_be_asked_for() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let list = client.send("GET", MAPS, &[("accept", partial)], "").await.json();
    assert_eq!(list.str_at(&["kind"]), Some("PartialObjectMetadataList"));
    assert_eq!(list.items_at(&["items"])[0].get("data"), None);
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let table = client.send("GET", MAPS, &[("accept", table)], "").await.json();
    assert_eq!(table.str_at(&["kind"]), Some("Table"));
    assert_eq!(table.items_at(&["rows"])[0].items_at(&["cells"])[0], "a".into());
}

/// Reads a watch to its end, which a timeout on the manual clock brings.
async fn watched(client: &Client, query: &str, then: impl AsyncFnOnce(&Client)) -> Vec<String> {
    let path = format!("{MAPS}?watch=true&timeoutSeconds=5&{query}");
    let response = client.stream("GET", &path, &[], "").await;
    assert_eq!(response.status(), 200);
    then(client).await;
    let body = tokio::spawn(response.into_body().collect());
    tokio::task::yield_now().await;
    client.1.advance(jiff::SignedDuration::from_secs(5));
    let text = body.await.unwrap().unwrap().to_bytes();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let event = json::parse(line).unwrap();
            let text = |path: &[&str]| event.str_at(path).unwrap_or_default().to_owned();
            format!("{} {}", text(&["type"]), text(&["object", "metadata", "name"]))
        })
        .collect()
}

#[tokio::test]
async fn a_watch_tells_what_is_there_and_what_changes() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    client.config_map("b", "y").await;
    let events = watched(&client, "labelSelector=app%3Dx", async |client: &Client| {
        client.patch(&format!("{MAPS}/b"), MERGE, r#"{"metadata":{"labels":{"app":"x"}}}"#).await;
        client.patch(&format!("{MAPS}/a"), MERGE, r#"{"data":{"a":"2"}}"#).await;
        client.patch(&format!("{MAPS}/a"), MERGE, r#"{"metadata":{"labels":{"app":"y"}}}"#).await;
        client.send("DELETE", &format!("{MAPS}/b"), &[], "").await;
    })
    .await;
    assert_eq!(events, ["ADDED a", "ADDED b", "MODIFIED a", "DELETED a", "DELETED b"]);
}

#[tokio::test]
async fn a_watch_in_protobuf_says_the_length_of_each_event_once() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    client.config_map("b", "x").await;
    let accept = [("accept", "application/vnd.kubernetes.protobuf")];
    let path = format!("{MAPS}?watch=true&timeoutSeconds=5&labelSelector=app%3Dx");
    let watch = client.stream("GET", &path, &accept, "").await;
    let mut body = watch.into_body();
    let chunk = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let mut rest = &chunk[..];
    let mut events = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (event, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
        rest = tail;
        let start = event.windows(4).position(|bytes| bytes == b"k8s\0").unwrap();
        let object = lynceus_object::protobuf::decode(&event[start..]).unwrap();
        events.push(format!("{} {}", String::from_utf8_lossy(&event[2..7]), object.name()));
    }
    assert_eq!(events, ["ADDED a", "ADDED b"]);
}

#[tokio::test]
async fn a_watch_that_streams_the_list_marks_its_end() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let events = watched(&client, query, async |client: &Client| client.config_map("b", "x").await).await;
    assert_eq!(events, ["ADDED a", "BOOKMARK ", "ADDED b"]);
    let refused = client.get(&format!("{MAPS}?watch=true&sendInitialEvents=true")).await;
    assert_eq!(refused.status, 422);
}

#[tokio::test]
async fn a_watch_goes_on_from_a_version() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let version = client.get(MAPS).await.json().str_at(&["metadata", "resourceVersion"]).unwrap().to_owned();
    client.config_map("b", "x").await;
    let events = watched(&client, &format!("resourceVersion={version}"), async |_: &Client| {}).await;
    assert_eq!(events, ["ADDED b"]);
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let client = Client::start().await;
    let object = value!({"metadata": {"name": "a"}});
    let answer = client.post(&format!("{MAPS}?dryRun=All"), object).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.json().str_at(&["metadata", "resourceVersion"]), None);
    assert_eq!(client.get(&format!("{MAPS}/a")).await.status, 404);
    client.config_map("a", "x").await;
    client.patch(&format!("{MAPS}/a?dryRun=All"), MERGE, r#"{"data":{"a":"2"}}"#).await;
    client.send("DELETE", &format!("{MAPS}/a?dryRun=All"), &[], "").await;
    assert_eq!(client.get(&format!("{MAPS}/a")).await.json().str_at(&["data", "a"]), Some("1"));
}

#[tokio::test]
async fn deletion_looks_at_preconditions_and_finalizers() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let path = format!("{MAPS}/a");
    let json = [("content-type", "application/json")];
    let answer = client.send("DELETE", &path, &json, r#"{"preconditions":{"uid":"other"}}"#).await;
    assert!(answer.message().starts_with("409 Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (other) does not match"), "{}", answer.message());
    let answer = client.send("DELETE", &path, &json, r#"{"propagationPolicy":"Foreground"}"#).await.json();
    assert_eq!(answer.items_at(&["metadata", "finalizers"]), ["foregroundDeletion".into()]);
    client.patch(&path, MERGE, r#"{"metadata":{"finalizers":null}}"#).await;
    assert_eq!(client.get(&path).await.status, 404);
    client.config_map("b", "x").await;
    let gone = client.send("DELETE", &format!("{MAPS}/b"), &[], "").await.json();
    assert_eq!(gone.str_at(&["status"]), Some("Success"));
    assert_eq!(gone.str_at(&["details", "kind"]), Some("configmaps"));
    client.config_map("c", "x").await;
    client.config_map("d", "y").await;
    client.send("DELETE", &format!("{MAPS}?labelSelector=app%3Dx"), &[], "").await;
    assert_eq!(client.get(MAPS).await.names(), ["d"]);
}

#[tokio::test]
async fn every_kind_of_patch_works() {
    let client = Client::start().await;
    client.config_map("a", "x").await;
    let path = format!("{MAPS}/a");
    client
        .patch(&path, "application/json-patch+json", r#"[{"op":"add","path":"/data/b","value":"2"}]"#)
        .await;
    client.patch(&path, "application/strategic-merge-patch+json", r#"{"data":{"c":"3"}}"#).await;
    client.patch(&path, MERGE, r#"{"data":{"a":null}}"#).await;
    let apply = "application/apply-patch+yaml";
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: mine}\n";
    let conflict = client.patch(&format!("{path}?fieldManager=me"), apply, config).await;
    assert_eq!(
        conflict.message(),
        "409 Apply failed with 1 conflict: conflict with \"test\" using v1: .data.b"
    );
    let forced = client.patch(&format!("{path}?fieldManager=me&force=true"), apply, config).await.json();
    assert_eq!(forced.get("data"), Some(&value!({"b": "mine", "c": "3"})));
    let refused = client.patch(&path, apply, config).await;
    assert_eq!(
        refused.message(),
        "422 PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
    let made = client
        .patch(&format!("{MAPS}/new?fieldManager=me"), apply, &config.replace("name: a", "name: new"))
        .await;
    assert_eq!(made.status, 201);
    let stale = r#"{"metadata":{"resourceVersion":"1"},"data":{"a":"1"}}"#;
    assert_eq!(client.patch(&path, MERGE, stale).await.status, 409);
    assert_eq!(client.patch(&format!("{MAPS}/none"), MERGE, "{}").await.status, 404);
}

#[tokio::test]
async fn a_pod_can_be_replaced_by_its_manifest() {
    let additions = Additions { service_account: false, ..Additions::default() };
    let options = Options { without_controllers: true, additions, ..Options::default() };
    let client = Client(
        Sim::start(options).await.unwrap().service(User::admin()),
        ManualClock::new(jiff::Timestamp::UNIX_EPOCH),
    );
    let mut pod = value!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let pods = "/api/v1/namespaces/default/pods";
    assert_eq!(client.post(pods, pod.clone()).await.status, 201);
    pod.set(&["metadata", "labels", "status"], "replaced");
    let json = [("content-type", "application/json")];
    let answer = client.send("PUT", &format!("{pods}/p"), &json, &json::to_string(&pod)).await;
    assert_eq!(answer.message(), "200 ");
    assert_eq!(answer.json().int_at(&["spec", "priority"]), Some(0));
}

#[tokio::test]
async fn scale_and_status_are_written_by_themselves() {
    let client = Client::start().await;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let object = value!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
        "status": {"replicas": 7},
    });
    let created = client.post(deployments, object).await;
    assert_eq!(
        (created.status, created.json().get("status")),
        (201, Some(&value!({}))),
        "{:?}",
        created.body
    );
    let web = format!("{deployments}/web");
    let scaled = client.patch(&format!("{web}/scale"), MERGE, r#"{"spec":{"replicas":3}}"#).await.json();
    assert_eq!((scaled.str_at(&["kind"]), scaled.int_at(&["spec", "replicas"])), (Some("Scale"), Some(3)));
    let owners = |object: &Value| -> Vec<String> {
        let entries = object.items_at(&["metadata", "managedFields"]).iter();
        let owning = entries.filter(|entry| entry.at(&["fieldsV1", "f:spec", "f:replicas"]).is_some());
        owning.map(|entry| entry.str_at(&["subresource"]).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(owners(&client.get(&web).await.json()), ["scale"]);
    let mut scale = client.get(&format!("{web}/scale")).await.json();
    scale.set(&["spec", "replicas"], 4);
    client
        .send(
            "PUT",
            &format!("{web}/scale"),
            &[("content-type", "application/json")],
            &json::to_string(&scale),
        )
        .await;
    assert_eq!(owners(&client.get(&web).await.json()), ["scale"]);
    client.patch(&format!("{web}/status"), MERGE, r#"{"spec":{"replicas":9},"status":{"replicas":2}}"#).await;
    let stored = client.get(&web).await.json();
    assert_eq!(stored.int_at(&["spec", "replicas"]), Some(4));
    assert_eq!(stored.int_at(&["status", "replicas"]), Some(2));
    assert_eq!(stored.int_at(&["metadata", "generation"]), Some(3));
}

#[tokio::test]
async fn discovery_can_be_asked_for_all_at_once_and_kept() {
    let client = Client::start().await;
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let answer = client.send("GET", "/apis", &[("accept", accept)], "").await;
    assert_eq!(answer.json().str_at(&["kind"]), Some("APIGroupDiscoveryList"));
    let etag = answer.header("etag").to_owned();
    let again = client.send("GET", "/apis", &[("accept", accept), ("if-none-match", &etag)], "").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(client.get("/apis").await.json().str_at(&["kind"]), Some("APIGroupList"));
    assert_eq!(client.get("/apis/apps/v1").await.json().str_at(&["kind"]), Some("APIResourceList"));
    assert_eq!(client.get("/healthz").await.body, "ok");
    assert_eq!(client.get("/version").await.json().str_at(&["gitVersion"]), Some("v1.36.3"));
}

#[tokio::test]
async fn a_large_answer_is_compressed_for_those_who_can_read_it() {
    let client = Client::start().await;
    for name in ["a", "b"] {
        let object = value!({"metadata": {"name": name}, "data": {"a": "x".repeat(100_000)}});
        client.post(MAPS, object).await;
    }
    let answer = client.send("GET", MAPS, &[("accept-encoding", "gzip")], "").await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    assert!(answer.body.len() < 10_000);
    assert_eq!(client.get(MAPS).await.header("content-encoding"), "");
}

#[tokio::test]
async fn a_definition_is_served_at_once_and_takes_its_objects_with_it() {
    let client = Client::start().await;
    let definition = value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}},
            }}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    assert_eq!(client.get(widgets).await.status, 404);
    let made = client.post(definitions, definition).await;
    assert_eq!(made.status, 201, "{:?}", made.body);
    let widget = value!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1, "odd": 1},
    });
    let made = client.post(widgets, widget).await;
    assert_eq!((made.status, made.json().get("spec")), (201, Some(&value!({"size": 1}))));
    let refused = client.patch(&format!("{widgets}/w"), MERGE, r#"{"spec":{"size":0}}"#).await;
    assert_eq!(refused.status, 422);
    let events = client.stream("GET", &format!("{widgets}?watch=true"), &[], "").await;
    let deleted = client.send("DELETE", &format!("{definitions}/widgets.example.com"), &[], "").await;
    assert_eq!(deleted.status, 200);
    // The watch ends by itself.
    events.into_body().collect().await.unwrap();
    assert_eq!(client.get(widgets).await.status, 404);
    assert_eq!(client.get(&format!("{definitions}/widgets.example.com")).await.status, 404);
}

#[tokio::test]
async fn a_request_for_a_certificate_is_signed_once_it_is_approved() {
    let client = Client::start().await;
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "alice");
    let request = STANDARD.encode(params.serialize_request(&key).unwrap().pem().unwrap());
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let made = client
        .post(
            requests,
            value!({
                "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "alice"},
                "spec": {"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
            }),
        )
        .await;
    assert_eq!(made.status, 201, "{:?}", made.body);
    assert_eq!(made.json().str_at(&["status", "certificate"]), None);
    let mut approved = made.json();
    approved
        .set(&["status", "conditions"], value!([{"type": "Approved", "status": "True", "reason": "Fine"}]));
    let json = [("content-type", "application/json")];
    let path = format!("{requests}/alice/approval");
    assert_eq!(client.send("PUT", &path, &json, &json::to_string(&approved)).await.status, 200);
    let signed = client.get(&format!("{requests}/alice")).await.json();
    let certificate = STANDARD.decode(signed.str_at(&["status", "certificate"]).unwrap()).unwrap();
    assert!(certificate.starts_with(b"-----BEGIN CERTIFICATE-----\n"));
}

#[tokio::test]
async fn the_description_says_what_lists_and_watches_are() {
    let client = Client::start().await;
    let text = String::from_utf8(client.get("/openapi/v2").await.body.to_vec()).unwrap();
    for words in ["list of returned", "List of services", "Watch for changes to the described resources"] {
        assert!(text.contains(words), "{words}");
    }
}
