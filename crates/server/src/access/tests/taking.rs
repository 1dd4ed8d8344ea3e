//! Those who send too much, or take nothing: shown out in time, with little held for them.
//!
//! Time is paused, and moves on when everybody waits, so that nobody waits for it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures::stream::{self, StreamExt as _};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::{body, limits, rest};

const PIECE: usize = 64 << 10;

/// How many bytes of answers that never end were made, and how many of these answers there are.
#[derive(Clone, Default)]
struct Made {
    bytes: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
}

impl Made {
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Waits until so many answers are open.
    async fn until_open(&self, count: usize) {
        let began = Instant::now();
        while self.open.load(Ordering::Relaxed) != count {
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert!(began.elapsed() < Duration::from_secs(60), "{count} answers are never open");
        }
    }
}

/// Counts as open until it is dropped.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(made: &Made) -> Self {
        made.open.fetch_add(1, Ordering::Relaxed);
        Open(made.open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A port with a path that takes bodies as every method of the API does, one whose answer never ends, and one that is silent.
async fn open() -> (SocketAddr, Made) {
    let take = async |request: Request<Body>| match body::collect(request.into_body(), limits::BODY).await {
        Ok(taken) => format!("took {}", taken.len()).into_response(),
        Err(refusal) => rest::refused(&refusal),
    };
    let give = async |State(made): State<Made>| {
        let open = Open::new(&made);
        let pieces = stream::repeat_with(move || {
            let _open = &open;
            made.bytes.fetch_add(PIECE, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from_static(&[b' '; PIECE]))
        });
        Response::new(Body::from_stream(pieces))
    };
    let made = Made::default();
    let router = Router::new().route("/take", post(take)).route("/give", get(give)).with_state(made.clone());
    (serve(router).await, made)
}

async fn serve(router: Router) -> SocketAddr {
    let listener = crate::listen::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(crate::listen::serve(listener, router, std::future::pending()));
    address
}

/// A connection that speaks HTTP/2, and what ends with it.
async fn speak(address: SocketAddr, window: u32) -> (SendRequest<Body>, JoinHandle<()>) {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window);
    let (sender, connection) = builder.handshake(stream).await.unwrap();
    let connection = tokio::spawn(async move {
        // How it ends is not the question.
        let _ = connection.await;
    });
    (sender, connection)
}

fn send(address: SocketAddr, body: Body) -> Request<Body> {
    Request::post(format!("http://{address}/take")).body(body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn of_a_gigabyte_over_http2_no_more_is_taken_than_a_request_may_have() {
    let (address, _) = open().await;
    let (mut sender, _connection) = speak(address, 65_535).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let pieces = stream::iter(0..(1 << 30) / PIECE).map(move |_| {
        count.fetch_add(PIECE, Ordering::Relaxed);
        Ok::<_, Infallible>(Bytes::from_static(&[b' '; PIECE]))
    });
    let answer = sender.send_request(send(address, Body::from_stream(pieces))).await.unwrap();
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    let sent = sent.load(Ordering::Relaxed);
    assert!(sent < limits::BODY + (16 << 20), "{sent} bytes");
}

#[tokio::test(start_paused = true)]
async fn who_reads_nothing_at_all_is_cut_off() {
    let (address, made) = open().await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /give HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    made.until_open(1).await;
    made.until_open(0).await;
    // What the system holds for a connection is all that was made.
    assert!(made.bytes() < 64 << 20, "{} bytes", made.bytes());
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() <= made.bytes());
}
