//! A server that speaks in lines: a place, a certificate of its own, and what it heard.

use std::sync::{Arc, Mutex};

use lynceus_post::{Options, Post};
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(crate) struct LineStandIn {
    pub(crate) port: u16,
    /// The certificate in PEM that it is trusted by.
    pub(crate) authority: String,
    heard: Arc<Mutex<Vec<String>>>,
}

/// Somebody who has come.
pub(crate) struct Visit {
    heard: Arc<Mutex<Vec<String>>>,
    acceptor: TlsAcceptor,
}

impl Visit {
    /// Writes down what was heard.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.heard.lock().unwrap().push(text.into());
    }

    /// Goes on encrypted.
    pub(crate) async fn encrypt(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        self.note("-- encrypted --");
        self.acceptor.accept(stream).await.ok()
    }
}

impl LineStandIn {
    /// A server that does this with everybody who comes, one after the other.
    pub(crate) async fn new<F>(serve: impl Fn(TcpStream, Visit) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let authority = certified.cert.pem();
        let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let written = heard.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, Visit { heard: written.clone(), acceptor: acceptor.clone() }).await;
            }
        });
        LineStandIn { port, authority, heard }
    }

    /// Somebody who sends, and trusts this server.
    pub(crate) fn post(&self) -> Post {
        let authority = self.authority.clone();
        Post::new(Options {
            environment_proxy: false,
            certificates: Arc::new(move |_| Ok(Some(authority.clone()))),
            ..Options::default()
        })
    }

    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().join("\n")
    }
}
