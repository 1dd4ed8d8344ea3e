//! One request at a time: paths and values in, values out.

use std::time::Duration;

use futures::{AsyncBufReadExt as _, AsyncReadExt as _};
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use lynceus_object::{Str, Value, json};
use tokio::time::Instant;
use tracing::{Instrument as _, debug};

use crate::error::{ClusterError, Refusal};
use crate::guise;
use crate::lease::Tenure;
use crate::limits;
use crate::trace;
use crate::turn::{Behalf, Rate, Turns, application};

const JSON: &str = "application/json";

/// Who we say that we are in managedFields: the name that Argo CD writes under, so that fields keep their owner
/// when an installation moves to Lynceus or back.
pub const FIELD_MANAGER: &str = "argocd-controller";

/// The media types in which a change can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Merge,
    Strategic,
    Apply,
}

impl PatchKind {
    fn media_type(self) -> &'static str {
        match self {
            PatchKind::Merge => "application/merge-patch+json",
            PatchKind::Strategic => "application/strategic-merge-patch+json",
            PatchKind::Apply => "application/apply-patch+yaml",
        }
    }
}

/// Sends requests to one cluster, no faster than it may be asked.
#[derive(Clone)]
pub(crate) struct Door {
    client: Client,
    turns: Turns,
    read_only: bool,
    /// The address that others know the cluster by.
    server: Str,
}

/// A request before it is sent.
struct Question<'a> {
    method: Method,
    path: &'a str,
    accept: &'a str,
    body: Option<(&'a str, &'a Value)>,
    /// The largest answer that is read.
    limit: usize,
}

impl<'a> Question<'a> {
    fn get(path: &'a str) -> Self {
        Question { method: Method::GET, path, accept: JSON, body: None, limit: limits::ANSWER_BYTES }
    }

    fn step(&self) -> Step {
        Step { method: name_of(&self.method), path: path_of(self.path) }
    }

    /// The request, and how large its body is.
    fn request(&self) -> Result<(Request<Body>, usize), ClusterError> {
        let mut request =
            Request::builder().method(self.method.clone()).uri(self.path).header("accept", self.accept);
        if let Some((media_type, _)) = self.body {
            request = request.header("content-type", media_type);
        }
        if let Some(user) = guise::user() {
            request = request.header("impersonate-user", user.as_str());
        }
        let request = request.extension(Behalf(application()));
        let bytes = self.body.map(|(_, value)| json::to_vec(value)).unwrap_or_default();
        let size = bytes.len();
        let request = request.body(Body::from(bytes)).map_err(|error| self.step().send(error))?;
        Ok((request, size))
    }
}

impl Door {
    pub(crate) fn new(client: Client, rate: Rate, read_only: bool) -> Self {
        Door { client, turns: Turns::new(rate), read_only, server: Str::default() }
    }

    /// The same with the address that others know the cluster by.
    pub(crate) fn of(self, server: Str) -> Self {
        Door { server, ..self }
    }

