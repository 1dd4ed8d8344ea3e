//! The API on a TLS socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::Service;
use crate::core::Core;
use crate::identity::Identity;
use crate::limits;

/// Why the server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The certificates cannot be used.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

/// A server that listens until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    closing: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
    core: Arc<Core>,
}

impl Server {
    /// Starts to listen.
    pub(crate) async fn start(
        core: Arc<Core>,
        identity: &Identity,
        client_roots: &str,
        address: SocketAddr,
    ) -> Result<Self, ServeError> {
        let tls = TlsAcceptor::from(Arc::new(tls_config(identity, client_roots).map_err(ServeError::Tls)?));
        let fail = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let (closing, closed) = watch::channel(false);
        let task = tokio::spawn(accept(listener, tls, Arc::clone(&core), closed));
        Ok(Server { address, closing, task, core })
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server's URL, for a kubeconfig.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("https://{address}")
    }

    /// Takes no more connections, lets requests finish, ends watches.
    pub async fn shutdown(self) {
        self.closing.send_replace(true);
        self.core.closing.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the server ended badly");
        }
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, core: Arc<Core>, mut closed: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, tls.clone(), Arc::clone(&core), closed.clone()));
                }
                // Too many open files, most likely: others have to finish first.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = closing(&mut closed) => break,
        }
    }
    let finished = async { while connections.join_next().await.is_some() {} };
    // Whoever has not finished by then is cut off when the set is dropped.
    let _ = tokio::time::timeout(Duration::from_secs(limits::SHUTDOWN_SECONDS), finished).await;
}

async fn serve(stream: TcpStream, tls: TlsAcceptor, core: Arc<Core>, mut closed: watch::Receiver<bool>) {
    let handshake = Duration::from_secs(limits::HANDSHAKE_SECONDS);
    let _ = stream.set_nodelay(true);
    let stream = match tokio::time::timeout(handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => return tracing::debug!("a TLS handshake took too long"),
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    let certificate = certificate.map(|certificate| Arc::from(certificate.as_ref()));
    let service = TowerToHyperService::new(Service::on_connection(core, certificate));
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(handshake)
        .max_buf_size(limits::HEADER_BYTES);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(limits::HEADER_BYTES as u32);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = closing(&mut closed) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn closing(closed: &mut watch::Receiver<bool>) {
    // A server that was dropped without a word is closed as well.
    let _ = closed.wait_for(|closed| *closed).await;
}

/// TLS with the cluster's own certificate; clients may show one signed by the same root, or by one of others.
fn tls_config(identity: &Identity, client_roots: &str) -> Result<ServerConfig, String> {
    let certificate =
        |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|error| error.to_string());
    let root = certificate(&identity.root)?;
    let key =
        PrivateKeyDer::from_pem_slice(identity.server_key.as_bytes()).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).map_err(|error| error.to_string())?;
    add_client_roots(&mut roots, client_roots)
        .map_err(|error| format!("the root certificates for clients: {error}"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| error.to_string())?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate(&identity.server)?, root], key)
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Adds every certificate of a PEM text, which has one at least if it is there.
fn add_client_roots(roots: &mut RootCertStore, text: &str) -> Result<(), String> {
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if !text.is_empty() && roots.len() == before {
        Err("there is none in the file".to_owned())
    } else {
        Ok(())
    }
}
