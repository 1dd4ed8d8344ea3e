//! A webhook in the test's own process, over TLS with a certificate that it signed itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use lynceus_object::{Value, json, value};
use rustls::pki_types::PrivateKeyDer;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A webhook that listens on the loopback device until it is dropped.
pub struct Webhook {
    /// Where it is.
    pub url: String,
    /// The certificate to trust, as configurations want it.
    pub bundle: String,
    work: JoinHandle<()>,
}

impl Webhook {
    /// A webhook that answers each review with what `answer` makes of its request, after `delay`.
    #[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
    pub async fn start(
        delay: Duration,
        answer: impl Fn(&Value) -> Value + Clone + Send + Sync + 'static,
    ) -> Self {
        let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let bundle = base64::engine::general_purpose::STANDARD.encode(signed.cert.pem());
        let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("TLS")
            .with_no_client_auth()
            .with_single_cert(vec![signed.cert.der().clone()], key)
            .expect("a certificate with its key");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}/hook", listener.local_addr().expect("an address"));
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust the certificate goes away.
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let answer = answer.clone();
                let service =
                    hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                        let answer = answer.clone();
                        async move {
                            let body = request.into_body().collect().await.map(|body| body.to_bytes());
                            let review = json::parse(&body.unwrap_or_default()).unwrap_or_default();
                            tokio::time::sleep(delay).await;
                            let bytes = Bytes::from(json::to_vec(&reviewed(&review, &answer)));
                            Ok::<_, Infallible>(http::Response::new(Full::new(bytes)))
                        }
                    });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Webhook { url, bundle, work }
    }

    /// An admission configuration of a kind (`Validating` or `Mutating`) that asks this webhook about new ConfigMaps
    /// in the namespace `default` that are not the cluster's own. `more` is merged into the webhook.
    pub fn configuration(&self, kind: &str, more: &Value) -> String {
        let webhook = value!({
            "name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": self.url.as_str(), "caBundle": self.bundle.as_str()},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
            "rules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }],
        });
        let webhook = lynceus_object::patch::merge(&webhook, more).unwrap_or(webhook);
        lynceus_object::yaml::to_string(&value!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
            "metadata": {"name": "hook"}, "webhooks": [webhook],
        }))
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn reviewed(review: &Value, answer: &impl Fn(&Value) -> Value) -> Value {
    let request = review.get("request").cloned().unwrap_or_default();
    let mut response = answer(&request);
    response.set(&["uid"], request.str_at(&["uid"]).unwrap_or_default());
    value!({
        "apiVersion": review.str_at(&["apiVersion"]).unwrap_or_default(),
        "kind": review.str_at(&["kind"]).unwrap_or_default(), "response": response,
    })
}
