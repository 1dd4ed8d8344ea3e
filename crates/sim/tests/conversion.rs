//! Custom resources whose versions are converted by a webhook, called over TLS.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::convert::Infallible;
use std::sync::Arc;

use base64::Engine;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use lynceus_object::{Value, json, value};
use lynceus_sim::attributes::User;
use lynceus_sim::http::Service;
use lynceus_sim::{Options, Sim, Stage};
use tower::ServiceExt;

/// A webhook that turns `hostPort: a:1` of `v1beta1` into `host` and `port` of `v1` and back, or
/// refuses. Gives its URL and its certificate, which it signed itself.
async fn webhook() -> (String, String) {
    let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(signed.cert.pem());
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // A client that does not trust the certificate goes away.
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let service = hyper::service::service_fn(|request: http::Request<hyper::body::Incoming>| async {
                let refuse = request.uri().path() == "/refuse";
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let answer = converted(&json::parse(&body).unwrap(), refuse);
                Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from(json::to_vec(&answer)))))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    (url, bundle)
}

fn converted(review: &Value, refuse: bool) -> Value {
    let request = review.get("request").unwrap();
    let wanted = request.str_at(&["desiredAPIVersion"]).unwrap();
    let convert = |object: &Value| {
        let mut object = object.clone();
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let spec = if wanted.ends_with("/v1") {
            let whole = text(&["spec", "hostPort"]);
            let (host, port) = whole.split_once(':').unwrap_or((&whole, ""));
            value!({"host": host, "port": port})
        } else {
            value!({"hostPort": format!("{}:{}", text(&["spec", "host"]), text(&["spec", "port"]))})
        };
        object.set(&["apiVersion"], wanted);
        object.set(&["spec"], spec);
        object
    };
    let objects: Value = request.items_at(&["objects"]).iter().map(convert).collect();
    let result = match refuse {
        true => value!({"status": "Failed", "message": "not today"}),
        false => value!({"status": "Success"}),
    };
    value!({"kind": "ConversionReview", "apiVersion": review.str_at(&["apiVersion"]).unwrap(), "response": {
        "uid": request.str_at(&["uid"]).unwrap(), "result": result, "convertedObjects": objects}})
}

struct Client(Service);

impl Client {
    async fn start(conversion: Value) -> Self {
        Client::start_on(conversion, Stage::default()).await
    }

    async fn start_on(conversion: Value, stage: Stage) -> Self {
        let options = Options { without_controllers: true, ..Options::by_hand(stage) };
        let client = Client(Sim::start(options).await.unwrap().service(User::admin()));
        let version = |name: &str, storage: bool, fields: &[&str]| {
            let fields: lynceus_object::Map =
                fields.iter().map(|field| (*field, value!({"type": "string"}))).collect();
            value!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": Value::Map(fields)}}}}})
        };
        let definition = value!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.e.com"},
            "spec": {"group": "e.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                "conversion": conversion,
                "versions": [version("v1", true, &["host", "port"]), version("v1beta1", false, &["hostPort"])]}});
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        client.send("POST", path, &json::to_string(&definition)).await;
        client
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let request = http::Request::builder().method(method).uri(path);
        let request =
            request.header("content-type", "application/json").body(Full::new(Bytes::from(body.to_owned())));
        let mut body = self.0.clone().oneshot(request.unwrap()).await.unwrap().into_body();
        // A watch does not end: what comes first is looked at.
        json::parse(&body.frame().await.unwrap().unwrap().into_data().unwrap()).unwrap()
    }

    async fn create(&self, version: &str, spec: Value) -> String {
        let thing = value!({"apiVersion": format!("e.com/{version}"), "kind": "Thing",
            "metadata": {"name": "x"}, "spec": spec});
        shown(&self.send("POST", &things(version), &json::to_string(&thing)).await)
    }
}

fn things(version: &str) -> String {
    format!("/apis/e.com/{version}/namespaces/default/things")
}

/// The spec, or why there is none.
fn shown(object: &Value) -> String {
    let message = object.str_at(&["message"]).map(str::to_owned);
    message.unwrap_or_else(|| json::to_string(object.get("spec").unwrap_or(&Value::Null)))
}

fn by_webhook(url: &str, bundle: &str) -> Value {
    value!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"url": url, "caBundle": bundle}}})
}