    /// The address that others know the cluster by.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, ClusterError> {
        self.call(Question::get(path)).await
    }

    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Result<Value, ClusterError> {
        self.call(Question { accept, ..Question::get(path) }).await
    }

    /// Reads a list that may be longer than any other answer.
    pub(crate) async fn get_list(&self, path: &str) -> Result<Value, ClusterError> {
        self.call(Question { limit: limits::LIST_BYTES, ..Question::get(path) }).await
    }

    /// Asks once, now: for finding out whether the server is there.
    pub(crate) async fn try_get(&self, path: &str) -> Result<Value, ClusterError> {
        self.call_once(&Question::get(path), Duration::ZERO).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        self.write(Method::POST, path, JSON, body).await
    }

    /// Posts a question that changes nothing, such as an access review.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        let body = Some((JSON, body));
        self.call(Question { method: Method::POST, body, ..Question::get(path) }).await
    }

    /// Asks what an apply would do, which changes nothing: who only reads may ask that too.
    pub(crate) async fn try_apply(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        let body = Some((PatchKind::Apply.media_type(), body));
        self.call(Question { method: Method::PATCH, body, ..Question::get(path) }).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        self.write(Method::PUT, path, JSON, body).await
    }

    pub(crate) async fn patch(
        &self,
        path: &str,
        kind: PatchKind,
        body: &Value,
    ) -> Result<Value, ClusterError> {
        self.write(Method::PATCH, path, kind.media_type(), body).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Result<Value, ClusterError> {
        self.write(Method::DELETE, path, JSON, options).await
    }

    async fn write(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: &Value,
    ) -> Result<Value, ClusterError> {
        let question = Question { method, body: Some((media_type, body)), ..Question::get(path) };
        let Step { method, path } = question.step();
        if self.read_only {
            return Err(ClusterError::ReadOnly { method, path });
        }
        self.call(question).await
    }

    /// Waits for a turn, asks, and asks again as often as the server wants to be asked later.
    async fn call(&self, question: Question<'_>) -> Result<Value, ClusterError> {
        for _ in 1..limits::RETRY_AFTER_TRIES {
            let waited = self.turn().await;
            match self.call_once(&question, waited).await {
                Err(ClusterError::Refused(Refusal { retry_after: Some(pause), code, .. })) => {
                    debug!(code, path = path_of(question.path), ?pause, "the server asks for a pause");
                    tokio::time::sleep(pause.min(limits::RETRY_AFTER_MAX)).await;
                    trace::again(&self.server, &question.method, code);
                }
                answer => return answer,
            }
        }
        let waited = self.turn().await;
        self.call_once(&question, waited).await
    }

    /// Waits for a turn; says how long.
    async fn turn(&self) -> Duration {
        let began = Instant::now();
        self.turns.next().await;
        began.elapsed()
    }

    async fn call_once(&self, question: &Question<'_>, waited: Duration) -> Result<Value, ClusterError> {
        let span = trace::request(&self.server, &question.method, question.path, waited);
        let answer = self.send(question).instrument(span.clone()).await;
        trace::tell(&span, &answer);
        answer
    }

    async fn send(&self, question: &Question<'_>) -> Result<Value, ClusterError> {
        let step = question.step();
        // Asked here and not earlier: a turn, or a pause that the server wanted, may have taken longer than the Lease.
        if question.method != Method::GET && !Tenure::permits() {
            return Err(ClusterError::NotHolder { method: step.method, path: step.path });
        }
        let (request, sent) = question.request()?;
        let answer = async {
            let response = self.client.send(request).await.map_err(|error| step.send(error))?;
            let (head, body) = response.into_parts();
            let bytes = step.read(body, question.limit).await?;
            trace::weigh(sent, bytes.len());
            if !head.status.is_success() {
                return Err(refused(&head, &bytes));
            }
            json::parse(&bytes)
                .map_err(|error| ClusterError::Decode { path: step.path.clone(), reason: error.to_string() })
        };
        match tokio::time::timeout(limits::REQUEST, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(step.timeout(limits::REQUEST)),
        }
    }

    /// Opens a watch; each line of the answer is an event. Only the opening counts as a request.
    pub(crate) async fn watch(&self, path: &str) -> Result<Lines, ClusterError> {
        self.turns.next().await;
        let step = Step { method: "WATCH", path: path_of(path) };
        let (request, _) = Question::get(path).request()?;
        let response = tokio::time::timeout(limits::REQUEST, self.client.send(request))
            .await
            .map_err(|_| step.timeout(limits::REQUEST))?
            .map_err(|error| step.send(error))?;
        let (head, body) = response.into_parts();
        if head.status != http::StatusCode::OK {
            let bytes = step.read(body, limits::ANSWER_BYTES).await?;
            return Err(refused(&head, &bytes));
        }
        Ok(Lines { reader: Box::pin(reader(body)), path: step.path })
    }
}

