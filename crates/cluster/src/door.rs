//! One request at a time: paths and values in, values out.

use std::time::Duration;

use futures::{AsyncBufReadExt as _, AsyncReadExt as _};
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use lynceus_object::{Value, json};
use tracing::trace;

use crate::error::{ClusterError, Refusal};
use crate::lease::Tenure;
use crate::{behalf, limits};

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

/// Sends requests to one cluster.
#[derive(Clone)]
pub(crate) struct Door {
    client: Client,
}

impl Door {
    pub(crate) fn new(client: Client) -> Self {
        Door { client }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, ClusterError> {
        self.call(Method::GET, path, "application/json", None).await
    }

    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Result<Value, ClusterError> {
        self.call(Method::GET, path, accept, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        self.call(Method::POST, path, "application/json", Some(("application/json", body))).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value, ClusterError> {
        self.call(Method::PUT, path, "application/json", Some(("application/json", body))).await
    }

    pub(crate) async fn patch(
        &self,
        path: &str,
        kind: PatchKind,
        body: &Value,
    ) -> Result<Value, ClusterError> {
        self.call(Method::PATCH, path, "application/json", Some((kind.media_type(), body))).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Result<Value, ClusterError> {
        self.call(Method::DELETE, path, "application/json", Some(("application/json", options))).await
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        body: Option<(&str, &Value)>,
    ) -> Result<Value, ClusterError> {
        let step = Step { method: name_of(&method), path: path_of(path) };
        trace!(application = %behalf::application(), method = step.method, path = step.path, "asking");
        if method != Method::GET && !Tenure::permits() {
            return Err(ClusterError::NotHolder { method: step.method, path: step.path });
        }
        let bytes = body.map(|(_, value)| json::to_vec(value)).unwrap_or_default();
        let mut request = Request::builder().method(method).uri(path).header("accept", accept);
        if let Some((media_type, _)) = body {
            request = request.header("content-type", media_type);
        }
        let request = request.body(Body::from(bytes)).map_err(|error| step.send(error))?;
        let answer = async {
            let response = self.client.send(request).await.map_err(|error| step.send(error))?;
            let code = response.status().as_u16();
            let bytes = read_at_most(response.into_body(), limits::ANSWER_BYTES)
                .await
                .map_err(|reason| ClusterError::Decode { path: step.path.clone(), reason })?;
            Ok((code, bytes))
        };
        let (code, bytes) = tokio::time::timeout(limits::REQUEST, answer)
            .await
            .map_err(|_| step.timeout(limits::REQUEST))??;
        let parsed = json::parse(&bytes);
        if !(200..300).contains(&code) {
            let text = String::from_utf8_lossy(&bytes);
            return Err(ClusterError::Refused(Refusal::read(code, parsed.as_ref().ok(), &text)));
        }
        parsed.map_err(|error| ClusterError::Decode { path: step.path, reason: error.to_string() })
    }

    /// Opens a watch; each line of the answer is an event.
    pub(crate) async fn watch(&self, path: &str) -> Result<Lines, ClusterError> {
        let step = Step { method: "WATCH", path: path_of(path) };
        let request = Request::get(path)
            .header("accept", "application/json")
            .body(Body::empty())
            .map_err(|error| step.send(error))?;
        let response = tokio::time::timeout(limits::REQUEST, self.client.send(request))
            .await
            .map_err(|_| step.timeout(limits::REQUEST))?
            .map_err(|error| step.send(error))?;
        let code = response.status().as_u16();
        if code != 200 {
            let bytes = read_at_most(response.into_body(), limits::ANSWER_BYTES)
                .await
                .map_err(|reason| ClusterError::Decode { path: step.path.clone(), reason })?;
            let parsed = json::parse(&bytes).ok();
            let text = String::from_utf8_lossy(&bytes);
            return Err(ClusterError::Refused(Refusal::read(code, parsed.as_ref(), &text)));
        }
        Ok(Lines { reader: Box::pin(reader(response.into_body())), path: step.path })
    }
}

/// The lines of a watch.
pub(crate) struct Lines {
    reader: std::pin::Pin<Box<dyn futures::AsyncBufRead + Send>>,
    path: String,
}

impl Lines {
    /// The next event, or `None` when the server has closed the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, ClusterError> {
        let mut line = Vec::new();
        let read =
            (&mut self.reader).take(limits::EVENT_BYTES as u64).read_until(b'\n', &mut line).await.map_err(
                |source| ClusterError::Send {
                    method: "WATCH",
                    path: self.path.clone(),
                    source: source.into(),
                },
            )?;
        if read == 0 || line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        json::parse(&line)
            .map(Some)
            .map_err(|error| ClusterError::Decode { path: self.path.clone(), reason: error.to_string() })
    }
}

/// What is being asked, for errors.
struct Step {
    method: &'static str,
    path: String,
}

impl Step {
    fn send(&self, source: impl std::error::Error + Send + Sync + 'static) -> ClusterError {
        ClusterError::Send { method: self.method, path: self.path.clone(), source: Box::new(source) }
    }

    fn timeout(&self, after: Duration) -> ClusterError {
        ClusterError::Timeout { method: self.method, path: self.path.clone(), seconds: after.as_secs() }
    }
}

async fn read_at_most(body: Body, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut reader = std::pin::pin!(reader(body).take(limit as u64 + 1));
    reader.read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
    if bytes.len() > limit {
        return Err(format!("it has more than {limit} bytes"));
    }
    Ok(bytes)
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
