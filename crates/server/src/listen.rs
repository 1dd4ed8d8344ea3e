//! A door on the network: HTTP/1.1, and HTTP/2 with or without TLS, on one port.
//!
//! Whoever connects has to say something soon, to say their headers in time, and to take what they are answered: somebody who
//! only holds the door open is shown out.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;
use tracing::{debug, warn};

use crate::limits;
use crate::patience::Patience;
use crate::tls::Tls;

/// Marks a request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secure;

/// The first byte of everybody who speaks TLS.
const HANDSHAKE: u8 = 0x16;

/// Opens a port on an address.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Answers until `stop` resolves; what is being answered then is answered to its end, if that comes soon.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    run(listener, Door { router, tls: None }, stop).await;
    Ok(())
}

/// The same over TLS. Whoever speaks without it is told where to go.
pub async fn serve_tls(
    listener: TcpListener,
    router: Router,
    tls: Tls,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    run(listener, Door { router, tls: Some(tls.acceptor()) }, stop).await;
    Ok(())
}

#[derive(Clone)]
struct Door {
    router: Router,
    tls: Option<TlsAcceptor>,
}

async fn run(listener: TcpListener, door: Door, stop: impl Future<Output = ()> + Send + 'static) {
    let room = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let (closing, closed) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            accepted = accept(&listener, &room) => {
                let Some((stream, place)) = accepted else { continue };
                let (door, closed) = (door.clone(), closed.clone());
                connections.spawn(async move {
                    door.open(stream, closed).await;
                    drop(place);
                });
            }
            Some(_) = connections.join_next() => {}
            () = &mut stop => break,
        }
    }
    closing.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    // Whoever has not finished by then is cut off.
    let _ = tokio::time::timeout(limits::FAREWELL, finished).await;
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        // Too many open files, most likely: others have to finish first.
        Err(error) => {
            warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(limits::BREATH).await;
            None
        }
    }
}

impl Door {
    async fn open(self, stream: TcpStream, closed: watch::Receiver<bool>) {
        let _ = stream.set_nodelay(true);
        let mut first = [0];
        match tokio::time::timeout(limits::SILENCE, stream.peek(&mut first)).await {
            Ok(Ok(count)) if count > 0 => {}
            _ => return,
        }
        match self.tls {
            None => converse(stream, self.router, false, closed).await,
            Some(_) if first != [HANDSHAKE] => {
                converse(stream, Router::new().fallback(redirect), false, closed).await
            }
            Some(tls) => match tokio::time::timeout(limits::SILENCE, tls.accept(stream)).await {
                Ok(Ok(stream)) => converse(stream, self.router, true, closed).await,
                Ok(Err(error)) => debug!(%error, "a TLS handshake failed"),
                Err(_) => debug!("a TLS handshake took too long"),
            },
        }
    }
}

/// Answers the requests of one connection.
async fn converse<S>(stream: S, router: Router, secure: bool, mut closed: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let asked = Arc::new(AtomicBool::new(false));
    let seen = asked.clone();
    let patience = Patience::default();
    let answers = patience.clone();
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        seen.store(true, Ordering::Relaxed);
        if secure {
            request.extensions_mut().insert(Secure);
        }
        let (router, answers) = (router.clone(), answers.clone());
        async move {
            let response = router.oneshot(request.map(Body::new)).await.into_response();
            Ok::<_, Infallible>(response.map(|body| answers.answer(body)))
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::SILENCE)
        .max_buf_size(limits::HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits::HEADERS).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits::STREAMS)
        .max_send_buf_size(limits::TAKEN_AT_ONCE)
        .keep_alive_interval(limits::BEAT)
        .keep_alive_timeout(limits::SILENCE);
    let stream = TokioIo::new(patience.connection(stream));
    let connection = builder.serve_connection_with_upgrades(stream, service);
    tokio::pin!(connection);
    let silent = async {
        tokio::time::sleep(limits::SILENCE).await;
        if asked.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = silent => return debug!("a connection asked for nothing"),
        () = patience.ends() => return debug!("a connection does not take what it asked for"),
        () = closing(&mut closed) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection ended early");
    }
}

async fn closing(closed: &mut watch::Receiver<bool>) {
    // Somebody who is gone without a word has closed as well.
    let _ = closed.wait_for(|closed| *closed).await;
}

/// Sends those who speak without TLS to where they can speak with it.
async fn redirect(request: Request<Body>) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    match host {
        Some(host) => {
            let place = format!("https://{host}{path}");
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, place)]).into_response()
        }
        None => (StatusCode::BAD_REQUEST, "this port speaks TLS\n").into_response(),
    }
}
