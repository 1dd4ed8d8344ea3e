//! The two servers, asked in the same way.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use lynceus_object::{Value, json};
use lynceus_sim::attributes::User;
use lynceus_sim::{Options, Sim};
use tower::ServiceExt as _;

use super::script::Request;

/// Whose writes they are, for servers that read it off the program's name.
const PROGRAM: &str = "requests/1";
/// The reason of a definition that has yet to be served.
const INSTALLING: &str = "\"Installing\"";

/// How long a server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a server answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The status code; 0 if there was no answer.
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) warnings: Vec<String>,
    pub(super) text: String,
}

/// A server, and what it called things.
pub(super) struct Server {
    side: Side,
    words: BTreeMap<String, String>,
}

enum Side {
    Real(kube::Client),
    Embedded(Sim),
}

impl Server {
    /// A real API server, asked as the administrator of a kubeconfig.
    pub(super) async fn real(kubeconfig: &Path) -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", kubeconfig.display());
        let config = Kubeconfig::read_from(kubeconfig).map_err(|error| told(&error))?;
        let config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default())
            .await
            .map_err(|error| told(&error))?;
        let client = kube::Client::try_from(config).map_err(|error| told(&error))?;
        Ok(Server { side: Side::Real(client), words: BTreeMap::new() })
    }

    /// A fresh embedded cluster. Its controllers stay off, because the real API server stands alone too.
    pub(super) async fn embedded() -> Result<Self, String> {
        let options = Options { without_controllers: true, seed: Some(1), ..Options::default() };
        let sim = Sim::start(options).await.map_err(|error| error.to_string())?;
        Ok(Server { side: Side::Embedded(sim), words: BTreeMap::new() })
    }

    /// Makes a namespace and goes there. Pods need a service account, which nobody else makes.
    pub(super) async fn enter(&mut self, namespace: &str) -> Result<(), String> {
        self.words.clear();
        self.words.insert("ns".to_owned(), namespace.to_owned());
        let make = |path: String, name: &str| Request {
            method: "POST".to_owned(),
            path,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}"),
            ..Request::default()
        };
        for request in [
            make("/api/v1/namespaces".to_owned(), namespace),
            make(format!("/api/v1/namespaces/{namespace}/serviceaccounts"), "default"),
        ] {
            let answer = self.send(&request).await?;
            if answer.status != 201 {
                return Err(format!("{}: {}", request.path, answer.text));
            }
        }
        Ok(())
    }

    /// Asks until the answer is there. What is waited for is nothing to compare.
    pub(super) async fn wait_for(&mut self, requests: &[Request]) -> Result<(), String> {
        for request in requests {
            let request = Request { method: "GET".to_owned(), ..request.clone() };
            let begun = std::time::Instant::now();
            while self.send(&request).await?.status != 200 {
                if begun.elapsed() > PATIENCE {
                    return Err(format!("{} did not come", request.path));
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }

    /// Sends a request. One that only reads is sent again while what it reads is still being installed, as a definition
    /// is for a moment after it was made.
    pub(super) async fn settled(&mut self, request: &Request) -> Result<Answer, String> {
        let begun = std::time::Instant::now();
        loop {
            let answer = self.send(request).await?;
            let is_passing = request.method == "GET" && answer.text.contains(INSTALLING);
            if !is_passing || begun.elapsed() > PATIENCE {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends a request and remembers what it says to remember.
    pub(super) async fn send(&mut self, request: &Request) -> Result<Answer, String> {
        let path = self.fill_in(&request.path);
        let body = self.fill_in(&request.body);
        let mut builder =
            http::Request::builder().method(request.method.as_str()).uri(&path).header("user-agent", PROGRAM);
        for (name, value) in &request.headers {
            builder = builder.header(name, self.fill_in(value));
        }
        let told = |error: &dyn std::fmt::Display| format!("{} {path}: {error}", request.method);
        let asked = tokio::time::timeout(PATIENCE, async {
            match &self.side {
                Side::Real(client) => {
                    let request =
                        builder.body(Body::from(body.into_bytes())).map_err(|error| told(&error))?;
                    let response = client.send(request).await.map_err(|error| told(&error))?;
                    read(response).await.map_err(|error| told(&error))
                }
                Side::Embedded(sim) => {
                    let request = builder.body(Full::new(Bytes::from(body))).map_err(|error| told(&error))?;
                    let Ok(response) = sim.service(User::admin()).oneshot(request).await;
                    read(response).await.map_err(|error| told(&error))
                }
            }
        });
        let answer = match asked.await {
            Ok(answer) => answer?,
            Err(_) => Answer { text: "no answer in time".to_owned(), ..Answer::default() },
        };
        for (name, way) in &request.keep {
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            if let Some(found) = answer.value().as_ref().and_then(|value| value.str_at(&way)) {
                self.words.insert(name.clone(), found.to_owned());
            }
        }
        Ok(answer)
    }

    /// Replaces `{name}` by what this server called it.
    fn fill_in(&self, text: &str) -> String {
        self.words
            .iter()
            .fold(text.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), word))
    }
}

impl Answer {
    /// The answer as a value, if it is one.
    pub(super) fn value(&self) -> Option<Value> {
        json::parse(self.text.as_bytes()).ok()
    }
}

async fn read<B>(response: http::Response<B>) -> Result<Answer, String>
where
    B: http_body::Body,
    B::Error: std::fmt::Display,
{
    let (parts, body) = response.into_parts();
    let text = |name: &str| -> Vec<String> {
        let values = parts.headers.get_all(name).iter();
        values.filter_map(|value| Some(value.to_str().ok()?.to_owned())).collect()
    };
    let (content_type, warnings) = (text("content-type").concat(), text("warning"));
    let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(Answer { status: parts.status.as_u16(), content_type, warnings, text })
}
