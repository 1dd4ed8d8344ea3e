//! A server that answers as it is told, for what a real one does only on bad days.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]
#![allow(dead_code, reason = "not every test asks for everything")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::client::Body;
use lynceus_cluster::{Cluster, Options, Rate};
use lynceus_object::{Value, json, value};

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Value,
    /// How often this path was asked in the same way before.
    pub(crate) before: usize,
}

impl Ask {
    pub(crate) fn is_watch(&self) -> bool {
        self.query.contains_key("watch")
    }

    pub(crate) fn streams(&self) -> bool {
        self.query.contains_key("sendInitialEvents")
    }

    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// What is answered.
pub(crate) enum Answer {
    Json(u16, Value),
    /// With this header `Retry-After`.
    Later(u16, u64),
    /// Events, and then the end of the answer.
    Events(Vec<Value>),
    /// Events, and then silence.
    Open(Vec<Value>),
    /// Raw text, and then a broken connection.
    Cut(String),
    /// No connection.
    Refused,
    /// A connection on which nothing is said.
    Silence,
}

type Bytestream = UnsyncBoxBody<Bytes, std::io::Error>;

type Script = Box<dyn Fn(&Ask) -> Option<Answer> + Send + Sync>;

/// The server: a script, and the record of what was asked.
#[derive(Clone)]
pub(crate) struct Server {
    script: Arc<Script>,
    asked: Arc<Mutex<Vec<Ask>>>,
    kinds: Arc<Mutex<Vec<Value>>>,
    start: tokio::time::Instant,
    times: Arc<Mutex<Vec<Duration>>>,
}

impl Server {
    /// A server with the kinds Pod and Namespace. What the script does not answer is answered as by a quiet server.
    pub(crate) fn new(script: impl Fn(&Ask) -> Option<Answer> + Send + Sync + 'static) -> Self {
        Server {
            script: Arc::new(Box::new(script)),
            asked: Arc::default(),
            kinds: Arc::new(Mutex::new(vec![
                resource("pods", "Pod", true),
                resource("namespaces", "Namespace", false),
            ])),
            start: tokio::time::Instant::now(),
            times: Arc::default(),
        }
    }

    pub(crate) async fn connect(&self) -> Arc<Cluster> {
        self.connect_with(Options { rate: Rate::UNBOUNDED, ..Options::default() }).await
    }

    pub(crate) async fn connect_with(&self, options: Options) -> Arc<Cluster> {
        Cluster::connect(self.client(), options).await.expect("the server says what it serves")
    }

    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        kube::Client::new(service, "default")
    }

    /// What the script alone says.
    pub(crate) fn script(&self, ask: &Ask) -> Option<Answer> {
        (self.script)(ask)
    }

    /// What was asked about a path: `list`, `stream`, or `watch` with the version.
    pub(crate) fn asked(&self, path: &str) -> Vec<String> {
        let word = |ask: &Ask| match (ask.streams(), ask.is_watch()) {
            (true, _) => "stream".to_owned(),
            (_, true) => format!("watch {}", ask.parameter("resourceVersion")),
            _ if ask.method != "GET" => ask.method.to_lowercase(),
            _ => "list".to_owned(),
        };
        self.asked.lock().unwrap().iter().filter(|ask| ask.path == path).map(word).collect()
    }

    /// When a path was asked, in milliseconds since the start.
    pub(crate) fn times(&self, path: &str) -> Vec<u128> {
        let asked = self.asked.lock().unwrap();
        let times = self.times.lock().unwrap();
        asked
            .iter()
            .zip(times.iter())
            .filter(|(ask, _)| ask.path == path)
            .map(|(_, at)| at.as_millis())
            .collect()
    }

