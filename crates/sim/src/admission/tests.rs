mod declared;
mod policies;

use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use lynceus_object::{Gvk, Gvr, Value, value};

use super::*;
use crate::attributes::User;
use crate::kinds::resource_of;

#[derive(Default)]
struct Shelf(BTreeMap<(String, String, String, String), Object>);

impl View for Shelf {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Object> {
        self.0.get(&(group.into(), resource.into(), namespace.into(), name.into())).cloned()
    }

    fn list(&self, group: &str, resource: &str, _: Option<&str>) -> Vec<Object> {
        self.0
            .iter()
            .filter(|((g, r, ..), _)| g == group && r == resource)
            .map(|(_, object)| object.clone())
            .collect()
    }
}

impl Shelf {
    fn with(mut self, value: Value) -> Self {
        let object = Object::new(value).unwrap();
        let resource = resource_of(&object.gvk()).unwrap();
        let key = (
            resource.group.to_string(),
            resource.plural.to_string(),
            object.namespace().into(),
            object.name().into(),
        );
        self.0.insert(key, object);
        self
    }

    fn hook(self, kind: &str, url: &str, changes: Value) -> Self {
        let mut hook = value!({
            "name": "hook.example.com", "clientConfig": {"url": url}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]});
        for (field, change) in changes.as_map().unwrap().iter() {
            hook.set(&[field], change.clone());
        }
        self.with(value!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "config"}, "webhooks": [hook]}))
    }
}

/// A webhook on the loopback device that answers with what `answer` makes of the request.
async fn serve(answer: impl Fn(Value) -> Value + Clone + Send + 'static) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/check", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = answer.clone();
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let answer = answer.clone();
                async move {
                    let bytes = request.into_body().collect().await.unwrap().to_bytes();
                    let review: Value = serde_json::from_slice(&bytes).unwrap();
                    let mut response = answer(review.get("request").unwrap().clone());
                    response.set(&["uid"], review.str_at(&["request", "uid"]).unwrap());
                    let body = value!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
                    Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from(
                        serde_json::to_vec(&body).unwrap(),
                    ))))
                }
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    url
}

fn admission(operation: Operation) -> Admission {
    Admission {
        user: User::new("alice", &["devs"]).into(),
        operation,
        kind: Gvk::new("", "v1", "ConfigMap"),
        resource: Gvr::new("", "v1", "configmaps"),
        subresource: "".into(),
        namespace: "shop".into(),
        name: "c".into(),
        dry_run: false,
        manager: Default::default(),
    }
}

fn config_map() -> Object {
    Object::new(value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop", "labels": {"a": "b"}}, "data": {"k": "v"}})).unwrap()
}

async fn validated(view: Shelf) -> String {
    let object = config_map();
    match Chain::new().validate(&view, &admission(Operation::Create), Some(&object), None).await {
        Ok(warnings) => format!("fine {warnings:?}"),
        Err(error) => format!("{} {} {}", error.code, error.reason, error.message),
    }
}

const VALIDATING: &str = "ValidatingWebhookConfiguration";

#[tokio::test]
async fn a_webhook_sees_the_request_and_may_refuse() {
    let url = serve(|request| {
        assert_eq!(request.str_at(&["operation"]), Some("CREATE"));
        assert_eq!(request.str_at(&["userInfo", "username"]), Some("alice"));
        assert_eq!(request.str_at(&["object", "data", "k"]), Some("v"));
        assert_eq!(request.get("oldObject"), Some(&Value::Null));
        value!({"allowed": false, "status": {"message": "no such thing", "code": 403, "reason": "Forbidden"}})
    })
    .await;
    assert_eq!(
        validated(Shelf::default().hook(VALIDATING, &url, value!({}))).await,
        "403 Forbidden admission webhook \"hook.example.com\" denied the request: no such thing"
    );
}

#[tokio::test]
async fn refusals_without_words_and_warnings() {
    let url = serve(|_| value!({"allowed": false})).await;
    assert_eq!(
        validated(Shelf::default().hook(VALIDATING, &url, value!({}))).await,
        "400  admission webhook \"hook.example.com\" denied the request without explanation"
    );
    let url = serve(|_| value!({"allowed": true, "warnings": ["careful"]})).await;
    assert_eq!(validated(Shelf::default().hook(VALIDATING, &url, value!({}))).await, "fine [\"careful\"]");
}

#[tokio::test]
async fn an_unreachable_webhook_counts_as_its_policy_says() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let url = format!("http://{address}/x");
    assert_eq!(
        validated(Shelf::default().hook(VALIDATING, &url, value!({}))).await,
        format!(
            "500 InternalError Internal error occurred: failed calling webhook \"hook.example.com\": failed to call webhook: Post \"{url}?timeout=10s\": dial tcp {address}: connect: connection refused"
        )
    );
    assert_eq!(
        validated(Shelf::default().hook(VALIDATING, &url, value!({"failurePolicy": "Ignore"}))).await,
        "fine []"
    );
    let service = value!({"clientConfig": {"service": {"namespace": "n", "name": "s", "path": "/p"}}});
    assert_eq!(
        validated(Shelf::default().hook(VALIDATING, "", service)).await,
        "500 InternalError Internal error occurred: failed calling webhook \"hook.example.com\": failed to call webhook: Post \"https://s.n.svc:443/p?timeout=10s\": service \"s\" not found"
    );
}

