//! A web server on loopback that says what a test wants it to say, down to the bytes.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A request as the server saw it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// With the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }
}

/// What the server answers.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Send only so much of the body as this, and then hang up.
    pub(crate) cut: Option<usize>,
    /// Never answer.
    pub(crate) hang: bool,
}

impl Reply {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Reply { status: 200, headers: Vec::new(), body: body.into(), cut: None, hang: false }
    }

    pub(crate) fn status(status: u16) -> Self {
        Reply { status, ..Reply::ok("") }
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Self {
        Reply::status(302).header("location", to)
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn cut(mut self, at: usize) -> Self {
        self.cut = Some(at);
        self
    }

    pub(crate) fn hang() -> Self {
        Reply { hang: true, ..Reply::ok("") }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "content-length: {}\r\n\r\n", self.body.len()).unwrap();
        let body = self.cut.map_or(self.body.as_slice(), |cut| &self.body[..cut]);
        [head.as_bytes(), body].concat()
    }
}

type Handler = dyn Fn(&Seen) -> Reply + Send + Sync;

pub(crate) struct WebServer {
    pub(crate) address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    handler: Arc<Mutex<Arc<Handler>>>,
}

impl WebServer {
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(handler, None).await
    }

    /// Serves `https` with a certificate of its own, whose PEM comes back.
    pub(crate) async fn start_tls(
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> (Self, String) {
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
        (Self::serve(handler, Some(acceptor)).await, made.cert.pem())
    }

    async fn serve(
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = WebServer {
            address: listener.local_addr().unwrap(),
            scheme: if tls.is_some() { "https" } else { "http" },
            seen: Arc::default(),
            handler: Arc::new(Mutex::new(Arc::new(handler))),
        };
        let (seen, handler) = (server.seen.clone(), server.handler.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, handler, tls) = (seen.clone(), handler.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else { return };
                            answer(stream, &seen, &handler).await;
                        }
                        None => answer(stream, &seen, &handler).await,
                    }
                });
            }
        });
        server
    }

    /// Answers otherwise from now on.
    pub(crate) fn answer_with(&self, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) {
        *self.handler.lock().unwrap() = Arc::new(handler);
    }

    /// `scheme://localhost:port` and a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://localhost:{}{path}", self.scheme, self.address.port())
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The paths of all requests so far, and forgets them.
    pub(crate) fn take_paths(&self) -> Vec<String> {
        self.seen.lock().unwrap().drain(..).map(|seen| seen.path).collect()
    }
}

async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    seen: &Mutex<Vec<Seen>>,
    handler: &Mutex<Arc<Handler>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let path = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or_default().to_owned();
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(a, b)| (a.to_owned(), b.to_owned()));
    let request = Seen { path, headers: headers.collect() };
    seen.lock().unwrap().push(request.clone());
    let handler = handler.lock().unwrap().clone();
    let reply = handler(&request);
    if reply.hang {
        std::future::pending::<()>().await;
    }
    let _ = stream.write_all(&reply.bytes()).await;
    let _ = stream.shutdown().await;
}