/// What a server said that did not do what it was asked. As in client-go a pause is taken from a server that is too busy
/// (429) or in trouble (5xx) and names one.
fn refused(head: &http::response::Parts, body: &[u8]) -> ClusterError {
    let code = head.status.as_u16();
    let text = String::from_utf8_lossy(body);
    let mut refusal = Refusal::read(code, json::parse(body).ok().as_ref(), &text);
    let seconds = || head.headers.get("retry-after")?.to_str().ok()?.trim().parse().ok();
    if code == 429 || code >= 500 {
        refusal.retry_after = seconds().map(Duration::from_secs);
    }
    ClusterError::Refused(refusal)
}

/// The lines of a watch.
pub(crate) struct Lines {
    reader: std::pin::Pin<Box<dyn futures::AsyncBufRead + Send>>,
    path: String,
}

/// What came next in a watch.
pub(crate) enum Line {
    /// An event.
    Event(Value),
    /// Something that cannot be read, with the reason.
    Garbage(String),
    /// The server has closed the watch, or the connection was cut.
    End,
}

impl Lines {
    /// The next line as it is, without its end; none when the server has closed the answer. Nothing is waited for longer
    /// than the connection lives: a log may be silent for days.
    pub(crate) async fn text(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(limits::EVENT_BYTES as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(bytes) if bytes > 0 => {}
            Ok(_) => return None,
            Err(error) => {
                debug!(path = self.path, %error, "a log was cut");
                return None;
            }
        }
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    /// What comes next; a server that says nothing for the given time is taken to be gone.
    pub(crate) async fn next(&mut self, patience: Duration) -> Line {
        let mut line = Vec::new();
        let read = async {
            let mut limited = (&mut self.reader).take(limits::EVENT_BYTES as u64);
            limited.read_until(b'\n', &mut line).await
        };
        match tokio::time::timeout(patience, read).await {
            Ok(Ok(bytes)) if bytes > 0 => {}
            Ok(Ok(_)) | Err(_) => return Line::End,
            Ok(Err(error)) => {
                debug!(path = self.path, %error, "a watch was cut");
                return Line::End;
            }
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Line::End;
        }
        match json::parse(&line) {
            Ok(event) => Line::Event(event),
            // The connection was cut in the middle of an event.
            Err(_) if !line.ends_with(b"\n") && line.len() < limits::EVENT_BYTES => Line::End,
            Err(error) => Line::Garbage(error.to_string()),
        }
    }
}

/// What is being asked, for errors.
struct Step {
    method: &'static str,
    path: String,
}

impl Step {
    async fn read(&self, body: Body, limit: usize) -> Result<Vec<u8>, ClusterError> {
        let mut bytes = Vec::new();
        let mut reader = std::pin::pin!(reader(body).take(limit as u64 + 1));
        reader.read_to_end(&mut bytes).await.map_err(|error| self.send(error))?;
        if bytes.len() > limit {
            let reason = format!("it has more than {limit} bytes");
            return Err(ClusterError::Decode { path: self.path.clone(), reason });
        }
        Ok(bytes)
    }

    fn send(&self, source: impl std::error::Error + Send + Sync + 'static) -> ClusterError {
        ClusterError::Send { method: self.method, path: self.path.clone(), source: Box::new(source) }
    }

    fn timeout(&self, after: Duration) -> ClusterError {
        ClusterError::Timeout { method: self.method, path: self.path.clone(), seconds: after.as_secs() }
    }
}

fn reader(body: Body) -> impl futures::AsyncBufRead + Send {
    use futures::TryStreamExt as _;
    use http_body_util::BodyExt as _;

    body.into_data_stream().map_err(std::io::Error::other).into_async_read()
}

fn path_of(path: &str) -> String {
    path.split('?').next().unwrap_or(path).to_owned()
}

fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        _ => "DELETE",
    }
}