#[tokio::test]
async fn every_version_shows_the_same_object_in_its_own_form() {
    let (url, bundle) = webhook().await;
    let client = Client::start(by_webhook(&url, &bundle)).await;
    assert_eq!(client.create("v1beta1", value!({"hostPort": "a:1"})).await, r#"{"hostPort":"a:1"}"#);
    let get = async |version: &str| shown(&client.send("GET", &format!("{}/x", things(version)), "").await);
    assert_eq!(get("v1").await, r#"{"host":"a","port":"1"}"#);
    assert_eq!(get("v1beta1").await, r#"{"hostPort":"a:1"}"#);
    let list = client.send("GET", &things("v1beta1"), "").await;
    assert_eq!(shown(&list.items_at(&["items"])[0]), r#"{"hostPort":"a:1"}"#);
    let event = client.send("GET", &format!("{}?watch=true", things("v1beta1")), "").await;
    assert_eq!(shown(event.get("object").unwrap()), r#"{"hostPort":"a:1"}"#);
}

#[tokio::test]
async fn a_webhook_that_refuses_or_is_not_trusted_is_an_error_that_says_so() {
    let (url, bundle) = webhook().await;
    let start = "conversion webhook for e.com/v1beta1, Kind=Thing failed:";
    let refusing = Client::start(by_webhook(&format!("{url}/refuse"), &bundle)).await;
    let spec = value!({"hostPort": "a:1"});
    assert_eq!(refusing.create("v1beta1", spec.clone()).await, format!("{start} not today"));
    // What is in the stored version already needs no conversion.
    assert_eq!(refusing.create("v1", value!({"host": "b"})).await, r#"{"host":"b"}"#);
    let (_, foreign) = webhook().await;
    let distrusting = Client::start(by_webhook(&url, &foreign)).await;
    let found = distrusting.create("v1beta1", spec).await;
    let unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert_eq!(found, format!("{start} Post \"{url}?timeout=30s\": {unknown}"));
}

#[tokio::test]
async fn without_a_webhook_versions_differ_in_name_and_lose_what_the_stored_one_does_not_know() {
    let client = Client::start(value!({"strategy": "None"})).await;
    assert_eq!(client.create("v1beta1", value!({"hostPort": "a:1"})).await, "{}");
}

#[tokio::test]
async fn a_converter_that_nobody_answers_for_is_an_error_for_its_versions_alone() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let (_, bundle) = webhook().await;
    let url = format!("https://{address}/convert");
    let client = Client::start(by_webhook(&url, &bundle)).await;
    let failed = format!(
        "conversion webhook for e.com/v1beta1, Kind=Thing failed: Post \"{url}?timeout=30s\": dial tcp {address}: connect: \
         connection refused"
    );
    assert_eq!(client.create("v1beta1", value!({"hostPort": "a:1"})).await, failed);
    assert_eq!(client.create("v1", value!({"host": "b"})).await, r#"{"host":"b"}"#);
    let refused = failed.replace("e.com/v1beta1", "e.com/v1");
    for path in [format!("{}/x", things("v1beta1")), things("v1beta1")] {
        assert_eq!(shown(&client.send("GET", &path, "").await), refused, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_converter_that_never_answers_is_given_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/convert", silent.local_addr().unwrap());
    let client = Client::start(by_webhook(&url, "")).await;
    assert_eq!(
        client.create("v1beta1", value!({"hostPort": "a:1"})).await,
        format!(
            "conversion webhook for e.com/v1beta1, Kind=Thing failed: Post \"{url}?timeout=30s\": context deadline exceeded"
        )
    );
}

#[tokio::test]
async fn a_stage_breaks_a_converter_by_its_service() {
    let text = "webhooks: [{service: shop/converter, rules: [{fails: connection refused}]}]";
    let stage = Stage::of_keys(text).unwrap();
    let service = value!({"namespace": "shop", "name": "converter", "path": "/convert"});
    let conversion = value!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}});
    let client = Client::start_on(conversion, stage).await;
    assert_eq!(
        client.create("v1beta1", value!({"hostPort": "a:1"})).await,
        "conversion webhook for e.com/v1beta1, Kind=Thing failed: Post \
         \"https://converter.shop.svc:443/convert?timeout=30s\": dial tcp converter.shop.svc:443: connect: connection refused"
    );
}
