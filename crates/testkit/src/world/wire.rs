//! The wire between the engine and the cluster: writes down what is written, and makes trouble when it is asked to.
//!
//! It is a layer above whatever client the stage has, so that both stages have the same troubles.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use lynceus_object::{Value, json, value};
use tokio::sync::watch;

use super::call::{Call, Write};

type Answered = Response<UnsyncBoxBody<Bytes, BoxError>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What happens to a request instead of being answered by the cluster.
pub enum Trouble {
    /// The API server answers with this code and an error of its kind.
    Code(u16),
    /// No answer ever comes.
    Silence,
    /// The connection breaks.
    Broken,
    /// Something else happens first; then the request goes on.
    After(BoxFuture<'static, ()>),
}

type Meddler = Box<dyn FnMut(&Call) -> Option<Trouble> + Send>;

/// The wire.
#[derive(Clone)]
pub struct Wire(Arc<Inner>);

struct Inner {
    writes: Mutex<Vec<Write>>,
    meddler: Mutex<Option<Meddler>>,
    /// Counts how often watches were cut; one that was opened before ends.
    cuts: watch::Sender<u64>,
}

impl Default for Wire {
    fn default() -> Self {
        Wire(Arc::new(Inner {
            writes: Mutex::default(),
            meddler: Mutex::default(),
            cuts: watch::Sender::new(0),
        }))
    }
}

impl Wire {
    /// A client whose requests go through here, made in the name of `user` if there is one.
    pub(crate) fn client(&self, below: Client, user: Option<String>) -> Client {
        let wire = self.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            if let Some(user) = user.as_deref().and_then(|user| user.parse().ok()) {
                request.headers_mut().insert("impersonate-user", user);
            }
            wire.clone().send(below.clone(), request)
        });
        Client::new(service, "default")
    }

    /// Asks `meddler` about every request from now on.
    pub fn meddle(&self, meddler: impl FnMut(&Call) -> Option<Trouble> + Send + 'static) {
        *lock(&self.0.meddler) = Some(Box::new(meddler));
    }

    /// Lets every request through again.
    pub fn mend(&self) {
        *lock(&self.0.meddler) = None;
    }

    /// Breaks every watch that is open.
    pub fn cut_watches(&self) {
        self.0.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Everything that was written so far, in order.
    pub fn writes(&self) -> Vec<Write> {
        lock(&self.0.writes).clone()
    }

    async fn send(self, below: Client, request: Request<Body>) -> Result<Answered, BoxError> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await?;
        let call = Call::new(&parts.method, &parts.uri, &body);
        let trouble = lock(&self.0.meddler).as_mut().and_then(|meddler| meddler(&call));
        match trouble {
            Some(Trouble::Code(code)) => return Ok(refusal(code)),
            Some(Trouble::Silence) => return std::future::pending().await,
            Some(Trouble::Broken) => return Err("the connection was broken".into()),
            Some(Trouble::After(first)) => first.await,
            None => {}
        }
        let is_watch = call.is_watch();
        let note = (parts.method != Method::GET).then(|| self.begin(call));
        let cuts = self.0.cuts.subscribe();
        let answer = below.send(Request::from_parts(parts, Body::from(body))).await?;
        if let Some(at) = note {
            self.end(at, answer.status().as_u16());
        }
        let (parts, body) = answer.into_parts();
        let body = body.map_err(BoxError::from).boxed_unsync();
        Ok(Response::from_parts(parts, if is_watch { until_cut(body, cuts) } else { body }))
    }

    /// Notes a write when it is sent, which is what its order is about.
    fn begin(&self, call: Call) -> usize {
        let mut writes = lock(&self.0.writes);
        writes.push(Write::new(call));
        writes.len() - 1
    }

    fn end(&self, at: usize, code: u16) {
        if let Some(write) = lock(&self.0.writes).get_mut(at) {
            write.code = code;
        }
    }
}

/// A body that breaks off when watches are cut.
fn until_cut(
    body: UnsyncBoxBody<Bytes, BoxError>,
    mut cuts: watch::Receiver<u64>,
) -> UnsyncBoxBody<Bytes, BoxError> {
    let cut = async move {
        // A wire that is gone cuts nothing.
        if cuts.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let frames = body.into_data_stream().map(|data| data.map(http_body::Frame::data));
    StreamBody::new(frames.take_until(cut)).boxed_unsync()
}

fn refusal(code: u16) -> Answered {
    let status = value!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": i64::from(code),
        "reason": reason(code), "message": "trouble on the wire",
    });
    let body = Full::new(Bytes::from(json::to_vec(&status))).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer
}

fn reason(code: u16) -> Value {
    match code {
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        _ => "InternalError",
    }
    .into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