    pub(crate) fn all(&self) -> Vec<Ask> {
        self.asked.lock().unwrap().clone()
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<Bytestream>, std::io::Error> {
        let (head, body) = request.into_parts();
        let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let query = head.uri.query().unwrap_or_default();
        let mut ask = Ask {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: query
                .split('&')
                .filter_map(|one| one.split_once('='))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            body: json::parse(&bytes).unwrap_or_default(),
            before: 0,
        };
        {
            let mut asked = self.asked.lock().unwrap();
            let same = |one: &&Ask| {
                one.path == ask.path && one.method == ask.method && one.is_watch() == ask.is_watch()
            };
            ask.before = asked.iter().filter(same).count();
            asked.push(ask.clone());
            self.times.lock().unwrap().push(self.start.elapsed());
        }
        let answer = (self.script)(&ask).unwrap_or_else(|| self.quiet(&ask));
        match answer {
            Answer::Json(code, value) => Ok(json_answer(code, &value).body(text(&value)).unwrap()),
            Answer::Later(code, seconds) => {
                let status = value!({"kind": "Status", "code": i64::from(code), "message": "later"});
                Ok(json_answer(code, &status).header("retry-after", seconds).body(text(&status)).unwrap())
            }
            Answer::Events(events) => Ok(stream(lines(&events), Ending::Close)),
            Answer::Open(events) => Ok(stream(lines(&events), Ending::Hang)),
            Answer::Cut(text) => Ok(stream(text, Ending::Break)),
            Answer::Refused => Err(std::io::Error::other("connection refused")),
            Answer::Silence => std::future::pending().await,
        }
    }

    fn quiet(&self, ask: &Ask) -> Answer {
        let kinds = self.kinds.lock().unwrap();
        match ask.path.as_str() {
            "/api" => Answer::Json(
                200,
                value!({"kind": "APIGroupDiscoveryList", "items": [
                    {"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": kinds.clone()}]},
                ]}),
            ),
            "/apis" => Answer::Json(200, value!({"kind": "APIGroupDiscoveryList", "items": []})),
            _ if ask.streams() => Answer::Open(vec![end(1)]),
            _ if ask.is_watch() => Answer::Open(Vec::new()),
            _ => Answer::Json(200, list(1, &[])),
        }
    }
}

enum Ending {
    Close,
    Hang,
    Break,
}

fn json_answer(code: u16, _: &Value) -> http::response::Builder {
    Response::builder().status(code).header("content-type", "application/json")
}

fn text(value: &Value) -> Bytestream {
    Full::new(Bytes::from(json::to_vec(value))).map_err(|never| match never {}).boxed_unsync()
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{}\n", json::to_string(event))).collect()
}

fn stream(text: String, ending: Ending) -> Response<Bytestream> {
    let first = futures::stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from(text)))]);
    let body = match ending {
        Ending::Close => StreamBody::new(first).boxed_unsync(),
        Ending::Hang => StreamBody::new(first.chain(futures::stream::pending())).boxed_unsync(),
        Ending::Break => {
            let broken = futures::stream::iter([Err(std::io::Error::other("connection reset"))]);
            StreamBody::new(first.chain(broken)).boxed_unsync()
        }
    };
    Response::builder().status(200).body(body).unwrap()
}

/// A kind as aggregated discovery tells of it.
pub(crate) fn resource(plural: &str, kind: &str, namespaced: bool) -> Value {
    value!({
        "resource": plural, "scope": if namespaced { "Namespaced" } else { "Cluster" },
        "verbs": ["get", "list", "watch"], "responseKind": {"group": "", "version": "", "kind": kind},
    })
}

pub(crate) fn pod(name: &str, version: u64) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "resourceVersion": version.to_string(),
        },
        "spec": {"nodeName": "n"},
    })
}

pub(crate) fn list(version: u64, items: &[Value]) -> Value {
    value!({"kind": "List", "metadata": {"resourceVersion": version.to_string()}, "items": items.to_vec()})
}

pub(crate) fn event(kind: &str, object: Value) -> Value {
    value!({"type": kind, "object": object})
}

/// The bookmark that ends the objects of a streaming list.
pub(crate) fn end(version: u64) -> Value {
    event(
        "BOOKMARK",
        value!({"kind": "Pod", "apiVersion": "v1", "metadata": {
            "resourceVersion": version.to_string(), "annotations": {"k8s.io/initial-events-end": "true"},
        }}),
    )
}

pub(crate) fn bookmark(version: u64) -> Value {
    event("BOOKMARK", value!({"metadata": {"resourceVersion": version.to_string()}}))
}

pub(crate) fn status(code: u16, reason: &str, message: &str) -> Value {
    value!({"kind": "Status", "code": i64::from(code), "reason": reason, "message": message})
}