#[tokio::test]
async fn a_webhook_that_never_answers_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let found = validated(Shelf::default().hook(VALIDATING, &url, value!({"timeoutSeconds": 1}))).await;
    assert!(found.ends_with(&format!("Post \"{url}?timeout=1s\": context deadline exceeded")), "{found}");
}

#[tokio::test]
async fn only_what_matches_is_asked() {
    let url = serve(|_| value!({"allowed": false})).await;
    let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "x"}}});
    for (changes, asked) in [
        (value!({"objectSelector": {"matchLabels": {"a": "b"}}}), true),
        (value!({"objectSelector": {"matchLabels": {"a": "c"}}}), false),
        (
            value!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["x"]}]}}),
            true,
        ),
        (
            value!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}}),
            false,
        ),
        (
            value!({"matchConditions": [{"name": "n", "expression": "object.data.k == 'v' && request.userInfo.username == 'alice'"}]}),
            true,
        ),
        (value!({"matchConditions": [{"name": "n", "expression": "request.operation == 'DELETE'"}]}), false),
        (
            value!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]}),
            true,
        ),
        (
            value!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": "Cluster"}]}),
            false,
        ),
        (
            value!({"rules": [{"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}),
            false,
        ),
    ] {
        let found =
            validated(Shelf::default().with(namespace.clone()).hook(VALIDATING, &url, changes.clone())).await;
        assert_eq!(found != "fine []", asked, "{changes:?} {found}");
    }
}

#[tokio::test]
async fn a_dry_run_stays_away_from_side_effects() {
    let mut admission = admission(Operation::Create);
    admission.dry_run = true;
    let view = Shelf::default().hook(VALIDATING, "http://127.0.0.1:1/", value!({"sideEffects": "Some"}));
    let error = Chain::new().validate(&view, &admission, Some(&config_map()), None).await.unwrap_err();
    assert_eq!(error.message, "admission webhook \"hook.example.com\" does not support dry run");
}

#[tokio::test]
async fn a_patch_changes_the_object() {
    use base64::Engine;
    let url = serve(|_| {
        let patch = base64::engine::general_purpose::STANDARD
            .encode(r#"[{"op":"add","path":"/data/new","value":"1"}]"#);
        value!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
    })
    .await;
    let view = Shelf::default().hook(
        "MutatingWebhookConfiguration",
        &url,
        value!({"reinvocationPolicy": "IfNeeded"}),
    );
    let mut object = config_map();
    let ty = TypeRef::untyped();
    Chain::new().mutate(&view, &admission(Operation::Create), ty, &mut object, None).await.unwrap();
    assert_eq!(object.at(&["data"]), Some(&value!({"k": "v", "new": "1"})));
}

#[tokio::test]
async fn a_pod_needs_its_service_account() {
    let pod =
        Object::new(value!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "robot"}})).unwrap();
    let mut admission = admission(Operation::Create);
    admission.resource = Gvr::new("", "v1", "pods");
    let error = Chain::new().validate(&Shelf::default(), &admission, Some(&pod), None).await.unwrap_err();
    assert_eq!(
        error.message,
        "pods \"p\" is forbidden: error looking up service account shop/robot: serviceaccount \"robot\" not found"
    );
}

fn policy(validation: Value) -> Value {
    value!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
        "spec": {"matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]},
            "variables": [{"name": "key", "expression": "object.data.k"}], "validations": [validation]}})
}

fn bind(actions: Value) -> Value {
    value!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": actions}})
}

#[tokio::test]
async fn policies_refuse_and_warn() {
    let rule = value!({"expression": "variables.key != 'v'"});
    assert_eq!(
        validated(Shelf::default().with(policy(rule.clone())).with(bind(value!(["Deny"])))).await,
        "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: variables.key != 'v'"
    );
    assert_eq!(
        validated(Shelf::default().with(policy(rule.clone())).with(bind(value!(["Warn"])))).await,
        "fine [\"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: variables.key != 'v'\"]"
    );
    assert_eq!(
        validated(Shelf::default().with(policy(rule))).await,
        "fine []",
        "a policy without a binding does nothing"
    );
}
