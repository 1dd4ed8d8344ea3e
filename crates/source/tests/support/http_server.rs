//! A Git server on loopback that speaks smart HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use super::upload_pack::{UploadPack, line};

/// How the server behaves beside serving.
#[derive(Clone, Default)]
pub(crate) struct Manners {
    /// The `Authorization` that is asked for.
    pub(crate) authorization: Option<String>,
    /// Where the first question is sent on to.
    pub(crate) redirect: Option<String>,
    /// Take the request for a pack and never answer.
    pub(crate) hang: bool,
    /// Answer everything with this.
    pub(crate) status: Option<StatusCode>,
    /// Cut the pack short, as when the connection breaks.
    pub(crate) cut: bool,
}

pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    pub(crate) manners: Arc<Mutex<Manners>>,
    pub(crate) listings: Arc<AtomicUsize>,
    pub(crate) fetches: Arc<AtomicUsize>,
    /// The authorization of every request.
    pub(crate) seen: Arc<Mutex<Vec<Option<String>>>>,
    /// The most haves that a fetch has named.
    pub(crate) haves: Arc<AtomicUsize>,
    /// The largest answer.
    pub(crate) largest: Arc<AtomicUsize>,
}

impl HttpServer {
    pub(crate) async fn start(repository: UploadPack, manners: Manners) -> Self {
        Self::serve(repository, manners, None).await
    }

    /// Serves `https` with a certificate of its own, whose PEM comes back.
    pub(crate) async fn start_tls(repository: UploadPack, manners: Manners) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        (Self::serve(repository, manners, Some(acceptor)).await, made.cert.pem())
    }

    async fn serve(repository: UploadPack, manners: Manners, tls: Option<tokio_rustls::TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = HttpServer {
            address: listener.local_addr().unwrap(),
            manners: Arc::new(Mutex::new(manners)),
            listings: Arc::default(),
            fetches: Arc::default(),
            seen: Arc::default(),
            haves: Arc::default(),
            largest: Arc::default(),
        };
        let state = server.state(repository);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (state, tls) = (state.clone(), tls.clone());
                tokio::spawn(async move {
                    let service = hyper::service::service_fn(move |request| answer(state.clone(), request));
                    let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    match tls {
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else { return };
                            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                        }
                        None => {
                            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                        }
                    }
                });
            }
        });
        server
    }

    fn state(&self, repository: UploadPack) -> State {
        State {
            repository,
            manners: self.manners.clone(),
            listings: self.listings.clone(),
            fetches: self.fetches.clone(),
            seen: self.seen.clone(),
            haves: self.haves.clone(),
            largest: self.largest.clone(),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/org/repo.git", self.address)
    }
}

#[derive(Clone)]
struct State {
    repository: UploadPack,
    manners: Arc<Mutex<Manners>>,
    listings: Arc<AtomicUsize>,
    fetches: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Option<String>>>>,
    haves: Arc<AtomicUsize>,
    largest: Arc<AtomicUsize>,
}

async fn answer(state: State, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let manners = state.manners.lock().unwrap().clone();
    let shown = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
    state.seen.lock().unwrap().push(shown.clone());
    let plain = |status: StatusCode| Response::builder().status(status).body(Full::default()).unwrap();
    if let Some(status) = manners.status {
        return Ok(plain(status));
    }
    if manners.authorization.is_some() && manners.authorization != shown {
        return Ok(plain(StatusCode::UNAUTHORIZED));
    }
    let path = request.uri().path().to_owned();
    if let (Some(to), true) = (&manners.redirect, path.ends_with("/info/refs")) {
        let query = request.uri().query().unwrap_or_default();
        let location = format!("{to}/info/refs?{query}");
        return Ok(Response::builder().status(302).header(LOCATION, location).body(Full::default()).unwrap());
    }
    let (kind, body) = match path.strip_prefix("/org/repo.git") {
        Some("/info/refs") => {
            let mut body = Vec::new();
            line(&mut body, b"# service=git-upload-pack\n");
            body.extend(b"0000");
            body.extend(UploadPack::greeting());
            ("application/x-git-upload-pack-advertisement", body)
        }
        Some("/git-upload-pack") => {
            let question = request.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&question).into_owned();
            let is_fetch = text.contains("command=fetch");
            let counter = if is_fetch { &state.fetches } else { &state.listings };
            counter.fetch_add(1, Ordering::SeqCst);
            state.haves.fetch_max(text.matches("have ").count(), Ordering::SeqCst);
            if is_fetch && manners.hang {
                std::future::pending::<()>().await;
            }
            let mut body = state.repository.answer(&question);
            state.largest.store(body.len(), Ordering::SeqCst);
            if is_fetch && manners.cut {
                body.truncate(body.len() / 2);
            }
            ("application/x-git-upload-pack-result", body)
        }
        _ => return Ok(plain(StatusCode::NOT_FOUND)),
    };
    Ok(Response::builder().header(CONTENT_TYPE, kind).body(Full::from(body)).unwrap())
}
